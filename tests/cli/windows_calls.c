/* The command on Windows, where only Windows' own calls can ask: a pipe that stays silent, a file that another program
 * keeps open, no standard input. Argument: the command. */
#include <windows.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned failures;

static void check(bool holds, const char *what)
{
    if (!holds) {
        printf("FAILED: %s\n", what);
        failures++;
    }
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    check(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0, name);
}

static bool has_temporary(void)
{
    WIN32_FIND_DATAA found;
    HANDLE search = FindFirstFileA(".lift2k*", &found);
    if (search != INVALID_HANDLE_VALUE)
        FindClose(search);
    return search != INVALID_HANDLE_VALUE;
}

static PROCESS_INFORMATION start(const char *command, const char *arguments, HANDLE input)
{
    char line[4096];
    PROCESS_INFORMATION child = {0};
    STARTUPINFOA how = {.cb = sizeof how,
                        .dwFlags = STARTF_USESTDHANDLES,
                        .hStdInput = input,
                        .hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE),
                        .hStdError = GetStdHandle(STD_ERROR_HANDLE)};
    snprintf(line, sizeof line, "\"%s\" %s", command, arguments);
    check(CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &how, &child), line);
    return child;
}

/* Its status, or -1 after half a minute. */
static DWORD end(const PROCESS_INFORMATION *child)
{
    DWORD status = (DWORD)-1;
    if (WaitForSingleObject(child->hProcess, 30000) == WAIT_OBJECT_0)
        GetExitCodeProcess(child->hProcess, &status);
    else
        TerminateProcess(child->hProcess, 1);
    CloseHandle(child->hThread);
    CloseHandle(child->hProcess);
    return status;
}

static DWORD run(const char *command, const char *arguments)
{
    const PROCESS_INFORMATION child = start(command, arguments, GetStdHandle(STD_INPUT_HANDLE));
    return end(&child);
}

/* ---- Tests ----------------------------------------------------------------------------------------------------- */

static void make_picture(void)
{
    static uint8_t samples[13 + 64 * 64] = "P5 64 64 255\n";
    write_file("small.pgm", samples, sizeof samples);
}

static void test_kept(const char *command)
{
    char content[8] = {0};
    check(run(command, "encode --quiet small.pgm small.jp2") == 0, "encoding");
    write_file("kept.pgm", "kept", 4);
    HANDLE keeper = CreateFileA("kept.pgm", GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    check(run(command, "decode --quiet small.jp2 kept.pgm") == 1, "a file that is kept open was replaced");
    CloseHandle(keeper);
    FILE *file = fopen("kept.pgm", "rb");
    check(file && fread(content, 1, 7, file) == 4 && strcmp(content, "kept") == 0, "the content of a file kept open");
    if (file)
        fclose(file);
    check(!has_temporary(), "a file is left after a failure");
}

int main(int count, char **arguments)
{
    static const char *const files[] = {"small.pgm", "small.jp2", "kept.pgm"};
    char command[MAX_PATH];
    if (count != 2 || !GetFullPathNameA(arguments[1], sizeof command, command, NULL)) {
        fprintf(stderr, "windows_calls LIFT2K: the command to test\n");
        return 2;
    }
    CreateDirectoryA("windows-calls", NULL);
    SetCurrentDirectoryA("windows-calls");
    make_picture();
    test_kept(command);
    const PROCESS_INFORMATION child = start(command, "encode --quiet small.pgm small.jp2", NULL);
    check(end(&child) == 0, "encoding without a standard input");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove(files[i]);
    SetCurrentDirectoryA("..");
    RemoveDirectoryA("windows-calls");
    printf("%u failures\n", failures);
    return failures > 0;
}

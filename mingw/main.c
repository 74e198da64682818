/* The start of the command on Windows: arguments in UTF-8, standard streams in binary mode. */
#include <windows.h>

int main(int count, char **arguments);

/* cmd.exe leaves patterns of names to the program: the C library expands them. */
int _dowildcard = -1;

/* Messages are UTF-8. */
static UINT code_page;

static void restore_console(void)
{
    SetConsoleOutputCP(code_page);
}

static void set_up_console(void)
{
    code_page = GetConsoleOutputCP();
    if (code_page && code_page != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
        atexit(restore_console);
    if (l2k_isatty(STDERR_FILENO) && !getenv("TERM")) /* or there would be no progress bar */
        _putenv("TERM=console");
}

int wmain(int count, wchar_t **wide)
{
    char **arguments = calloc((size_t)count + 1, sizeof *arguments);
    if (!arguments)
        return 1;
    for (int i = 0; i < count; i++)
        if (!(arguments[i] = l2k_utf8(wide[i]))) {
            fputs("lift2k: out of memory\n", stderr);
            return 1;
        }
    _setmode(STDIN_FILENO, _O_BINARY);
    _setmode(STDOUT_FILENO, _O_BINARY);
    set_up_console();
    return main(count, arguments);
}

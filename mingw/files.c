/* Files by POSIX calls on Windows: wide names of any length, files that can be renamed and removed while open. */
#include <windows.h>

#include <string.h>
#include <wchar.h>

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

static int failed(DWORD cause)
{
    static const struct {
        DWORD cause;
        int error;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                 {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_BAD_PATHNAME, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},
                 {ERROR_BAD_NETPATH, ENOENT},
                 {ERROR_INVALID_DRIVE, ENOENT},
                 {ERROR_NOT_READY, ENOENT},
                 {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES},
                 {ERROR_LOCK_VIOLATION, EACCES},
                 {ERROR_USER_MAPPED_FILE, EACCES},
                 {ERROR_WRITE_PROTECT, EROFS},
                 {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC},
                 {ERROR_NOT_SAME_DEVICE, EXDEV},
                 {ERROR_DIRECTORY, ENOTDIR},
                 {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                 {ERROR_BROKEN_PIPE, EPIPE},
                 {ERROR_NO_DATA, EPIPE},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG}};
    errno = EIO;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].cause == cause)
            errno = known[i].error;
    return -1;
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

/* Folders may have no more than 248 characters without the prefix. */
enum { MOST_PLAIN = 240, PREFIX = 8 };

/* `path` in full, with the prefix that lifts the limit of its length. Frees `path`. */
static wchar_t *lengthen(wchar_t *path)
{
    const DWORD room = GetFullPathNameW(path, 0, NULL, NULL);
    wchar_t *whole =
        room > MOST_PLAIN && wcsncmp(path, L"\\\\?\\", 4) != 0 ? malloc((room + PREFIX) * sizeof *whole) : NULL;
    if (!whole)
        return path;
    wchar_t *at = whole + PREFIX;
    GetFullPathNameW(path, room, at, NULL);
    free(path);
    const bool is_share = at[0] == L'\\' && at[1] == L'\\'; /* \\server\share becomes \\?\UNC\server\share */
    const wchar_t *prefix = is_share ? L"\\\\?\\UNC" : L"\\\\?\\";
    at += is_share;
    memmove(whole + wcslen(prefix), at, (wcslen(at) + 1) * sizeof *at);
    memcpy(whole, prefix, wcslen(prefix) * sizeof *prefix);
    return whole;
}

/* To be freed; NULL with errno. */
static wchar_t *wide(const char *path)
{
    path = strcmp(path, "/dev/null") == 0 ? "NUL" : path;
    const int room = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *made = room ? malloc((size_t)room * sizeof *made) : NULL;
    if (!made) {
        errno = room ? ENOMEM : ENOENT;
        return NULL;
    }
    MultiByteToWideChar(CP_UTF8, 0, path, -1, made, room);
    return lengthen(made);
}

char *l2k_utf8(const wchar_t *text)
{
    const int room = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *made = calloc(1, (size_t)room + 1);
    if (made)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, made, room, NULL, NULL);
    return made;
}

/* ---- What a file is -------------------------------------------------------------------------------------------- */

static int describe(HANDLE file, struct stat *facts)
{
    BY_HANDLE_FILE_INFORMATION found;
    const DWORD kind = GetFileType(file);
    *facts = (struct stat){0};
    if (kind != FILE_TYPE_DISK) {
        facts->st_mode = (kind == FILE_TYPE_PIPE ? S_IFIFO : S_IFCHR) | 0666;
        return 0;
    }
    if (!GetFileInformationByHandle(file, &found))
        return failed(GetLastError());
    facts->st_mode = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? S_IFDIR | 0777 : S_IFREG | 0666;
    facts->st_size = (int64_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    return 0;
}

int l2k_fstat(int descriptor, struct stat *facts)
{
    const intptr_t file = _get_osfhandle(descriptor);
    return file == -1 || file == -2 ? failed(ERROR_INVALID_HANDLE) : describe((HANDLE)file, facts);
}

static const DWORD all_sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/* A file or folder at the end of all links, to ask for facts; INVALID_HANDLE_VALUE with errno. */
static HANDLE find(const char *path)
{
    wchar_t *name = wide(path);
    if (!name)
        return INVALID_HANDLE_VALUE;
    HANDLE file = CreateFileW(name, 0, all_sharing, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    const DWORD cause = GetLastError();
    free(name);
    if (file == INVALID_HANDLE_VALUE)
        failed(cause);
    return file;
}

int l2k_stat(const char *path, struct stat *facts)
{
    HANDLE file = find(path);
    if (file == INVALID_HANDLE_VALUE)
        return -1;
    const int status = describe(file, facts);
    CloseHandle(file);
    return status;
}

int l2k_access(const char *path, int mode)
{
    wchar_t *name = wide(path);
    const DWORD found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES, cause = GetLastError();
    free(name);
    if (!name || found == INVALID_FILE_ATTRIBUTES)
        return name ? failed(cause) : -1;
    return mode & W_OK && found & FILE_ATTRIBUTE_READONLY ? failed(ERROR_ACCESS_DENIED) : 0;
}

int l2k_isatty(int descriptor)
{
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(descriptor), &mode) != 0;
}

int l2k_fcntl(int descriptor, int command)
{
    (void)command;
    return _get_osfhandle(descriptor) == -1 ? -1 : 0; /* -2: a standard stream without a file, which fails when used */
}

/* ---- Opening and reading --------------------------------------------------------------------------------------- */

static HANDLE open_handle(const wchar_t *name, int flags, DWORD attributes)
{
    const int access = flags & (O_RDONLY | O_WRONLY | O_RDWR);
    const DWORD wanted = access == O_RDONLY   ? GENERIC_READ
                         : access == O_WRONLY ? GENERIC_WRITE
                                              : GENERIC_READ | GENERIC_WRITE;
    const DWORD how = flags & O_CREAT   ? flags & O_EXCL    ? CREATE_NEW
                                          : flags & O_TRUNC ? CREATE_ALWAYS
                                                            : OPEN_ALWAYS
                      : flags & O_TRUNC ? TRUNCATE_EXISTING
                                        : OPEN_EXISTING;
    HANDLE file = CreateFileW(name, wanted, all_sharing, NULL, how, attributes, NULL);
    if (file == INVALID_HANDLE_VALUE && how == TRUNCATE_EXISTING) /* which devices refuse */
        file = CreateFileW(name, wanted, all_sharing, NULL, OPEN_EXISTING, attributes, NULL);
    return file;
}

static int descriptor_of(HANDLE file)
{
    const int made = _open_osfhandle((intptr_t)file, _O_BINARY | _O_NOINHERIT);
    if (made < 0)
        CloseHandle(file);
    return made;
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return l2k_stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int l2k_open(const char *path, int flags, ...)
{
    wchar_t *name = wide(path);
    if (!name)
        return -1;
    HANDLE file = open_handle(name, flags, FILE_ATTRIBUTE_NORMAL);
    const DWORD cause = GetLastError();
    free(name);
    if (file != INVALID_HANDLE_VALUE)
        return descriptor_of(file);
    failed(cause);
    if (cause == ERROR_ACCESS_DENIED && is_folder(path))
        errno = EISDIR;
    return -1;
}

/* The modes that occur: "rb", "r+b", "wb" and, in tests, the same without "b". */
FILE *l2k_fopen(const char *path, const char *mode)
{
    const bool writes = *mode == 'w', both = strchr(mode, '+') != NULL;
    const int descriptor = l2k_open(path, (both     ? O_RDWR
                                           : writes ? O_WRONLY
                                                    : O_RDONLY) |
                                              (writes ? O_CREAT | O_TRUNC : 0));
    return descriptor < 0 ? NULL : fdopen(descriptor, both ? writes ? "w+b" : "r+b" : writes ? "wb" : "rb");
}

FILE *l2k_tmpfile(void)
{
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    HANDLE file = INVALID_HANDLE_VALUE;
    if (GetTempPathW(MAX_PATH + 1, folder) && GetTempFileNameW(folder, L"l2k", 0, name))
        file = open_handle(name, O_RDWR, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
    if (file == INVALID_HANDLE_VALUE) {
        failed(GetLastError());
        return NULL;
    }
    const int descriptor = descriptor_of(file);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
}

int64_t l2k_lseek(int descriptor, int64_t offset, int whence)
{
    if (GetFileType((HANDLE)_get_osfhandle(descriptor)) == FILE_TYPE_DISK)
        return _lseeki64(descriptor, offset, whence);
    errno = ESPIPE;
    return -1;
}

/* ReadFile moves the position, which is put back. */
ptrdiff_t pread(int descriptor, void *buffer, size_t bytes, int64_t offset)
{
    const int64_t before = l2k_lseek(descriptor, 0, SEEK_CUR);
    const DWORD most = bytes < (size_t)1 << 30 ? (DWORD)bytes : (DWORD)1 << 30;
    OVERLAPPED at = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD got = 0;
    if (before < 0)
        return -1;
    const bool done = ReadFile((HANDLE)_get_osfhandle(descriptor), buffer, most, &got, &at);
    const DWORD cause = done ? 0 : GetLastError();
    _lseeki64(descriptor, before, SEEK_SET);
    return done || cause == ERROR_HANDLE_EOF ? (ptrdiff_t)got : failed(cause);
}

/* ---- Names come and go ----------------------------------------------------------------------------------------- */

static int with_name(const char *path, int (*act)(const wchar_t *name))
{
    wchar_t *name = wide(path);
    const int status = name ? act(name) : -1, cause = errno;
    free(name);
    errno = cause;
    return status;
}

int l2k_unlink(const char *path)
{
    return with_name(path, _wunlink);
}

int l2k_rmdir(const char *path)
{
    return with_name(path, _wrmdir);
}

int l2k_mkdir(const char *path)
{
    return with_name(path, _wmkdir);
}

int l2k_rename(const char *from, const char *to)
{
    wchar_t *old_name = wide(from), *new_name = old_name ? wide(to) : NULL;
    const bool done = new_name && MoveFileExW(old_name, new_name, MOVEFILE_REPLACE_EXISTING);
    const int status = done ? 0 : new_name ? failed(GetLastError()) : -1, cause = errno;
    free(old_name);
    free(new_name);
    errno = cause;
    return status;
}

/* The file at the end of all links, without the prefix of long names, with "/" between folders. */
char *realpath(const char *path, char *room)
{
    (void)room;
    HANDLE file = find(path);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    const DWORD length = GetFinalPathNameByHandleW(file, NULL, 0, 0);
    wchar_t *whole = length ? malloc((length + 1) * sizeof *whole) : NULL;
    const bool found = whole && GetFinalPathNameByHandleW(file, whole, length + 1, 0);
    CloseHandle(file);
    const bool is_share = found && wcsncmp(whole, L"\\\\?\\UNC\\", 8) == 0;
    const bool has_prefix = found && wcsncmp(whole, L"\\\\?\\", 4) == 0;
    if (is_share)
        whole[6] = L'\\';
    char *made = found ? l2k_utf8(whole + (is_share ? 6 : has_prefix ? 4 : 0)) : strdup(path);
    for (char *at = made; found && at && *at; at++)
        *at = *at == '\\' ? '/' : *at;
    free(whole);
    return made;
}

/* ---- Folders --------------------------------------------------------------------------------------------------- */

struct l2k_folder {
    HANDLE search;
    bool has_next;
    WIN32_FIND_DATAW next;
    struct dirent entry;
};

DIR *opendir(const char *path)
{
    const size_t length = strlen(path), room = length + 3;
    const bool ends = length && (path[length - 1] == '/' || path[length - 1] == '\\');
    char *pattern = malloc(room);
    if (pattern)
        snprintf(pattern, room, "%s%s*", path, ends ? "" : "/");
    wchar_t *name = pattern ? wide(pattern) : NULL;
    DIR *folder = name ? calloc(1, sizeof *folder) : NULL;
    if (folder)
        folder->search = FindFirstFileW(name, &folder->next);
    const DWORD cause = GetLastError();
    free(pattern);
    free(name);
    if (folder && folder->search == INVALID_HANDLE_VALUE) {
        free(folder);
        failed(cause);
        return NULL;
    }
    if (folder)
        folder->has_next = true;
    return folder;
}

struct dirent *readdir(DIR *folder)
{
    if (!folder->has_next)
        return NULL;
    if (!WideCharToMultiByte(CP_UTF8, 0, folder->next.cFileName, -1, folder->entry.d_name, sizeof folder->entry.d_name,
                             NULL, NULL))
        folder->entry.d_name[0] = 0;
    folder->has_next = FindNextFileW(folder->search, &folder->next);
    return &folder->entry;
}

int closedir(DIR *folder)
{
    FindClose(folder->search);
    free(folder);
    return 0;
}

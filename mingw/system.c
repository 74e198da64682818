/* Mapped files, and what the machine is like, by POSIX calls on Windows. */
#include <windows.h>

#include <psapi.h>

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, int64_t offset)
{
    (void)at, (void)protection;
    if (flags & MAP_ANONYMOUS) {
        void *made = VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
        return made ? made : MAP_FAILED;
    }
    HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
    if (!mapping)
        return MAP_FAILED;
    void *mapped = MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)(offset >> 32), (DWORD)offset, bytes);
    CloseHandle(mapping);
    return mapped ? mapped : MAP_FAILED;
}

int munmap(void *mapped, size_t bytes)
{
    (void)bytes;
    return UnmapViewOfFile(mapped) || VirtualFree(mapped, 0, MEM_RELEASE) ? 0 : -1;
}

int mprotect(void *from, size_t bytes, int protection)
{
    DWORD before;
    (void)protection;
    return VirtualProtect(from, bytes, PAGE_NOACCESS, &before) ? 0 : -1;
}

/* ---- The machine ----------------------------------------------------------------------------------------------- */

long sysconf(int what)
{
    SYSTEM_INFO facts;
    GetSystemInfo(&facts);
    return (long)(what == _SC_PAGESIZE ? facts.dwPageSize : facts.dwNumberOfProcessors);
}

int ioctl(int descriptor, int request, struct winsize *size)
{
    CONSOLE_SCREEN_BUFFER_INFO facts;
    (void)request;
    if (!GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(descriptor), &facts))
        return -1;
    size->ws_col = (unsigned short)(facts.srWindow.Right - facts.srWindow.Left + 1);
    size->ws_row = (unsigned short)(facts.srWindow.Bottom - facts.srWindow.Top + 1);
    return 0;
}

clock_t l2k_clock(void)
{
    FILETIME ignored, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &ignored, &ignored, &kernel, &user))
        return -1;
    const uint64_t units = ((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                           ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime); /* of 100 ns */
    return (clock_t)(units / (10000000 / CLOCKS_PER_SEC));
}

int getrusage(int whose, struct rusage *usage)
{
    PROCESS_MEMORY_COUNTERS facts = {0};
    (void)whose;
    const bool found = K32GetProcessMemoryInfo(GetCurrentProcess(), &facts, sizeof facts);
    usage->ru_maxrss = (long)(facts.PeakWorkingSetSize >> 10);
    return found ? 0 : -1;
}

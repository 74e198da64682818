/* Address space from the system: mmap, on Windows VirtualAlloc. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, madvise */
#include "base/pages.h"

#include <stdlib.h>

#ifdef _WIN32

#include <windows.h>

void *l2k_pages_allocate(size_t bytes)
{
    return malloc(bytes);
}

void *l2k_pages_reserve(size_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

bool l2k_pages_use(void *from, size_t bytes)
{
    return VirtualAlloc(from, bytes, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

void l2k_pages_forget(void *from, size_t bytes)
{
    MEMORY_BASIC_INFORMATION run;
    char *at = from, *const end = at + bytes;
    for (; at < end && VirtualQuery(at, &run, sizeof run); at = (char *)run.BaseAddress + run.RegionSize) {
        const size_t left = (size_t)(end - at), there = run.RegionSize - (size_t)(at - (char *)run.BaseAddress);
        if (run.State == MEM_COMMIT)
            VirtualAlloc(at, left < there ? left : there, MEM_RESET, PAGE_READWRITE);
    }
}

void l2k_pages_release(void *reserved, size_t bytes)
{
    (void)bytes;
    VirtualFree(reserved, 0, MEM_RELEASE);
}

size_t l2k_page_size(void)
{
    SYSTEM_INFO facts;
    GetSystemInfo(&facts);
    return facts.dwPageSize;
}

#else

#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_NORESERVE /* systems that never reserve swap space lack it */
#define MAP_NORESERVE 0
#endif

void *l2k_pages_allocate(size_t bytes)
{
#if defined(MADV_HUGEPAGE) && !defined(__EMSCRIPTEN__)
    enum { HUGE_PAGE = 1 << 21, LEAST = 2 * HUGE_PAGE };
    void *block;
    if (bytes >= LEAST && posix_memalign(&block, HUGE_PAGE, bytes) == 0) {
        madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
        return block;
    }
#endif
    return malloc(bytes);
}

void *l2k_pages_reserve(size_t bytes)
{
#ifdef __EMSCRIPTEN__ /* its mmap writes zeros to memory that is virtual until it is written */
    return malloc(bytes);
#endif
    void *reserved = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return reserved == MAP_FAILED ? NULL : reserved;
}

bool l2k_pages_use(void *from, size_t bytes)
{
    (void)from, (void)bytes;
    return true; /* the first access takes the pages */
}

void l2k_pages_forget(void *from, size_t bytes)
{
    madvise(from, bytes, MADV_DONTNEED);
}

void l2k_pages_release(void *reserved, size_t bytes)
{
#ifdef __EMSCRIPTEN__
    free(reserved);
    return;
#endif
    munmap(reserved, bytes);
}

size_t l2k_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

#endif

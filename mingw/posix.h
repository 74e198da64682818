/* The POSIX calls of the command and the tests, in terms of Windows: included before every C file of a Windows build
 * (CMakeLists.txt), so that no other file knows of Windows, apart from base/pages.c. Only what is used is here, as far
 * as in Windows.
 *
 * Names of files are UTF-8 and may be longer than 260 characters; "/" separates folders, "\" as well where Windows
 * gets the name as it stands; "/dev/null" is NUL. Files are opened in binary mode, are not inherited, and can be
 * renamed, replaced and removed while they are open. Descriptors and streams are those of the C library. */
#ifndef L2K_MINGW_POSIX_H
#define L2K_MINGW_POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <math.h>
#include <process.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---- Files (files.c) ------------------------------------------------------------------------------------------- */

typedef int uid_t;
typedef int gid_t;

#define O_CLOEXEC _O_NOINHERIT

struct l2k_stat {
    mode_t st_mode;
    uid_t st_uid;
    gid_t st_gid;
    int64_t st_size;
};
#undef stat
#undef fstat
#define stat       l2k_stat
#define fstat      l2k_fstat
#define S_IFIFO    _S_IFIFO
int l2k_stat(const char *path, struct l2k_stat *facts); /* of the end of a chain of links */
int l2k_fstat(int descriptor, struct l2k_stat *facts);

#define open l2k_open
int l2k_open(const char *path, int flags, ...);
#undef lseek
#define lseek l2k_lseek
int64_t l2k_lseek(int descriptor, int64_t offset, int whence); /* fails for pipes and devices */
ptrdiff_t pread(int descriptor, void *buffer, size_t bytes, int64_t offset);
#define fopen l2k_fopen
FILE *l2k_fopen(const char *path, const char *mode);
#define tmpfile l2k_tmpfile
FILE *l2k_tmpfile(void);
#define isatty l2k_isatty
int l2k_isatty(int descriptor); /* a console; NUL is none */

#define access l2k_access
int l2k_access(const char *path, int mode);
#define unlink l2k_unlink
int l2k_unlink(const char *path);
#define rename l2k_rename
int l2k_rename(const char *from, const char *to); /* replaces a file; a folder it does not */
#define mkdir(path, mode) l2k_mkdir(path)
int l2k_mkdir(const char *path);
#define rmdir l2k_rmdir
int l2k_rmdir(const char *path);
char *realpath(const char *path, char *room); /* `room` is NULL */
char *l2k_utf8(const wchar_t *text);          /* to be freed; NULL when out of memory */

/* A new file has the access rights of its folder. */
static inline int fchmod(int descriptor, mode_t mode)
{
    (void)descriptor, (void)mode;
    return 0;
}

static inline int fchown(int descriptor, uid_t user, gid_t group)
{
    (void)descriptor, (void)user, (void)group;
    return 0;
}

/* Links are left to Windows, which follows them. */
#define lstat l2k_stat

struct dirent {
    char d_name[3 * 260 + 1];
};
typedef struct l2k_folder DIR;
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder);
int closedir(DIR *folder);

/* Is the descriptor open? */
#define F_GETFD 1
#define fcntl   l2k_fcntl
int l2k_fcntl(int descriptor, int command);

/* ---- Memory, the machine (system.c) ---------------------------------------------------------------------------- */

enum { POLLIN = 1, POLLOUT = 4 };
struct pollfd {
    int fd;
    short events, revents;
};
/* No descriptor can be in non-blocking mode. */
static inline int poll(struct pollfd *at, unsigned count, int milliseconds)
{
    (void)at, (void)count, (void)milliseconds;
    return 1;
}

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
enum { MADV_DONTNEED = 4 };
#define MAP_FAILED ((void *)(intptr_t)-1)
/* Files for reading, anonymous memory for both. */
void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, int64_t offset);
int munmap(void *mapped, size_t bytes);
int mprotect(void *from, size_t bytes, int protection);           /* PROT_NONE */
static inline int madvise(void *mapped, size_t bytes, int advice) /* Windows does what it wants */
{
    (void)mapped, (void)bytes, (void)advice;
    return 0;
}

enum { _SC_PAGESIZE, _SC_NPROCESSORS_ONLN };
long sysconf(int what);

enum { TIOCGWINSZ };
struct winsize {
    unsigned short ws_row, ws_col;
};
int ioctl(int descriptor, int request, struct winsize *size);

#define clock l2k_clock
clock_t l2k_clock(void); /* processor time; Windows' own is that of the clock on the wall */
enum { RUSAGE_SELF };
struct rusage {
    long ru_maxrss; /* KiB */
};
int getrusage(int whose, struct rusage *usage);

/* ---- Signals (signals.c) --------------------------------------------------------------------------------------- */

/* Ctrl-C is SIGINT, Ctrl-Break SIGTERM, and the end of the console or of the session SIGHUP; the handler runs on a
 * thread of its own. Others never come. */
#define SIGHUP     1
#define SIGQUIT    3
#define SIGBUS     7
#define SIGPIPE    13
#define SIGXCPU    24
#define SIGXFSZ    25
#define SA_RESTART 0

#undef sigset_t
#define sigset_t l2k_sigset
typedef int l2k_sigset;
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
    sigset_t sa_mask;
};
int sigaction(int number, const struct sigaction *now, struct sigaction *before);
#define signal l2k_signal
void (*l2k_signal(int number, void (*handler)(int)))(int);
/* Without a handler, ends the program with the status of a program that Ctrl-C ended. */
#define raise l2k_raise
int l2k_raise(int number);

static inline int sigemptyset(sigset_t *set)
{
    return *set = 0;
}

static inline int sigfillset(sigset_t *set)
{
    return *set = 0;
}

static inline int sigaddset(sigset_t *set, int number)
{
    (void)number;
    return *set = 0;
}

#undef pthread_sigmask
static inline int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how, (void)set;
    if (before)
        *before = 0;
    return 0;
}

/* ---- The C library's gaps -------------------------------------------------------------------------------------- */

#ifndef TIME_UTC
#define TIME_UTC 1
static inline int timespec_get(struct timespec *now, int base)
{
    return clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}
#endif

/* MinGW's fmaf rounds twice. Here the sum of the exact product and c is rounded to an odd double, from which one more
 * rounding gives what a single one would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
 * algorithms using rounding to odd", 2008). */
#define fmaf l2k_fmaf
static inline float l2k_fmaf(float a, float b, float c)
{
    union {
        double value;
        uint64_t bits;
    } sum;
    const double product = (double)a * b;
    sum.value = product + c;
    const double part = sum.value - product, rest = (product - (sum.value - part)) + (c - part);
    if ((rest > 0 || rest < 0) && !(sum.bits & 1))
        sum.bits += (rest > 0) == (sum.value > 0) ? 1 : UINT64_MAX;
    return (float)sum.value;
}

#endif

/* Ctrl-C and its like on Windows, by sigaction and raise. */
#include <windows.h>

#include <stdatomic.h>

enum { MOST_SIGNALS = 32 };

/* NULL is SIG_DFL, that of all signals at first. */
static void (*handlers[MOST_SIGNALS])(int);

int l2k_raise(int number)
{
    if (handlers[number] == SIG_IGN)
        return 0;
    if (handlers[number] != SIG_DFL)
        handlers[number](number);
    else
        TerminateProcess(GetCurrentProcess(),
                         (UINT)STATUS_CONTROL_C_EXIT); /* ExitProcess would wait for other threads */
    return 0;
}

/* When the console is closed, Windows ends the program as soon as this returns, otherwise after some seconds. */
static BOOL WINAPI on_event(DWORD event)
{
    const int number = event == CTRL_C_EVENT ? SIGINT : event == CTRL_BREAK_EVENT ? SIGTERM : SIGHUP;
    if (handlers[number] == SIG_DFL)
        return FALSE;
    l2k_raise(number);
    if (number == SIGHUP)
        Sleep(INFINITE);
    return TRUE;
}

void (*l2k_signal(int number, void (*handler)(int)))(int)
{
    static atomic_flag listens = ATOMIC_FLAG_INIT;
    void (*before)(int) = handlers[number];
    handlers[number] = handler;
    if (handler != SIG_DFL && !atomic_flag_test_and_set(&listens))
        SetConsoleCtrlHandler(on_event, TRUE);
    return before;
}

int sigaction(int number, const struct sigaction *now, struct sigaction *before)
{
    if (before)
        *before = (struct sigaction){.sa_handler = handlers[number]};
    if (now)
        l2k_signal(number, now->sa_handler);
    return 0;
}

#define _POSIX_C_SOURCE 200809L
#include "pictures/files/wait.h"

#include <errno.h>
#include <poll.h>

#include "pictures/files/limits.h"
#include "pictures/files/units.h"

double cli_deadline(void)
{
    return cli_allowed.seconds > 0 ? cli_now() + cli_allowed.seconds : 0;
}

bool cli_is_late(double deadline)
{
    return deadline > 0 && cli_now() >= deadline;
}

bool cli_wait_ready(int descriptor, short events, double deadline)
{
    struct pollfd poller = {.fd = descriptor, .events = events};
    for (;;) {
        double left = deadline > 0 ? deadline - cli_now() : 60;
        if (left <= 0) {
            errno = ETIME;
            return false;
        }
        int ready = poll(&poller, 1, left < 60 ? (int)(left * 1e3) + 1 : 60000);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

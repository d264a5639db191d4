/* Crash points for tests (docs/architecture.md, "Tests"). */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/crash.h"
#include "daemon/daemon.h"

void crash_point(void)
{
    static bool asked;
    static long left; /* calls left; 0: never crash */
    if (!asked) {
        const char *text = getenv("PLEAT_TEST_CRASH_AFTER");
        left = text ? strtol(text, NULL, 10) : 0;
        asked = true;
    }
    if (left <= 0 || --left > 0)
        return;
    daemon_log("crash point reached");
    raise(SIGKILL);
}

#include "agent/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pleat_agent_crash_point(const char *who, const char *step)
{
    const char *path = getenv("PLEAT_TEST_AGENT_CRASH");
    char wanted[64], wants[64] = "";
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file)
        return;
    snprintf(wanted, sizeof(wanted), "%s %s", who, step);
    bool is_wanted = fgets(wants, sizeof(wants), file) && !strcmp(wants, wanted);
    fclose(file);
    if (is_wanted && !unlink(path))
        raise(SIGKILL);
}

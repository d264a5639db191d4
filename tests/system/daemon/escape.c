/* Preloaded into a job: each of its ranks (ESCAPE_ALL: each of its processes) leaves a process
 * behind by which nothing shows whose it is: no environment, a session of its own, no parent, no
 * files but that into which it writes its number.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void escape(const char *path)
{
    char script[4096];
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
    char *const env[] = {NULL};
    snprintf(script, sizeof(script), "cd /; echo $$ >>'%s'; exec sleep 1000 <&- >&- 2>&-", path);
    if (setsid() < 0 || fork() != 0)
        _exit(0);
    if (getenv("ESCAPE_STUBBORN"))
        (void)signal(SIGTERM, SIG_IGN);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execve("/bin/sh", argv, env);
    _exit(1);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("ESCAPE");
    bool rank = getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK");
    if (path && (rank || getenv("ESCAPE_ALL")) && fork() == 0)
        escape(path);
}

/* Preloaded into an agent: stops what it forks, at moments of a start that last no time otherwise.
 * $MOMENT names a file, which says at which moment; it is removed as the process stops there:
 *   reaper   the reaper has not forked the main process yet
 *   untold   the main process has told nothing
 *   told     the main process has told its number, and has not executed its program
 * $LISTS names a file that gets a byte whenever the list of all processes is opened.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define REAPER "pleat-reaper"

static int is_a_part_of_a_run(void)
{
    char name[16] = "";
    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, REAPER) == 0;
}

static void stop_at(const char *moment)
{
    char wanted[16] = "";
    const char *path = getenv("MOMENT");
    FILE *file = path && is_a_part_of_a_run() ? fopen(path, "re") : NULL;
    if (!file)
        return;
    const char *line = fgets(wanted, sizeof(wanted), file);
    fclose(file);
    if (line && strcmp(wanted, moment) == 0 && unlink(path) == 0)
        (void)raise(SIGSTOP);
}

pid_t fork(void)
{
    pid_t (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "fork");
    stop_at("reaper");
    pid_t pid = next();
    if (pid == 0)
        stop_at("untold");
    return pid;
}

DIR *opendir(const char *path)
{
    DIR *(*next)(const char *);
    *(void **)&next = dlsym(RTLD_NEXT, "opendir");
    const char *lists = getenv("LISTS");
    FILE *file = lists && strcmp(path, "/proc") == 0 ? fopen(lists, "ae") : NULL;
    if (file) {
        fputc('.', file);
        fclose(file);
    }
    return next(path);
}

pid_t setsid(void)
{
    pid_t (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "setsid");
    stop_at("told");
    return next();
}

/* leaves.c - an evolving program on libpleat-process. Process 0 adds one process, and prints what
 * that sends when it is told to leave, and how it is gone. usage: leaves FILE. It ends when FILE is
 * there. */
#include <stdio.h>
#include <unistd.h>

#include "pleat-process.h"

enum { STATE = 1 };

static struct pleat_error err;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, err.text);
    return 1;
}

static const char *name_of(int reason)
{
    return reason == PLEAT_PROCESS_STOPPED ? "stopped"
           : reason == PLEAT_PROCESS_LOST  ? "lost"
           : reason == PLEAT_PROCESS_DIED  ? "died"
                                           : "ended";
}

static int lead(struct pleat_processes *all, const char *file)
{
    struct pleat_process_message message;
    struct pleat_process_news notice;
    int32_t other = 0;
    long state = 0;
    if (pleat_process_add(all, NULL, &other, &err) < 0)
        return fail("add");
    while (access(file, F_OK)) {
        while (pleat_process_notice(all, &notice)) {
            if (notice.process != other)
                continue;
            if (notice.news == PLEAT_PROCESS_NEWS_GONE)
                printf("process %d is gone: %s\n", (int)notice.process, name_of(notice.reason));
            else if (notice.news == PLEAT_PROCESS_NEWS_CAME)
                printf("process %d is here\n", (int)notice.process);
        }
        if (!pleat_process_receive(all, PLEAT_PROCESS_ANY, STATE, &state, sizeof(state), &message,
                                   50, &err))
            printf("process %d has sent %ld\n", (int)message.from, state);
        fflush(stdout);
    }
    return 0;
}

static int work(struct pleat_processes *all)
{
    const long state = 42;
    struct pleat_process_message message;
    int rc = 0;
    while (!pleat_process_leaving(all) && rc != PLEAT_E_CLOSED) /* which ends the waiting */
        rc = pleat_process_probe(all, 0, STATE, &message, 60000, &err);
    if (pleat_process_send(all, 0, STATE, &state, sizeof(state), -1, &err))
        return fail("send");
    return 0;
}

int main(int argc, char **argv)
{
    struct pleat_processes *all = NULL;
    int begun = pleat_processes_begin(&all, NULL, &err), bad = 0;
    if (begun < 0 || argc != 2)
        return fail("begin");
    if (begun == PLEAT_PROCESS_STARTED && pleat_process_self(all) == 0)
        bad = lead(all, argv[1]);
    else if (begun != PLEAT_PROCESS_LEAVE)
        bad = work(all);
    return pleat_processes_finish(all, &err) < 0 ? fail("finish") : bad;
}

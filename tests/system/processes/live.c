/* live.c - an evolving program on libpleat-process. Process 0 adds processes one by one, gives each
 * work, takes the results, and stops it. usage: live PROCESSES ROUNDS [wait FILE]. It prints what
 * it got, and how many were prepared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pleat-process.h"

enum { WORK = 1, RESULT = 2 };

static struct pleat_error err;

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, err.text);
    return 1;
}

/* Squares numbers until it shall leave. */
static int serve(struct pleat_processes *all)
{
    struct pleat_process_message message;
    long number;
    while (!pleat_process_leaving(all)) {
        int rc = pleat_process_receive(all, PLEAT_PROCESS_ANY, WORK, &number, sizeof(number),
                                       &message, 100, &err);
        if (rc == PLEAT_PROCESS_NOTHING)
            continue;
        if (rc)
            return fail("receive");
        number *= number;
        if (pleat_process_send(all, message.from, RESULT, &number, sizeof(number), -1, &err))
            return fail("send");
    }
    return 0;
}

/* Waits until that is told of a process. */
static int wait_for(struct pleat_processes *all, int news, int32_t process, int *reason)
{
    struct pleat_process_news notice;
    for (int tries = 0; tries < 6000; tries++) {
        while (pleat_process_notice(all, &notice)) {
            if (notice.news == news && notice.process == process) {
                *reason = notice.reason;
                return 0;
            }
        }
        usleep(10000);
    }
    fprintf(stderr, "nothing was heard of process %d\n", (int)process);
    return 1;
}

static int one_round(struct pleat_processes *all, int processes, long *sum, int *ready)
{
    int32_t ids[64];
    struct pleat_process_message message;
    int reason = 0;
    for (int i = 0; i < processes; i++) {
        int rc = pleat_process_add(all, NULL, &ids[i], &err);
        if (rc < 0)
            return fail("add");
        *ready += rc == PLEAT_PROCESS_ADDED_READY;
        long number = ids[i];
        if (pleat_process_send(all, ids[i], WORK, &number, sizeof(number), -1,
                               &err)) /* also to one that comes */
            return fail("send");
    }
    for (int i = 0; i < processes; i++) {
        long number = 0;
        if (pleat_process_receive(all, ids[i], RESULT, &number, sizeof(number), &message, 60000,
                                  &err))
            return fail("receive");
        *sum += number - (long)ids[i] * ids[i] + 1;
    }
    if (pleat_process_returning(all, processes, &err))
        return fail("returning");
    for (int i = 0; i < processes; i++) {
        if (pleat_process_stop(all, ids[i], &err))
            return fail("stop");
        if (wait_for(all, PLEAT_PROCESS_NEWS_GONE, ids[i], &reason))
            return 1;
        if (reason != PLEAT_PROCESS_STOPPED)
            fprintf(stderr, "process %d is gone for the reason %d\n", (int)ids[i], reason);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct pleat_processes *all = NULL;
    int what = pleat_processes_begin(&all, NULL, &err), bad = 0, ready = 0;
    long sum = 0;
    if (what < 0)
        return fail("begin");
    if (what == PLEAT_PROCESS_STARTED && pleat_process_self(all) == 0) {
        if (argc > 4)
            while (access(argv[4], F_OK)) /* until some are prepared */
                usleep(10000);
        for (int round = 0; !bad && round < atoi(argv[2]); round++) {
            pleat_process_iteration(all, round + 1);
            bad = one_round(all, atoi(argv[1]), &sum, &ready);
        }
        printf("%ld results, %d prepared\n", sum, ready);
    } else if (what != PLEAT_PROCESS_LEAVE) {
        bad = serve(all);
    }
    return pleat_processes_finish(all, &err) < 0 ? fail("finish") : bad;
}

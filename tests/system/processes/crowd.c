/* crowd.c - many processes of the start, each of which hears of all others. usage: crowd PROCESSES.
 * Each joins a group, and tells process 0 when it knows that all are in it. Then those with an odd
 * number finish, and the others, which stay until the end, tell process 0 when they know that these
 * are gone. Process 0 prints how many have told. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pleat-process.h"

enum { SAID = 1, TRIES = 12000 }; /* a minute and more for each wait */

static struct pleat_error err;

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

/* Waits until as many as that are in the group. */
static int wait_for(struct pleat_processes *all, int members)
{
    struct pleat_process_news news;
    for (int tries = 0; tries < TRIES; tries++) {
        int there = pleat_process_group_list(all, "all", NULL, 0);
        if (there == members)
            return 0;
        while (pleat_process_notice(all, &news))
            ; /* what they say is in the list as well */
        usleep(5000);
    }
    fprintf(stderr, "process %d: %d members, not %d\n", (int)pleat_process_self(all),
            pleat_process_group_list(all, "all", NULL, 0), members);
    return 1;
}

static int hear(struct pleat_processes *all, int count, int *heard)
{
    for (int i = 0; i < count; i++) {
        char byte = 0;
        if (pleat_process_receive(all, PLEAT_PROCESS_ANY, SAID, &byte, 1, NULL, 120000, &err))
            return fail("receive", err.text);
        ++*heard;
    }
    return 0;
}

static int say(struct pleat_processes *all)
{
    char byte = 1;
    return pleat_process_send(all, 0, SAID, &byte, 1, -1, &err) ? fail("send", err.text) : 0;
}

static int take_part(struct pleat_processes *all, int processes)
{
    const int self = pleat_process_self(all), odd = processes / 2;
    int heard = 0, bad = 0;
    char byte = 1;
    if (pleat_process_group_join(all, "all", &err))
        return fail("join", err.text);
    bad = wait_for(all, processes);
    if (bad || (self > 0 && say(all)))
        return 1;
    if (self == 0) { /* all have counted: some may go */
        bad = hear(all, processes - 1, &heard);
        for (int i = 1; !bad && i < processes; i++)
            bad = pleat_process_send(all, i, SAID, &byte, 1, -1, &err) != 0;
    } else {
        bad = pleat_process_receive(all, 0, SAID, &byte, 1, NULL, 120000, &err) != 0;
    }
    if (bad)
        return fail("the word to go on", err.text);
    if (self % 2)
        return 0;
    bad = wait_for(all, processes - odd);
    if (self > 0) {
        bad = bad || say(all);
        while (!bad && !pleat_process_leaving(all)) /* others may still count: until the run ends */
            usleep(5000);
        return bad;
    }
    bad = bad || hear(all, processes - odd - 1, &heard);
    printf("%d have told\n", heard);
    return bad;
}

int main(int argc, char **argv)
{
    struct pleat_processes *all = NULL;
    int what = pleat_processes_begin(&all, NULL, &err), bad = 0;
    if (what < 0 || argc < 2)
        return fail("begin", what < 0 ? err.text : "how many?");
    if (what == PLEAT_PROCESS_STARTED)
        bad = take_part(all, atoi(argv[1]));
    return pleat_processes_finish(all, &err) < 0 ? fail("finish", err.text) : bad;
}

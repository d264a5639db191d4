/* host.h - a driver for sites and runners under test: queues what they emit, and lets simulated
 * time pass. */
#ifndef PLEAT_TESTS_CONFORMANCE_HOST_H
#define PLEAT_TESTS_CONFORMANCE_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"
#include "site/site.h"

struct due;

struct played_call {
    void (*fn)(void *arg, uint64_t token);
    void *arg;
    uint64_t token;
};

PLEAT_ARRAY(played_calls, struct played_call);
PLEAT_ARRAY(played_due, struct due *);

/* The result of a played command. */
struct played_answer {
    enum pleat_command_end end;
    int code;
    int64_t after_us; /* how long it takes */
    struct pleat_string output, errors;
};

/* Functions that play the programs which sites under test run: no process is started. */
struct played_programs {
    /* Fills in the command's result. */
    void (*run)(void *arg, const struct pleat_command *command, struct played_answer *answer);
    /* A helper was told a line: it may answer with played_helper_says and played_helper_ends. */
    void (*said)(void *arg, struct pleat_helper *helper, const char *line);
    void *arg;
};

struct played_host {
    struct pleat_host host;
    struct pleat_events events; /* emitted, oldest first */
    struct played_calls calls;
    struct pleat_heap timers;
    int64_t now_us;
    size_t mark;
    const struct played_programs *programs; /* NULL: no program can be started */
    struct pleat_helper *helpers;
    struct pleat_site_instance *site; /* whose agents are played */
    int64_t agent_us;                 /* how long one takes to call; -1: none ever does */
    int agent_calls;
    int said;              /* to people */
    int told;              /* to the users of jobs */
    struct played_due due; /* of programs */
};

void played_host_init(struct played_host *played);
void played_host_finish(struct played_host *played);
/* Time passes until no timer is left. */
void played_host_run(struct played_host *played);
/* A helper writes a line, or ends, delay_us from now. */
void played_helper_says(struct pleat_helper *helper, const char *line, int64_t delay_us);
void played_helper_ends(struct pleat_helper *helper, int code, int64_t delay_us);
/* Sets the mark: only later events are counted. */
void played_host_mark(struct played_host *played);
/* Events of a kind since the mark; *last (may be NULL) is the latest. */
int played_host_count(const struct played_host *played, unsigned kind, struct pleat_event *last);

#endif

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
#include "model/host.h"

struct played_call {
    void (*fn)(void *arg, uint64_t token);
    void *arg;
    uint64_t token;
};

PLEAT_ARRAY(played_calls, struct played_call);

struct played_host {
    struct pleat_host host;
    struct pleat_events events; /* emitted, oldest first */
    struct played_calls calls;
    struct pleat_heap timers;
    int64_t now_us;
    size_t mark;
};

void played_host_init(struct played_host *played);
void played_host_finish(struct played_host *played);
/* Time passes until no timer is left. */
void played_host_run(struct played_host *played);
/* Events so far are old news. */
void played_host_mark(struct played_host *played);
/* Events of a kind since the mark; *last (may be NULL) is the latest. */
int played_host_count(const struct played_host *played, unsigned kind, struct pleat_event *last);

#endif

/* start_order.h - what a runner is told to start a run. */
#ifndef PLEAT_DAEMON_START_ORDER_H
#define PLEAT_DAEMON_START_ORDER_H

#include <limits.h>

#include "daemon/agent_network.h"
#include "daemon/slots.h"
#include "runner/runner.h"

struct daemon;
struct job;

/* An order to start a run, and the memory that the order refers to. */
struct start_order {
    struct pleat_run_order order;
    struct node_slots_list slots;
    struct pleat_run_node *nodes;
    struct agents_network network;
    char in[PATH_MAX], out[PATH_MAX], error[PATH_MAX], program[PATH_MAX], scratch[PATH_MAX];
};

/* Makes the order to start a run of a job at a size. The files are only named. *made must be
 * finished by the caller, also after an error. */
int start_order_make(struct daemon *d, const struct job *job, uint64_t run, int32_t processes,
                     int32_t processors, struct start_order *made,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
void start_order_finish(struct start_order *made);

#endif

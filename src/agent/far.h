/* far.h - a process of an evolving run (evolve.h) on this node, where the run is led from another
 * one.
 *
 * It is a run of its own, and a part of that run for the daemon. It talks with this agent as it
 * would with the one that leads: over a unix socket, in the same words. Each line goes on to the
 * agent that leads (`process_said`), through the daemon, and back (`process_told`). So agents do
 * not speak with one another, and no other way into them is needed. While the daemon is away lines
 * do not arrive. When it is back the connection is ended here, or there: on the next one the
 * process says hello, is told all anew, and repeats what was not answered. Each connection has a
 * number, so that nothing of an earlier one is taken for the present one's. */
#ifndef PLEAT_AGENT_FAR_H
#define PLEAT_AGENT_FAR_H

#include "agent/run.h"

/* What `start` says. Borrowed. */
struct pleat_far_request {
    uint32_t process;   /* its number */
    const char *secret; /* of the run */
    const char *reach;  /* the address of process 0, which it has to reach; NULL: not said */
};

int pleat_far_create(struct pleat_run *run, const struct pleat_run_request *request,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Listens no more. Accepts a run without it. */
void pleat_far_stop(struct pleat_run *run);
void pleat_far_destroy(struct pleat_run *run);
void pleat_far_add_variables(const struct pleat_run *run, struct pleat_string *own);
/* The daemon is another one, or has not heard all: the process connects again. */
void pleat_far_again(const struct pleat_run *run);
/* The member by which `list` tells such a run. Nonzero: no memory. */
int pleat_far_list(const struct pleat_run *run, json_t *text);
/* The request `process_told`. Of an earlier connection it does nothing. */
int pleat_far_told(struct pleat_run *run, const json_t *params,
                   struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* processes.h - processes of evolving jobs: orders to prepare them, and what agents say of them */
#ifndef PLEAT_DAEMON_PROCESSES_H
#define PLEAT_DAEMON_PROCESSES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct agent;
struct daemon;
struct job;
struct pleat_effect;

/* A claim on which a process was ordered. What an agent says of an earlier order is old. */
struct process_order {
    uint64_t claim, number, run;
    uint32_t site, node;
    uint32_t index; /* the claim's place in the core */
};
PLEAT_ARRAY(process_orders, struct process_order);

struct processes {
    struct process_orders orders;
    uint64_t last; /* the number of the last order: they rise, also over a restart */
};

/* Carries out DO_PREPARE, DO_UNPREPARE and DO_LEAVE. */
void processes_carry_out(struct daemon *d, const struct pleat_effect *effect);
/* The processor of a claim goes back: its agent need not remember what became of a process there.
 */
void processes_released(struct daemon *d, uint64_t claim);
/* A run starts: the core is told what earlier ones of its program have asked for at its site. */
void processes_recall(struct daemon *d, const struct job *job);
/* A notice about the processes of a run becomes inputs of the core. False: it is another notice. */
bool processes_take(struct daemon *d, struct job *job, uint64_t run, const char *method,
                    const json_t *params);
/* An agent refused an order, as it has no such run, or does not know what is wanted: there is no
 * process on the claim. */
void processes_refused(struct daemon *d, uint64_t run, uint64_t claim, bool prepare);
void processes_finish(struct daemon *d);

#endif

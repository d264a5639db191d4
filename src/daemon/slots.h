/* slots.h - which slots of which nodes a job has */
#ifndef PLEAT_DAEMON_SLOTS_H
#define PLEAT_DAEMON_SLOTS_H

#include "base/array.h"
#include "base/cpus.h"
#include "runner/runner.h"

struct daemon;
struct pleat_component;

PLEAT_ARRAY(slot_ranges, struct pleat_slot_range);

/* What a component has on a node. */
struct node_slots {
    uint32_t node;
    int32_t processors;
    struct slot_ranges ranges; /* empty: it is not bound */
    /* of one that folds: further CPUs of that host, which came to other nodes */
    struct pleat_cpu_list more;
};
PLEAT_ARRAY(node_slots_list, struct node_slots);

/* Whether the processes of the site's jobs are bound to CPUs. */
bool slots_are_bound(struct daemon *d, uint32_t site);
/* Whether jobs that fold may run there: each is bound, and the agent knows to which CPUs, or, on a
 * node that came with a claim, finds that out (src/agent/granted.h). */
bool slots_may_fold(struct daemon *d, uint32_t site);
/* The CPUs of a node's slots as its agent says them, else as configured, where the site has one
 * node; NULL: neither. Borrowed. */
const char *slots_cpus(struct daemon *d, uint32_t site, uint32_t node);
/* Adds to *nodes, which is empty, the nodes of the component and its slots on each, in the order of
 * ranks, as if the component had `processors` processors: those claimed for a resize under way
 * count, too. The node that leads its run comes first. Where jobs share the site's time, the slots
 * are all of the node. None are added where the component has fewer processors. What one that folds
 * has of a node that is the same host as another one (NODE_HOME) counts for that one:
 * PLEAT_E_STATE: its agent cannot be told which CPUs these are; PLEAT_E_BUSY: that is not known
 * yet. To be finished also after an error. */
int slots_of(struct daemon *d, const struct pleat_component *component, int32_t processors,
             struct node_slots_list *nodes, struct pleat_error *err);
void slots_finish(struct node_slots_list *nodes);
/* How many processes of a folded component are on a node, where it has `count` processors, after
 * `before` on nodes before. */
int32_t slots_processes(struct daemon *d, const struct pleat_component *component, uint32_t node,
                        int32_t before, int32_t count);

#endif

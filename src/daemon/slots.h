/* slots.h - which slots of a node a job has */
#ifndef PLEAT_DAEMON_SLOTS_H
#define PLEAT_DAEMON_SLOTS_H

#include "base/array.h"
#include "runner/runner.h"

struct daemon;
struct pleat_component;

PLEAT_ARRAY(slot_ranges, struct pleat_slot_range);

/* Whether the processes of the site's jobs are bound to CPUs. */
bool slots_are_bound(struct daemon *d, uint32_t site);
/* The CPUs of a node's slots as its agent says them, else as configured, where the site has one
 * node; NULL: neither. Borrowed. */
const char *slots_cpus(struct daemon *d, uint32_t site, uint32_t node);
/* Adds to *ranges the slots that the component has on the node that leads its run, in the order of
 * ranks, if it had that number of processors: those claimed for a resize under way count, too.
 * Where jobs share the site's time, these are all slots of the site. None are added where jobs are
 * not bound, or where the component has fewer processors. */
int slots_of(struct daemon *d, const struct pleat_component *component, int32_t processors,
             struct slot_ranges *ranges, struct pleat_error *err);

#endif

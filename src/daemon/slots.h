/* slots.h - which processors of a node a job has */
#ifndef PLEAT_DAEMON_SLOTS_H
#define PLEAT_DAEMON_SLOTS_H

#include "base/array.h"
#include "runner/runner.h"

struct daemon;
struct pleat_component;

PLEAT_ARRAY(slot_ranges, struct pleat_slot_range);

/* The node of its first processor. */
uint32_t slots_first_node(struct daemon *d, const struct pleat_component *component);
/* Whether jobs of the site are bound to the processors that their slots are. */
bool slots_are_bound(struct daemon *d, uint32_t site);
/* The CPUs of its slots as configured, or as its agent said; NULL: neither. Borrowed. */
const char *slots_cpus(struct daemon *d, uint32_t site);
/* Adds its slots on its first node, in the order of ranks, were it that large: with what is claimed
 * for a resize under way. Where jobs share the time of all, all of the site. None where they are
 * not bound, or where it has not so many. */
int slots_of(struct daemon *d, const struct pleat_component *component, int32_t processors,
             struct slot_ranges *ranges, struct pleat_error *err);

#endif

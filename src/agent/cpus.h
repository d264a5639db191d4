/* cpus.h - which CPUs the slots of a node are.
 *
 * Slot i is the i-th CPU of a list. Either the list was given, or it has all CPUs that may be used.
 * The latter is ordered so that neighbouring slots are neighbours in the machine, and so that the
 * second hardware threads of cores come after the first ones of all cores.
 */
#ifndef PLEAT_AGENT_CPUS_H
#define PLEAT_AGENT_CPUS_H

#include "base/cpus.h"

/* The CPUs that `text` names ("0-3,8"; a CPU may be named again). PLEAT_E_INVALID: the text is no
 * list, or names a CPU that is not in `allowed`. */
int pleat_cpus_named(const char *text, const struct pleat_cpu_set *allowed,
                     struct pleat_cpu_list *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;
/* All CPUs of `allowed`, in the order of the machine. topology: NULL for this machine's, else a
 * description that hwloc takes ("pack:2 core:4 pu:2"). Without a topology the CPUs are ordered by
 * number. PLEAT_E_NOMEM. */
int pleat_cpus_in_order(const char *topology, const struct pleat_cpu_set *allowed,
                        struct pleat_cpu_list *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Keeps of a list the items of one share. */
void pleat_cpus_keep_share(struct pleat_cpu_list *cpus, uint32_t share, uint32_t shares);
/* Keeps of a set one share: CPUs that are neighbours in the machine, with all hardware threads of
 * their cores, as far as that is possible. topology: as above. PLEAT_E_NOMEM. */
int pleat_cpus_share(const char *topology, uint32_t share, uint32_t shares,
                     struct pleat_cpu_set *cpus, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds the CPUs of `count` slots from `first` on. PLEAT_E_INVALID: some of these slots do not
 * exist. */
int pleat_cpus_of_slots(const struct pleat_cpu_list *cpus, uint32_t first, uint32_t count,
                        struct pleat_cpu_list *out, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the numbers of a set, ascending, as "0-3,8". */
void pleat_cpu_set_text(const struct pleat_cpu_set *set, struct pleat_string *text);

#endif

/* cpus.h - numbers of CPUs: lists as people write them, and sets as the kernel takes them.
 *
 * A list keeps its order, and may have a number several times: slot i of a node is the i-th item.
 * hwloc's bitmaps are sets, so they cannot express it. pleat-pmi, which is started for each rank,
 * needs only lists and sets and should not load hwloc; the agent uses hwloc (agent/cpus.h).
 */
#ifndef PLEAT_BASE_CPUS_H
#define PLEAT_BASE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

#define PLEAT_CPUS_MAX 8192       /* numbers are below this, the kernel's largest possible */
#define PLEAT_CPU_LIST_MAX 65536u /* items in a list, where numbers may repeat */

PLEAT_ARRAY(pleat_cpu_list, uint32_t);

/* Appends the CPUs of a text such as "0-3,8,0", in that order. PLEAT_E_INVALID with the reason,
 * PLEAT_E_TOOBIG, PLEAT_E_NOMEM: the list is unchanged then. */
int pleat_cpu_list_parse(const char *text, struct pleat_cpu_list *list,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends the list to *text in the same notation. */
void pleat_cpu_list_text(const struct pleat_cpu_list *list, struct pleat_string *text);
int pleat_cpu_list_copy(const struct pleat_cpu_list *from,
                        struct pleat_cpu_list *to) PLEAT_MUST_CHECK;

/* A set of zero bytes is empty. */
struct pleat_cpu_set {
    cpu_set_t sets[PLEAT_CPUS_MAX / CPU_SETSIZE];
};

void pleat_cpu_set_add(struct pleat_cpu_set *set, uint32_t cpu);
void pleat_cpu_set_add_list(struct pleat_cpu_set *set, const struct pleat_cpu_list *list);
bool pleat_cpu_set_has(const struct pleat_cpu_set *set, uint32_t cpu);
uint32_t pleat_cpu_set_count(const struct pleat_cpu_set *set);
bool pleat_cpu_set_equal(const struct pleat_cpu_set *a, const struct pleat_cpu_set *b);
/* The CPUs that are in both sets. */
struct pleat_cpu_set pleat_cpu_set_both(const struct pleat_cpu_set *a,
                                        const struct pleat_cpu_set *b);

/* Environment variable with the CPUs of a job, as a list in the order of its processes. It is set
 * if the job is bound and its processes have several CPUs each. */
#define PLEAT_CPUS_ENV "PLEAT_CPUS"

/* Adds the CPUs of one process: the list is divided into pieces of `each` CPUs, and process `task`
 * (from 0) gets piece number `task`. If the list is too short it begins again; an empty one adds
 * nothing. */
void pleat_cpu_set_add_task(struct pleat_cpu_set *set, const struct pleat_cpu_list *list,
                            uint32_t task, uint32_t each);

/* Gets or sets the CPUs that a thread may use; tid 0: this thread. 0 or an errno. */
int pleat_cpu_set_get(pid_t tid, struct pleat_cpu_set *set) PLEAT_MUST_CHECK;
int pleat_cpu_set_tell(pid_t tid, const struct pleat_cpu_set *set) PLEAT_MUST_CHECK;

/* How many of `count` things share number `share` of `shares` gets: as many as each other one, or
 * one more. Shares are in a row. */
static inline size_t pleat_share_of(size_t count, uint32_t share, uint32_t shares)
{
    return count / shares + (share < count % shares);
}

#endif

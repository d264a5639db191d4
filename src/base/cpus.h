/* cpus.h - numbers of CPUs: lists as people write them, and sets as the kernel takes them.
 *
 * A list keeps its order, and a number may be in it several times: slot i of a node is the i-th of
 * them. So it is none of hwloc's bitmaps, which are sets. pleat-pmi, which is started once for each
 * rank, needs lists and sets and nothing else of the machine: hwloc is for the agent
 * (agent/cpus.h).
 */
#ifndef PLEAT_BASE_CPUS_H
#define PLEAT_BASE_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

#define PLEAT_CPUS_MAX 8192       /* numbers below; as the kernel can be built for */
#define PLEAT_CPU_LIST_MAX 65536u /* of a list, where numbers may repeat */

PLEAT_ARRAY(pleat_cpu_list, uint32_t);

/* Adds what "0-3,8,0" says, in that order; numbers may repeat. PLEAT_E_INVALID with what is wrong
 * in it, then the list is as it was. */
int pleat_cpu_list_parse(const char *text, struct pleat_cpu_list *list,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds the list as such a text. */
void pleat_cpu_list_text(const struct pleat_cpu_list *list, struct pleat_string *text);
int pleat_cpu_list_copy(const struct pleat_cpu_list *from,
                        struct pleat_cpu_list *to) PLEAT_MUST_CHECK;

/* A zeroed one is empty. */
struct pleat_cpu_set {
    cpu_set_t sets[PLEAT_CPUS_MAX / CPU_SETSIZE];
};

void pleat_cpu_set_add(struct pleat_cpu_set *set, uint32_t cpu);
void pleat_cpu_set_add_list(struct pleat_cpu_set *set, const struct pleat_cpu_list *list);
bool pleat_cpu_set_has(const struct pleat_cpu_set *set, uint32_t cpu);
uint32_t pleat_cpu_set_count(const struct pleat_cpu_set *set);
bool pleat_cpu_set_equal(const struct pleat_cpu_set *a, const struct pleat_cpu_set *b);
/* Those of `a` that are also in `b`. */
struct pleat_cpu_set pleat_cpu_set_both(const struct pleat_cpu_set *a,
                                        const struct pleat_cpu_set *b);

/* Which CPUs a job has, as a list in the order of its processes: in its environment, where each of
 * these has several of them, and the job is bound. */
#define PLEAT_CPUS_ENV "PLEAT_CPUS"

/* Adds those of one of several processes that have `each` of the list: of the one with number
 * `task`, from 0. Where the list is shorter it is begun again; an empty one adds nothing. */
void pleat_cpu_set_add_task(struct pleat_cpu_set *set, const struct pleat_cpu_list *list,
                            uint32_t task, uint32_t each);

/* What a thread may use (0: this one), and telling it. 0 or errno. */
int pleat_cpu_set_get(pid_t tid, struct pleat_cpu_set *set) PLEAT_MUST_CHECK;
int pleat_cpu_set_tell(pid_t tid, const struct pleat_cpu_set *set) PLEAT_MUST_CHECK;

#endif

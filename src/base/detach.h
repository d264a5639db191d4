/* detach.h - what a process that lives on must not keep of whoever started it.
 *
 * pleatd may be started by a command inside a job. It then has that job's marks in its environment,
 * and would be ended with the job; and its CPUs, control groups, limits and niceness, which would
 * be those of all jobs to come.
 */
#ifndef PLEAT_BASE_DETACH_H
#define PLEAT_BASE_DETACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether such an environment marks a process of a job. */
bool pleat_detach_is_inside(char *const *env);
/* The environment without what agents, runners and MPI launchers put into that of a job: PLEAT_*
 * but PLEAT_DIR and PLEAT_TEST_*, those of rank_env.h, Pleat's libraries in LD_PRELOAD. A
 * list to be freed, of strings that are borrowed but for *preload, which is to be freed, too (NULL
 * where nothing was changed in it). NULL: out of memory. *changed: it is another one. */
char **pleat_detach_environment(char *const *env, char **preload, bool *changed);
/* When a process began, in ticks since the machine did; 0: there is none. */
uint64_t pleat_detach_start_of(pid_t pid);
/* The agent that started the job this process is in; 0: it is in none, or the agent is dead. */
pid_t pleat_detach_agent(void);

/* Soft limits up to the hard ones, but those of core files and of the stack, which limit no work.
 * `like` (0: none): takes these two from that process, which is this user's. Safe after a fork. */
void pleat_detach_limits(pid_t like);
/* Lowers its own niceness to that of the process `like` (0: to none), where it may. Safe after a
 * fork. */
void pleat_detach_niceness(pid_t like);
/* The CPUs of the process `like`; 0: all. Where that is not allowed it keeps its own. */
void pleat_detach_cpus(pid_t like);
/* Out of control groups that agents made for runs (their names begin with "pleat:"), to where the
 * process `like` is; 0: to the group around it. Returns how many it could not leave. */
int pleat_detach_groups(pid_t like);

#endif

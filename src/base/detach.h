/* detach.h - what a long-lived process must not keep of a job in which it was started.
 *
 * pleatd may be started by a command inside a job. Its environment then marks it as part of that
 * job, so it would be ended with the job; and it has the job's CPUs, control groups, limits and
 * niceness, which all later jobs would inherit.
 */
#ifndef PLEAT_BASE_DETACH_H
#define PLEAT_BASE_DETACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether an environment (NULL at the end) marks a process of a job. */
bool pleat_detach_is_inside(char *const *env);
/* The environment without what agents, runners and MPI launchers add to a job's: PLEAT_* (but
 * PLEAT_DIR and PLEAT_TEST_*), the variables of rank_env.h, Pleat's libraries in LD_PRELOAD. The
 * caller frees the list; its strings are borrowed but for *preload, which the caller frees, too
 * (NULL: unchanged). NULL: out of memory. *changed: whether anything was left out. */
char **pleat_detach_environment(char *const *env, char **preload, bool *changed);
/* When a process was started, in clock ticks since the machine's start; 0: there is no such
 * process. */
uint64_t pleat_detach_start_of(pid_t pid);
/* The agent of the job that this process is in; 0: it is in no job, or the agent is dead. */
pid_t pleat_detach_agent(void);

/* Raises soft limits to the hard ones, but not those of core files and of the stack, which limit no
 * work: these two are taken from the process `like` of this user (0: left alone). Safe after a
 * fork. */
void pleat_detach_limits(pid_t like);
/* Lowers this process's niceness to that of the process `like` (0: to zero), if allowed. Safe after
 * a fork. */
void pleat_detach_niceness(pid_t like);
/* Gives this process the CPUs of the process `like`; 0: all. If that is not allowed it keeps its
 * own. */
void pleat_detach_cpus(pid_t like);
/* Leaves the control groups that agents made for runs (names that begin with "pleat:"): to those of
 * the process `like`; 0: to the parent groups. Returns the number of groups that could not be left.
 */
int pleat_detach_groups(pid_t like);

#endif

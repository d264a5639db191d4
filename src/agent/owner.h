/* owner.h - whose a process is, and which run has a number. */
#ifndef PLEAT_AGENT_OWNER_H
#define PLEAT_AGENT_OWNER_H

#include "agent/run.h"

/* The run that a process of agent->tree belongs to. 0: it belongs to none, or that cannot be told.
 */
uint64_t pleat_run_of_process(struct pleat_agent *agent, struct pleat_process_entry *process);
/* Whether a process is the run's now, as the kernel says (reads agent->tree anew). False, too,
 * where that cannot be told. */
bool pleat_run_has_process(struct pleat_run *run, pid_t pid);
/* The generation of the run that has this reaper. NULL: it has none. */
struct pleat_generation *pleat_run_generation(struct pleat_run *run, pid_t reaper);
/* NULL: there is no such run. */
struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id);
/* The index of the run with this id, or the index at which it would be inserted. */
size_t pleat_run_position(const struct pleat_agent *agent, uint64_t id);
/* Whether the run is STARTING, RUNNING or ENDING. */
bool pleat_run_is_live(const struct pleat_run *run);
size_t pleat_runs_live(const struct pleat_agent *agent);

/* Conversion: the daemon counts processors; mailboxes and launchers count processes. */
uint32_t pleat_run_processors(const struct pleat_run *run, uint32_t processes);
uint32_t pleat_run_processes(const struct pleat_run *run, uint32_t processors);

#endif

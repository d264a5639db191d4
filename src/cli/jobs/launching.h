/* launching.h - what `pleat launch` does in a malleable job, beyond executing a launcher. */
#ifndef PLEAT_CLI_JOBS_LAUNCHING_H
#define PLEAT_CLI_JOBS_LAUNCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "launch/launch.h"

/* Makes the command that starts `processes` processes; finished by the caller. */
typedef int (*pleat_launching_compose)(void *arg, uint32_t processes,
                                       struct pleat_launch_command *command,
                                       struct pleat_error *err);

/* How many processors the job of this agent (the value of PLEAT_LAUNCHING) has now. */
int pleat_launching_ask(const char *agent, uint32_t *processes,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Starts the program, and again whenever the agent says so, until it has ended by itself; ends as
 * its launcher did (also by a signal: then this does not return). Returns the exit code, or a
 * negative code where it could not be started at all. `name`: of the program, for people. `spawns`:
 * its MPI can start processes at run time. */
int pleat_launching_run(const char *agent, const char *name, bool spawns,
                        pleat_launching_compose compose, void *arg,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* launching.h - what `pleat launch` does in a malleable job, beyond executing a launcher. */
#ifndef PLEAT_CLI_JOBS_LAUNCHING_H
#define PLEAT_CLI_JOBS_LAUNCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "launch/launch.h"

/* Composes the command that starts `processes` processes. The caller finishes it. */
typedef int (*pleat_launching_compose)(void *arg, uint32_t processes,
                                       struct pleat_launch_command *command,
                                       struct pleat_error *err);

/* Asks the agent (the value of PLEAT_LAUNCHING) how many processes the job's programs start with
 * now. */
int pleat_launching_ask(const char *agent, uint32_t *processes,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Starts the program, and again whenever the agent says so, until it has ended by itself. Ends as
 * the launcher did: where that was a signal, this does not return. Returns the exit code, or a
 * negative code where the program could not be started at all. `name`: of the program, for
 * messages. `spawns`: its MPI can start processes at run time. */
int pleat_launching_run(const char *agent, const char *name, bool spawns,
                        pleat_launching_compose compose, void *arg,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* screen.h - a terminal that the agent makes for a run, since that of the user is on another host.
 *
 * The agent holds one end of a pseudo-terminal; the run's first process opens the other one, as it
 * would open a terminal of this host (process.h). What is typed comes as the run's input
 * (inflow.h), what is shown goes to pleatd as its output (outflow.h), so both have their numbers,
 * their limits, and outlast a loss of pleatd. `hang_up`, and the end of the input, close the
 * agent's end: the session gets SIGHUP. */
#ifndef PLEAT_AGENT_SCREEN_H
#define PLEAT_AGENT_SCREEN_H

#include "agent/run.h"

/* Makes the terminal of a run that is about to be started, with the size that `window` has ("rows",
 * "columns"), and sets run->terminal. With "rank" it is that of rank 0 of an MPI program, which
 * takes it itself (pmi/task.h): then the launcher only writes to it, and run->terminal stays NULL.
 */
int pleat_screen_create(struct pleat_run *run, const json_t *window,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The path that rank 0 takes; NULL: the run has no such terminal. */
const char *pleat_screen_of_rank(const struct pleat_run *run);
/* Accepts a run that has none. */
void pleat_screen_destroy(struct pleat_run *run);
/* The request `window` ("rows", "columns"): programs in the foreground get SIGWINCH where the size
 * is another one. PLEAT_E_STATE: the agent has made no terminal for that run. */
int pleat_screen_resize(struct pleat_run *run, const json_t *params,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* A descriptor of the agent's end, which the caller closes; below 0: errno says why. */
int pleat_screen_open(const struct pleat_run *run);

#endif

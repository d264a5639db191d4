/* inflow.h - standard input of a run that comes from pleatd, and not from a file of this node.
 *
 * The run has a pipe as its input. A piece of the input is taken when it was written into the pipe;
 * the next one comes when that was told (`input_taken`), so the sender waits for the reader. Bytes
 * are numbered from 0 in the run: a piece that comes again is written once. */
#ifndef PLEAT_AGENT_INFLOW_H
#define PLEAT_AGENT_INFLOW_H

#include "agent/run.h"

/* Makes the pipe of a run that is about to be started, and sets its path of input. */
int pleat_inflow_create(struct pleat_run *run, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a run that has none. */
void pleat_inflow_destroy(struct pleat_run *run);
/* The request `input`. PLEAT_E_STATE: the run has no such input; PLEAT_E_INVALID: a piece before
 * this one is missing; PLEAT_E_BUSY: the piece before this one is not written yet. */
int pleat_inflow_take(struct pleat_run *run, const json_t *params, const char *bytes, size_t count,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The request `hang_up`: the terminal that the agent has made for the run is gone, and its session
 * gets SIGHUP, whatever was typed and not read. Nothing is done for a run that has none (any more).
 */
void pleat_inflow_hang_up(struct pleat_run *run);

#endif

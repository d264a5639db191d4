/* outflow.h - the output of a run that goes to pleatd, and not to files of this node.
 *
 * The run has pipes in the place of its output files. The bytes of each stream are numbered from 0
 * and told in order. Bytes that the other end has not heard are kept, and told again after the
 * connection was lost; at most PLEAT_OUTFLOW_MOST of a stream. Beyond that nothing is read, so that
 * the writer waits. Nothing is lost with a connection or with pleatd, and the run's end is told
 * when all before it was heard. */
#ifndef PLEAT_AGENT_OUTFLOW_H
#define PLEAT_AGENT_OUTFLOW_H

#include "agent/run.h"

#define PLEAT_OUTFLOW_MOST 1048576

/* Makes the pipes of a run that is about to be started, and sets its paths of output. */
int pleat_outflow_create(struct pleat_run *run, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a run that has none. */
void pleat_outflow_destroy(struct pleat_run *run);

/* Of a run whose terminal is hung up: what it writes is read no more, and what was read is for
 * nobody. */
void pleat_outflow_cut(struct pleat_run *run);

/* Reads and tells what can be read and told. To be called after each turn of the loop. */
void pleat_outflow_pump(struct pleat_agent *agent);
/* The daemon is another one, or has not heard all: nothing is told until `go`. */
void pleat_outflow_pause(struct pleat_run *run);
/* No process of the run is left. Whether something that they wrote was not heard yet. */
bool pleat_outflow_holds(struct pleat_run *run);

/* The requests `part_heard`, `output_heard` (what is before "offset" of a stream is kept no longer)
 * and `part_go`, `output_go`
 * ("go": what was not heard is told, again if need be; else nothing is told for now). */
int pleat_outflow_heard(struct pleat_run *run, const json_t *params,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_outflow_go(struct pleat_run *run, const json_t *params,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

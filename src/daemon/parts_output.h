/* parts_output.h - what parts of runs write, on its way from their agents to those that lead the
 * runs.
 *
 * Agents number the bytes that are written, keep them until they hear that these were handed on,
 * and repeat them if need be (agent/outflow.h). Nothing is kept here: a piece that cannot be handed
 * on at once is dropped, and asked for again later. */
#ifndef PLEAT_DAEMON_PARTS_OUTPUT_H
#define PLEAT_DAEMON_PARTS_OUTPUT_H

#include <jansson.h>

#include "daemon/parts.h"
#include "wire/message.h"

/* The notice `part_output` of the agent that runs the part. */
void parts_output(struct agent *agent, struct part *part, const struct pleat_message *message);
/* The notice `part_heard` of the agent that leads the run. */
void parts_heard(struct agent *agent, const json_t *params);
/* An agent has listed its runs, and the list was taken: it is to repeat what was not heard. */
void parts_output_listed(struct agent *agent);
/* All that was queued for an agent has been written. */
void parts_output_drained(struct agent *agent);

#endif

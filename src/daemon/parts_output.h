/* parts_output.h - what parts of runs write, on its way from their agents to those that lead the
 * runs.
 *
 * Agents number what is written, keep it until they hear that it was handed on, and tell it again
 * (agent/outflow.h). Here nothing is kept: what cannot be handed on at once is dropped, and asked
 * for again when it can.
 */
#ifndef PLEAT_DAEMON_PARTS_OUTPUT_H
#define PLEAT_DAEMON_PARTS_OUTPUT_H

#include <jansson.h>

#include "daemon/parts.h"
#include "wire/message.h"

/* The notice `part_output` of the agent that runs the part. */
void parts_output(struct agent *agent, struct part *part, const struct pleat_message *message);
/* The notice `part_heard` of the agent that leads the run. */
void parts_heard(struct agent *agent, const json_t *params);
/* An agent has listed what it runs, and that is known here: what was not heard is told again. */
void parts_output_listed(struct agent *agent);
/* All that was queued for an agent has been written. */
void parts_output_drained(struct agent *agent);

#endif

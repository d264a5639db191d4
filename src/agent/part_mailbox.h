/* part_mailbox.h - what a node's agent has for the ranks of a malleable run that another node's
 * agent leads: a mailbox and memory for a state of their own, as the agent that leads has for its.
 */
#ifndef PLEAT_AGENT_PART_MAILBOX_H
#define PLEAT_AGENT_PART_MAILBOX_H

#include "agent/run.h"

/* Sets run->part_mailbox, of a part that is about to be started: for at most
 * request->mailbox_ranks ranks of the whole run, on node request->place of request->places. */
int pleat_part_mailbox_create(struct pleat_run *run, const struct pleat_run_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a run that has none. */
void pleat_part_mailbox_destroy(struct pleat_run *run);
/* Adds the variables by which ranks find them; none where the part has none. */
void pleat_part_mailbox_add_variables(const struct pleat_run *run, struct pleat_string *own);
/* Adds what `list` says of it. Nonzero: no memory. */
int pleat_part_mailbox_describe(const struct pleat_run *run, json_t *text);

#endif

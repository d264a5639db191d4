/* part_mailbox.h - what a node's agent has for the ranks of a malleable run that another node's
 * agent leads: a mailbox and memory for their state, as the agent that leads has for its own
 * ranks. */
#ifndef PLEAT_AGENT_PART_MAILBOX_H
#define PLEAT_AGENT_PART_MAILBOX_H

#include "agent/run.h"
#include "shm/state.h"

/* Sets run->part_mailbox, of a part that is about to be started: for at most
 * request->mailbox_ranks ranks of the whole run, on node request->place of request->places. */
int pleat_part_mailbox_create(struct pleat_run *run, const struct pleat_run_request *request,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* What the node keeps of the state, for the next part of the run here, which may be beside this
 * one: it is kept as long as one of them has it. NULL: the part has none. To be dropped. */
struct pleat_part_state *pleat_part_mailbox_share(const struct pleat_run *run);
/* Hands over what it keeps, for the run itself, which is led from here now, and takes *store in its
 * place, which has nothing. */
void pleat_part_state_swap(struct pleat_part_state *state, struct pleat_state_store *store);
/* Accepts NULL. */
void pleat_part_state_drop(struct pleat_part_state *state);
/* The request `part_order`: one step of the agreement on a resize (agreement.h). What comes of it
 * is told as `part_said`, also where the order was carried out before. */
int pleat_part_mailbox_order(struct pleat_run *run, const json_t *params,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether ranks may sleep until the agent that leads has said more. */
bool pleat_part_mailbox_holds(const struct pleat_run *run);
/* To be called from time to time while ranks may sleep: gives up when that takes too long. */
void pleat_part_mailbox_look(struct pleat_run *run);
/* To be called once a second: tells the agent that leads as long as ranks are in a section in which
 * nothing may change, and once when they are not any more. That agent believes it for some seconds
 * (remote.h), since what is told while pleatd is away is lost. Accepts a run without such a
 * mailbox. */
void pleat_part_mailbox_tell_section(const struct pleat_run *run);
/* Accepts a run that has no such mailbox. */
void pleat_part_mailbox_destroy(struct pleat_run *run);
/* Adds the variables by which ranks find them; none where the part has none. */
void pleat_part_mailbox_add_variables(const struct pleat_run *run, struct pleat_string *own);
/* Adds what `list` says of it. Nonzero: no memory. */
int pleat_part_mailbox_describe(const struct pleat_run *run, json_t *text);

#endif

/* resize.h - the agent's side of a malleable run: its mailbox, and what was asked of it.
 *
 * At most one request (ask or resize) is outstanding. What came of each is kept until the run is
 * forgotten (the last PLEAT_OUTCOMES_MAX of them), so that it can be told again.
 */
#ifndef PLEAT_AGENT_RESIZE_H
#define PLEAT_AGENT_RESIZE_H

#include "agent/run.h"
#include "shm/mailbox.h"

#define PLEAT_OUTCOMES_MAX 64
#define PLEAT_RESIZE_POLL_MS 20
#define PLEAT_PROGRESS_MS 1000

struct pleat_malleable;

/* Makes a mailbox for at most max_ranks ranks and sets run->malleable. */
int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* What processes open: the mailbox, or its doorbell. Valid while this agent lives. */
void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size);
/* The run has exited: nothing comes of what is outstanding; releases mailbox and descriptors, keeps
 * the outcomes. */
void pleat_malleable_stop(struct pleat_malleable *malleable);
/* Accepts NULL. */
void pleat_malleable_destroy(struct pleat_malleable *malleable);

/* Asks what the application would accept of `request`, or resizes it. 0: accepted, what comes of it
 * is a notification (also when the same request was made before). PLEAT_E_BUSY: another request is
 * outstanding; PLEAT_E_TOOBIG: more than the mailbox has room for; PLEAT_E_STATE: the run has
 * exited. */
int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes a request back where that is still possible: then `withdrawn` follows; else what came or
 * will come of it. Of one that never arrived, it is true at once. */
int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* Tells again all that is known. */
void pleat_malleable_report(struct pleat_malleable *malleable);
/* Tells an outcome and keeps it; params is stolen. */
void pleat_malleable_outcome(struct pleat_malleable *malleable, const char *method, uint64_t resize,
                             json_t *params);
struct pleat_run *pleat_malleable_run(const struct pleat_malleable *malleable);

/* Ranks of the application now; 0 before it attached. */
uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable);
/* True with the id when a resize (not an ask) is outstanding. */
bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize);

/* Starts and stops the timers that look at mailboxes, as needed now. */
void pleat_malleables_arm(struct pleat_agent *agent);
/* A new connection: everything that `progress` tells is new. */
void pleat_malleables_forget_progress(struct pleat_agent *agent);

/* ---- vacate.c: waits until processes that leave are gone ---- */

struct pleat_leavers; /* pidfds of the ranks beyond a size */

/* Opens the ranks [first, first+count) that are there and are of this run. NULL: no memory. */
struct pleat_leavers *pleat_leavers_open(struct pleat_malleable *malleable,
                                         const struct pleat_mailbox *mailbox, uint32_t first,
                                         uint32_t count);
/* Begins to watch; when the last is gone, the outcome `vacated` with this number of processes is
 * told, and the leavers free themselves. Takes them over. */
void pleat_leavers_watch(struct pleat_leavers *leavers, uint64_t resize, uint32_t processes);
/* Frees them without a word. Accepts NULL. */
void pleat_leavers_drop(struct pleat_leavers *leavers);
/* Drops all that are watched for this run. */
void pleat_leavers_drop_all(struct pleat_malleable *malleable);
/* The list that vacate.c keeps in its owner. */
struct pleat_leavers **pleat_malleable_leavers(struct pleat_malleable *malleable);

#endif

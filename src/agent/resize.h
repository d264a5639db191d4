/* resize.h - the agent's side of a malleable run: its mailbox, the state that it saved, and what
 * was asked of it.
 *
 * At most one request (ask or resize) is outstanding. What came of each is kept (outcomes.h). A
 * mailbox is there for one set of ranks: a relaunched run gets a new one. The doorbell and the
 * state are the run's.
 */
#ifndef PLEAT_AGENT_RESIZE_H
#define PLEAT_AGENT_RESIZE_H

#include "agent/relaunch.h"
#include "agent/run.h"
#include "shm/mailbox.h"
#include "shm/state.h"

#define PLEAT_RESIZE_POLL_MS 20
#define PLEAT_PROGRESS_MS 1000

enum pleat_request_kind { PLEAT_REQUEST_NONE, PLEAT_REQUEST_ASK, PLEAT_REQUEST_RESIZE };

struct pleat_leavers; /* pidfds of the ranks beyond a size */

struct pleat_malleable {
    struct pleat_run *run; /* NULL once destroyed, while the doorbell's handle is being closed */
    struct pleat_mailbox *mailbox; /* NULL: no ranks are there */
    uint32_t max_ranks;
    int fd;
    int bell[2];
    uv_poll_t doorbell;
    struct pleat_state_store state;
    bool stopped;      /* all that it holds is given back */
    uint32_t declared; /* as many ranks as it can use, as was told; 0: any number */
    bool unbegun;      /* its ranks were started from a state, and have not said that they go on */

    enum pleat_request_kind kind;
    struct pleat_mailbox_request request;
    bool posted; /* it is in the mailbox; before, the application has not attached yet */
    uint32_t size_before;
    struct pleat_leavers *leaving; /* opened when a shrink was posted */

    struct pleat_leavers *watched;
    struct pleat_mailbox_status told; /* what `progress` said last */
    bool told_anything;
};

/* ---- malleable.c: its life, and how it is watched ---- */

/* Sets run->malleable; with a mailbox for at most max_ranks ranks, and memory for a state, where
 * they are wanted at once. */
int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, bool at_once,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Of launches: a mailbox and memory for a state for the next program, and for that one only. */
int pleat_malleable_open(struct pleat_malleable *malleable,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* ... and they go with it. What is outstanding is for the next one. */
void pleat_malleable_shut(struct pleat_malleable *malleable);
/* What processes open: the mailbox, or its doorbell. Valid while this agent lives. */
void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size);
/* All processes are gone and new ones will come: a new mailbox. On failure there is none. */
int pleat_malleable_renew(struct pleat_malleable *malleable,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* All processes are gone, but the run may be relaunched: nothing comes of what is outstanding, the
 * mailbox is closed; the state is kept. */
void pleat_malleable_pause(struct pleat_malleable *malleable);
/* The run is over: as above, and releases the state and all descriptors. */
void pleat_malleable_stop(struct pleat_malleable *malleable);
/* Accepts NULL. */
void pleat_malleable_destroy(struct pleat_malleable *malleable);
/* After an abnormal end, before the mailbox is closed: whether its processes died in a resize (or
 * before they could go on after one) and a state is held that is not older. *why gets the library's
 * words, where there are any. */
bool pleat_malleable_is_broken(const struct pleat_malleable *malleable, struct pleat_error *why);

/* Ranks of the application now; 0 before it attached. */
uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable);
/* Starts and stops the timers that look at mailboxes, as needed now. */
void pleat_malleables_arm(struct pleat_agent *agent);
/* A new connection: everything that `progress` tells is new. */
void pleat_malleables_forget_progress(struct pleat_agent *agent);

/* ---- resize.c: requests and what comes of them ---- */

/* Asks what the application would accept of `request`, or resizes it; request->relaunch: as planned
 * in `relaunch`, else that is NULL. slots: those of the run at that size; NULL: they stay. 0:
 * accepted, what comes of it is a notification (also when the same request was made before).
 * PLEAT_E_BUSY: another request is outstanding; PLEAT_E_TOOBIG: more than the mailbox has room for;
 * PLEAT_E_STATE: the run has exited. */
int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request,
                            const struct pleat_relaunch_order *relaunch, const json_t *slots,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes a request back where that is still possible: then `withdrawn` follows; else what came or
 * will come of it. Of one that never arrived, it is true at once. */
int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* True with the id when a resize (not an ask) is outstanding. */
bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize);
/* Tells the most ranks that its application can use (0: any number), where that is news. */
void pleat_malleable_limit(struct pleat_malleable *malleable, uint32_t most);
/* Tells it, news or not. */
void pleat_malleable_tell_limit(const struct pleat_malleable *malleable);
/* Looks at the mailbox: goes on with what is outstanding. */
void pleat_malleable_look(struct pleat_malleable *malleable);
/* The outstanding request could not be done: tells so, and settles it. */
void pleat_malleable_failed(struct pleat_malleable *malleable, const char *text);
/* Nothing is outstanding any more, and no word comes of what was. */
void pleat_malleable_abandon(struct pleat_malleable *malleable);
/* Tells that the outstanding resize was applied, and settles it. `warning`: empty, or what went
 * wrong on the way. */
void pleat_malleable_applied(struct pleat_malleable *malleable, uint32_t processes,
                             const struct pleat_mailbox_cost *cost, const char *warning);

/* ---- vacate.c: waits until processes that leave are gone ---- */

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
/* Tells that the processes beyond this number are gone. */
void pleat_leavers_tell(struct pleat_run *run, uint64_t resize, uint32_t processes);

#endif

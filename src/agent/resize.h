/* resize.h - the agent's side of a malleable run: its mailbox, its saved state, and the requests to
 * it.
 *
 * At most one request (ask or resize) is outstanding. The outcome of each is kept (outcomes.h). A
 * mailbox is for one set of ranks: a relaunched run gets a new one. Doorbell and state belong to
 * the run and stay.
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
    bool stopped;      /* its descriptors and its state were released */
    uint32_t declared; /* the most ranks that it can use, as was told; 0: any number */
    bool unbegun; /* its ranks were started from a state, and have not said yet that they go on */

    enum pleat_request_kind kind;
    struct pleat_mailbox_request request;
    /* the request is in the mailbox; until the application has attached it waits here */
    bool posted;
    uint32_t size_before;
    struct pleat_leavers *leaving; /* opened when a shrink was posted */

    struct pleat_leavers *watched;
    struct pleat_mailbox_status told; /* the last `progress` */
    bool told_anything;
};

/* ---- malleable.c: its life, and how it is watched ---- */

/* Sets run->malleable. at_once: also makes a mailbox for at most max_ranks ranks, and memory for a
 * state. */
int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, bool at_once,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Only for launches: makes a mailbox and memory for a state, for the next program only. */
int pleat_malleable_open(struct pleat_malleable *malleable,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Only for launches: releases mailbox and state when their program is over. An outstanding request
 * is kept for the next program. */
void pleat_malleable_shut(struct pleat_malleable *malleable);
/* The path that processes open, of the mailbox or of its doorbell. Valid while this agent lives. */
void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size);
/* All processes are gone and new ones will come: makes a new mailbox. After an error there is no
 * mailbox. */
int pleat_malleable_renew(struct pleat_malleable *malleable,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* All processes are gone, but the run may be relaunched: drops the outstanding request and closes
 * the mailbox. The state is kept. */
void pleat_malleable_pause(struct pleat_malleable *malleable);
/* The run is over: as pleat_malleable_pause, and releases the state and all descriptors. */
void pleat_malleable_stop(struct pleat_malleable *malleable);
/* Accepts NULL. */
void pleat_malleable_destroy(struct pleat_malleable *malleable);
/* To be called after an abnormal end, before the mailbox is closed. Returns whether the processes
 * died in a resize (or before they could go on after one) and a state is held that is not older.
 * *why gets the library's words, where there are any. */
bool pleat_malleable_is_broken(const struct pleat_malleable *malleable, struct pleat_error *why);

/* Number of ranks of the application now; 0 before it has attached. */
uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable);
/* Starts or stops the timers that look at mailboxes, as they are needed. */
void pleat_malleables_arm(struct pleat_agent *agent);
/* After a new connection: all that `progress` tells is sent again. */
void pleat_malleables_forget_progress(struct pleat_agent *agent);

/* ---- resize.c: requests and what comes of them ---- */

/* Asks what the application would accept of `request`, or resizes the application. relaunch: the
 * plan where request->relaunch is set, else NULL. slots: those of the run at the new size; NULL:
 * the slots stay. Returns 0 where the request is taken, also where it was made before: its outcome
 * is a notification. PLEAT_E_BUSY: another request is outstanding. PLEAT_E_TOOBIG: the mailbox has
 * not that much room. PLEAT_E_STATE: the run has exited. */
int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request,
                            const struct pleat_relaunch_order *relaunch, const json_t *slots,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes a request back where that is still possible: then `withdrawn` follows. Otherwise the
 * outcome of the request is told, now or when there is one. A request that never arrived is
 * withdrawn at once. */
int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether a resize (not an ask) is outstanding; *resize is its number. */
bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize);
/* Tells the most ranks that the application can use (0: any number), where that has changed. */
void pleat_malleable_limit(struct pleat_malleable *malleable, uint32_t most);
/* Tells that limit again. */
void pleat_malleable_tell_limit(const struct pleat_malleable *malleable);
/* Looks at the mailbox, and goes on with the outstanding request. */
void pleat_malleable_look(struct pleat_malleable *malleable);
/* Settles the outstanding request as failed, and tells so. */
void pleat_malleable_failed(struct pleat_malleable *malleable, const char *text);
/* Drops the outstanding request: no outcome of it is told. */
void pleat_malleable_abandon(struct pleat_malleable *malleable);
/* Settles the outstanding resize as applied, and tells so. `warning`: empty, or an error that did
 * not prevent it. */
void pleat_malleable_applied(struct pleat_malleable *malleable, uint32_t processes,
                             const struct pleat_mailbox_cost *cost, const char *warning);

/* ---- vacate.c: waits until processes that leave are gone ---- */

/* Opens the ranks [first, first+count), as far as they are there and below this agent. NULL: no
 * memory. */
struct pleat_leavers *pleat_leavers_open(struct pleat_malleable *malleable,
                                         const struct pleat_mailbox *mailbox, uint32_t first,
                                         uint32_t count);
/* Begins to watch. When the last process is gone, the outcome `vacated` with this number of
 * processes is told and the leavers are freed. Takes them over. */
void pleat_leavers_watch(struct pleat_leavers *leavers, uint64_t resize, uint32_t processes);
/* Frees leavers without telling anything. Accepts NULL. */
void pleat_leavers_drop(struct pleat_leavers *leavers);
/* Drops all leavers that are watched for this run. */
void pleat_leavers_drop_all(struct pleat_malleable *malleable);
/* Tells `vacated`: the processes beyond this number are gone. */
void pleat_leavers_tell(struct pleat_run *run, uint64_t resize, uint32_t processes);

#endif

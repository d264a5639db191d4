/* malleable.h - what the agent has of a malleable run: its mailbox, its saved state, its doorbell,
 * and the outstanding request.
 *
 * A mailbox is for one set of ranks: a relaunched run gets a new one. Doorbell and state belong to
 * the run and stay.
 */
#ifndef PLEAT_AGENT_MALLEABLE_H
#define PLEAT_AGENT_MALLEABLE_H

#include "agent/agreement.h"
#include "agent/run.h"
#include "agent/vacate.h"
#include "shm/mailbox.h"
#include "shm/state.h"

enum pleat_request_kind { PLEAT_REQUEST_NONE, PLEAT_REQUEST_ASK, PLEAT_REQUEST_RESIZE };

/* A checkpoint that is wanted (checkpoint.h). */
struct pleat_wish {
    uint64_t id; /* 0: none is */
    char *path;
    bool leave;
    bool posted;   /* it is in the mailbox; otherwise it waits for the ranks, or for a resize */
    bool unwanted; /* it is to be taken back as soon as that is possible */
    /* it is written, and all ranks are leaving: since when (monotonic; 0: no), and what they said
     */
    int64_t leaving_us;
    struct pleat_mailbox_status last;
};

struct pleat_malleable {
    struct pleat_run *run; /* NULL once destroyed, while the doorbell's handle is being closed */
    struct pleat_mailbox *mailbox; /* NULL: no ranks are there */
    uint32_t max_ranks;
    uint32_t places; /* on how many nodes its ranks are; this one leads */
    int fd;
    int bell[2];
    uv_poll_t doorbell;
    struct pleat_state_store state;
    bool stopped; /* its descriptors and its state were released */
    /* after warm relaunches failed since new processes did not come up: how many failed in a row,
     * and how many cold ones are to succeed before the next warm one is tried */
    uint32_t warm_failures, cold;
    struct pleat_mailbox_limits limits; /* the numbers of ranks that it can use, as last told */
    uint32_t limits_seen;               /* status.limits of this mailbox when they were told */
    struct pleat_mailbox_ask ask;       /* its ask, as last told; kept from mailbox to mailbox */
    bool ask_answered, ask_granted;     /* the ask was answered; it was granted */
    char ask_reason[PLEAT_MAILBOX_REASON];
    bool limits_told; /* limits were told in this run: pleatd may know those of an earlier one */
    bool lacks;       /* it waits in its beginning: there are too few ranks */
    bool unable;      /* it was told that the program cannot begin */
    bool fitted;      /* the ranks for which it had no use when it began have been given back */
    /* the checkpoint with which the run was started (--from), until its ranks say that they go on
     * from it; "": there is none. continues: those of this mailbox go on from a held state */
    char from[PLEAT_MAILBOX_PATH];
    bool continues;
    uint64_t spared; /* the `pleat launch` for which the other ones have left the mailbox; 0: for
                      * none */
    bool unbegun; /* the ranks were started from a state, and have not said yet that they go on */

    enum pleat_request_kind kind;
    struct pleat_mailbox_request request;
    /* the request is in the mailbox; until the application has attached it waits here */
    bool posted;
    bool unwanted;                    /* it is to be taken back as soon as that is possible */
    struct pleat_agreement agreement; /* the agreement of the nodes, where there are several */
    uint32_t size_before;
    struct pleat_leavers *leaving; /* opened when a shrink was posted */
    /* why the request, which is no use any more, is to be taken back as soon as that is possible;
     * "": it is not */
    char gave_up[sizeof(((struct pleat_error *)0)->text) + 64];
    char instead[256]; /* why the resize is no relaunch, though it was to be one; "": it was not to
                        * be one */

    struct pleat_wish wish;
    /* When a rank was asked for a checkpoint that nobody has wanted here yet (since 1970, in
     * microseconds), which is the number that the checkpoint will have; 0: none was. */
    int64_t wanted;
    bool unkept; /* it was told that a copy could not be saved */

    struct pleat_leavers *watched;
    struct pleat_mailbox_status told; /* the last `progress` */
    bool told_anything;
    bool told_section; /* ... said that the program is in a section that lasts */
};

/* Sets run->malleable. places: on how many nodes its ranks are. at_once: also makes a mailbox for
 * at most max_ranks ranks, and memory for a state. */
int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, uint32_t places, bool at_once,
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
/* Before the first processes of a run: they go on from the state that malleable->state has now, and
 * are told that `request` led to it, for which `from` processes had left. PLEAT_E_NOTFOUND: there
 * is no state. */
int pleat_malleable_go_on(struct pleat_malleable *malleable,
                          const struct pleat_mailbox_request *request, uint32_t from,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The processes that waited in this mailbox, which it takes, go on from the state. Returns that of
 * those before, which is the caller's to close. */
struct pleat_mailbox *pleat_malleable_hand_over(struct pleat_malleable *malleable,
                                                struct pleat_mailbox *mailbox, int fd);
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
bool pleat_malleable_broke_inside(const struct pleat_malleable *malleable, struct pleat_error *why);
/* As pleat_malleable_broke_inside; also if the processes died between two resizes and a saved copy
 * is held to go on from. */
bool pleat_malleable_is_broken(const struct pleat_malleable *malleable, struct pleat_error *why);

/* Takes note that a rank was asked for a checkpoint by a signal. */
void pleat_malleable_hear_wanted(struct pleat_malleable *malleable);

/* Number of ranks, with those for which the application had no use when it began, until a resize
 * has given their processors back. */
static inline uint32_t pleat_malleable_size(const struct pleat_malleable *malleable,
                                            const struct pleat_mailbox_status *status)
{
    return malleable->fitted ? status->size : status->size + status->surplus;
}
/* Number of ranks of the application now; 0 before it has attached. */
uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable);
/* Tells which numbers of ranks the application can use, where that has changed. */
void pleat_malleable_limit(struct pleat_malleable *malleable,
                           const struct pleat_mailbox_limits *limits);
/* Tells what the application asks for, where that is news. */
void pleat_malleable_ask(struct pleat_malleable *malleable, const struct pleat_mailbox_ask *ask);
/* Tells the application's ask again, if there was one in this run. */
void pleat_malleable_tell_ask(const struct pleat_malleable *malleable);
/* Hands the answer to the ask of that number to the application; ignored if it asks for something
 * else by now. */
void pleat_malleable_answer(struct pleat_malleable *malleable, uint32_t number, bool granted,
                            const char *reason);
/* Tells these limits again. */
void pleat_malleable_tell_limit(const struct pleat_malleable *malleable);
/* Drops the outstanding request, and new processes that were started for it: no outcome of it is
 * told. */
void pleat_malleable_abandon(struct pleat_malleable *malleable);

#endif

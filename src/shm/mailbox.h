/* mailbox.h - memory shared by pleat-agent and the ranks of one malleable application.
 *
 * The agent creates it as a memfd; ranks open it through /proc/AGENT/fd/N (environment variable
 * PLEAT_MAILBOX), so that nothing is left behind however processes end. Every rank publishes its
 * iteration and times in its own cache line; the agent posts at most one request at a time.
 *
 * Agreement without a collective. One atomic word holds {state, sequence, K}: none -> proposed(K)
 * -> committed(K), or withdrawn. A rank publishes its iteration, then loads the word (both
 * sequentially consistent); whoever proposes stores the word, then reads all iterations. So either
 * the proposer sees that a rank has reached K, and proposes a later K, or that rank sees the
 * proposal. K is committed by compare-and-swap only if no rank has reached it; anybody may help (a
 * rank that finds itself at or past an uncommitted K moves it), so nobody waits for a process that
 * may be dead. Iterations only ever count adaptation points, so K is the next one of the fastest
 * rank.
 *
 * Everything read from the segment is checked before use: the application can write there too.
 * Functions return 0 or a negative code; none blocks, none allocates but create and open. The
 * agent's side is for one thread of one process; every rank's side likewise.
 */
#ifndef PLEAT_SHM_MAILBOX_H
#define PLEAT_SHM_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_MAILBOX_ENV "PLEAT_MAILBOX" /* path of the segment */
#define PLEAT_DOORBELL_ENV                                                                         \
    "PLEAT_DOORBELL" /* path of a pipe: one byte says "look at the mailbox" */

struct pleat_mailbox; /* a mapping of the segment */

/* What the agent asks for. */
struct pleat_mailbox_request {
    uint64_t resize; /* the core's id of the transaction */
    uint32_t target; /* processes wanted */
    bool mandatory;
    bool relaunch; /* of a resize: save the state (state.h), then all ranks leave: they are started
                    * again at that size, instead of being merged or split */
};

/* How far the request got. */
enum pleat_mailbox_phase {
    PLEAT_MAILBOX_IDLE,     /* nothing posted */
    PLEAT_MAILBOX_ASKED,    /* the application is asked what it would accept */
    PLEAT_MAILBOX_ANSWERED, /* it answered: status.accepted */
    PLEAT_MAILBOX_POSTED,   /* a resize is posted, no rank is inside */
    PLEAT_MAILBOX_ENTERED,  /* ranks are inside the resize: it can no longer be withdrawn */
    PLEAT_MAILBOX_APPLIED,  /* done: status.size; ranks beyond it may still be leaving */
    PLEAT_MAILBOX_FAILED, /* the library could not (spawn failed, out of memory): size unchanged */
    PLEAT_MAILBOX_SAVED /* of a relaunch: the state is held, all ranks are leaving, and nothing more
                         * comes of this mailbox: the new world gets a new one */
};

/* Where the time of the last resize went, in nanoseconds (rank 0's view). Of a relaunch the old
 * world says what it cost until SAVED, the new world (in its own mailbox) what loading cost; how
 * long processes took to end and to start only the agent knows. */
struct pleat_mailbox_cost {
    uint64_t wait_ns;         /* posted until the first rank was inside */
    uint64_t save_ns;         /* saving the state; 0: none was saved */
    uint64_t processes_ns;    /* spawning and merging, or splitting */
    uint64_t redistribute_ns; /* moving registered data */
    uint64_t load_ns;         /* loading the state */
    uint64_t total_ns;        /* entered until applied or saved; in the new world, as load_ns */
    uint64_t bytes; /* that changed their rank; of a relaunch, of the state saved or loaded */
};

struct pleat_mailbox_status {
    enum pleat_mailbox_phase phase;
    uint64_t resize;   /* of the last request */
    uint32_t size;     /* ranks of the current communicator */
    uint32_t accepted; /* in ANSWERED */
    bool attached;     /* rank 0 has called pleat_session_create: it is a malleable application */
    bool finished;     /* the application called pleat_session_finish */
    bool begun;     /* rank 0 came through pleat_session_begin; where a state was held, all ranks */
    bool loaded;    /* ... and they go on from that state: cost.load_ns, cost.bytes */
    uint32_t limit; /* the most ranks that it can use, as it says; 0: any number */
    uint64_t iteration;    /* the slowest rank's */
    uint64_t iteration_ns; /* mean time of an iteration at this size so far; 0: none yet */
    struct pleat_mailbox_cost cost;
};

/* ---- the agent's side ---- */

/* A new segment for at most max_ranks ranks (1..65536). *fd is a memfd, close-on-exec. */
int pleat_mailbox_create(uint32_t max_ranks, struct pleat_mailbox **mailbox, int *fd,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* The program that opens it goes on from the state of this generation (state.h). Before that, every
 * program begins anew; and so does any other that finds the same mailbox later. */
void pleat_mailbox_resume(struct pleat_mailbox *mailbox, uint64_t generation);
/* Asks the application (if it registered a callback) what it accepts of `target`; the answer comes
 * as phase ANSWERED. An application without callback answers from its next adaptation point with
 * the whole offer. PLEAT_E_BUSY when a request is outstanding. */
int pleat_mailbox_ask(struct pleat_mailbox *mailbox,
                      const struct pleat_mailbox_request *request) PLEAT_MUST_CHECK;
/* Posts a resize to request->target processes. PLEAT_E_BUSY when one is outstanding,
 * PLEAT_E_TOOBIG beyond max_ranks. */
int pleat_mailbox_post(struct pleat_mailbox *mailbox,
                       const struct pleat_mailbox_request *request) PLEAT_MUST_CHECK;
/* Takes the outstanding request back. 0, or PLEAT_E_STATE when ranks are inside or it is done. */
int pleat_mailbox_withdraw(struct pleat_mailbox *mailbox) PLEAT_MUST_CHECK;
/* After ANSWERED, APPLIED or FAILED was seen: the mailbox is free for the next request. After SAVED
 * it stays as it is. */
void pleat_mailbox_acknowledge(struct pleat_mailbox *mailbox);
void pleat_mailbox_status(const struct pleat_mailbox *mailbox, struct pleat_mailbox_status *status);
/* Why the last request FAILED, or why the ranks could not begin from the state held, as the library
 * put it; in ENTERED, what broke; in APPLIED, why no state could be saved before. Always
 * terminated, maybe empty. Text from the application's memory: printable ASCII only, anything else
 * is replaced by '?'. */
void pleat_mailbox_failure(const struct pleat_mailbox *mailbox, char *text, size_t size);
/* The pids of ranks [first, first+count) as they published them; 0 where unknown. Returns how many
 * were written. A pid is only a hint: open a pidfd and check its parentage before using it. */
uint32_t pleat_mailbox_pids(const struct pleat_mailbox *mailbox, uint32_t first, uint32_t count,
                            int32_t *pids);

/* ---- a rank's side (libpleat) ---- */

int pleat_mailbox_open(const char *path, struct pleat_mailbox **mailbox,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* The rest of a rank's side (attach, arrive, answer, applied, failed, finish) is in
 * shm/mailbox-rank.h. */

/* Unmaps (and for the agent's own, leaves the fd to the caller). Accepts NULL. */
void pleat_mailbox_close(struct pleat_mailbox *mailbox);

#endif

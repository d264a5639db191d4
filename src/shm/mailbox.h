/* mailbox.h - memory shared by pleat-agent and the ranks of one malleable application.
 *
 * The agent creates it as a memfd; ranks open it through /proc/AGENT/fd/N (environment variable
 * PLEAT_MAILBOX), so that nothing is left behind, however processes end. Every rank publishes its
 * iteration and times in a cache line of its own; the agent posts at most one request at a time.
 *
 * Agreement without a collective. One atomic word holds {state, sequence, K}, and goes from none to
 * proposed(K) and committed(K), or is withdrawn. A rank publishes its iteration, then loads the
 * word (both sequentially consistent). Whoever proposes stores the word, then reads all iterations.
 * So either the proposer sees that a rank has reached K, and proposes a later K, or that rank sees
 * the proposal. K is committed by compare-and-swap, and only if no rank has reached it. Any process
 * may help: a rank that finds itself at or past an uncommitted K moves it. So no process waits for
 * another one that may be dead. An iteration is the number of adaptation points that a rank has
 * passed, so K is the next one of the fastest rank. While a rank is in a section in which nothing
 * may change, K is not committed, and one that was is moved.
 *
 * A run over several nodes has a mailbox on each, with slots for all its ranks, of which those of
 * that node attach. Its agents make the agreement in two steps. Each agent posts the request. The K
 * on which the ranks of its node agree is then held: a rank that reaches it sleeps. The agent that
 * leads takes the latest K of all nodes, which no rank has passed. Either each agent settles this K
 * on its node, and it is committed everywhere; or the request is withdrawn everywhere. So a rank
 * waits for agents only, never for other ranks, and a point where nothing happens costs the same.
 * An agent that is not told what comes of a held K withdraws it after a time of its own. The ranks
 * of one node cannot move what was settled: if one of them is in a section, all ranks find that out
 * together, inside (pleat_mailbox_put_off).
 *
 * What is said below of rank 0 is, in such a run, also said of the first rank of each other node,
 * in the mailbox there: it sets the size (of the whole run) and announces, tells that the ranks
 * begin or cannot begin, and tells the outcome of a request: applied, saved, failed, broken, put
 * off. What the program says about itself (limits, asks, points, expectations, copies) only rank 0
 * tells.
 *
 * Everything read from the segment is checked before use, since the application can write there.
 * Functions return 0 or a negative code. None blocks, unless what is said of it is that it sleeps
 * or waits; only create and open allocate. The agent's side is for one thread of one process, and
 * so is every rank's side.
 */
#ifndef PLEAT_SHM_MAILBOX_H
#define PLEAT_SHM_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_MAILBOX_ENV "PLEAT_MAILBOX" /* environment variable with the segment's path */
#define PLEAT_DOORBELL_ENV                                                                         \
    "PLEAT_DOORBELL" /* environment variable with the path of a pipe: a byte in it says "look at   \
                        the mailbox" */

/* The same three for processes on a node of a run that another node leads: MPI launchers hand the
 * environment of the leading node to all ranks. Where these variables are set those above do not
 * count. The third has the value of PLEAT_STATE (state.h). */
#define PLEAT_MAILBOX_HERE_ENV "PLEAT_MAILBOX_HERE"
#define PLEAT_DOORBELL_HERE_ENV "PLEAT_DOORBELL_HERE"
#define PLEAT_STATE_HERE_ENV "PLEAT_STATE_HERE"

/* Environment variable of a malleable script and all its processes: where `pleat launch` finds the
 * agent (wire/launching.h) */
#define PLEAT_LAUNCHING_ENV "PLEAT_LAUNCHING"

/* Environment variable, not empty: SIGUSR1 and SIGUSR2 announce that processes on this node will be
 * stopped or killed, and do not end ranks, which may leave it before */
#define PLEAT_ANNOUNCED_ENV "PLEAT_ANNOUNCED"

#define PLEAT_MAILBOX_PATH 4096 /* size of a path, with its NUL */

struct pleat_mailbox; /* a mapping of the segment */

/* Whether a request is for a checkpoint (checkpoint/checkpoint.h), and what comes after it. */
enum pleat_mailbox_checkpoint {
    PLEAT_MAILBOX_NO_CHECKPOINT,
    PLEAT_MAILBOX_CHECKPOINT,           /* the program goes on */
    PLEAT_MAILBOX_CHECKPOINT_AND_LEAVE, /* all ranks leave */
};

/* What the agent asks for. */
struct pleat_mailbox_request {
    uint64_t resize; /* the core's id of the transaction */
    uint32_t target; /* processes wanted */
    bool mandatory;
    enum pleat_mailbox_checkpoint checkpoint; /* only pleat_mailbox_post_checkpoint sets it */
    uint32_t occasion;                        /* what it is for: enum pleat_occasion of pleat.h */
    uint32_t from; /* in pleat_mailbox_recall: number of processes before the resize that led to the
                    * state; else 0 */
    bool relaunch; /* for a resize: save the state (state.h), then all ranks leave and are started
                      again at that size, instead of being merged or split */
    bool beside;   /* with relaunch: the new ranks are there, and wait. Ranks that leave sleep until
                      pleat_mailbox_dismiss, as their end would take processors from those */
    /* for a run over several nodes, now or after the resize. stays: this node has processes in the
     * next generation, too; otherwise the ranks' data here must go to other nodes. next_nodes: how
     * many nodes that generation is on */
    bool stays;
    uint32_t next_nodes;
    /* how many adaptation points later than possible the ranks change: about as many as they pass
     * while agents speak with one another, so that no rank sleeps meanwhile */
    uint32_t margin;
};

/* The progress of a request. */
enum pleat_mailbox_phase {
    PLEAT_MAILBOX_IDLE,     /* nothing posted */
    PLEAT_MAILBOX_ASKED,    /* the application is asked what it would accept */
    PLEAT_MAILBOX_ANSWERED, /* the application answered: status.accepted */
    PLEAT_MAILBOX_POSTED,   /* a resize is posted, no rank is inside */
    PLEAT_MAILBOX_ENTERED,  /* ranks are inside the resize, so it cannot be withdrawn any more */
    PLEAT_MAILBOX_APPLIED,  /* done: status.size; ranks above that size may still be leaving */
    PLEAT_MAILBOX_FAILED, /* the library could not do it (spawn failed, out of memory): the size is
                             unchanged */
    PLEAT_MAILBOX_SAVED,  /* for a relaunch: the state is saved, all ranks are leaving, and nothing
                             more comes from this mailbox; the restarted program gets a new one.
                             Likewise after a checkpoint with which the program ends */
    PLEAT_MAILBOX_PUT_OFF /* on several nodes: a rank was in a section in which nothing may change,
                             so nothing was done; to be acknowledged, and posted again later */
};

/* Where the time of the last resize went, in nanoseconds, as rank 0 sees it. For a relaunch the old
 * processes give the cost until SAVED, and the new ones (in their own mailbox) the cost of loading.
 * Only the agent knows how long processes took to end and to start. */
struct pleat_mailbox_cost {
    uint64_t wait_ns;         /* from posting until the first rank was inside */
    uint64_t save_ns;         /* saving the state; 0: it was not saved */
    uint64_t processes_ns;    /* spawning and merging, or splitting */
    uint64_t redistribute_ns; /* moving registered data */
    uint64_t load_ns;         /* loading the state */
    uint64_t total_ns; /* from entering until applied or saved; after a relaunch equal to load_ns */
    uint64_t bytes;    /* bytes that changed their rank; for a relaunch, bytes of the state */
};

struct pleat_mailbox_status {
    enum pleat_mailbox_phase phase;
    uint64_t resize;   /* id of the last request */
    uint32_t size;     /* number of ranks of the current communicator */
    uint32_t accepted; /* with phase ANSWERED */
    bool attached; /* rank 0 has called pleat_session_create, so it is a malleable application */
    bool finished; /* the application has called pleat_session_finish */
    bool begun;    /* rank 0 has returned from pleat_session_begin; if a state was loaded, all ranks
                      have */
    bool loaded;   /* with begun: the ranks go on from a state (cost.load_ns, cost.bytes). Stays
                    * true if the program finishes its session and begins another one anew */
    /* the `pleat launch` for which the program has left the checkpoint; 0: there was no checkpoint,
     * or the program took it. The application may have written any number */
    uint64_t spared;
    bool waits;            /* its library can wait before it begins (pleat_mailbox_hold) */
    uint32_t waiting;      /* number of ranks that wait, of `size` */
    uint32_t not_now;      /* number of ranks in a section in which nothing may change */
    uint64_t section_ns;   /* how long the longest of these sections has lasted */
    uint32_t limit;        /* the most ranks that the application says it can use; 0: any number */
    bool keeps;            /* copies are saved between resizes, to go on from */
    uint64_t kept;         /* the iteration of the last copy; 0: none */
    uint64_t kept_ns;      /* how long saving it took, */
    uint64_t kept_at_us;   /* and when it was saved (since 1970) */
    uint64_t unkept;       /* number of copies that could not be saved */
    uint64_t written;      /* the iteration of the last checkpoint */
    uint32_t limits;       /* counts changes of `limit` and of pleat_mailbox_limits */
    bool lacks;            /* there are too few ranks to begin: all wait for a verdict */
    uint32_t surplus;      /* ranks above `size` that left when the application began, since it had
                            * no use for them */
    uint64_t iteration;    /* the iteration of the slowest rank */
    uint64_t passages;     /* passages of all named adaptation points by rank 0 */
    uint64_t iteration_ns; /* mean time of an iteration at this size so far, of rank 0; 0: not known
                              yet */
    uint64_t iterations;   /* of how many iterations that is the mean */
    double squares;        /* the sum of the squares of their microseconds; 0: not known */
    uint64_t grid;         /* the process grid of these iterations (base/grid.h); 0: none */
    struct pleat_mailbox_cost cost;
};

#define PLEAT_MAILBOX_POINTS 8
#define PLEAT_MAILBOX_NAME 64 /* size of a name, with its NUL */

/* A named adaptation point of the application. */
struct pleat_mailbox_point {
    char name[PLEAT_MAILBOX_NAME]; /* ends with NUL; printable ASCII */
    bool resizes;                  /* the application may be resized there */
    uint64_t passed;               /* how often rank 0 has passed it */
    uint64_t mean_ns; /* mean time between two passages at this size; 0: not known yet */
};

#define PLEAT_MAILBOX_SIZES 1024
#define PLEAT_MAILBOX_REASON 192 /* size of the text of an answer, with its NUL */

/* The numbers of ranks that the application can use, as it says. */
struct pleat_mailbox_limits {
    uint32_t least, most;            /* 0: any number */
    char sizes[PLEAT_MAILBOX_SIZES]; /* ends with NUL; "": any. Whatever the application wrote */
};

/* What the application asks for: a number of ranks. */
struct pleat_mailbox_ask {
    uint32_t number;   /* of this ask, from 1; 0: it has asked for nothing yet */
    uint32_t wanted;   /* ranks in all; 0: nothing any more */
    bool mandatory;    /* it cannot go on without */
    uint64_t limit_us; /* mandatory: the time after which the answer is to be no; 0: it waits on */
};

/* What the application expects of its run, as it says. It may have written anything. */
struct pleat_mailbox_expectation {
    int64_t end_us;     /* when it ends (since 1970); 0: not said */
    uint64_t iteration; /* at which adaptation point it ends; 0: not said. Else end_us is 0 */
    uint64_t bytes;     /* bytes that a resize has to move */
};

/* ---- the agent's side ---- */

/* Makes a segment for at most max_ranks ranks, from 1 to 65536. *fd: a memfd, close-on-exec.
 * PLEAT_E_INVALID, PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int pleat_mailbox_create(uint32_t max_ranks, struct pleat_mailbox **mailbox, int *fd,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Before any program opens the mailbox: it is that of node number `node` (0: the one that leads) of
 * a run over `nodes` nodes. Without this call a run is on one node. */
void pleat_mailbox_place(struct pleat_mailbox *mailbox, uint32_t node, uint32_t nodes);
/* For agents and ranks: the values that pleat_mailbox_place has set. */
void pleat_mailbox_node(const struct pleat_mailbox *mailbox, uint32_t *node, uint32_t *nodes);
/* On several nodes, after a request was posted: whether the ranks of this node have agreed on it,
 * and it is held at *k. False also if a rank is in a section in which nothing may change: then the
 * agent that leads withdraws the request everywhere, so that ranks of other nodes do not sleep as
 * long as the section lasts. */
bool pleat_mailbox_held(const struct pleat_mailbox *mailbox, uint64_t *k);
/* Commits the held request, at the K of all nodes. PLEAT_E_STATE: nothing is held; PLEAT_E_INVALID:
 * k is before the held one. */
int pleat_mailbox_settle(struct pleat_mailbox *mailbox, uint64_t k) PLEAT_MUST_CHECK;
/* Holds a settled request again, so that it can be withdrawn everywhere, or settled at the same K.
 * PLEAT_E_STATE: ranks are inside already, or it is done. */
int pleat_mailbox_hold_again(struct pleat_mailbox *mailbox) PLEAT_MUST_CHECK;
/* Has the next program that opens the mailbox go on from the state of this generation (state.h).
 * Programs that open it later begin anew. */
void pleat_mailbox_resume(struct pleat_mailbox *mailbox, uint64_t generation);
/* Before any program opens the mailbox: the first one that does goes on from a state that is not
 * there yet. Its ranks come as far as their beginning, and sleep there until pleat_mailbox_go. */
void pleat_mailbox_hold(struct pleat_mailbox *mailbox);
/* Before ranks begin from a state: tells them which request led to it. */
void pleat_mailbox_recall(struct pleat_mailbox *mailbox,
                          const struct pleat_mailbox_request *request, uint32_t from);
/* Lets ranks that wait begin, from the state of this generation. */
void pleat_mailbox_go(struct pleat_mailbox *mailbox, uint64_t generation);
/* Ranks that have left for others that waited may end now: these compute. */
void pleat_mailbox_dismiss(struct pleat_mailbox *mailbox);
/* Asks the application what it accepts of `target`; the answer comes as phase ANSWERED. The
 * application's callback is called at its next adaptation point; without a callback it accepts the
 * whole offer. PLEAT_E_BUSY: a request is outstanding. */
int pleat_mailbox_ask(struct pleat_mailbox *mailbox,
                      const struct pleat_mailbox_request *request) PLEAT_MUST_CHECK;
/* Posts a resize to request->target processes; on several nodes once all ranks have begun.
 * PLEAT_E_BUSY: a request is outstanding; PLEAT_E_TOOBIG: more than max_ranks. */
int pleat_mailbox_post(struct pleat_mailbox *mailbox,
                       const struct pleat_mailbox_request *request) PLEAT_MUST_CHECK;
/* Posts a checkpoint to that path, which is absolute. It is APPLIED when it is on the disk (SAVED,
 * if all ranks leave): status.written, cost.save_ns, cost.bytes. Where it cannot be written it
 * FAILED, and the program goes on. PLEAT_E_BUSY; PLEAT_E_TOOBIG: the path is too long;
 * PLEAT_E_STATE: the application has not attached. */
int pleat_mailbox_post_checkpoint(struct pleat_mailbox *mailbox, uint64_t id, const char *path,
                                  bool leave) PLEAT_MUST_CHECK;
/* Withdraws the outstanding request. PLEAT_E_STATE: ranks are inside already, or it is done; on
 * several nodes also: it was settled, and is not held again. On several nodes a request is
 * withdrawn on all nodes, and settled on all or on none. */
int pleat_mailbox_withdraw(struct pleat_mailbox *mailbox) PLEAT_MUST_CHECK;
/* To be called after ANSWERED, APPLIED, FAILED or PUT_OFF was seen: then the next request is
 * possible. After SAVED it changes nothing. */
void pleat_mailbox_acknowledge(struct pleat_mailbox *mailbox);
void pleat_mailbox_status(const struct pleat_mailbox *mailbox, struct pleat_mailbox_status *status);
/* The named adaptation points, in the order in which they were named. Returns their number. */
uint32_t pleat_mailbox_points(const struct pleat_mailbox *mailbox,
                              struct pleat_mailbox_point points[PLEAT_MAILBOX_POINTS]);
/* PLEAT_E_BUSY: the application is writing them, and rings afterwards. */
int pleat_mailbox_get_limits(const struct pleat_mailbox *mailbox,
                             struct pleat_mailbox_limits *limits) PLEAT_MUST_CHECK;
/* Returns false if the application has said nothing, or is writing it. */
bool pleat_mailbox_get_expectation(const struct pleat_mailbox *mailbox,
                                   struct pleat_mailbox_expectation *expectation);
/* What the application asks for. The application may have written anything. */
void pleat_mailbox_get_ask(const struct pleat_mailbox *mailbox, struct pleat_mailbox_ask *ask);
/* Answers the ask of that number, where it is still the latest. reason: why it is refused, or not
 * granted in full; or empty. */
void pleat_mailbox_answer_ask(struct pleat_mailbox *mailbox, uint32_t number, bool granted,
                              const char *reason);
/* What becomes of ranks that are too few to begin (status.lacks). */
enum pleat_mailbox_verdict {
    PLEAT_VERDICT_NONE = 0,
    PLEAT_VERDICT_LEAVE = 1,  /* they leave, and more are started in their place */
    PLEAT_VERDICT_REFUSED = 2 /* there will not be more ranks: they end with an error */
};
/* Decides about them. The reason of REFUSED is in the answer to their ask. */
void pleat_mailbox_decide(struct pleat_mailbox *mailbox, enum pleat_mailbox_verdict verdict);
/* Before the ranks of a new mailbox begin: hands them the ask of the ranks before them. */
void pleat_mailbox_carry_ask(struct pleat_mailbox *mailbox, const struct pleat_mailbox_ask *ask);
/* The text that the library has left: why the last request FAILED, or why the ranks could not begin
 * from the state; in phase ENTERED what has broken; in phase APPLIED why no state could be saved.
 * Ends with NUL, may be empty. It comes from the application's memory, so anything but printable
 * ASCII is replaced by '?'. */
void pleat_mailbox_failure(const struct pleat_mailbox *mailbox, char *text, size_t size);
/* Whether a rank was asked for a checkpoint since the last call. */
bool pleat_mailbox_take_wanted(struct pleat_mailbox *mailbox);
/* The same for why the last copy could not be saved. */
void pleat_mailbox_why_unkept(const struct pleat_mailbox *mailbox, char *text, size_t size);
/* Reads the pids of `count` ranks from `first` on, as they published them; 0: not known. Returns
 * the number of entries written. A pid is only a hint: open a pidfd, and check whose child it is
 * before using it. */
uint32_t pleat_mailbox_pids(const struct pleat_mailbox *mailbox, uint32_t first, uint32_t count,
                            int32_t *pids);

/* ---- a rank's side (libpleat) ---- */

int pleat_mailbox_open(const char *path, struct pleat_mailbox **mailbox,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* The other functions for ranks (attach, arrive, answer, applied, failed, finish) are in
 * shm/mailbox-rank.h. */

/* Unmaps the segment. The agent keeps its fd. Accepts NULL. */
void pleat_mailbox_close(struct pleat_mailbox *mailbox);

#endif

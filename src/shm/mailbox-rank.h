/* mailbox-rank.h - the rank's side of the mailbox, for libpleat; mailbox.h explains the protocol.
 *
 * The segment's layout is here because the quiet adaptation point is inline: two stores and a load,
 * no system call. Only mailbox.c, mailbox-rank.c and that inline code may use it.
 *
 * The word holds {K: 44 bits, sequence: 16 bits, state: 4 bits}. Every change of it is one
 * compare-and-swap from the exact value that was judged, and within one sequence K only rises. So a
 * helper that slept for long does no harm: its swap fails.
 */
#ifndef PLEAT_SHM_MAILBOX_RANK_H
#define PLEAT_SHM_MAILBOX_RANK_H

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "shm/mailbox.h"
#include "shm/segment.h"

#define PLEAT_MAILBOX_MAGIC UINT64_C(0x31786f6274656c70) /* "pletbox1" */
#define PLEAT_MAILBOX_VERSION 17u
#define PLEAT_MAILBOX_MAX_RANKS 65536u
#define PLEAT_MAILBOX_TEXT 192
#define PLEAT_MAILBOX_LINE 64
#define PLEAT_MAILBOX_TOLD 2048 /* most bytes that rank 0 tells at a meeting */
#define PLEAT_MAILBOX_COSTS 7   /* number of members of struct pleat_mailbox_cost, in its order */

/* States of the word. A rank at an adaptation point has to look closer only at states with bit 2
 * set. */
enum pleat_word_state {
    PLEAT_WORD_IDLE = 0,
    PLEAT_WORD_ANSWERED = 1,
    PLEAT_WORD_APPLIED = 2,
    PLEAT_WORD_FAILED = 3,
    PLEAT_WORD_ASKED = 4,
    PLEAT_WORD_PROPOSED = 5,
    PLEAT_WORD_COMMITTED = 6,
    PLEAT_WORD_ENTERED = 7,
    PLEAT_WORD_SAVED = 8,
    PLEAT_WORD_PUT_OFF = 9,
    PLEAT_WORD_ANNOUNCED = 12, /* committed, and some rank knows it one adaptation point ahead */
    PLEAT_WORD_DROPPED = 13,   /* an announced resize that was withdrawn: ranks that come to that
                                  point later must know of it, too */
    PLEAT_WORD_HELD = 14       /* committed on this node of several: ranks that reach it sleep until
                                  agents have settled K, or withdrawn it. Only the agent changes it */
};
#define PLEAT_WORD_BUSY_BIT UINT64_C(4)

/* Whether the program that opens the mailbox has to wait before it begins. */
enum pleat_mailbox_held {
    PLEAT_HELD_NOT = 0,
    PLEAT_HELD = 1,        /* for the first program that opens the mailbox */
    PLEAT_HELD_CLAIMED = 2 /* that program has come */
};

/* One rank's cache line, written by that rank only. */
struct pleat_mailbox_slot {
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t iteration; /* adaptation points passed */
    _Atomic uint64_t busy_ns;    /* time spent in iterations at this size, in nanoseconds */
    _Atomic uint64_t busy_count; /* number of iterations in busy_ns */
    _Atomic uint64_t entered_ns; /* when the rank last entered a resize (CLOCK_MONOTONIC) */
    _Atomic int32_t pid;
    _Atomic uint32_t waiting;    /* 1: the rank waits until it may begin */
    _Atomic uint32_t not_now;    /* 1: the rank is in a section in which nothing may change */
    _Atomic uint64_t section_ns; /* since when it is in the section (CLOCK_MONOTONIC) */
    /* of the iterations in busy_ns: the sum of the squares of their microseconds, the bits of a
     * double. Older programs leave it 0 */
    _Atomic uint64_t busy_squares;
};

/* A named adaptation point, written by rank 0. */
struct pleat_mailbox_place {
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t passed; /* passages in all */
    _Atomic uint64_t here;                                /* passages at this size, */
    _Atomic uint64_t ns; /* and the time spent in iterations at this size at the last passage */
    _Atomic uint32_t resizes;
    _Atomic uint64_t name[PLEAT_MAILBOX_NAME / 8];
};

struct pleat_mailbox_segment {
    /* constant once the segment is made */
    _Alignas(PLEAT_MAILBOX_LINE) struct pleat_segment_header header; /* header.count: the most
                                                                      * ranks */
    /* read by every rank at every adaptation point, so it has a cache line of its own */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t word;
    /* written by the agent, before the word refers to it */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t resize;
    _Atomic uint64_t posted_ns;
    _Atomic uint32_t target;
    _Atomic uint32_t mandatory;
    _Atomic uint32_t relaunch;
    _Atomic uint32_t checkpoint; /* enum pleat_mailbox_checkpoint */
    _Atomic uint64_t resume; /* generation of the state to go on from; 0: none, or already taken */
    _Atomic uint32_t held;   /* enum pleat_mailbox_held; claimed by rank 0 */
    _Atomic uint32_t go;     /* 1: ranks that wait may begin; a futex */
    _Atomic uint32_t occasion;
    _Atomic uint32_t from; /* number of processes before the resize that led to a state */
    _Atomic uint32_t stays, next_nodes;
    _Atomic uint32_t node, nodes; /* constant once a program opens it; nodes 0: one */
    _Atomic uint32_t settled;     /* counts how often a held word was settled or withdrawn; a
                                   * futex */
    _Atomic uint32_t beside;      /* of the request. Older agents leave it 0 */
    _Atomic uint32_t dismissed;   /* 1: ranks that have left may end; a futex */
    /* written by rank 0, before the word refers to it */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint32_t size;
    _Atomic uint32_t accepted;
    _Atomic uint32_t attached;
    _Atomic uint32_t finished;
    _Atomic uint32_t announces; /* 1: ranks know of a resize one adaptation point ahead */
    _Atomic uint32_t begun;
    _Atomic uint32_t loaded;
    _Atomic uint32_t
        limit; /* the most ranks that the program can use; 0: any number. Older programs leave it
                * 0 */
    _Atomic uint64_t cost[PLEAT_MAILBOX_COSTS];
    _Atomic uint32_t waits;   /* 1: the library can wait. Older libraries leave it 0 */
    _Atomic uint64_t written; /* the iteration of the last checkpoint */
    _Atomic uint32_t keeps;   /* 1: copies are saved between resizes, to go on from */
    _Atomic uint64_t kept;    /* the iteration of the last copy; 0: none */
    _Atomic uint64_t kept_ns, kept_at_us;
    _Atomic uint32_t wanted; /* 1: a rank was asked for a checkpoint; the agent sets it to 0 */
    _Atomic uint64_t unkept; /* number of copies that could not be saved; unkept_text says why */
    _Atomic uint64_t spared; /* status.spared. Older programs leave it 0 */
    _Atomic uint64_t grid;   /* of rank 0's iterations. Older programs leave it 0 */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t text[PLEAT_MAILBOX_TEXT / 8];
    /* written by the agent, before the word refers to it: where the checkpoint is to be written */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t path[PLEAT_MAILBOX_PATH / 8];
    struct pleat_mailbox_place places[PLEAT_MAILBOX_POINTS];
    /* written by rank 0: what it tells at a meeting (mailbox-meet.c) */
    _Atomic uint64_t told[PLEAT_MAILBOX_TOLD / 8];
    /* what the program says of itself, written by rank 0 */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint32_t limits; /* counts changes; odd during one */
    _Atomic uint32_t least;
    _Atomic uint32_t surplus; /* ranks that left when the program began */
    _Atomic uint32_t points;  /* how many of `places` have a name */
    _Atomic uint32_t lacks;   /* 1: there are too few ranks to begin; all wait for the verdict */
    _Atomic uint64_t sizes[PLEAT_MAILBOX_SIZES / 8];
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t unkept_text[PLEAT_MAILBOX_TEXT / 8];
    _Atomic uint64_t ask; /* struct pleat_mailbox_ask: {number: 32, mandatory: 1, wanted: 31} */
    _Atomic uint64_t ask_limit_us; /* limit_us of the ask, written before it */
    /* struct pleat_mailbox_expectation, written by rank 0 */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint64_t expects; /* counts changes; odd during one */
    _Atomic int64_t expected_end_us;
    _Atomic uint64_t expected_iteration, expected_bytes;
    /* the answer, written by the agent */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint32_t answers; /* counts changes; odd during one */
    _Atomic uint32_t answered;                             /* the number of the answered ask */
    _Atomic uint32_t granted;
    _Atomic uint32_t verdict; /* enum pleat_mailbox_verdict; a futex */
    _Atomic uint64_t reason[PLEAT_MAILBOX_REASON / 8];
    /* where ranks meet (mailbox-meet.c), written by all of them */
    _Alignas(PLEAT_MAILBOX_LINE) _Atomic uint32_t meeting; /* counts meetings; a futex */
    _Atomic uint32_t met;                                  /* ranks that have come to the present
                                                            * meeting */
    _Atomic int32_t worst;   /* the smallest of their codes so far; 0: none is negative */
    _Atomic int32_t outcome; /* the outcome of the last meeting */
    _Atomic uint32_t unread; /* ranks that have not read the outcome yet; a futex */
    struct pleat_mailbox_slot slots[];
};

/* What a rank keeps about itself. For one thread at a time. */
struct pleat_mailbox_rank {
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_slot *slot;
    _Atomic uint64_t *word;
    struct pleat_mailbox_place *places;
    uint64_t iteration;
    uint64_t entered;   /* K of the last resize that it entered; 0: none */
    uint64_t announced; /* K of the last resize that it knew of ahead; 0: none */
    uint32_t rank;
    uint32_t asked; /* rank 0: the number of the last ask; 0: it has asked for nothing */
    int doorbell;   /* borrowed; -1: none */
    bool not_now;   /* not_now, as in its slot */
    bool waits;     /* it has published that it waits */
};

enum pleat_mailbox_arrival {
    PLEAT_ARRIVAL_QUIET = 0, /* go on computing */
    PLEAT_ARRIVAL_ANSWER,    /* rank 0 only: call pleat_mailbox_answer */
    PLEAT_ARRIVAL_ENTER      /* the resize happens here; every rank gets this at the same adaptation
                                point */
};

/* Takes the slot of `rank`, and publishes this process's pid. iteration: the number of adaptation
 * points passed so far (0 at the start; the K of the resize for a rank that joins; the state's for
 * a rank that goes on from a state). The doorbell is borrowed. PLEAT_E_TOOBIG: the segment has no
 * slot for the rank. */
int pleat_mailbox_attach(struct pleat_mailbox *mailbox, uint32_t rank, uint64_t iteration,
                         int doorbell, struct pleat_mailbox_rank *self) PLEAT_MUST_CHECK;

/* Rank 0, at any time: from now on the application can use `most` ranks at most; 0: any number. */
void pleat_mailbox_limit(struct pleat_mailbox_rank *self, uint32_t most);

/* Rank 0, at any time: from now on the application can use `least` to `most` ranks (0: any number),
 * of the sizes that a text names as model/sizes.h reads it, "" for any; it is shorter than
 * PLEAT_MAILBOX_SIZES. */
void pleat_mailbox_limits(struct pleat_mailbox_rank *self, uint32_t least, uint32_t most,
                          const char *sizes);
/* Rank 0, at any time: the application wants to have `wanted` ranks in all; 0: nothing any more.
 * limit_us: how long it waits, where it is mandatory; 0: for ever. */
void pleat_mailbox_ask_for(struct pleat_mailbox_rank *self, uint32_t wanted, bool mandatory,
                           uint64_t limit_us);

/* Rank 0, at any time: what the application expects of its run. */
void pleat_mailbox_expect(struct pleat_mailbox_rank *self,
                          const struct pleat_mailbox_expectation *expectation);
/* Rank 0, before the ranks begin: there are too few of them. Asks for `least` ranks. */
void pleat_mailbox_lack(struct pleat_mailbox_rank *self, uint32_t least);
/* Every rank, after pleat_mailbox_lack: sleeps until the agent has decided. With REFUSED, reason
 * gets why. */
enum pleat_mailbox_verdict pleat_mailbox_await(const struct pleat_mailbox_rank *self,
                                               char reason[PLEAT_MAILBOX_REASON]);

enum pleat_mailbox_asked {
    PLEAT_MAILBOX_ASKED_NOTHING,
    PLEAT_MAILBOX_ASKED_PENDING,
    PLEAT_MAILBOX_ASKED_GRANTED,
    PLEAT_MAILBOX_ASKED_REFUSED
};
/* Rank 0: what has become of the last ask. inherits: asks of the ranks before this program count,
 * too. reason: why the ask is refused, or granted in part; or empty. */
enum pleat_mailbox_asked pleat_mailbox_asked(const struct pleat_mailbox_rank *self, bool inherits,
                                             char reason[PLEAT_MAILBOX_REASON]);
/* Rank 0, before the ranks begin: the last `surplus` of them leave, `size` stay. */
void pleat_mailbox_fit(struct pleat_mailbox_rank *self, uint32_t size, uint32_t surplus);
/* The most ranks for which there is room. */
uint32_t pleat_mailbox_room(const struct pleat_mailbox *mailbox);

/* Rank 0, before anything else: the generation of the state to go on from; 0: none. Only the first
 * call gets it. */
uint64_t pleat_mailbox_take_resume(struct pleat_mailbox *mailbox);

/* Rank 0, before anything else: whether this program waits before it begins (1), or not (0).
 * PLEAT_E_BUSY: another program waits already, and there is only one to take over. */
int pleat_mailbox_claim(struct pleat_mailbox *mailbox) PLEAT_MUST_CHECK;
#define PLEAT_NO_LIMIT INT64_MAX
/* Every rank of a program that waits, once it is attached and ready to begin: sleeps until the
 * agent lets it begin, for `most_ns` nanoseconds at most (0: does not sleep; PLEAT_NO_LIMIT).
 * False: the rank may not begin yet, and still waits. */
bool pleat_mailbox_wait_for(struct pleat_mailbox_rank *self, int64_t most_ns);

/* Rank 0, before pleat_mailbox_set_size or right after it: from now on every rank knows at an
 * adaptation point whether a resize comes at the next one (pleat_mailbox_pending), and all know the
 * same. */
void pleat_mailbox_announce(struct pleat_mailbox_rank *self);
/* Rank 0, once every rank has attached and before any reaches an adaptation point: sets the number
 * of ranks. PLEAT_E_TOOBIG: the segment has no room for that number. */
int pleat_mailbox_set_size(struct pleat_mailbox_rank *self, uint32_t size) PLEAT_MUST_CHECK;

/* Rank 0, before any rank of its program comes to a meeting: a program before it may have ended in
 * the middle of one. */
void pleat_mailbox_forget_meetings(struct pleat_mailbox *mailbox);
/* The ranks 0 to `ranks` - 1 meet: returns in all once all have come, which sleep until then. It is
 * an MPI_Allreduce and an MPI_Bcast in one, for ranks of one node of which more may run than there
 * are processors: an MPI may wait without giving its processor to the rank that it waits for.
 * Returns the smallest code of all, at most 0. data: the others get rank 0's bytes, at most
 * PLEAT_MAILBOX_TOLD. Blocks as long as a rank does not come. */
int pleat_mailbox_meet(struct pleat_mailbox_rank *self, uint32_t ranks, int code, void *data,
                       size_t bytes);

/* The slow part of pleat_mailbox_arrive, which calls it. */
int pleat_mailbox_arrive_slow(struct pleat_mailbox_rank *self, uint64_t word) PLEAT_MUST_CHECK;

/* To be called at each adaptation point. Returns an enum pleat_mailbox_arrival. PLEAT_E_CORRUPT:
 * the segment contradicts itself, or ranks disagree about the number of adaptation points. */
PLEAT_MUST_CHECK static inline int pleat_mailbox_arrive(struct pleat_mailbox_rank *self)
{
    atomic_store(&self->slot->iteration, ++self->iteration);
    uint64_t word = atomic_load(self->word);
    if (__builtin_expect(!(word & PLEAT_WORD_BUSY_BIT), 1))
        return PLEAT_ARRIVAL_QUIET;
    return pleat_mailbox_arrive_slow(self, word);
}

/* Whether a resize may come at the next adaptation point. If resizes are announced, all ranks get
 * the same answer between the same two points. The resize may still be withdrawn; if this is false
 * none comes. */
static inline bool pleat_mailbox_pending(const struct pleat_mailbox_rank *self)
{
    return self->announced == self->iteration + 1;
}

/* Publishes the time spent in iterations at this size so far, and their number. */
static inline void pleat_mailbox_publish(struct pleat_mailbox_rank *self, uint64_t busy_ns,
                                         uint64_t count)
{
    atomic_store_explicit(&self->slot->busy_ns, busy_ns, memory_order_relaxed);
    atomic_store_explicit(&self->slot->busy_count, count, memory_order_release);
}

/* Rank 0, after it has published that nothing is known: these times are of that process grid
 * (base/grid.h) from now on; 0: of none. */
void pleat_mailbox_publish_grid(struct pleat_mailbox_rank *self, uint64_t grid);

/* Publishes the sum of the squares of what these iterations took, in microseconds. */
static inline void pleat_mailbox_publish_squares(struct pleat_mailbox_rank *self, double squares)
{
    uint64_t bits;
    memcpy(&bits, &squares, sizeof(bits));
    atomic_store_explicit(&self->slot->busy_squares, bits, memory_order_relaxed);
}

/* Rank 0, before the ranks begin: names the next adaptation point. resizes: the program may be
 * resized there. The agent does not know of points beyond PLEAT_MAILBOX_POINTS. */
void pleat_mailbox_name_point(struct pleat_mailbox_rank *self, const char *name, bool resizes);
/* Rank 0 has passed the point of that number (from 0, as named) `passed` times in all and `here`
 * times at this size, and has spent busy_ns in iterations at this size. */
static inline void pleat_mailbox_passed(struct pleat_mailbox_rank *self, unsigned point,
                                        uint64_t passed, uint64_t here, uint64_t busy_ns)
{
    struct pleat_mailbox_place *place = &self->places[point];
    atomic_store_explicit(&place->ns, busy_ns, memory_order_relaxed);
    atomic_store_explicit(&place->here, here, memory_order_relaxed);
    atomic_store_explicit(&place->passed, passed, memory_order_relaxed);
}

/* The rank begins, or ends, a section in which nothing may change: As long as any rank is in a
 * section no resize is agreed on, and one that was agreed on is put off, unless other ranks are
 * inside it, or know of it ahead, already. Then this rank gets ENTER in its section, too; all ranks
 * must find that out together, and rank 0 calls pleat_mailbox_put_off. Adaptation points count in a
 * section as elsewhere, so that no rank gets out of step, and no rank waits for the end of a
 * section. */
void pleat_mailbox_not_now(struct pleat_mailbox_rank *self, bool begins);
/* Rank 0, instead of an outcome, once every rank has got ENTER: the ranks agree anew on a later
 * point. On several nodes the agents see to that. */
void pleat_mailbox_put_off(struct pleat_mailbox_rank *self);

/* Gets the request that was asked or posted, after ANSWER or ENTER. PLEAT_E_CORRUPT: its target is
 * not a size for which this segment has room. */
int pleat_mailbox_request(const struct pleat_mailbox_rank *self,
                          struct pleat_mailbox_request *request) PLEAT_MUST_CHECK;
/* Where the checkpoint that was posted is to be written. PLEAT_E_CORRUPT: the path has no end, or
 * is not absolute. */
int pleat_mailbox_path(const struct pleat_mailbox_rank *self,
                       char path[PLEAT_MAILBOX_PATH]) PLEAT_MUST_CHECK;
/* For rank 0, before it attaches: leaves the checkpoint that it found for the `pleat launch` of
 * that number. */
void pleat_mailbox_spare(struct pleat_mailbox *mailbox, uint64_t launch);
/* For a rank that joins: *iteration is the adaptation point K of the resize under way.
 * PLEAT_E_STATE: there is none. */
int pleat_mailbox_entered(const struct pleat_mailbox *mailbox,
                          uint64_t *iteration) PLEAT_MUST_CHECK;

/* For rank 0. applied, saved and failed are called once every rank has got ENTER (a rank that came
 * later would find nothing to enter); each rings the doorbell. If the word has moved on, all but
 * begun, cannot_begin, broken and finish do nothing. */
void pleat_mailbox_answer(struct pleat_mailbox_rank *self, uint32_t accepted);
/* before: number of ranks before the resize; cost->wait_ns is computed from what they published
 * when they entered. warning: why no state could be saved; or empty. */
void pleat_mailbox_applied(struct pleat_mailbox_rank *self, uint32_t before, uint32_t size,
                           const struct pleat_mailbox_cost *cost, const char *warning);
/* Tells that the state for a relaunch is saved, so that all ranks leave now. Computes
 * cost->wait_ns. */
void pleat_mailbox_saved(struct pleat_mailbox_rank *self, uint32_t before,
                         const struct pleat_mailbox_cost *cost);
/* Every rank that leaves by a request with `beside`, after rank 0 has told that: sleeps until those
 * that waited compute, or for `most_ns`. Whether they do. */
bool pleat_mailbox_await_dismissal(const struct pleat_mailbox_rank *self, int64_t most_ns);
void pleat_mailbox_failed(struct pleat_mailbox_rank *self, const char *text);
/* Tells that copies are saved between resizes; and that one was: how long that took, and when it
 * was (since 1970). */
void pleat_mailbox_keeps(struct pleat_mailbox_rank *self);
void pleat_mailbox_kept(struct pleat_mailbox_rank *self, uint64_t took_ns, uint64_t at_us);
/* Any rank: tells the agent that it was asked for a checkpoint. */
void pleat_mailbox_want(struct pleat_mailbox_rank *self);
/* Rank 0, when all ranks are inside to write a checkpoint: ranks that were asked before were asked
 * for this one.
 */
void pleat_mailbox_unwant(struct pleat_mailbox_rank *self);
/* Tells why a copy could not be saved; the last one is still there. */
void pleat_mailbox_unkept(struct pleat_mailbox_rank *self, const char *text);
/* Tells that the checkpoint is on the disk: the program goes on, or, where that was asked for, all
 * ranks leave now. Computes cost->wait_ns. */
void pleat_mailbox_written(struct pleat_mailbox_rank *self, uint32_t ranks, bool leave,
                           const struct pleat_mailbox_cost *cost);
/* Tells that the ranks begin: anew (cost NULL), or from a state that all have loaded. */
void pleat_mailbox_begun(struct pleat_mailbox_rank *self, const struct pleat_mailbox_cost *cost);
/* Tells that the ranks could not load the state, and end. */
void pleat_mailbox_cannot_begin(struct pleat_mailbox_rank *self, const char *text);
/* Tells that a resize failed half-way: ranks may disagree about their size, and end. The word stays
 * ENTERED, so the program can be started again from the state that was saved when the ranks
 * entered. */
void pleat_mailbox_broken(struct pleat_mailbox_rank *self, const char *text);
void pleat_mailbox_finish(struct pleat_mailbox_rank *self);
/* Writes one byte into the doorbell; never blocks. */
void pleat_mailbox_ring(const struct pleat_mailbox_rank *self);

#endif

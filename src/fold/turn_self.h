/* turn_self.h - what a folded process knows about itself, shared by turn.c and turn_*.c. Lowest
 * first: turn_how.c, turn_useful.c, turn_watch.c, turn_next.c, turn_let_go.c; turn_pin.c;
 * turn_partition.c; turn_give.c; turn.c.
 *
 * It is used by the thread that called turn_attach. If several threads may call MPI (`shared`), any
 * of them gives the processor away and waits for it, one at a time (turn_enter); members that
 * another thread may use meanwhile are atomic. Processor time is that of the thread that attached.
 */
#ifndef PLEAT_FOLD_TURN_SELF_H
#define PLEAT_FOLD_TURN_SELF_H

#include <sys/types.h>

#include "fold/turn.h"
#include "shm/fold-layout.h"

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the order is that of use */
struct turn_self {
    /* These are used at every poll, so they are in one cache line: with many processes on a
     * processor each finds its data gone from the fastest cache, and a poll takes less than a
     * microsecond. */
    _Alignas(PLEAT_FOLD_LINE) struct pleat_fold *fold; /* NULL: does not take part */
    struct pleat_fold_segment *segment;
    struct pleat_fold_slot *slot;
    uint64_t switches; /* the same as in the slot, which only this process writes */
    uint64_t episode_cpu_ns;
    _Atomic uint32_t untold; /* generation in which messages need not be told of; 0: none */
    _Atomic uint32_t yields; /* generation in which it only yields when it waits; 0: none */
    _Atomic uint32_t polls;  /* polls in vain since something may have come */
    _Atomic bool progressed; /* something was found since it last gave its processor away */

    uint32_t index; /* its slot among those that hand processors on (pleat_fold_turns) */
    uint32_t own;   /* the same among the processes of its run */
    pid_t pid;
    bool shared; /* several of its threads may call MPI */
    /* as of `generation` of the segment, and of the pool */
    uint32_t generation, pool_generation;
    struct pleat_fold_settings settings;
    _Atomic uint32_t processors; /* number in the partition; 0: none yet */
    _Atomic bool global;         /* the queue is global */
    bool doubled;                /* some processors are the same CPU */
    uint32_t processor;          /* line of the processor where it is */
    uint32_t at;                 /* the same, as index in the partition; for a run of a pool */
    uint16_t *members; /* slots of the others that may run there: those of its queue, or all */
    uint32_t member_count;
    int32_t *siblings; /* for each slot: a thread known to be of this run; 0: none */
    /* about the present wait */
    uint64_t begun_ns, granted_ns;
    /* about messages of which nobody tells */
    bool is_part;           /* the program has processes on other nodes */
    uint64_t vain_since_ns; /* since when nothing was found */
    uint32_t look_us;       /* the time after which it looks again */
    uint64_t now_ns;        /* when it began to give its processor away */
    uint32_t doze_us;       /* of its next sleep (PLEAT_FOLD_WAIT_BLOCK) */
    /* processor time (turn_useful.c) */
    uint64_t waited_ns, told_ns;
    uint64_t polled_ns; /* when it last polled in vain with a processor to itself */
    uint32_t astray;    /* generation in which it may not use its CPU; 0: none */
    int32_t pinned;     /* the CPU it is bound to; -1: the partition; -2: not bound by us */
};

/* Reads what the agent has changed since the last time: settings, partition, the process's queue.
 */
void turn_refresh(struct turn_self *self);
/* Another process gave it a processor: one of its own queue, or with a global queue any. */
void turn_settle(struct turn_self *self);
/* turn_how: how it waits, never AUTO. turn_hands_over: whether it hands its processor on. */
enum pleat_fold_wait turn_how(const struct turn_self *self);
/* The same on another processor of the partition, by its line. */
enum pleat_fold_wait turn_how_on(const struct turn_self *self, uint32_t processor);
bool turn_hands_over(const struct turn_self *self);
/* Whether no other process could use the processor while this one waits. */
bool turn_is_alone(const struct turn_self *self);

/* Whether the caller is the thread that attached. */
extern _Thread_local bool turn_attached_here __attribute__((tls_model("initial-exec")));
static inline bool turn_is_mine(void)
{
    return turn_attached_here;
}
/* Adds all CPUs of the partition. */
void turn_add_all(const struct turn_self *self, struct turn_cpus *cpus);

/* Whether processes of other runs take part, too. */
static inline bool turn_is_pooled(const struct turn_self *self)
{
    return self->fold->pool != NULL;
}

static inline struct pleat_fold_processor *turn_line(const struct turn_self *self, uint32_t line)
{
    return &self->fold->turns.lines[line];
}

static inline struct pleat_fold_slot *turn_slot(const struct turn_self *self, uint32_t index)
{
    return &self->fold->turns.slots[index];
}

/* Lines from this one on are nobody's. */
static inline uint32_t turn_line_count(const struct turn_self *self)
{
    return turn_is_pooled(self) ? self->fold->turns.line_count : self->processors;
}

static inline bool turn_queue_is_global(const struct turn_self *self)
{
    return self->settings.queue == PLEAT_FOLD_QUEUE_GLOBAL;
}

static inline void turn_count_switch(struct turn_self *self)
{
    atomic_store_explicit(&self->slot->switches, ++self->switches, memory_order_relaxed);
}

/* A relaxed store: it is done often, and no other memory depends on its order. */
static inline void turn_set_progressed(struct turn_self *self, bool progressed)
{
    atomic_store_explicit(&self->progressed, progressed, memory_order_relaxed);
}

/* ---- several threads (turn_threads.c) ---- */

/* Begins to take part for the process, until turn_exit. False: another thread does. */
bool turn_enter(void);
void turn_exit(void);
/* Called by the thread that takes part: the process gives its processor away (turn_goes); it has
 * one again (turn_comes). */
void turn_goes(void);
void turn_comes(void);
/* Called by the other threads: sleeps as long as the process has no processor, but not for long; if
 * it has one, yields. */
void turn_beside(void);
/* In a forked child, which has no other thread. */
void turn_threads_forget(void);

/* ---- which process runs next (turn_next.c) ---- */

struct turn_choice {
    uint32_t index, word;
};
/* Chooses among the processes that wait and may run here; with only_ready among those of them to
 * which something was sent since they last looked. False: there is none. */
bool turn_next(const struct turn_self *self, bool only_ready, struct turn_choice *choice);

/* ---- giving the processor away (turn_give.c) ---- */

/* Gives the processor to a process that can use it, and returns when this process has one again. */
void turn_hand_over(struct turn_self *self, uint64_t now_ns);
/* Sleeps until something is sent to the process, or for a short time. */
void turn_block(struct turn_self *self);
/* Something was sent to the process `to`: if it waits, and its processor is idle, wakes it. */
void turn_alert(struct turn_self *self, uint32_t to);
/* Wakes idle processors, since their processes may find something now. */
void turn_alert_idle(struct turn_self *self);
/* Gives the processor away for good. */
void turn_abandon(struct turn_self *self);

/* ---- is the holder still at work? (turn_watch.c) ---- */

/* Whether another process has the processor, as far as the words tell. */
bool turn_is_held(const struct turn_self *self);
/* Whether this process, which has waited long, may take the processor: since no process holds it,
 * or since the holder uses no processor time (it is dead, stopped, or blocked in the kernel), or
 * computes for so long that the kernel should share the processor. */
bool turn_may_take(struct turn_self *self, uint64_t now_ns);

/* ---- others on the processor (turn_let_go.c) ---- */

/* Now and then sleeps for a moment, before the process hands its processor on: so that the kernel
 * gives the CPU to others that want it. */
void turn_let_go(const struct turn_self *self, uint64_t now_ns);

/* ---- which CPUs it may use (turn_pin.c) ---- */

/* Binds the process to the CPU of its processor, or to the whole partition. */
void turn_pin(struct turn_self *self);
/* Binds the process to the processor that it has been given: the process that bound it last may not
 * have known of that. */
void turn_stay(struct turn_self *self);
/* Binds the process `index` to the CPU of `processor`, before it is woken there. */
void turn_move(const struct turn_self *self, uint32_t index, uint32_t processor);

/* ---- processor time (turn_useful.c) ---- */

void turn_useful_wait(struct turn_self *self);  /* another poll was in vain */
void turn_useful_found(struct turn_self *self); /* something was found after polls in vain */
void turn_useful_tell(struct turn_self *self, uint64_t now_ns); /* publishes the sum now and then */
/* A poll was in vain, and no other process wants the processor. */
void turn_useful_alone(struct turn_self *self);

#endif

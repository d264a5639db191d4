/* fold-layout.h - the inside of the segment of fold.h, for fold.c and src/fold.
 *
 * Which process has a processor is told by two words, which agree only in the end: the processor's
 * `holder`, and the `word` of each process, which is also the futex on which it waits. A process
 * gives the processor to another one by changing that one's word from parked (or idle) to running
 * with one compare-and-swap, and then writes it down as holder. Only its owner changes a word that
 * says running. A process that finds itself running while the holder is another process that runs
 * there, too, is surplus: it parks at its next wait, and gives the processor to none.
 *
 * An owner changes its word to parked before it looks whether another process is running (both are
 * sequentially consistent). So of two processes that give way at the same time at least one sees
 * the other.
 */
#ifndef PLEAT_SHM_FOLD_LAYOUT_H
#define PLEAT_SHM_FOLD_LAYOUT_H

#include <stdatomic.h>

#include "shm/fold.h"
#include "shm/segment.h"

#define PLEAT_FOLD_MAGIC UINT64_C(0x31646c6f66656c70)      /* "plefold1" */
#define PLEAT_FOLD_POOL_MAGIC UINT64_C(0x316c6f6f70656c70) /* "plepool1" */
#define PLEAT_FOLD_VERSION 4u
#define PLEAT_FOLD_LINE 64

/* Up to this number of processes, messages are counted for each pair: the counts take 256 KiB then.
 */
#define PLEAT_FOLD_TRAFFIC_MAX 256u

enum pleat_fold_state {
    PLEAT_FOLD_ABSENT,
    PLEAT_FOLD_RUNNING,
    PLEAT_FOLD_PARKED, /* waits for a message, or for its turn */
    PLEAT_FOLD_IDLE    /* has the processor, which no process can use: sleeps for a short time */
};
#define PLEAT_FOLD_STATE_MASK 0xffu
#define PLEAT_FOLD_PROCESSOR_SHIFT 8

/* One process. Others read the first cache line to choose who is next, and senders change it; the
 * second is written mostly by its owner. */
struct pleat_fold_slot {
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t word; /* state and processor: see pleat_fold_word */
    _Atomic uint32_t seen; /* lower half of `mail` when the process last looked for messages */
    /* lower half: messages sent to the process so far; upper half: those not received */
    _Atomic uint64_t mail;
    _Atomic uint64_t parked_ns; /* since when it waits (CLOCK_MONOTONIC) */
    _Atomic uint64_t look_ns;   /* when it looks for messages even if told of none */
    _Atomic int32_t waits_for; /* the process from which it waits for a message; -1: from anybody */
    _Atomic uint32_t queue; /* written by the agent: index of the processor in whose queue it is */
    _Atomic uint32_t away;  /* 1: others found that it runs, but uses no processor time */
    _Alignas(PLEAT_FOLD_LINE) _Atomic int32_t pid;
    _Atomic int32_t tid;
    _Atomic int32_t rank;
    _Atomic uint32_t run; /* of a pool: tag of the run that has the slot; 0: it is free */
    _Atomic uint64_t switches;
    _Atomic uint64_t useful_ns;
};

/* One processor of the partition. */
struct pleat_fold_processor {
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t holder; /* index of a process + 1; 0: none */
    _Atomic uint32_t idle;      /* the holder sleeps: a sender to a process here must wake it */
    _Atomic uint32_t vain;      /* turns in a row in which no process found anything */
    _Atomic uint32_t doze_us;   /* length of the next sleep of an idle holder, in microseconds */
    _Atomic uint32_t cpu;       /* written by the agent: number of the CPU */
    _Atomic uint32_t contended; /* written by the agent: 1: others compute there, too */
    _Atomic uint32_t let_go_us; /* time between two sleeps of holders (turn_let_go.c) */
    _Atomic uint64_t let_go_ns; /* when a holder slept last; 0: never */
    /* what the process saw that last checked the holder (turn_watch.c) */
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t watch_holder;
    _Atomic uint64_t watch_switches;
    _Atomic uint64_t watch_since_ns;
    _Atomic uint64_t watch_at_ns;
    _Atomic uint64_t watch_cpu_ns;
};

struct pleat_fold_segment {
    /* constant once the segment is made */
    _Alignas(PLEAT_FOLD_LINE) struct pleat_segment_header header; /* count: processes */
    uint32_t cpus_max;
    /* of a run that shares processors in time (fold-pool.h), else 0: the number, plus 1, of the
     * manager's descriptor of the pool, and the first slot of the run's there */
    uint32_t pool_fd, pool_first;
    /* written by the agent; read at every wait, so these have a cache line of their own */
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t generation; /* counts changes of this line */
    _Atomic uint32_t processors; /* number in the partition; 0: none yet */
    _Atomic uint32_t folded;     /* more than one process, or others, on some processor */
    _Atomic uint32_t doubled; /* some processors are the same CPU: no process has one to itself */
    _Atomic uint32_t modes;   /* the four enums of the settings, a byte each */
    _Atomic uint32_t spin_us;
    _Atomic uint32_t slice_us;
    _Atomic uint32_t counts; /* 1: the agent wants every message counted */
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t any_idle; /* 1: some processor may be idle */
    _Atomic uint32_t refused; /* processes that cannot be folded; always 0 with an older library */
    /* cpus_max processors, then `processes` slots, then the counts of messages for each pair */
    _Alignas(PLEAT_FOLD_LINE) unsigned char rest[];
};

/* Among whom the processors are handed on: the processes of the run, on the processors of its
 * partition; or those of all runs of a pool (fold-pool.h), on all CPUs. Words, holders and the
 * queues of slots name lines and slots of this. */
struct pleat_fold_turns {
    struct pleat_fold_processor *lines; /* of a pool: line i is that of CPU i */
    struct pleat_fold_slot *slots;
    _Atomic uint32_t *any_idle;
    uint32_t line_count, slot_count;
    uint32_t first; /* the slot of the run's first process */
};

/* Of several runs (fold-pool.h). */
struct pleat_fold_pool_segment {
    _Alignas(PLEAT_FOLD_LINE) struct pleat_segment_header header; /* count: slots */
    _Atomic uint32_t generation; /* counts changes of who is in which queue */
    _Atomic uint32_t used;       /* slots from this one on have never been taken */
    _Atomic uint32_t tags;       /* the last tag of a run */
    _Alignas(PLEAT_FOLD_LINE) _Atomic uint32_t any_idle;
    /* a line for each CPU, then the slots */
    _Alignas(PLEAT_FOLD_LINE) unsigned char rest[];
};

struct pleat_fold_pool {
    struct pleat_fold_pool_segment *segment;
    struct pleat_fold_processor *lines;
    struct pleat_fold_slot *slots;
    size_t bytes;
};

struct pleat_fold {
    struct pleat_fold_segment *segment;
    struct pleat_fold_processor *processors; /* of the partition */
    struct pleat_fold_slot *slots;           /* of the run's processes */
    _Atomic uint32_t *traffic; /* [from * processes + to]; NULL: there are too many processes */
    size_t bytes;
    uint32_t processes, cpus_max; /* not read again from the segment */
    struct pleat_fold_turns turns;
    struct pleat_fold_pool *pool; /* NULL: none */
    bool own_pool;                /* it is closed with this: in a process */
    uint32_t tag;                 /* of the run's slots in the pool */
};

static inline uint32_t pleat_fold_word(enum pleat_fold_state state, uint32_t processor)
{
    return (uint32_t)state | processor << PLEAT_FOLD_PROCESSOR_SHIFT;
}

/* The state in a word; none of the enum's where a process wrote nonsense. */
static inline uint32_t pleat_fold_word_state(uint32_t word)
{
    return word & PLEAT_FOLD_STATE_MASK;
}

static inline uint32_t pleat_fold_word_processor(uint32_t word)
{
    return word >> PLEAT_FOLD_PROCESSOR_SHIFT;
}

/* Whether the process waits, and so can be given a processor. */
static inline bool pleat_fold_word_waits(uint32_t word)
{
    uint32_t state = pleat_fold_word_state(word);
    return state == PLEAT_FOLD_PARKED || state == PLEAT_FOLD_IDLE;
}

static inline bool pleat_fold_word_runs_on(uint32_t word, uint32_t processor)
{
    return word == pleat_fold_word(PLEAT_FOLD_RUNNING, processor);
}

static inline uint32_t pleat_fold_processor_count(const struct pleat_fold *fold)
{
    uint32_t count = atomic_load_explicit(&fold->segment->processors, memory_order_acquire);
    return count <= fold->cpus_max ? count : fold->cpus_max;
}

/* The settings in the segment; values outside of their enum become the default. */
struct pleat_fold_settings pleat_fold_settings_of(const struct pleat_fold *fold);

/* Makes the process of slot `index` run on the processor of line `line` if its word is still
 * `word`; false: the word has changed. The caller wakes the process afterwards. */
bool pleat_fold_grant(const struct pleat_fold_turns *turns, uint32_t index, uint32_t word,
                      uint32_t line);
void pleat_fold_wake(const struct pleat_fold_turns *turns, uint32_t index);

/* The line of processor `index` of the partition; the CPU of a line. */
static inline uint32_t pleat_fold_line(const struct pleat_fold *fold, uint32_t index)
{
    uint32_t line = fold->pool ? atomic_load(&fold->processors[index].cpu) : index;
    return line < fold->turns.line_count ? line : 0;
}

static inline uint32_t pleat_fold_cpu(const struct pleat_fold *fold, uint32_t line)
{
    return fold->pool ? line : atomic_load(&fold->processors[line].cpu);
}

/* The index in the partition of the processor with that line; their number where there is none. */
uint32_t pleat_fold_processor_of(const struct pleat_fold *fold, uint32_t line);
/* The number of slots of `turns` that may be in use, from the first one on. */
uint32_t pleat_fold_turns_used(const struct pleat_fold *fold);

/* Makes a process of the line's queue run there, if none does and one waits. A holder that has
 * left, or that waits, would otherwise be noticed only after a while. */
void pleat_fold_start(const struct pleat_fold *fold, uint32_t line);

/* The processes of the run hand processors on among themselves; as a segment is opened. */
void pleat_fold_own_turns(struct pleat_fold *fold);
/* In a process: opens the pool that the segment at `path` names, if it names one. */
int pleat_fold_pool_find(struct pleat_fold *fold, const char *path,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

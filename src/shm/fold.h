/* fold.h - memory shared by pleat-agent and the processes of one folded MPI program on one node
 * (Utrera 2010, 3.5.2: what the processor manager and the runtime library share).
 *
 * The agent creates it as a memfd; the processes open it through /proc/AGENT/fd/N (environment
 * variable PLEAT_FOLD), so that it is private to the job's owner and gone with its last user,
 * however that ends. The agent says on which processors the processes may be (the partition) and
 * which of them stands in which processor's queue; the processes (src/fold) hand the processors on
 * among themselves.
 *
 * Nothing here is a lock. Every word may be written by a process that is killed, stopped or wrong
 * the next moment: words are advice, a wrong one costs a turn; whoever waits does so for a bounded
 * time and then looks for himself. Everything read is checked before use.
 *
 * Functions return 0 or a negative code; none blocks, none allocates but create and open. The
 * agent's side is for one thread of one process.
 */
#ifndef PLEAT_SHM_FOLD_H
#define PLEAT_SHM_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_FOLD_ENV "PLEAT_FOLD" /* path of the segment */

#define PLEAT_FOLD_PROCESSES_MAX 4096 /* on one node */
#define PLEAT_FOLD_CPUS_MAX 1024

/* How a process waits for a message that is not there (Utrera 2010, 4.3.1 a). */
enum pleat_fold_wait {
    PLEAT_FOLD_WAIT_AUTO,      /* the best by measurement, by MPI and partition */
    PLEAT_FOLD_WAIT_NATIVE,    /* as its MPI does; the library only looks on */
    PLEAT_FOLD_WAIT_YIELD,     /* sched_yield: whom the kernel runs next is its choice */
    PLEAT_FOLD_WAIT_IMMEDIATE, /* hands the processor on at once ("blocking immediately") */
    PLEAT_FOLD_WAIT_SPIN,      /* polls for spin_us, then hands it on ("spin blocking") */
    PLEAT_FOLD_WAIT_BLOCK      /* sleeps until a message may be there; the kernel runs whom it
                                * likes: for processors that several jobs share */
};

/* When a process gives way (4.3.1 b). */
enum pleat_fold_give {
    PLEAT_FOLD_GIVE_EVENTS, /* when it waits */
    PLEAT_FOLD_GIVE_SLICE   /* also after slice_us */
};

/* Who is next (4.3.1 c). */
enum pleat_fold_next {
    /* The best by measurement: of those told of a message who ran last on that processor, then as
     * SENDER; of the others who waits longest, where moving him counts as waiting less. */
    PLEAT_FOLD_NEXT_AUTO,
    PLEAT_FOLD_NEXT_ROUND_ROBIN, /* who ran least recently */
    PLEAT_FOLD_NEXT_UNCONSUMED,  /* who has most messages that it has not received */
    PLEAT_FOLD_NEXT_SENDER,      /* of whom a message is waited for; else as UNCONSUMED */
    PLEAT_FOLD_NEXT_AFFINITY     /* who ran last on that processor; else as UNCONSUMED */
};

/* From which queue (4.3.3). */
enum pleat_fold_queue {
    PLEAT_FOLD_QUEUE_AUTO,  /* the agent's detector decides; the library never sees this one */
    PLEAT_FOLD_QUEUE_LOCAL, /* one for each processor: a process stays where it is */
    PLEAT_FOLD_QUEUE_GLOBAL /* one for the job: any process on any processor of the partition */
};

struct pleat_fold_settings {
    uint8_t wait, give, next, queue; /* of the enums above */
    uint32_t spin_us, slice_us;
};

struct pleat_fold; /* a mapping of the segment */

/* What a process tells of itself. */
struct pleat_fold_process {
    int32_t pid, tid;    /* of the thread that called MPI_Init; 0: not there. Only a hint: check its
                          * parentage before using it */
    int32_t rank;        /* in MPI_COMM_WORLD */
    uint32_t queue;      /* index in the partition of the processor where it is */
    uint64_t switches;   /* times that it gave the processor away */
    uint64_t useful_ns;  /* processor time that it did not spend waiting for messages */
    uint32_t unconsumed; /* messages sent to it that it has not received */
    bool waiting;
};

struct pleat_fold_status {
    uint32_t processes; /* of the node, as created */
    uint32_t attached;  /* have called MPI_Init and not yet MPI_Finalize */
    uint32_t refused;   /* have called MPI_Init and said that they cannot be folded; ever */
    uint32_t processors;
    struct pleat_fold_settings settings;
};

/* ---- the agent's side ---- */

/* A new segment for `processes` processes on at most `cpus_max` processors, with the default
 * settings (all AUTO but the queue, which is GLOBAL: 4.4.3) and no partition yet. *fd is a memfd,
 * close-on-exec, sealed against shrinking and growing. */
int pleat_fold_create(uint32_t processes, uint32_t cpus_max, struct pleat_fold **fold, int *fd,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* From now on. Nothing of it may be above its enum's last; PLEAT_E_INVALID. */
int pleat_fold_configure(struct pleat_fold *fold,
                         const struct pleat_fold_settings *settings) PLEAT_MUST_CHECK;
/* The partition: `count` numbers of CPUs (1 .. cpus_max), and for each process of the node the
 * index in `cpus` of the one in whose queue it stands (for a global queue: where it begins). The
 * processes hand over to the new queues at their next wait; on every processor at least one runs.
 * Pinning them is the caller's (first widen, then this, then narrow: see src/agent/fold.c). */
int pleat_fold_partition(struct pleat_fold *fold, const uint32_t *cpus, uint32_t count,
                         const uint32_t *where) PLEAT_MUST_CHECK;
/* Whether somebody else computes on the index'th processor of the partition: there a process that
 * yields waits for him. */
void pleat_fold_contended(struct pleat_fold *fold, uint32_t index, bool contended);
void pleat_fold_status(const struct pleat_fold *fold, struct pleat_fold_status *status);
/* The processes [first, first + count); returns how many were written. */
uint32_t pleat_fold_processes(const struct pleat_fold *fold, uint32_t first, uint32_t count,
                              struct pleat_fold_process *out);
/* Whether all messages are counted, which takes time at each of them; at first only those are of
 * which processes have to know. For what reads pleat_fold_traffic or `unconsumed`. */
void pleat_fold_count(struct pleat_fold *fold, bool all);
/* How many messages process `from` has sent to process `to` (indexes on this node), as far as was
 * counted; for mapping by communication. */
uint64_t pleat_fold_traffic(const struct pleat_fold *fold, uint32_t from, uint32_t to);

/* ---- a process's side (libpleat-fold); the rest is in fold-layout.h and src/fold/turn.h ---- */

int pleat_fold_open(const char *path, struct pleat_fold **fold,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* The calling process cannot be folded: its MPI is another one than its library's. Says so to the
 * agent; where there is no segment, nothing. */
void pleat_fold_refuse(const char *path);

/* Unmaps (and for the agent's own, leaves the fd to the caller). Accepts NULL. */
void pleat_fold_close(struct pleat_fold *fold);

/* "auto", "native", "yield", "immediate", "spin", "block"; "events", "slice"; "auto",
 * "round-robin", "unconsumed", "sender", "affinity"; "auto", "local", "global". */
const char *pleat_fold_wait_name(enum pleat_fold_wait wait);
const char *pleat_fold_give_name(enum pleat_fold_give give);
const char *pleat_fold_next_name(enum pleat_fold_next next);
const char *pleat_fold_queue_name(enum pleat_fold_queue queue);
/* From a text such as "wait=spin,spin=50us,next=sender,queue=local,give=slice,slice=10ms"; what is
 * not named stays. PLEAT_E_INVALID, with the known words. */
int pleat_fold_settings_parse(const char *text, struct pleat_fold_settings *settings,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

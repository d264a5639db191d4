/* fold.h - memory shared by pleat-agent and the processes of one folded MPI program on one node
 * (Utrera 2010, 3.5.2: what the processor manager and the runtime library share).
 *
 * The agent creates it as a memfd; the processes open it through /proc/AGENT/fd/N (environment
 * variable PLEAT_FOLD). So it is private to the job's owner, and gone when its last user ends in
 * whatever way. The agent sets on which processors the processes may be (the partition), and which
 * process is in which processor's queue. The processes (src/fold) hand the processors on among
 * themselves.
 *
 * There is no lock. Any word may be written by a process that is killed or stopped the next moment,
 * or is wrong: so words are only advice, and a wrong one costs a turn. A process waits for a
 * bounded time, and then looks for itself. Everything read is checked before use.
 *
 * Functions return 0 or a negative code. None blocks; only create and open allocate. The agent's
 * side is for one thread of one process.
 */
#ifndef PLEAT_SHM_FOLD_H
#define PLEAT_SHM_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_FOLD_ENV "PLEAT_FOLD" /* environment variable with the segment's path */

#define PLEAT_FOLD_PROCESSES_MAX 4096 /* on one node */
#define PLEAT_FOLD_CPUS_MAX 1024

/* How a process waits for a message that has not come (Utrera 2010, 4.3.1 a). */
enum pleat_fold_wait {
    PLEAT_FOLD_WAIT_AUTO,      /* the fastest one measured for this MPI and partition */
    PLEAT_FOLD_WAIT_NATIVE,    /* as its MPI does; the library only watches */
    PLEAT_FOLD_WAIT_YIELD,     /* sched_yield: the kernel chooses who runs next */
    PLEAT_FOLD_WAIT_IMMEDIATE, /* hands the processor on at once ("blocking immediately") */
    PLEAT_FOLD_WAIT_SPIN, /* polls for spin_us, then hands the processor on ("spin blocking") */
    PLEAT_FOLD_WAIT_BLOCK /* sleeps until a message may have come, and the kernel chooses who runs:
                             for processors that several jobs share */
};

/* When a process gives its processor away (Utrera 2010, 4.3.1 b). */
enum pleat_fold_give {
    PLEAT_FOLD_GIVE_EVENTS, /* when it waits */
    PLEAT_FOLD_GIVE_SLICE   /* when it waits, and after slice_us */
};

/* Which waiting process is next (Utrera 2010, 4.3.1 c). */
enum pleat_fold_next {
    /* The fastest one measured: among processes with new messages the one that ran last on this
     * processor, else as SENDER; among the others the one that has waited longest, less a handicap
     * if it must move. */
    PLEAT_FOLD_NEXT_AUTO,
    PLEAT_FOLD_NEXT_ROUND_ROBIN, /* the one that ran least recently */
    PLEAT_FOLD_NEXT_UNCONSUMED,  /* the one with the most messages that it has not received */
    PLEAT_FOLD_NEXT_SENDER,      /* the one whose message is waited for; else as UNCONSUMED */
    PLEAT_FOLD_NEXT_AFFINITY     /* the one that ran last on this processor; else as UNCONSUMED */
};

/* The queue from which it is taken (Utrera 2010, 4.3.3). */
enum pleat_fold_queue {
    PLEAT_FOLD_QUEUE_AUTO,  /* as the agent's detector decides; the library never sees this value */
    PLEAT_FOLD_QUEUE_LOCAL, /* one for each processor: processes do not move */
    PLEAT_FOLD_QUEUE_GLOBAL /* one for the job: any process may run on any processor of the
                               partition */
};

/* How processors are shared (Utrera 2010, table 4.4). */
enum pleat_fold_share {
    PLEAT_FOLD_SHARE_SPACE, /* each job has processors: among its own processes ("space-sharing") */
    /* jobs that have the same processors: a process hands its processor on to that process, of
     * whichever of them, that is next; from a local queue ("time-sharing", coscheduling) */
    PLEAT_FOLD_SHARE_TIME
};

struct pleat_fold_settings {
    uint8_t wait, give, next, queue; /* values of the enums above */
    uint32_t spin_us, slice_us;
    /* The queue until the detector has judged the program, where `queue` is AUTO: for the agent,
     * not in the segment. AUTO: as the request to start it says */
    uint8_t begin;
    uint8_t share; /* enum pleat_fold_share; likewise for the agent (fold-pool.h) */
};

struct pleat_fold; /* a mapping of the segment */

/* What a process tells about itself. */
struct pleat_fold_process {
    int32_t pid, tid; /* of the thread that called MPI_Init; 0: none. Only a hint: check whose child
                         it is before using it */
    int32_t rank;     /* in MPI_COMM_WORLD */
    uint32_t queue;   /* index in the partition of the processor where it is */
    uint64_t switches; /* how often it gave its processor away */
    /* processor time that it did not spend waiting for messages, in nanoseconds */
    uint64_t useful_ns;
    uint32_t unconsumed; /* number of messages sent to it that it has not received */
    bool waiting;
};

struct pleat_fold_status {
    uint32_t processes; /* on this node, as created */
    uint32_t attached;  /* have called MPI_Init, but not yet MPI_Finalize */
    uint32_t refused;   /* have called MPI_Init and found that they cannot be folded, so far */
    uint32_t processors;
    struct pleat_fold_settings settings;
};

/* ---- the agent's side ---- */

/* Makes a segment for `processes` processes on at most `cpus_max` processors, with no partition yet
 * and the default settings: all AUTO, but a GLOBAL queue (Utrera 2010, 4.4.3). *fd: a memfd,
 * close-on-exec, sealed against shrinking and growing. PLEAT_E_INVALID: a number is out of range;
 * PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int pleat_fold_create(uint32_t processes, uint32_t cpus_max, struct pleat_fold **fold, int *fd,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Changes the settings. PLEAT_E_INVALID: a value is outside of its enum. */
int pleat_fold_configure(struct pleat_fold *fold,
                         const struct pleat_fold_settings *settings) PLEAT_MUST_CHECK;
/* Sets the partition: `count` CPU numbers (from 1 to cpus_max of them), and for each process of the
 * node the index in `cpus` of the processor in whose queue it is (with a global queue: where it
 * begins). The processes change to the new queues at their next wait; at least one process runs on
 * every processor. The caller binds the processes: it widens their CPUs before this call, and
 * narrows them after it (src/agent/fold.c). PLEAT_E_INVALID; also for a run of a pool on a CPU
 * whose number is above all that the pool has room for (8191). */
int pleat_fold_partition(struct pleat_fold *fold, const uint32_t *cpus, uint32_t count,
                         const uint32_t *where) PLEAT_MUST_CHECK;
/* Sets whether others compute on processor `index` of the partition. There, a process that yields
 * would wait for them. */
void pleat_fold_contended(struct pleat_fold *fold, uint32_t index, bool contended);
void pleat_fold_status(const struct pleat_fold *fold, struct pleat_fold_status *status);
/* Reads the processes from `first` on, `count` at most; returns the number of entries written to
 * *out. */
uint32_t pleat_fold_processes(const struct pleat_fold *fold, uint32_t first, uint32_t count,
                              struct pleat_fold_process *out);
/* Sets whether all messages are counted, as pleat_fold_traffic and `unconsumed` need. That costs
 * time for each message; otherwise only messages are counted that processes have to know of. */
void pleat_fold_count(struct pleat_fold *fold, bool all);
/* How many messages process `from` has sent to process `to` (indexes on this node), as far as they
 * were counted. */
uint64_t pleat_fold_traffic(const struct pleat_fold *fold, uint32_t from, uint32_t to);

/* ---- a process's side (libpleat-fold); the rest is in fold-layout.h and src/fold/turn.h ---- */

int pleat_fold_open(const char *path, struct pleat_fold **fold,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Tells the agent that the calling process cannot be folded, since its MPI is not the library's.
 * Does nothing if there is no segment. */
void pleat_fold_refuse(const char *path);

/* Unmaps the segment. The agent keeps its fd. Accepts NULL. */
void pleat_fold_close(struct pleat_fold *fold);

/* "auto", "native", "yield", "immediate", "spin", "block"; "events", "slice"; "auto",
 * "round-robin", "unconsumed", "sender", "affinity"; "auto", "local", "global". */
const char *pleat_fold_wait_name(enum pleat_fold_wait wait);
const char *pleat_fold_next_name(enum pleat_fold_next next);
const char *pleat_fold_queue_name(enum pleat_fold_queue queue);
/* "space", "time". */
const char *pleat_fold_share_name(enum pleat_fold_share share);
/* Reads settings from a text such as
 * "wait=spin,spin=50us,next=sender,queue=local,give=slice,slice=10ms" or "begin=global"; those that
 * it does not name stay. PLEAT_E_INVALID, with the known words; also for share=time with a global
 * queue, or with a way to wait in which processes do not hand processors on. */
int pleat_fold_settings_parse(const char *text, struct pleat_fold_settings *settings,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

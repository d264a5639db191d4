/* folded.h - the processor manager: the agent's side of a folded run (Utrera 2010, 3.3). It has the
 * segment that the agent shares with the processes (shm/fold.h), the run's partition, and what is
 * measured.
 *
 * The agent tells the processes their CPUs and their places, and pins each process there: neither
 * is of use without the other. A process is attached when the segment has its pid and the process
 * is one of this run's. Until then, or always in a program that never attaches, processes are bound
 * to the whole partition (bind.h), and the kernel places them in it.
 */
#ifndef PLEAT_AGENT_FOLDED_H
#define PLEAT_AGENT_FOLDED_H

#include <time.h>

#include "agent/contention.h"
#include "agent/detector.h"
#include "agent/mapping.h"
#include "agent/rate.h"
#include "agent/run.h"
#include "base/cpus.h"
#include "shm/fold.h"

/* What `start` says of a folded run. */
struct pleat_folded_request {
    uint32_t processes;   /* on this node; 0: the run is not folded */
    const char *settings; /* pleat_fold_settings_parse; NULL: the defaults. Borrowed for the call */
    enum pleat_mapping mapping;
    enum pleat_fold_queue begin; /* the queue until the detector has judged, where it judges */
    double threshold;            /* the detector's threshold */
    /* periodically raise the priority of processes with messages (Utrera 2010, 4.2.1) */
    bool boost;
};

/* One process of the run, as its slot in the segment says. */
struct pleat_folded_member {
    pid_t pid;      /* 0: no process, or not one of the run's */
    pid_t tid;      /* the thread that calls MPI */
    uint64_t start; /* start time of pid */
    pid_t refused;  /* a pid in the slot that is not one of the run's */
    clockid_t clock;
    bool has_clock;
    int64_t cpu_ns;      /* processor time at the last look */
    int64_t compared_ns; /* processor time when contention was looked at last */
    bool waiting;        /* at the last look */
    int nice;            /* the niceness that it gave itself */
    bool boosted;
    uint64_t said;   /* useful time in its slot, at the last look */
    uint64_t ahead;  /* useful time counted here and not yet in its slot */
    uint64_t useful; /* useful time that the agent counts for it */
};

/* A shrink whose processors are not all free yet, or a growth that is taken back. */
struct pleat_folded_shrunk {
    uint64_t resize;
    uint32_t processors;
    bool withdrawn; /* the resize was withdrawn: its outcome is that */
};
PLEAT_ARRAY(pleat_folded_vacating, struct pleat_folded_shrunk);

enum pleat_folded_queue_by { PLEAT_QUEUE_BY_DEFAULT, PLEAT_QUEUE_BY_USER, PLEAT_QUEUE_BY_DETECTOR };

struct pleat_folded {
    struct pleat_run *run;
    struct pleat_fold *fold;
    int fd;
    struct pleat_folded_request asked;
    struct pleat_fold_settings settings; /* in force */
    bool detects;                        /* the detector chooses the queue */
    enum pleat_folded_queue_by queue_by;

    struct pleat_cpu_list cpus; /* the partition */
    uint32_t *where;            /* for each process the index of its processor in the partition */
    struct pleat_folded_vacating vacating;
    unsigned clean;  /* looks in a row in which no process was outside of the partition */
    unsigned strays; /* likewise, in which some process was outside */

    struct pleat_folded_member *members;
    struct pleat_fold_process *seen; /* of the last look */
    uint32_t attached;
    uint32_t refused;              /* processes that cannot be folded, as they said */
    uint64_t gone_ns;              /* useful time of processes that have left */
    int64_t begun_us, attached_us; /* when the run began; when the last process attached */

    struct pleat_detector detector; /* of the first `judged` members; judged 0: not used */
    struct pleat_detector_process *samples;
    uint32_t judged;
    /* how often processes were spread over the processors instead of using a global queue */
    uint32_t spreads;
    int64_t sample_us;

    struct pleat_rate rate; /* of work on the present partition */
    uint32_t rated;         /* processes that were attached when the rate began */

    /* of each processor; a second half is scratch space for changes */
    struct pleat_contention *contention;
    int64_t *busy_us;     /* of each CPU: at the last look, then room for the next */
    int64_t contended_us; /* time of that look */
    uint32_t contended;   /* number of contended processors */

    enum { PLEAT_BOOST_OFF, PLEAT_BOOST_ON, PLEAT_BOOST_REFUSED } boost;

    json_t *told; /* the last notification `folded` */
    int64_t told_us;
};

#endif

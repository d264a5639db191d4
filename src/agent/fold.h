/* fold.h - the processor manager: the agent's side of a folded run (Utrera 2010, 3.3). The segment
 * that it shares with the processes (shm/fold.h), its partition, and what is watched.
 *
 * The agent says on which CPUs the processes may be and which process stands where, and pins each
 * of them: one thing without the other changes nothing for the better. What is attached is a
 * process whose pid the segment has and which is one of this run's; until then, and where a program
 * never attaches, its processes are bound to the whole partition (bind.h) and share it as the
 * kernel likes.
 *
 * A resize is done at once, whatever the processes do; what comes of it is kept (outcomes.h).
 */
#ifndef PLEAT_AGENT_FOLD_H
#define PLEAT_AGENT_FOLD_H

#include <time.h>

#include "agent/contention.h"
#include "agent/detector.h"
#include "agent/mapping.h"
#include "agent/rate.h"
#include "agent/run.h"
#include "base/cpus.h"
#include "shm/fold.h"

/* What `start` says of a run that is folded. */
struct pleat_folded_request {
    uint32_t processes;   /* on this node; 0: it is not folded */
    const char *settings; /* pleat_fold_settings_parse; NULL: the defaults. Borrowed for the call */
    enum pleat_mapping mapping;
    enum pleat_fold_queue begin; /* until the detector has judged, where it does */
    double threshold;            /* of the detector */
    bool boost; /* periodically raise the priority of those with messages (4.2.1) */
};

/* One process of the run, as its slot in the segment says. */
struct pleat_folded_member {
    pid_t pid;      /* 0: no process, or not one of the run's */
    pid_t tid;      /* the thread that calls MPI */
    uint64_t start; /* of pid */
    pid_t refused;  /* a pid in the slot that is not one of the run's */
    clockid_t clock;
    bool has_clock;
    int64_t cpu_ns;      /* processor time at the last look */
    int64_t compared_ns; /* ... when contention was looked at */
    bool waiting;        /* at the last look */
    int nice;            /* its own priority */
    bool boosted;
    uint64_t said;   /* useful time in its slot at the last look */
    uint64_t ahead;  /* counted here, not yet said there */
    uint64_t useful; /* what it is taken to be */
};

/* A shrink of which not all is out yet. */
struct pleat_folded_shrunk {
    uint64_t resize;
    uint32_t processors;
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
    uint32_t *where;            /* of each process, its index in it */
    struct pleat_folded_vacating vacating;
    unsigned clean;  /* looks in a row in which no process was outside of the partition */
    unsigned strays; /* ... in which some process was */

    struct pleat_folded_member *members;
    struct pleat_fold_process *seen; /* of the last look */
    uint32_t attached;
    uint32_t refused;              /* processes that said they cannot be folded */
    uint64_t gone_ns;              /* useful time of those that have left */
    int64_t begun_us, attached_us; /* when it began; when the last one attached */

    struct pleat_detector detector; /* of the `judged` members; none: not looked at */
    struct pleat_detector_process *samples;
    uint32_t judged;
    uint32_t spreads; /* how often its processes were spread instead of a global queue */
    int64_t sample_us;

    struct pleat_rate rate; /* on the present partition */
    uint32_t rated;         /* the processes that were attached then */

    struct pleat_contention *contention; /* of each processor; twice, the second to change them */
    int64_t *busy_us;                    /* of each CPU; at the last look, and for the next */
    int64_t contended_us;                /* when that was */
    uint32_t contended;                  /* processors that are */

    enum { PLEAT_BOOST_OFF, PLEAT_BOOST_ON, PLEAT_BOOST_REFUSED } boost;

    json_t *told; /* what `folded` said last */
    int64_t told_us;
};

/* ---- fold.c: its life, and its partition ---- */

/* Makes the segment, with what the run is bound to as its partition, and sets run->folded.
 * PLEAT_E_INVALID: it is not bound. */
int pleat_folded_create(struct pleat_run *run, const struct pleat_folded_request *request,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* What processes open. Valid while this agent lives. */
void pleat_folded_path(const struct pleat_folded *folded, char *buffer, size_t size);
/* Nothing of the run is left. */
void pleat_folded_stop(struct pleat_folded *folded);
/* Accepts NULL. */
void pleat_folded_destroy(struct pleat_folded *folded);

/* The partition becomes `slots` (bind.h), now. Tells `applied` with `target`, and `vacated` when
 * nothing of the run may use what it gave up. 0 also when that was done before: then it is told
 * again. PLEAT_E_STATE: the run has exited. After an error nothing has changed. */
int pleat_folded_resize(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                        const json_t *slots, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Answers what it would accept of an offer: up to a processor for each process. */
int pleat_folded_ask(struct pleat_folded *folded, uint64_t resize, uint32_t offered,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Tells what came of a resize; of one that never arrived, that it will not happen. */
void pleat_folded_withdraw(struct pleat_folded *folded, uint64_t resize);

/* From which queue processes take their turns from now on; for a local one, where they stand is
 * thought over. */
void pleat_folded_queue(struct pleat_folded *folded, enum pleat_fold_queue queue,
                        enum pleat_folded_queue_by by);
/* Pins a member's thread that calls MPI to its processor (or to the partition, where the kernel is
 * to choose of it). */
void pleat_folded_pin(struct pleat_folded *folded, uint32_t index);

/* ---- fold_watch.c: attaching, the detector, contention ---- */

/* Starts and stops the timer that looks at folded runs, as needed now. */
void pleat_foldeds_arm(struct pleat_agent *agent);
/* Looks now: finds who is there and what they did. */
void pleat_folded_look(struct pleat_folded *folded);

/* What all its processes together have done so far. */
uint64_t pleat_folded_useful_ns(const struct pleat_folded *folded);

/* ---- fold_tell.c ---- */

/* Tells `folded`, where it says something new and the last time is a second ago. */
void pleat_folded_tell(struct pleat_folded *folded, int64_t now_us);
/* Adds to what `list` says of the run: `processes`, `processors`. Negative: no memory. */
int pleat_folded_describe(const struct pleat_folded *folded, json_t *run) PLEAT_MUST_CHECK;
/* Tells it again, as after a new connection. */
void pleat_folded_report(const struct pleat_folded *folded);

#endif

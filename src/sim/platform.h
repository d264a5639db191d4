/* platform.h - simulated sites: what they have, how fast they are, who else uses them, what fails.
 *
 * Local users take only free processors: nothing from Pleat's jobs, as Pleat takes nothing from
 * them. Local jobs of the model queue at their site, first come, first served. A trace that asks
 * for more processors than are free gets the free ones. Processors that become free go to local
 * users that wait, before Pleat decides.
 * A node that fails ends all jobs that have a slot on it, and takes the slots of local users on it.
 * Which slots these are is drawn at random, each with the same probability: nodes are filled one
 * after another.
 * Jobs that would fit if all nodes were up, or if a site had joined, wait for that. */
#ifndef PLEAT_SIM_PLATFORM_H
#define PLEAT_SIM_PLATFORM_H

#include "base/array.h"
#include "base/error.h"
#include "model/types.h"

/* A time that is drawn anew each time: constant (spread 0), or normal, cut off at 0. */
struct pleat_delay {
    int64_t mean_us, spread_us; /* spread: the standard deviation */
};

struct pleat_load_point { /* background load: processors in use by local users from then on */
    int64_t at_us;
    int32_t processors;
};

PLEAT_ARRAY(pleat_load_points, struct pleat_load_point);

enum pleat_queue_kind {
    PLEAT_QUEUE_NONE, /* a site gives what is free at once */
    PLEAT_QUEUE_FCFS, /* a batch system: first come, first served ... */
    PLEAT_QUEUE_EASY  /* ... and backfilling that does not delay the first one */
};

/* Another user's job in the queue of a batch system. */
struct pleat_other_job {
    int64_t submit_us; /* of the workload's clock */
    int64_t run_us;    /* how long it runs, unless its limit ends it before */
    int64_t limit_us;  /* that its user asked for */
    int32_t processors;
};

PLEAT_ARRAY(pleat_other_jobs, struct pleat_other_job);

enum pleat_failure_kind {
    PLEAT_FAILURE_NONE,
    PLEAT_FAILURE_NODE,  /* a node goes down with all that runs on it, and comes back repaired */
    PLEAT_FAILURE_START, /* a start fails (the node's fault), with a probability */
    PLEAT_FAILURE_CLAIM  /* a claim is refused, with a probability */
};

struct pleat_failure {
    enum pleat_failure_kind kind;
    double probability; /* START, CLAIM: of each */
    int64_t between_us; /* NODE: mean time between failures of one node (exponential) */
    int64_t repair_us;  /* NODE: until it is back (exponential mean) */
};

struct pleat_sim_site {
    char name[64];
    int32_t nodes, slots;     /* of each node */
    int32_t threshold;        /* processors left free when growing */
    double speed;             /* run times are divided by it; 0.001 to 1000 */
    struct pleat_delay claim; /* from asking for processors to having them */
    int64_t claim_each_us;    /* ... more for each processor: they are got one after another */
    struct pleat_delay start; /* from having them to running */
    struct pleat_delay grow;  /* from having those of a growth to its processes being there; the
                               * application computes on, and no other change of it is begun */
    struct pleat_delay release;
    struct pleat_failure failure;
    /* background: the trace if it has points, else the model: local jobs of `load_processors`
     * (uniform from 1) that arrive with exponential gaps and run for exponential times */
    struct pleat_load_points trace;
    int64_t load_gap_us, load_run_us; /* means; gap 0: no local users */
    int32_t load_processors;
    /* A batch system has the processors: each claim is an allocation that waits in its queue,
     * beside other users' jobs: those of `others`, in the order of their submission, and those of
     * the model above, whose users ask for load_estimate times as long as they run. An allocation's
     * processors are the batch system's again when its job has given the last of them back, or
     * when its limit is over; a job that grows gets those back first. Policies do not know what
     * others have, as with background = ignore of real ones */
    enum pleat_queue_kind queue;
    struct pleat_other_jobs others;
    double load_estimate;                 /* at least 1 */
    int64_t limit_us, leave_us, queue_us; /* of an allocation: how long it lasts at most (0: no
                                           * limit), how long before its end jobs must leave it (at
                                           * most half of that time), how long it may wait */
    /* time between two looks at what others use of it and which nodes are up: policies know what
     * the last look found (Buisson et al. 2007, IV-A: KOALA polls its information service). 0: they
     * know changes at once */
    int64_t poll_us;
    int64_t joins_us, leaves_us; /* 0: from the beginning; PLEAT_NEVER: stays */
};

PLEAT_ARRAY(pleat_sim_sites, struct pleat_sim_site);

struct pleat_sim_link { /* how fast files get from one site to another */
    uint32_t from, to;
    double bytes_per_s;
};

PLEAT_ARRAY(pleat_sim_links, struct pleat_sim_link);

struct pleat_platform {
    struct pleat_sim_sites sites;
    struct pleat_sim_links links; /* without a link no files get from one site to another */
    double flops; /* operations a second of a processor of speed 1; 0: not known. Only for readers
                   * of workloads that count operations */
};

/* Makes a site with one slot a node, speed 1, no delays, no failures, no local users, no queue. 0
 * or PLEAT_E_NOMEM. */
int pleat_platform_add(struct pleat_platform *platform, const char *name,
                       int32_t processors) PLEAT_MUST_CHECK;
void pleat_platform_finish(struct pleat_platform *platform);
/* Frees what belongs to one site; the record itself stays. */
void pleat_platform_finish_site(struct pleat_sim_site *site);

#endif

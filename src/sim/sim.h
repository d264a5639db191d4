/* sim.h - the core and its policies in simulated time: the same code that a daemon runs, with
 * simulated sites and applications around it.
 *
 * At one instant: all that ends or answers, then all submissions in their order, then a pass.
 * Applications are closed forms (how much work is left, how fast it goes, when the next adaptation
 * point is): no event per iteration. Sites give what they have, at once or after a delay. A run is
 * deterministic: the same input and seed give the same bytes. Runs share nothing: several may go on
 * in parallel threads.
 *
 * A resize: the application computes on to its next adaptation point, stands still there for the
 * time that the change costs, and then runs at the new size. While it stands still it has the
 * larger number of processors. (The components of a component-and-work application do not stand
 * still.) The core waits for a resize however long it takes, unless its parameters are set. If they
 * are, they hold as in a daemon: a job that comes to no adaptation point in time is ended when room
 * has to be made for another. */
#ifndef PLEAT_SIM_SIM_H
#define PLEAT_SIM_SIM_H

#include "core/core.h"
#include "model/workload.h"
#include "sim/platform.h"

enum pleat_estimates {
    PLEAT_ESTIMATES_GIVEN, /* the user's; a missing one is the run time */
    PLEAT_ESTIMATES_EXACT  /* the run time */
};

/* A job's partition changed: it started (from 0), grew, shrank, or ended (to 0). */
struct pleat_sim_change {
    int64_t time_us;    /* when its processes ran at the new size; end: when it ended */
    int64_t decided_us; /* when the policy decided it */
    int64_t stood_us;   /* that the application stood still for it */
    size_t job;         /* index into the workload's jobs */
    uint32_t site;
    int32_t from, to;  /* processors */
    int32_t processes; /* processes from then on: `to`, unless the job folds */
    bool mandatory;
    int32_t offered; /* by how many processors the policy wanted to change it */
};

struct pleat_sim_progress {
    int64_t now_us;
    size_t submitted, ended;
};

struct pleat_sim_evolved {        /* the last run of a job that asks for processes itself */
    uint32_t requests, satisfied; /* satisfied: at once, with a prepared process */
    int64_t waited_us;            /* processor time that prepared processes waited */
    int32_t iterations;
    int32_t reserved; /* no padding: the same run gives the same bytes */
};

struct pleat_sim_options {
    const struct pleat_platform *platform;
    /* NULL: the default. One that is in no list of Pleat's can be tried out, without `log` */
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    /* of the core; 0: its default, but claims and starts may take the time that sites need, and
     * resizes the time that applications need */
    int64_t parameters[PLEAT_PARAM_COUNT];
    uint64_t seed; /* the seed of all that happens at random: failures, delays, load */
    /* by how much the times of iterations that applications report differ: the standard deviation
     * as a share of the mean, 0 to 1. Only policies that want to know it are told. What a run
     * takes is as without, since that evens out over its iterations */
    double time_noise;
    /* what is known of every job from earlier runs, as REMEMBERED events; their component and time
     * do not matter */
    const struct pleat_event *remembered;
    size_t remembered_count;
    enum pleat_estimates estimates;
    bool feedback; /* jobs with a predecessor are submitted their think time after it ended, not as
                    * recorded */
    bool kill_at_estimate; /* a job that runs longer than its user's estimate is ended */
    bool check;            /* recount the core's indexes after every event (slow; for tests) */
    bool asks_all_sites;   /* also sites that answer at once are asked: a slower way to the same
                            * result (for tests) */
    uint64_t most_passes; /* passes at one instant after which the policies count as never settling;
                           * 0: more than any policies that settle could need */
    /* optional; context is passed on */
    void *context;
    int (*on_change)(void *context, const struct pleat_sim_change *change); /* < 0 stops the run */
    int (*on_pass)(void *context); /* after each pass; < 0 stops the run */
    /* now and then; < 0 stops the run */
    int (*on_progress)(void *context, const struct pleat_sim_progress *progress);
    struct pleat_sim_evolved
        *evolved;             /* optional: an entry for each job, filled where it evolves */
    struct pleat_events *log; /* gets all inputs and decisions, as a store would */
};

enum pleat_sim_fate {
    PLEAT_SIM_DONE,
    PLEAT_SIM_SKIPPED,  /* larger than every site: never submitted; or a part of a flexible job that
                         * was not needed */
    PLEAT_SIM_REJECTED, /* its reservation was refused */
    PLEAT_SIM_FAILED,   /* given up: too many tries or failures */
    PLEAT_SIM_KILLED,   /* at its estimate */
    PLEAT_SIM_LEFT      /* still waiting or running when nothing more could happen */
};

struct pleat_sim_outcome { /* of a job */
    int64_t submit_us;     /* as recorded; with feedback: when the job was submitted */
    /* of the last run; PLEAT_NEVER: the job never started, or never ended. The end of a job that
     * was given up while it waited is that time */
    int64_t start_us, end_us;
    int32_t processors; /* at the start */
    uint32_t site;
    uint32_t grown, shrunk;
    float average;     /* average number of processors over its run */
    uint16_t restarts; /* starts after the first: failures */
    uint8_t fate;      /* enum pleat_sim_fate */
    uint8_t reserved;  /* no padding: the same run gives the same bytes */
};

struct pleat_sim_totals {
    uint64_t inputs, passes, decisions;
    uint64_t grows, shrinks;
    size_t fates[PLEAT_SIM_LEFT + 1]; /* jobs by fate */
    size_t followers, lost;   /* with feedback: jobs that wait for their predecessor; that name one
                               * which is not in the workload, and are submitted as recorded */
    int64_t begin_us, end_us; /* first submission, last end of a run */
    double stood_us;          /* processor-microseconds for which applications stood still in
                               * resizes */
    double busy_us;           /* processor-microseconds that jobs ran on */
    /* those that jobs held while they waited for their other components, or for files */
    double wasted_us;
    double background_us;         /* those that local users had, from begin to end */
    double capacity_us;           /* those that sites had, without nodes that were down */
    uint64_t requests, satisfied; /* requests for processes, by jobs that make them; those that were
                                   * granted at once */
    double prepared_us;           /* processor time that prepared processes waited */
    /* of applications that ask for processors: asks; how often they gave some back; asks by their
     * answer, as far as there was one; how long applications with mandatory asks stood still */
    uint64_t asks, gifts, asks_granted, asks_partly, asks_refused;
    double lacked_us;
    /* of applications with sections in which nothing may change: how many the core was told of; how
     * often a change was taken back for one, of which the application was told */
    uint64_t sections, put_off;
    /* at sites with a batch system: allocations that were given, how long they waited in its queue
     * in all, and how many the system took away when their limit was over */
    uint64_t allocations, expired;
    double queued_us;
};

/* Runs a workload to its end; outcomes has an entry for each job of the workload. PLEAT_E_INVALID:
 * a job, site or option makes no sense, err says which. PLEAT_E_STATE: a policy's plan was refused,
 * or the policies never settle. PLEAT_E_NOMEM. What a callback returned. After a failure outcomes
 * and totals say nothing. */
int pleat_sim_run(const struct pleat_workload *workload, const struct pleat_sim_options *options,
                  struct pleat_sim_outcome *outcomes, struct pleat_sim_totals *totals,
                  struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* records.h - components, sites, claims and resizes as the core keeps them and policies read them.
 *
 * Policies get them only through a const view (policy/view.h). Indexes are dense; PLEAT_NONE is
 * none. Lists are threaded through the records, in the order stated at the links.
 */
#ifndef PLEAT_MODEL_RECORDS_H
#define PLEAT_MODEL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/architecture.h"
#include "model/inputs.h"
#include "model/types.h"

/* Why a waiting component does not stand in the queue. */
enum pleat_aside {
    /* it stands in the queue */
    PLEAT_ASIDE_NOT,
    /* it is a reservation whose time has not come */
    PLEAT_ASIDE_RESERVATION,
    /* of a job of several components: another one stands in the queue for it, or the job does not
     * wait now (see core/job.c) */
    PLEAT_ASIDE_TOWED,
    /* something holds it: pleat_component.holds */
    PLEAT_ASIDE_HELD
};

/* What holds a component back, so that it does not stand in the queue (core/hold.c): bits. */
enum pleat_hold {
    PLEAT_HELD_BY_USER = 1,  /* its user, who releases it */
    PLEAT_HELD_BY_JOBS = 2,  /* it depends on other jobs (core/depend.c) */
    PLEAT_HELD_BY_GROUP = 4, /* its group is full: as many as its limit allows stand in the queue or
                              * run */
    PLEAT_HELD_BY_FAULT = 8  /* a node could not start it: until quiet_until_us (core/errors.c) */
};

/* The signal before the time limit of a run. */
enum pleat_signalled {
    PLEAT_SIGNALLED_NOT,
    PLEAT_SIGNALLED_TOLD, /* SIGNAL was given, SIGNALLED has not come */
    PLEAT_SIGNALLED_YES
};

/* Its members stand in the order of their use. A job that is not malleable, has no terms and no
 * files, and is the only component of its job needs the first 256 bytes from its submission to its
 * end; so a long queue takes no more than these from memory when its jobs start. What only some
 * components have stands in records beside it, as do its buffer, timings and dependencies. */
struct pleat_component {
    /* what policies look at for many components at every pass stands together */
    uint32_t previous, next; /* QUEUED: the queue. RUNNING, RESIZING: running by start, per site */
    uint32_t ends_previous, ends_next; /* the same components by expected end, per site, where a
                                        * policy needs that */
    int32_t minimum, maximum;          /* as its user asked; but see struct pleat_declaration */
    int32_t earmarked;                 /* processors held for it as earmarks, all at `site` */
    int32_t target;          /* its processors once the resize under way is over; `processors` where
                              * there is none */
    int64_t estimate_us;     /* 0: none */
    int64_t promised_us;     /* waiting: the time by which it will have started, as promised;
                              * PLEAT_NEVER */
    int64_t expected_end_us; /* running: by its estimate; PLEAT_NEVER without one */
    int32_t reference;       /* size for which the estimate holds; 0: any */
    uint8_t state;
    uint8_t kind; /* enum pleat_job_kind */
    uint8_t sizes_kind;
    uint8_t aside;          /* QUEUED: enum pleat_aside. Ended: PLEAT_FORGOTTEN, see below */
    int32_t processors;     /* of its partition, applied; 0 before it runs */
    int32_t cap;            /* policies do not grow it beyond this (after a shrink by its user);
                             * PLEAT_SIZE_MAX */
    uint32_t site;          /* where it runs, or where room is being made for it; PLEAT_NONE */
    int32_t coming;         /* processors being shrunk away for it, at `site` */
    int64_t quiet_until_us; /* no voluntary offer is made before this time (backoff) */

    /* what its user wants */
    uint64_t job;
    int64_t begin_us;      /* when its advance reservation begins; 0: it has none */
    int64_t key, position; /* waiting: the queue is in the order of (key, position) */
    int32_t initial;       /* 0: as available */
    int32_t sizes_parameter;
    uint32_t wanted_site; /* PLEAT_NONE: anywhere */
    uint16_t ordinal;     /* within its job */
    uint16_t flags;       /* PLEAT_COMPONENT_* */

    /* the present */
    union {
        uint64_t run;            /* number of its present, or last, run; 0: it was never started */
        uint64_t staging_number; /* while `staging` is set: the id of the effect STAGE */
    };
    int64_t start_us;  /* of the present run; PLEAT_NEVER before */
    int64_t end_us;    /* PLEAT_NEVER before */
    int64_t since_us;  /* running: its size, or its run, began then */
    int64_t limit_us;  /* a run's time limit; 0: none */
    uint8_t reason;    /* why it ended, or is being ended */
    uint8_t exited;    /* it has no processes (any more) */
    uint8_t starting;  /* START was given, STARTED has not come */
    uint8_t untold;    /* no agent can have been told to start its present run */
    uint8_t young;     /* malleable, running: its size is younger than its lifetime, so no policy
                        * changes it. In a resize: its size will be young when that is over */
    uint8_t signalled; /* enum pleat_signalled, in the present run */
    uint8_t holds;     /* enum pleat_hold: what keeps it out of the queue while it is QUEUED, or
                        * will be soon */
    uint8_t in_group;  /* it has a place in its group: it counts towards the limit */
    int32_t code;
    int16_t signal;
    uint16_t failed_starts; /* starts in a row that the node could not do */
    int32_t processes;      /* of the present run. FOLDS: from the decision on, 0 while it waits */
    uint32_t relaunches;    /* of the present run */
    uint32_t resize;        /* under way; PLEAT_NONE */
    uint32_t first_claim, last_claim; /* FOR_RUN and FOR_EARMARK claims, in the order of ranks */
    uint32_t claims;                  /* number of all claims that it owns, also of growing and
                                       * releasing ones */
    uint32_t start_claim;             /* the claim asked for its start and not yet held;
                                       * PLEAT_NONE */
    uint32_t promised_site;
    uint32_t deadline;        /* handle in the core's heap; PLEAT_HEAP_NONE */
    uint32_t first_dependent; /* the first dependency of others on its job; PLEAT_NONE */
    uint32_t group;           /* its group; PLEAT_NONE: it is of none */
    uint32_t first_timing;    /* what its iterations took, by size; PLEAT_NONE: nothing is known */
    uint32_t buffer;          /* its buffer of prepared processes, if it evolves; PLEAT_NONE */
    uint32_t lead; /* the first component of its job, maybe itself; PLEAT_NONE: it is the only
                    * one */

    uint16_t tries;
    uint16_t attempt;
    uint8_t mpl; /* FOLDS: the most processes on a processor in the present run; 0: there is none */
    uint8_t staging;  /* STAGE was given, STAGED has not come */
    uint8_t below;    /* it gave back processors, and now has fewer than its minimum */
    uint8_t any_need; /* one of the jobs that it waits for is enough */

    /* what is seldom asked */
    /* its records beside this one, see below; PLEAT_NONE: it has none */
    uint32_t terms, folding, declaration, coallocation;
    int64_t submit_us;
    int64_t due_us; /* to be done by then; PLEAT_NEVER */
    int64_t last_try_us;
    int16_t priority;
    uint8_t job_class;   /* enum pleat_job_class */
    uint8_t preempted;   /* how often it was preempted; 255: that often or more */
    uint32_t retries;    /* claims that failed after its files had been waited for */
    uint32_t first_need; /* its first dependency on other jobs; PLEAT_NONE */
    uint32_t ask;        /* one more record beside this one: struct pleat_ask */
    /* the node of the site whose agent starts the present (or last) run, and is told everything
     * about it */
    uint32_t lead_node;
    uint32_t spare;
};

_Static_assert(sizeof(struct pleat_component) == 320 &&
                   offsetof(struct pleat_component, terms) == 256,
               "no padding in a component, and what most jobs need stands in front");

/* Records beside that of a component have what only some components have. A component without such
 * a record, whose index is PLEAT_NONE, is to be read as if it had the constant one: see the
 * functions of policy/view.h. */

/* Terms (pleat_event.u.terms, u.signal); the time limit itself is in the component's record. */
struct pleat_terms {
    uint32_t component;             /* the component that has this record; of a free record, the
                                     * next free one */
    uint8_t signal_number;          /* the signal sent before the time limit; 0: none */
    uint8_t signal_script;          /* the signal is for the job's script alone */
    int64_t notice_us, lifetime_us; /* -1: as configured */
    int64_t signal_lead_us;         /* between the signal and the time limit */
};

/* FOLDS: what its user asked of it. */
struct pleat_folding {
    uint32_t component;      /* as in pleat_terms */
    int32_t partition_most;  /* the most processors that it may have; 0: no limit */
    int32_t partition_least; /* the fewest that it has, unless it has fewer processes */
    uint8_t mpl_max;         /* the most processes on a processor; 0: as configured */
    uint8_t mpl_first;       /* the MPL at which it starts, if it can */
    uint8_t nearest;         /* PLEAT_PARTITION_NEAREST was said with its limits */
};

/* What its application said of the present run. */
struct pleat_declaration {
    uint32_t component;     /* as in pleat_terms */
    int32_t declared;       /* processors that it can use at most; 0: any number */
    int32_t asked;          /* where `declared` is set: the maximum as the user asked; the
                             * component's `maximum` is the part of it that the application can use;
                             * else 0 */
    int32_t declared_least; /* processors that it can use at least; 0: any number */
    int32_t asked_least;    /* where `declared_least` is set: the minimum as the user asked; else
                             * 0 */
    int32_t asked_sizes_parameter; /* where declared_sizes is set: as the user asked */
    uint8_t declared_sizes;        /* the application has declared sizes: the component's are those
                                    * of its user's that it can use */
    uint8_t asked_sizes_kind;      /* where declared_sizes is set: as the user asked */
    uint8_t lasting;               /* the declaration holds for the next runs, too, until one of
                                    * them says otherwise */
    uint8_t spare[1];              /* no padding: tests compare records byte by byte */
    /* what the application says beside its sizes: */
    uint32_t not_now;    /* 1: it must not be resized now: no policy changes its size, unless a
                          * waiting job comes first */
    int64_t expected_us; /* when it expects to end; 0: it does not say */
};

/* What has become of what an application asked for. */
enum pleat_ask_state {
    PLEAT_ASK_NOTHING,
    PLEAT_ASK_PENDING, /* the ask waits for a pass, for processors, or for the end of a resize */
    PLEAT_ASK_GRANTED, /* the application has what it asked for, or, with the reason PARTLY, a part
                        * of it */
    PLEAT_ASK_REFUSED
};

/* Why an application does not get what it asked for. Numbers in logs: never changed; 5 was never
 * given. */
enum pleat_ask_reason {
    PLEAT_ASK_FULLY = 0,
    PLEAT_ASK_LIMITS = 1,   /* its limits and sizes allow no such size */
    PLEAT_ASK_CAPACITY = 2, /* its site is not that large */
    PLEAT_ASK_BUSY = 3,     /* others have the processors, or they are kept for others */
    PLEAT_ASK_FAILED = 4,   /* the change was tried and did not come about */
    PLEAT_ASK_PARTLY = 6,   /* granted: fewer processors were free than it asked for */
    PLEAT_ASK_LATER = 7,    /* it cannot begin with what it has: it waits in the queue until there
                             * are enough */
    PLEAT_ASK_ONCE = 8,     /* it would have to be started again, which its user has forbidden */
    PLEAT_ASK_TIME = 9      /* not possible within the time that it gave */
};

/* What the application of a component asked for, in its present run: to be on `wanted` processors.
 */
struct pleat_ask {
    uint32_t component; /* as in pleat_terms */
    uint32_t number;    /* number of its latest ask, counted by the agent that runs it; 0: none
                         * yet */
    uint64_t turn;      /* of two asks the one with the smaller `turn` came first */
    int32_t wanted;
    int32_t from;      /* the size at which the resize for this ask began; 0: none has begun */
    uint8_t state;     /* enum pleat_ask_state */
    uint8_t reason;    /* enum pleat_ask_reason */
    uint8_t more;      /* it wants more processors than it had; 0: fewer */
    uint8_t mandatory; /* it cannot go on without them, and waits */
    uint8_t caps;      /* it gave some back: the component's cap is the application's, not its
                        * user's */
    uint8_t unbegun;   /* it waits in its beginning, so nothing is lost if it is started again */
    uint8_t spare[2];  /* no padding: tests compare records byte by byte */
    /* what it gave up: */
    uint32_t returned; /* number of the latest time that it gave back processors at once; 0: none
                        * yet */
    /* processors that it gave up in voluntary shrinks that a policy wanted, which it could have
     * refused, less those that it has got since */
    int32_t credit;
    int64_t until_us;  /* pending: the time after which the answer is no; 0: it waits on */
    uint32_t deadline; /* handle in the core's heap of that time; PLEAT_HEAP_NONE */
    uint32_t spare2;
};

/* Of a job of several components, or with files that are brought to where it is placed. */
struct pleat_coallocation {
    uint32_t component;   /* as in pleat_terms */
    uint32_t sibling;     /* the next of its job, by ordinal; PLEAT_NONE */
    int64_t files_us;     /* when its files are expected to be there; 0: they are there */
    int64_t claimed_us;   /* since when it has all its processors and waits at the barrier;
                           * PLEAT_NEVER */
    int32_t total;        /* lead of a flexible job: processors of the whole job; 0: not flexible */
    uint32_t first_input; /* what it reads; PLEAT_NONE: nothing that would have to be brought */
    uint32_t files_site;  /* where its files are, or are being brought; PLEAT_NONE */
    uint32_t reserved;
};

extern const struct pleat_terms pleat_no_terms;
extern const struct pleat_folding pleat_no_folding;
extern const struct pleat_declaration pleat_no_declaration;
extern const struct pleat_ask pleat_no_ask;
extern const struct pleat_coallocation pleat_no_coallocation;

/* The `aside` of a component that has ended and was forgotten: its record is free. */
enum { PLEAT_FORGOTTEN = 1 };

static inline bool pleat_component_is_forgotten(const struct pleat_component *component)
{
    return component->aside == PLEAT_FORGOTTEN &&
           pleat_component_state_is_final((enum pleat_component_state)component->state);
}

/* A component waits for the end, or start, of another job. */
struct pleat_dependency {
    uint32_t dependent;                /* the component that waits; PLEAT_NONE: none any more */
    uint32_t on;                       /* the first component of the job that is waited for;
                                        * PLEAT_NONE: that is decided */
    uint32_t previous_need, next_need; /* the list of the same dependent, in the order of arrival */
    uint32_t previous, next;           /* the list of all that wait for `on`, the latest in front;
                                        * or the list of decided ones */
    uint8_t condition;                 /* enum pleat_condition of event.h */
    uint8_t met;                       /* decided: the condition holds */
    uint8_t spare[2];
};

_Static_assert(sizeof(struct pleat_dependency) == 28, "no padding in a dependency");

/* Components of which at most `limit` stand in the queue or run at one time. */
struct pleat_group {
    int32_t limit;
    int32_t active;       /* members that stand in the queue or run */
    uint32_t members;     /* components
                           * that have not ended; 0: the record is free */
    uint32_t first, last; /* members held by the full group, in the order in which they came */
    uint32_t next;        /* of a free record, the next free one */
};

_Static_assert(sizeof(struct pleat_group) == 24, "no padding in a group");

/* What an iteration of a component takes at a size: the latest that its runner reported; and, where
 * a policy in force wants to know more (PLEAT_NEEDS_MEASURES), what iterations there have taken on
 * average and how much they differ. */
struct pleat_timing {
    int64_t iteration_us;      /* the latest report; where `count` is above 0, the mean */
    int64_t redistribution_us; /* how long the latest change to this size took; 0: its run began at
                                * this size, or unknown */
    int32_t processors;
    uint32_t next; /* the component's next greater size; or the next free record */
    double mean_us;
    double squares;  /* the sum of the squares of all differences from the mean */
    int32_t count;   /* iterations in these two, at most PLEAT_TIMING_WINDOW: of older ones only a
                      * part counts; 0: nothing but iteration_us is known */
    int32_t from;    /* the size before the latest change to this one; 0: unknown */
    int32_t done;    /* iterations that the run had done by the latest report */
    int32_t earlier; /* of an earlier run: the iterations that it did in all; 0: measured by the
                      * component itself */
};

/* How many iterations count at most at a size; and how many of an earlier run: the component's own
 * soon outweigh them. */
enum { PLEAT_TIMING_WINDOW = 256, PLEAT_TIMING_REMEMBERED = 16 };

_Static_assert(sizeof(struct pleat_timing) == 56, "no padding in a timing");

/* The buffer of a component that asks for processes itself: processors with prepared processes,
 * which the application gets as soon as it asks (Liu et al. 2009, 4: the resource buffer). */
struct pleat_buffer {
    uint32_t component;      /* PLEAT_NONE: the record is free */
    uint32_t previous, next; /* the list of a site's running components with buffers, the one
                              * started last in front; of a free record, next: the next free one */
    uint32_t due_previous, due_next; /* the list of buffers that wait for a review */
    uint32_t deadline;               /* of the next review by time */
    uint32_t first_claim,
        last_claim;               /* FOR_BUFFER, of one processor each, as they were asked for */
    int32_t prepared;             /* prepared processes */
    int32_t requested;            /* prepared processes on their way */
    int32_t preparing;            /* part of requested: their processors are there, the processes
                                   * are being started */
    int32_t leaving;              /* in neither: processes that are being ended */
    int32_t iteration;            /* the last iteration that was told */
    int32_t review_iteration;     /* the iteration of the next review; INT32_MAX: it comes by time,
                                   * or never */
    int32_t executions;           /* executions of its application that are recorded in its
                                   * history */
    uint32_t requests, satisfied; /* requests for processes in this run; those satisfied at once,
                                   * with a prepared process */
    uint8_t due;
    uint8_t reserved[3];  /* no padding: tests compare records byte by byte */
    int64_t iteration_us; /* mean; 0: not known */
    /* processor time for which this run had processors without working on them: with prepared
     * processes, and with those that are being started or ended; ... */
    int64_t waited_us;
    int64_t counted_us; /* ... up to this time */
    /* PREPARES: processor time of all processors that the run had up to then, those included */
    int64_t held_us;
    int64_t quiet_until_us; /* nothing is asked for before this time: processes could not be
                             * prepared */
    uint32_t waiting;       /* requests that wait now, as its agent says */
    uint32_t failures;      /* processes in a row that could not be prepared */
    uint32_t pause;         /* handle in the core's heap of quiet_until_us; PLEAT_HEAP_NONE */
    uint32_t anywhere;      /* of the requests that wait, those that any of its sites can serve */
    int64_t recalled_us;    /* the mean time of an iteration in earlier executions; 0: not known */
    int64_t row_us;         /* when the present row of requests began: those of one buffer_review_us
                             * are one row */
    uint32_t row;           /* requests in it */
    uint32_t row_most;      /* the most in a row, in all runs of the component */
    uint32_t recalled_most; /* the most in a row in earlier executions */
    uint32_t again;         /* the last request was not satisfied: the next one is the same again */
    /* PREPARES: how many processors of the buffer went to waiting components in this run; to which
     * job last, and when */
    uint32_t reclaimed;
    uint32_t outposts; /* the first of its outposts, plus 1; 0: there is none */
    uint64_t reclaimed_for;
    int64_t reclaimed_us;
    /* PREPARES: how many of the requests that wait are for a node of that architecture, at its own
     * site */
    uint32_t waiting_on[PLEAT_ARCHITECTURES];
    uint32_t architecture; /* of the nodes on which all others can be; 0: any */
    uint32_t returning;    /* processes that the application will give back soon, as it says */
    /* for how many of the requests that wait a process was asked for: at most for all, and at most
     * as many as are prepared or on their way */
    uint32_t own;
    uint32_t spare; /* no padding */
};

_Static_assert(sizeof(struct pleat_buffer) == 264, "no padding in a buffer");

/* PREPARES: what a component has, and waits for, at a site other than its own. */
struct pleat_outpost {
    uint32_t buffer;                                 /* PLEAT_NONE: the record is free */
    uint32_t site;                                   /* not the component's */
    uint32_t next;                                   /* of the same buffer; PLEAT_NONE */
    uint32_t waiting;                                /* requests that wait for a process there; */
    uint32_t waiting_on[PLEAT_ARCHITECTURES];        /* of these, for a node of that architecture */
    int32_t prepared, requested, preparing, leaving; /* parts of what its buffer counts */
    int32_t taken;                                   /* processors there that the run has */
    uint32_t failures;      /* as of a buffer, which counts those at its component's site */
    uint32_t pause;         /* handle in the core's heap of quiet_until_us; PLEAT_HEAP_NONE */
    uint32_t rank;          /* which of its sites it is, from 1, for requests that any of them can
                             * serve, after the component's own; 0: it is none for these */
    int64_t quiet_until_us; /* nothing is asked for there before this time */
};

_Static_assert(sizeof(struct pleat_outpost) == 120, "no padding in an outpost");

/* Requests at an iteration, in all recorded executions of an application. */
struct pleat_history_row {
    int32_t iteration, requests;
};

struct pleat_site {
    int32_t capacity;
    int32_t background;     /* processors in use by others */
    int32_t threshold;      /* processors left free
                             * when growing */
    int32_t claimed;        /* processors in claims, whatever their state */
    int32_t releasing;      /* part of claimed: on the way back */
    int32_t coming;         /* part of claimed: being shrunk away for nobody in particular */
    int64_t quiet_until_us; /* nothing is claimed before this time (backoff after a failed claim) */
    int32_t reclaimable; /* processors that running malleable components have above their minimum,
                          * by target. Components that are young do not count, here and in the next
                          * two */
    uint32_t malleable_count;
    uint32_t resizing_count;                  /* malleable components in a resize */
    uint32_t growers;                         /* malleable components with a target below their
                                               * limit */
    uint32_t malleable_first, malleable_last; /* running malleable components, by start */
    uint32_t rigid_first, rigid_last;         /* the other running ones, by start */
    uint32_t ends_first, ends_last; /* all running ones by expected end; only kept where a policy in
                                     * force needs it */
    uint8_t instant;                /* PLEAT_SITE_INSTANT */
    uint8_t gone;                   /* not Pleat's any more: no processors, and drained */
    uint8_t reserved[2];            /* no padding: tests compare records byte by byte */
    int32_t shut;                   /* unused processors of its closed nodes */
    uint32_t buffers_first;         /* buffers of running components, the one started last in
                                     * front */
    int32_t buffered;               /* part of claimed: prepared processes of running components */
    int64_t slowest_claim_us;       /* the longest time that a claim took to be given */
    uint32_t errors;                /* errors since the last start that succeeded */
    uint32_t again; /* barred: handle in the core's heap of the end of that; PLEAT_HEAP_NONE */
    uint8_t barred; /* too many errors: nobody is placed or grown there */
    uint8_t spare[7];
    int64_t failed_us;      /* when a start last failed by the site's fault */
    uint32_t failed_starts; /* starts that failed by the site's fault, less those that have faded */
    uint8_t pauses;         /* pauses in a row, for starts that failed */
    uint8_t several;        /* its processors are on several nodes, of which each has a record */
    uint8_t drained;        /* by its user: nobody is placed or grown there */
    uint8_t spare2[1];
    int64_t faded_us; /* errors and failed_starts have halved for all the time until then */
    int32_t others;   /* in use by others, who may end before a start: PLEAT_SITE_QUEUES */
    /* the most processors of a node, of a site whose nodes come with claims; 0: not told */
    int32_t node_most;
    /* how long it took until processors asked for a buffer could be used, where a policy in force
     * needs to know (PLEAT_NEEDS_ALLOCATIONS): how many there were, their mean in microseconds, and
     * the sum of the squares of all differences from that */
    uint32_t allocation_count;
    /* the capacity once nodes that take no jobs now do again; 0: the same, there are none */
    int32_t whole;
    double allocation_us, allocation_squares;
};

_Static_assert(sizeof(struct pleat_site) == 168, "no padding in a site");

/* A node of a site whose agent was heard of, or whose processors are known. */
struct pleat_node {
    uint64_t agent; /* the last agent that was there; 0: unknown */
    uint32_t site, node;
    /* processors of the node, where its site has several nodes; of one that is lent, those that
     * were given there; else 0 */
    int32_t slots;
    int32_t claimed;    /* processors of the node in pieces of claims, whatever their state */
    int32_t background; /* processors of the node in use by others */
    uint8_t away;       /* its agent is away: the components that it runs cannot be told anything */
    uint8_t drained;    /* by its user: nobody is placed or grown there */
    uint8_t barred;     /* too many errors: nobody is placed or grown there */
    uint8_t lent;       /* it came with a claim: PLEAT_NODE_LENT */
    uint32_t errors;    /* errors in a row, less those that have faded; where its site has several
                         * nodes */
    /* of one that is lent: how many more processors of its host its site could give for processes
     * that run there. They are nobody's yet */
    int32_t more;
    /* of one that is lent: the number of another node, plus 1, whose processes may use its
     * processors, since both are one host; 0: there is none */
    uint32_t home;
    uint32_t
        confined; /* 1: whoever runs there cannot use others of its host (PLEAT_NODE_CONFINED) */
    int64_t faded_us; /* the time from which errors fade */
    int64_t again_us; /* barred: when the node is considered again; 0: when its site joins again */
    uint32_t architecture; /* 0: not known */
    uint32_t spare;        /* no padding: tests compare records byte by byte */
};

enum {
    PLEAT_LENT_TAKEN = 1, /* the site takes the claim back sooner than it had said */
    /* a shrink off the claim has failed: the next one comes after the backoff */
    PLEAT_LENT_TRIED = 2,
    PLEAT_LENT_LOST = 4,  /* the claim is gone, and its component is being ended */
    PLEAT_LENT_LEAVES = 8 /* the process there, which the application has added, is to leave */
};

/* The process on a claim of the buffer of a component whose agents prepare processes. */
enum pleat_kept_state {
    PLEAT_KEPT_NONE,       /* of all other components: the claim is all that there is */
    PLEAT_KEPT_PREPARING,  /* PREPARE was given, and is not answered */
    PLEAT_KEPT_WAITING,    /* PREPARED: it waits for the application's request */
    PLEAT_KEPT_UNPREPARING /* UNPREPARE was given, and is not answered */
};

struct pleat_claim {
    uint64_t id;
    uint32_t component; /* owner */
    uint32_t site;
    int32_t count;
    uint8_t state, purpose;
    union {
        uint8_t waits;   /* REQUESTED: why it waits in the site's queue, enum pleat_claim_wait */
        uint8_t process; /* HELD, FOR_BUFFER: enum pleat_kept_state */
    };
    union {
        uint8_t lent;         /* HELD: what is special about until_us, flags of PLEAT_LENT_... */
        uint8_t architecture; /* REQUESTED, FOR_BUFFER: of the node on which it must be; 0: any */
    };
    uint32_t previous, next; /* claims of the same owner, in the order of ranks */
    uint32_t first_piece, last_piece;
    int64_t asked_us; /* when it was REQUESTED, or taken from another claim */
    /* As the site said; 0: not said. until_us: REQUESTED, when it is given up; later, when its site
     * takes it back. expected_us: REQUESTED, when it may be given */
    int64_t until_us, expected_us;
};

_Static_assert(sizeof(struct pleat_claim) == 64, "a claim is one line of the cache");

struct pleat_piece {
    uint32_t node, first, count;
    uint32_t next;     /* the next piece of the same claim */
    int32_t processes; /* FOLDS: of its run, on the node (policy/shares.h); else 0 */
};

struct pleat_resize {
    uint64_t id;
    int64_t begun_us;
    int64_t left_us; /* what is left of the step's time, which stands still while the agent is away;
                      * 0: it runs */
    uint32_t component;
    uint32_t waiter; /* component for which the shrink makes room; PLEAT_NONE */
    uint32_t claim;  /* index of the growth's claim; PLEAT_NONE */
    uint32_t deadline;
    int32_t from, to; /* processors */
    int32_t offered, accepted;
    uint8_t step; /* enum pleat_resize_step */
    uint8_t mandatory;
    uint8_t by_user;
    uint8_t warned;  /* the notice of a mandatory shrink is over: its deadline is the grace's */
    uint8_t cause;   /* why, enum pleat_reason: of a relaunch; of a shrink off what its site takes
                      * back, or a growth by others before that: SITE_TIME, TAKEN */
    uint8_t put_off; /* WITHDRAWING: since its program said "not now" */
};

/* Whether it is because the site takes processors back: of a shrink those that it gives up, of a
 * growth others, which are to be left for the new ones. */
static inline bool pleat_resize_is_by_site(const struct pleat_resize *resize)
{
    return resize->cause == PLEAT_REASON_SITE_TIME || resize->cause == PLEAT_REASON_TAKEN;
}

/* Who began it: "user", "policy", or "site", which takes processors back. */
static inline const char *pleat_resize_by(const struct pleat_resize *resize)
{
    if (resize->by_user)
        return "user";
    return pleat_resize_is_by_site(resize) ? "site" : "policy";
}

#endif

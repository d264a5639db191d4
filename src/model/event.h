/* event.h - everything that happens, as records of 64 bytes without strings or pointers.
 *
 * The log of a daemon is a sequence of these: inputs (what the world did), and for every pass of
 * the policies a PASS record followed by its decisions. Applying all of them in order gives the
 * state back (recovery); applying only the inputs and letting the policies decide again at every
 * PASS must give the same decisions (replay).
 *
 * The layout is part of the log's schema (PLEAT_EVENT_SCHEMA): never reorder, only append kinds.
 */
#ifndef PLEAT_MODEL_EVENT_H
#define PLEAT_MODEL_EVENT_H

#include <stdint.h>

#include "base/array.h"
#include "model/types.h"

#define PLEAT_EVENT_SCHEMA 1

enum pleat_event_kind {
    /* ---- configuration (before anything else, and when it changes) ---- */
    PLEAT_EV_POLICY = 1,     /* policy: which one answers a question */
    PLEAT_EV_PARAMETER = 2,  /* parameter */
    PLEAT_EV_SITE = 3,       /* site: joins, or its capacity changes */
    PLEAT_EV_BACKGROUND = 4, /* site: processors in use that Pleat did not hand out */
    PLEAT_EV_SIZES = 5,      /* sizes: part of a list that a later SUBMIT refers to */
    PLEAT_EV_SALVAGED = 6,   /* events before this one were lost, and the numbers that they gave */
    /* ---- users ---- */
    PLEAT_EV_SUBMIT = 16,
    PLEAT_EV_LIMITS = 17, /* limits: minimum and maximum change */
    PLEAT_EV_CANCEL = 18,
    PLEAT_EV_DEMAND = 19,   /* demand: the user wants this size now */
    PLEAT_EV_DEADLINE = 20, /* at: it should be done by then */
    PLEAT_EV_RESERVE =
        21,               /* at: it starts then (advance reservation); before that it waits aside */
    PLEAT_EV_FORGET = 22, /* it has ended and nobody asks for it any more: its index is free */
    PLEAT_EV_TERMS = 23,  /* terms: notice, lifetime of a size, time limit */
    PLEAT_EV_INPUT = 24,  /* input: a file that a component reads, and a site that has it */
    PLEAT_EV_LINK = 25,   /* link: how fast files get from one site to another */
    PLEAT_EV_HISTORY = 26,   /* history: what earlier executions of its application asked for */
    PLEAT_EV_PARTITION = 27, /* partition: how many processors one that folds may have */
    PLEAT_EV_HOLD = 28,      /* it does not stand in the queue until it is released */
    PLEAT_EV_RELEASE = 29,   /* what flags say (PLEAT_RELEASE_*) does not hold it any more */
    PLEAT_EV_REQUEUE = 30, /* it is ended, and waits again, behind all others; held: PLEAT_AND_HOLD
                            */
    PLEAT_EV_DEPEND = 31,  /* depend: it waits for another job */
    /* ---- sites ---- */
    PLEAT_EV_PIECE = 32,   /* piece: where (part of) a claim's processors are; before CLAIMED */
    PLEAT_EV_CLAIMED = 33, /* claim: `count` processors are ours */
    PLEAT_EV_CLAIM_FAILED = 34, /* claim */
    PLEAT_EV_RELEASED = 35,     /* claim: `count` processors are the site's again */
    PLEAT_EV_LOST = 36,         /* claim: taken away by the site */
    PLEAT_EV_AGENT_AWAY = 37, /* nobody can tell the jobs of a site anything; component: the site */
    PLEAT_EV_AGENT_BACK = 38, /* agent: this one can from now on, and has said what it runs */
    /* ---- runners ---- */
    PLEAT_EV_STARTED = 48,      /* exit.run */
    PLEAT_EV_START_FAILED = 49, /* exit.run, exit.reason */
    PLEAT_EV_EXITED = 50,       /* exit */
    PLEAT_EV_ANSWER = 51,       /* change: `processors` is the total size accepted */
    PLEAT_EV_APPLIED = 52,      /* change: runs at `processes` */
    PLEAT_EV_VACATED = 53,      /* change: leaving processes are gone */
    PLEAT_EV_RESIZE_FAILED = 54,
    PLEAT_EV_WITHDRAWN = 55,
    PLEAT_EV_RELAUNCHED = 56,   /* change: all its processes ended, it was started again at
                                 * `processes` */
    PLEAT_EV_RETURNED = 57,     /* returned: it gave back its last `count` processors by itself */
    PLEAT_EV_TIMED = 58,        /* timed: how long its iterations take at its present size */
    PLEAT_EV_PROGRESS = 59,     /* progress: so far it is */
    PLEAT_EV_ADD_PROCESS = 60,  /* process: the application asks for one more */
    PLEAT_EV_STOP_PROCESS = 61, /* process: it has vacated its last one */
    PLEAT_EV_STAGED = 62,       /* exit.run, of its STAGE: its files are there */
    PLEAT_EV_STAGE_FAILED = 63, /* exit.run, exit.reason: START_USER: they do not exist */
    /* ---- time ---- */
    PLEAT_EV_TIME = 64, /* deadlines up to time_us have passed */
    /* ---- users, again ---- */
    PLEAT_EV_REVISE = 80, /* revise: priority, estimate; flags say which */
    PLEAT_EV_GROUP = 81,  /* group: it is one of those of which only so many may run at one time */
    /* ---- decisions: a pass, then what it decided ---- */
    PLEAT_EV_PASS = 128,
    PLEAT_EV_START = 129,   /* start */
    PLEAT_EV_RESIZE = 130,  /* resize */
    PLEAT_EV_TRIED = 131,   /* a placement try that failed */
    PLEAT_EV_WAKE = 132,    /* at: another pass is wanted then */
    PLEAT_EV_PROMISE = 133, /* promise: when a waiting component will start at the latest */
    PLEAT_EV_PREEMPT = 134, /* a running component is ended, and waits again at its old place */
    PLEAT_EV_BUFFER = 135   /* buffer: prepared processes are asked for, or given back */
};

enum { PLEAT_EV_FIRST_DECISION = PLEAT_EV_PASS };

/* flags of SUBMIT */
enum {
    PLEAT_COMPONENT_ASKS = 1,   /* decides itself what it accepts: is offered, and answers */
    PLEAT_COMPONENT_EMPTY = 2,  /* can run on 0 processors (its minimum may be 0 while it runs) */
    PLEAT_COMPONENT_FORGET = 4, /* nobody asks for it once it has ended: as if FORGET came then */
    PLEAT_COMPONENT_RELAUNCHES = 8, /* its runner can end it and start it again at another size,
                                     * from its last state */
    PLEAT_COMPONENT_FOLLOWS = 16,   /* another component of its job is submitted next */
    PLEAT_COMPONENT_FLEXIBLE = 32,  /* of the first: its size is that of the whole job, which may be
                                     * split over as many components as there are; the others are
                                     * submitted with the size 0 */
    PLEAT_COMPONENT_FOLDS = 64, /* malleable: its processes may outnumber its processors (folding).
                                 * Its limits and accepted sizes are about processes, chosen at its
                                 * start; a resize changes only its processors */
    PLEAT_COMPONENT_EVOLVES = 128, /* asks for processes itself while it runs, and has a buffer of
                                    * prepared ones */
    PLEAT_COMPONENT_ONCE = 256     /* never started again when it may have been started */
};
/* flags of SITE, when it joins */
enum {
    PLEAT_SITE_INSTANT = 1 /* nobody is asked: what is claimed is held, what is started runs and
                            * what is released is free at once (a simulated site without delays) */
};
/* flags of RESIZE, DEMAND and BUFFER */
enum { PLEAT_MANDATORY = 1 };
/* flag of DEPEND: of all that it waits for one is enough */
enum { PLEAT_ANY_NEED = 1 };
/* flags of RELEASE; 0: as PLEAT_RELEASE_HOLD */
enum {
    PLEAT_RELEASE_HOLD = 1,
    PLEAT_RELEASE_NEEDS = 2 /* it waits for no other job any more */
};
/* flag of REQUEUE */
enum { PLEAT_AND_HOLD = 1 };
/* flags of REVISE */
enum { PLEAT_REVISE_PRIORITY = 1, PLEAT_REVISE_ESTIMATE = 2 };
/* What a job waits for of another one: DEPEND. */
enum pleat_condition {
    PLEAT_AFTER_ANY = 1, /* its end, whatever that is */
    PLEAT_AFTER_OK,      /* that it ends well: done, exit code 0 */
    PLEAT_AFTER_NOT_OK,  /* that it ends in any other way */
    PLEAT_AFTER_START    /* its start, or its end without one */
};
/* flag of RELAUNCHED: from a state held in memory, not from its beginning */
enum { PLEAT_FROM_STATE = 1 };
/* flag of effects about a resize: its user asked for it */
enum { PLEAT_BY_USER = 2 };

enum pleat_parameter {
    PLEAT_PARAM_ANSWER_US = 1, /* deadlines of a resize's steps, microseconds */
    PLEAT_PARAM_CLAIM_US = 2,
    PLEAT_PARAM_APPLY_US = 3,   /* voluntary: until the application's adaptation point */
    PLEAT_PARAM_SHRINK_US = 4,  /* mandatory: the notice of jobs that ask for none of their own */
    PLEAT_PARAM_STUCK_US = 5,   /* after a withdrawal nobody answers */
    PLEAT_PARAM_VACATE_US = 6,  /* leaving processes, after the application went on */
    PLEAT_PARAM_START_US = 7,   /* until the runner says started */
    PLEAT_PARAM_EARMARK_US = 8, /* earmarked processors may wait this long for their job */
    PLEAT_PARAM_BACKOFF_US = 9, /* no voluntary offer this long after one that failed */
    PLEAT_PARAM_KILL_US = 10,   /* a killed job must be gone by then; else killed again */
    PLEAT_PARAM_MAX_TRIES = 11, /* placement tries; 0: no limit */
    PLEAT_PARAM_TRY_US = 12,    /* a job's tries are at least this far apart */
    PLEAT_PARAM_ATTEMPTS = 13,  /* starts of a component that fail by no fault of the user's */
    PLEAT_PARAM_GRACE_US = 14,  /* a mandatory shrink, after the warning; then it is enforced */
    PLEAT_PARAM_NOTICE_MAX_US = 15,    /* the longest notice that a job may ask for */
    PLEAT_PARAM_LIFETIME_US = 16,      /* of a size, at least, unless its job says otherwise */
    PLEAT_PARAM_LIFETIME_MAX_US = 17,  /* the longest that a job may ask for */
    PLEAT_PARAM_RELAUNCHES = 18,       /* of a run, because a resize could not go on */
    PLEAT_PARAM_RELAUNCH_US = 19,      /* until it runs again */
    PLEAT_PARAM_BARRIER_US = 20,       /* a job that has processors waits so long for the others */
    PLEAT_PARAM_SITE_ERRORS = 21,      /* a site with more in a row is left alone; 0: no limit */
    PLEAT_PARAM_SITE_AGAIN_US = 22,    /* for so long; 0: until its next SITE */
    PLEAT_PARAM_CLAIM_EARLIER_US = 23, /* after each claim that failed, than files are expected */
    PLEAT_PARAM_MPL_MAX = 24,          /* processes on a processor, of a component that folds */
    PLEAT_PARAM_BUFFER_LEVEL = 25,     /* prepared processes that a buffer is kept at */
    PLEAT_PARAM_BUFFER_REVIEW_US = 26, /* between reviews by time */
    PLEAT_PARAM_BUFFER_RANGE = 27,     /* iterations between reviews, and covered by a prediction */
    PLEAT_PARAM_PREEMPTIONS = 28,      /* of a component, in all its runs */
    PLEAT_PARAM_BUFFER_PENDING = 29,   /* 1: those on their way count as prepared; 0: not */
    PLEAT_PARAM_PAUSE_US = 30,         /* a job that a node could not start, and its site, are left
                                        * alone for so long, after each further time twice as long,
                                        * 0: not, and it counts as an attempt */
    PLEAT_PARAM_PAUSE_MAX_US = 31,     /* ... and no longer than that */
    PLEAT_PARAM_START_TRIES = 32,      /* then so often in a row; 0: no limit */
    PLEAT_PARAM_COUNT = 33             /* some numbers below are not in use */
};

struct pleat_event {
    int64_t time_us;
    uint16_t kind;
    uint16_t flags;
    uint32_t component; /* dense index; a site's for SITE, BACKGROUND and AGENT_*, a claim's for the
                         * events of sites; PLEAT_NONE */
    union {
        struct {
            uint32_t question; /* enum pleat_question of policy/policy.h */
            uint32_t policy;   /* the policy's own number, stable for ever */
            uint32_t version;  /* of its decisions */
        } policy;
        struct {
            int64_t value;
            uint32_t which;
        } parameter;
        struct {
            int32_t capacity;
            int32_t threshold; /* processors never used for growing (000, V-B) */
            int32_t background;
        } site;
        struct {
            uint32_t list;
            uint32_t count; /* values here, at most 10; a list may take several events */
            int32_t values[10];
        } sizes;
        struct {
            uint64_t job;
            int64_t estimate_us;               /* run time as the user estimates it; 0: none */
            int32_t minimum, maximum, initial; /* initial 0: as many as are available */
            int32_t sizes_parameter;           /* step, or the number of a list */
            uint32_t site;                     /* where it must run; PLEAT_NONE: anywhere */
            uint16_t ordinal;
            uint8_t job_kind;
            uint8_t sizes_kind;
            int32_t reference; /* size for which the estimate holds; 0: any */
            int16_t priority;  /* higher goes first, where an order looks at it */
            uint8_t job_class; /* enum pleat_job_class */
            uint8_t mpl_max;   /* FOLDS: it may have so many processes on a processor; 0: as many
                                * as are configured */
        } submit;
        struct {
            int32_t minimum, maximum;
        } limits;
        struct {
            int32_t minimum, maximum; /* processors; at most one for each process. 0: no limit */
            uint32_t mpl; /* it starts with so many processes on a processor, if it can; 0, 1: with
                           * as few as there is room for */
        } partition;
        struct {
            int64_t notice_us;   /* before a mandatory shrink is enforced; -1: as configured */
            int64_t lifetime_us; /* of a size, at least; -1: as configured */
            int64_t limit_us;    /* a run is ended after this; 0: no limit */
        } terms;
        struct {
            int32_t processors;
        } demand;
        struct {
            uint64_t job;       /* that it waits for: an older one, which has not ended */
            uint32_t component; /* the first of that job */
            uint32_t condition; /* enum pleat_condition */
        } depend;
        struct {
            int64_t estimate_us;
            int16_t priority;
        } revise;
        struct {
            uint32_t group; /* one that has members, or pleat_core_next_group */
            int32_t limit;
        } group;
        struct {
            int64_t bytes;
            uint32_t file; /* a number of the component's own: one file may be at several sites */
            uint32_t site; /* that has it */
        } input;
        struct {
            int64_t bytes_per_s; /* 0: there is no way */
            uint32_t from, to;
        } link;
        struct {
            uint64_t run;
            int32_t count;
        } returned;
        struct {
            uint64_t number; /* another one each time that an agent is started; not 0 */
        } agent;
        struct {
            uint64_t claim;
            uint32_t node, first, count; /* `count` slots of a node, from `first` on */
        } piece;
        struct {
            uint64_t claim;
            int32_t count;
            uint32_t reason; /* enum pleat_reason, CLAIM_FAILED */
        } claim;
        struct {
            uint64_t run;
            int32_t code, signal;
            uint32_t reason;
        } exit;
        struct {
            uint64_t resize;
            int32_t processors, processes;
        } change;
        struct {
            uint64_t run;
            int64_t iteration_us;
            int64_t redistribution_us; /* the change to this size took so long; 0: not known */
            int32_t processors;        /* the size at which it was measured */
        } timed;
        struct {
            uint32_t site;
            int32_t processors, processes;
            uint32_t mpl; /* FOLDS: in this run it has at most so many processes on a processor */
        } start;
        struct {
            int32_t offered;    /* by how many processors the policy wanted to change it */
            int32_t accepted;   /* by how many it will */
            int32_t processors; /* the size that gives */
            int32_t processes;
            uint32_t waiter; /* component for which a shrink makes room, or PLEAT_NONE */
        } resize;
        struct {
            int64_t at_us;
        } at;
        struct {
            int64_t start_us; /* PLEAT_NEVER: not promised any more */
            uint32_t site;
        } promise;
        struct {
            uint64_t run;
            int64_t iteration_us; /* mean, since its start; 0: not known */
            int32_t iteration;    /* so many are done */
        } progress;
        struct {
            uint64_t run;
            int32_t iteration; /* so many were done then */
        } process;
        struct {
            int32_t executions; /* recorded ones, all together */
            uint32_t count;     /* rows here, at most 5; there may be several such events */
            struct {
                int32_t iteration; /* increasing */
                int32_t requests;  /* then, in all executions together */
            } rows[5];
        } history;
        struct {
            int64_t review_us;        /* the next review is then; PLEAT_NEVER */
            int32_t review_iteration; /* or at that iteration; INT32_MAX: at none */
            int32_t request, release; /* prepared processes; given back as far as there are any */
        } buffer;
        uint8_t bytes[48];
    } u;
};

_Static_assert(sizeof(struct pleat_event) == 64, "an event is 64 bytes: the log depends on it");

PLEAT_ARRAY(pleat_events, struct pleat_event);

/* Sets to 0 what an event of its kind does not use: events are stored and compared as bytes, and
 * what a union's other members would use is otherwise whatever was there before. */
void pleat_event_clean(struct pleat_event *event);

/* "submit", "claimed", ...; "?" for a number that is none. */
const char *pleat_event_name(unsigned kind);

#endif

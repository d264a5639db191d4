/* event.h - everything that happens, as records of 64 bytes without strings or pointers.
 *
 * The log of a daemon is a sequence of these: inputs (what the world did), and for every pass of
 * the policies a PASS record followed by its decisions. Applying all of them in order gives the
 * state back (recovery); applying only the inputs and letting the policies decide again at every
 * PASS must give the same decisions (replay).
 *
 * The layout is part of the log's schema: it never changes, kinds are only added.
 */
#ifndef PLEAT_MODEL_EVENT_H
#define PLEAT_MODEL_EVENT_H

#include <stdint.h>

#include "base/array.h"
#include "model/types.h"

/* What a kind means, and what it uses of the union: model/events.def. */
enum pleat_event_kind {
#define EVENT(number, kind, name, subject, handler, member, last) PLEAT_EV_##kind = (number),
#define BARE_EVENT(number, kind, name, subject, handler) PLEAT_EV_##kind = (number),
#include "model/events.def"
#undef EVENT
#undef BARE_EVENT
    PLEAT_EV_COUNT = 256 /* all numbers are below */
};

enum { PLEAT_EV_FIRST_DECISION = PLEAT_EV_PASS };

/* flags of SUBMIT */
enum {
    PLEAT_COMPONENT_ASKS = 1,   /* its application decides what it accepts: it is offered a size,
                                 * and answers */
    PLEAT_COMPONENT_EMPTY = 2,  /* can run on 0 processors (its minimum may be 0 while it runs) */
    PLEAT_COMPONENT_FORGET = 4, /* is forgotten when it ends, as if FORGET came then */
    PLEAT_COMPONENT_RELAUNCHES = 8, /* its runner can end it and start it again at another size,
                                     * from its last state */
    PLEAT_COMPONENT_FOLLOWS = 16,   /* another component of its job is submitted next */
    PLEAT_COMPONENT_FLEXIBLE = 32,  /* of the first component: its size is that of the whole job,
                                     * which may be split over as many components as the job has;
                                     * the others are submitted with the size 0 */
    PLEAT_COMPONENT_FOLDS = 64, /* malleable: its processes may outnumber its processors (folding).
                                 * Its limits and accepted sizes are numbers of processes. The
                                 * number is chosen at its start; a resize changes only its
                                 * processors */
    PLEAT_COMPONENT_EVOLVES = 128,   /* asks for processes itself while it runs, and has a buffer of
                                      * prepared ones */
    PLEAT_COMPONENT_ONCE = 256,      /* never started again when it may have been started */
    PLEAT_COMPONENT_SPREADS = 512,   /* may be on several nodes of its site; without the flag a
                                      * component is on one */
    PLEAT_COMPONENT_PREPARES = 1024, /* EVOLVES, and is not malleable: agents start its processes on
                                      * the processors of its buffer, and say what has become of
                                      * them (core/prepare.h) */
    PLEAT_COMPONENT_ROAMS = 2048     /* PREPARES: processors of its buffer may be on any node of its
                                      * site, or of another one, and stay there when the
                                      * application uses them; those of its start are on one */
};
/* flags of SITE, when it joins */
enum {
    PLEAT_SITE_INSTANT = 1 /* the site is not asked: a claim is held, a start runs and a release is
                            * done at once (a simulated site without delays) */
};
/* flag of SITE and BACKGROUND: what others use counts for growing, and for the choice of a site;
 * whoever starts may wait for it in the site's own queue */
enum { PLEAT_SITE_QUEUES = 2 };
/* flag of PARTITION: a component above its maximum, each of whose nodes keeps a processor, is
 * shrunk as far as that lets it; without it (an older log) not at all if not to the maximum */
enum { PLEAT_PARTITION_NEAREST = 1 };
/* flag of NODE: it came with a claim, and its processors are those of the site's that were given
 * there; others have no node yet */
enum { PLEAT_NODE_LENT = 1 };
/* flag of NODE_MORE: whoever runs on the node cannot use processors of its host that come later */
enum { PLEAT_NODE_CONFINED = 1 };
/* flag of RESIZE, DEMAND, ASKED and BUFFER */
enum { PLEAT_MANDATORY = 1 };
/* another flag of BUFFER: for requests that wait, between reviews; for those that any site serves
 */
enum { PLEAT_FOR_WAITING = 2, PLEAT_FOR_ANY_SITE = 4 };
/* flag of DEMANDED_ON */
enum { PLEAT_FOR_ALL = 1 };
/* another flag of ASKED: the application has computed nothing yet, and waits in its beginning */
enum { PLEAT_UNBEGUN = 2 };
/* flag of SECTION, and of the note about it: the section begins; without the flag it is over */
enum { PLEAT_NOT_NOW = 1 };
/* flag of DECLARED: holds for the next runs of the job, too */
enum { PLEAT_LASTING = 1 };
/* flag of DEPEND: one of the jobs that the component waits for is enough */
enum { PLEAT_ANY_NEED = 1 };
/* flags of RELEASE; 0: as PLEAT_RELEASE_HOLD */
enum {
    PLEAT_RELEASE_HOLD = 1,
    PLEAT_RELEASE_NEEDS = 2 /* the component waits for no other job any more */
};
/* flag of REQUEUE */
enum { PLEAT_AND_HOLD = 1 };
/* flags of REVISE */
enum { PLEAT_REVISE_PRIORITY = 1, PLEAT_REVISE_ESTIMATE = 2 };
/* DEPEND: what of another job a job waits for. */
enum pleat_condition {
    PLEAT_AFTER_ANY = 1, /* its end, whatever that is */
    PLEAT_AFTER_OK,      /* that it ends well: done, exit code 0 */
    PLEAT_AFTER_NOT_OK,  /* that it ends in any other way */
    PLEAT_AFTER_START    /* its start, or its end without one */
};
/* flag of RELAUNCHED: from a state held in memory, not from its beginning */
enum { PLEAT_FROM_STATE = 1 };
/* flag of RESIZE_FAILED: the job cannot be relaunched, now or later; what runs of it runs on */
enum { PLEAT_NO_RELAUNCH = 1 };
/* flag of effects about a resize: its user asked for it */
enum { PLEAT_BY_USER = 2 };

/* What each one means: model/parameters.def. */
enum pleat_parameter {
#define PARAMETER(number, which, name, value) PLEAT_PARAM_##which = (number),
#include "model/parameters.def"
#undef PARAMETER
    PLEAT_PARAM_COUNT = 53 /* all numbers are below */
};

struct pleat_event {
    int64_t time_us;
    uint16_t kind;
    uint16_t flags;
    uint32_t component; /* the dense index of its subject, which is a component, a site or a claim;
                         * PLEAT_NONE */
    union {
        struct {
            uint32_t question; /* enum pleat_question of policy/policy.h */
            uint32_t policy;   /* the policy's own number, stable for ever */
            uint32_t version;  /* raised when the policy's decisions change */
        } policy;
        struct {
            int64_t value;
            uint32_t which;
        } parameter;
        struct {
            int32_t capacity;
            int32_t threshold; /* processors never used for growing (Buisson et al. 2007, V-B) */
            int32_t background;
            /* the most processors of a node, of a site whose nodes come with claims; 0: not told */
            int32_t node_most;
            /* the capacity once nodes that take no jobs now do again; not above the capacity: there
             * are none */
            int32_t whole;
        } site;
        struct {
            uint32_t node;
            int32_t slots;
        } node;
        struct {
            uint32_t node;
            int32_t background;
        } node_load;
        struct {
            uint32_t node;
            uint32_t home; /* another node of the site */
        } node_home;
        struct {
            uint32_t node;
            uint32_t architecture; /* 0: not known any more */
        } node_architecture;
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
            uint8_t mpl_max;   /* FOLDS: the most processes that a processor of the component may
                                * have; 0: as configured */
        } submit;
        struct {
            int32_t minimum, maximum;
        } limits;
        struct {
            int32_t minimum, maximum; /* processors; at most one for each process. 0: no limit */
            uint32_t mpl; /* FOLDS: the MPL at which it starts, if it can; 0, 1: at the lowest for
                           * which there is room */
        } partition;
        struct {
            int64_t notice_us;   /* before a mandatory shrink is enforced; -1: as configured */
            int64_t lifetime_us; /* how long a size lasts at least; -1: as configured */
            int64_t limit_us;    /* a run is ended after this; 0: no limit */
        } terms;
        struct {
            int64_t lead_us; /* the time between the signal and the time limit */
            int32_t number;  /* 0: none is sent */
            uint32_t script_only;
        } signal;
        struct {
            int32_t processors;
        } demand;
        struct {
            uint64_t job;       /* the job that is waited for: an older one, which has not ended */
            uint32_t component; /* the first component of that job */
            uint32_t condition; /* enum pleat_condition */
        } depend;
        struct {
            int64_t estimate_us;
            int16_t priority;
        } revise;
        struct {
            uint32_t group; /* a group that has members, or pleat_core_next_group */
            int32_t limit;
        } group;
        struct {
            int64_t bytes;
            uint32_t file; /* the component's own number of the file, which may be at several
                            * sites */
            uint32_t site; /* a site that has the file */
        } input;
        struct {
            int64_t bytes_per_s; /* 0: there is no way */
            uint32_t from, to;
        } link;
        struct {
            uint64_t run;
            int32_t count;
            uint32_t number; /* as in asked; 0: not counted, as in logs of older versions */
        } returned;
        struct {
            uint64_t run;
            uint32_t number; /* counted from 1 by the agent that runs the component: a number that
                              * is not higher than the last one repeats an ask */
            int32_t processors;
            int64_t limit_us; /* MANDATORY: after this time the answer is no; 0: the application
                               * waits on */
        } asked;
        struct {
            uint64_t run;
        } section;
        struct {
            uint64_t run;
            int64_t end_us; /* 0: the program does not say, or says no longer */
        } expected;
        struct {
            uint32_t reason; /* enum pleat_ask_reason */
        } refuse;
        struct {
            uint64_t number; /* differs each time that an agent is started; not 0 */
            uint32_t node;   /* the node's number at the site */
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
            uint64_t claim;
            uint64_t run;
            uint32_t reason; /* PROCESS_GONE: enum pleat_gone_reason */
        } kept;
        struct {
            uint64_t claim;
            int64_t until_us;    /* when the claim is given up; 0: as known so far */
            int64_t expected_us; /* when the claim may be given; 0: nobody knows */
            uint32_t reason;     /* enum pleat_claim_wait */
        } waits;
        struct {
            uint64_t claim;
            int64_t end_us;  /* nobody may be left on the claim by then; 0: it is its owner's for
                              * good */
            uint32_t reason; /* PLEAT_REASON_TAKEN: sooner than was said; else 0 */
        } ends;
        struct {
            uint64_t run;
            int32_t code, signal;
            uint32_t reason;
        } exit;
        struct {
            uint64_t number;    /* the id of the effect STAGE */
            uint32_t unused[2]; /* 0; so that `reason` is where logs have always had it */
            uint32_t reason;    /* STAGE_FAILED */
        } staged;
        struct {
            uint64_t resize;
            int32_t processors, processes;
        } change;
        struct {
            uint64_t run;
            int64_t iteration_us;
            int64_t redistribution_us; /* how long the change to this size took; 0: not known */
            int32_t processors;        /* the size at which it was measured */
        } timed;
        struct {
            uint64_t run;              /* REMEMBERED: 0 */
            int64_t iteration_us;      /* the mean of `count` iterations, */
            int64_t spread_us;         /* and their standard deviation; 0: not known, or one */
            int64_t redistribution_us; /* how long the change to this size let the program stand
                                        * still; 0: not known */
            int32_t processors;        /* the size at which they were measured */
            int32_t count;             /* iterations that no earlier such event was about */
            int32_t from;              /* the size before that change; 0: not known */
            int32_t iterations;        /* that the run has done by then; 0: not known. REMEMBERED:
                                        * that an earlier run did in all */
        } measured;
        struct {
            int32_t processors; /* the size; 0: see events.def */
        } unlearned;
        struct {
            uint32_t site;
            int32_t processors, processes;
            uint32_t mpl; /* FOLDS: the most processes on a processor in this run */
        } start;
        struct {
            int32_t offered;    /* by how many processors the policy wanted to change the
                                 * component */
            int32_t accepted;   /* by how many it is changed */
            int32_t processors; /* the size that follows from that */
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
            int32_t maximum;     /* processors; 0: the application has no limit of its own, or none
                                  * any more */
            int32_t minimum;     /* likewise */
            uint32_t sizes_kind; /* enum pleat_sizes_kind: those of the application's own sizes that
                                  * are also its user's; ANY: it has none of its own, or none any
                                  * more */
            int32_t sizes_parameter; /* step, or the number of a list */
        } declared;
        struct {
            uint64_t run;
            int64_t iteration_us; /* mean since the start of the run; 0: not known */
            int32_t iteration;    /* the number of iterations done */
        } progress;
        struct {
            uint64_t run;
            int32_t iteration; /* the number of iterations done by then */
        } process;
        struct {
            uint64_t run;
            int32_t iteration;            /* the number of iterations done by then; 0: not known */
            uint32_t requests, satisfied; /* in this run, up to now; satisfied: at once, with a
                                           * prepared process */
            uint32_t waiting;             /* requests that wait now */
        } demanded;
        struct {
            uint64_t run;
            uint32_t architecture;
            uint32_t waiting; /* with PLEAT_FOR_ALL: not used */
        } demanded_on;
        struct {
            uint64_t run;
            uint32_t site; /* another one than the component's */
            uint32_t architecture;
            uint32_t waiting;
        } demanded_at;
        struct {
            uint64_t run;
            uint32_t waiting;
        } demanded_any;
        struct {
            uint64_t run;
            uint32_t site; /* another one than the component's */
            uint32_t rank;
        } site_for_any;
        struct {
            uint64_t run;
            int32_t iteration;  /* the number of iterations done by then; 0: not known */
            uint32_t processes; /* from now on; 0: none */
        } returning;
        struct {
            int32_t executions; /* all that were recorded */
            uint32_t count;     /* rows here, at most 5; there may be several such events */
            struct {
                int32_t iteration; /* increasing */
                int32_t requests;  /* requests at that iteration, in all executions together */
            } rows[5];
        } history;
        struct {
            int64_t iteration_us; /* the mean of earlier executions; 0: not known */
            int32_t executions;   /* all that are recorded; 0: none, or none any more */
            uint32_t most;        /* requests in a row (pleat_buffer.row) that they made at most */
        } recalled;
        struct {
            int64_t review_us;        /* the time of the next review; PLEAT_NEVER */
            int32_t review_iteration; /* or its iteration; INT32_MAX: at none */
            int32_t request, release; /* prepared processes to be got, and to be given back as far
                                       * as there are any */
            /* MANDATORY, of components whose agents prepare processes: the component for which room
             * is made, and the only node on which, each plus 1; 0: not said; on any */
            uint32_t waiter, node;
            uint32_t architecture; /* of the nodes on which they are to be got; 0: any */
            uint32_t site;         /* at which, plus 1; 0: at the component's own */
        } buffer;
        uint8_t bytes[48];
    } u;
};

_Static_assert(sizeof(struct pleat_event) == 64, "an event is 64 bytes: the log depends on it");

PLEAT_ARRAY(pleat_events, struct pleat_event);

/* Sets to 0 what an event of its kind does not use: events are stored and compared as bytes, and
 * what a union's other members would use is otherwise whatever was there before. */
void pleat_event_clean(struct pleat_event *event);

/* "submit", "claimed", ...; "?" for a number that is no event's. */
const char *pleat_event_name(unsigned kind);

#endif

/* policy.h - the seam between the core and what decides.
 *
 * Nine questions, a folder each; a policy answers one of them and is a file and a row of
 * policies.def. A pass asks the approach; the approach uses the others. A policy may keep state: it
 * is changed only by observe (which also runs when a log is replayed), never while deciding, so
 * that the same log always gives the same decisions.
 *
 *   approach      who gets free processors first, and when is room made?   pra, pwa
 *   order         in which order do waiting components stand?              arrival, sjf, edf
 *   queue         which of them start, in that order?                      fcfs, easy
 *   placement     at which site?                                           worst-fit
 *   moldability   at which size does a component start?                    available, minimum
 *   malleability  which running ones grow or shrink, by how much?          fpsma, egs
 *   buffer        how many prepared processes does one that evolves need?  periodic
 *   need          what may one that cannot go on take from others?         idle, mandatory
 *   reward        what is gained by giving up processors voluntarily?      none, grow-first
 */
#ifndef PLEAT_POLICY_POLICY_H
#define PLEAT_POLICY_POLICY_H

#include "policy/plan.h"

enum pleat_question {
    PLEAT_APPROACH,
    PLEAT_QUEUE,
    PLEAT_PLACEMENT,
    PLEAT_MOLDABILITY,
    PLEAT_MALLEABILITY,
    PLEAT_ORDER,
    PLEAT_BUFFER,
    PLEAT_NEED,
    PLEAT_REWARD,
    PLEAT_QUESTION_COUNT
};

/* Knowledge that costs something and is kept, or asked for, only while a policy in force needs it.
 */
enum {
    PLEAT_NEEDS_ENDS = 1,  /* running components, sorted by expected end: pleat_ending_first */
    PLEAT_NEEDS_TIMES = 2, /* how long iterations take: pleat_timing_smallest */
    PLEAT_NEEDS_ALLOCATIONS = 8, /* how long allocations for buffers took, and how much that
                                  * differed: pleat_site.allocation_us */
    PLEAT_NEEDS_MEASURES = 4 /* besides: how many were measured at a size, and how much they differ:
                              * reports are MEASURED, not TIMED */
};

struct pleat_pass;

/* How a component starts: what a moldability policy answers. */
struct pleat_start_size {
    int32_t processors; /* 0: it cannot start now */
    int32_t processes;  /* of a folding component; 0: as many as it takes for these processors */
    /* of a folding component: the most processes on a processor in its run; 0: as its user and the
     * configuration let it */
    int32_t mpl;
    /* if it cannot start now: it could if this many processors were taken from running components
     */
    int32_t take;
};

/* What a buffer policy wants when it reviews a buffer. */
struct pleat_review {
    int32_t request, release; /* prepared processes more, and fewer */
    int64_t again_us;         /* the next review is then; PLEAT_NEVER */
    int32_t again_iteration;  /* or when that iteration is done; INT32_MAX: at none */
};

struct pleat_flexible_part { /* of a flexible job */
    uint32_t site;
    int32_t processors;
};

struct pleat_policy {
    uint32_t number;  /* in logs: never reuse one */
    uint32_t version; /* raise it when the policy's decisions change */
    enum pleat_question question;
    const char *name;   /* as users write it */
    const char *source; /* paper and section */
    const char *summary;
    unsigned needs; /* PLEAT_NEEDS_* */
    bool shrinks;   /* approach, malleability: it can take processors from running components */
    /* malleability: a pass asks it once at a site to hand out processors, and once for each
     * component that lacks some to get them back (where the reward policy spares some, once of the
     * others, and then once of those: pleat_plan_spares). What it does not hand out, or get back,
     * is left until the next pass. Otherwise it is asked until its answer changes nothing */
    bool once;
    bool overtakes; /* queue: any job that fits may start, whatever other jobs wait */
    /* queue, placement, moldability: after a pass whose starts succeeded at once a second pass
     * would start no other component. This has to hold while no running component can be resized
     * and no job has several components. The second pass is saved if all three policies say so and
     * the sites are PLEAT_SITE_INSTANT */
    bool settles;

    /* ---- the answer: the member that belongs to `question` ---- */

    /* approach: decides everything, with the help of the others */
    void (*decide)(struct pleat_pass *pass);
    /* queue: starts what it may; returns the first component that has to wait, or PLEAT_NONE */
    uint32_t (*start)(struct pleat_pass *pass);
    /* placement: the site where a component can start now, or PLEAT_NONE */
    uint32_t (*place)(struct pleat_pass *pass, uint32_t component);
    /* placement, optional: sites for the `processors` of a flexible job, for which the component
     * waits, in at most `most` parts. Returns the number of parts; 0: the job cannot be placed.
     * NULL: such a job is placed whole, as one component */
    uint32_t (*split)(struct pleat_pass *pass, uint32_t component, int32_t processors,
                      struct pleat_flexible_part *parts, uint32_t most);
    /* moldability: the size of a component, given what is available */
    struct pleat_start_size (*size)(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                    int32_t available);
    /* malleability: hand out / get back `processors` at a site, by offers to running malleable
     * components; returns what was not accepted */
    int32_t (*grow)(struct pleat_pass *pass, uint32_t site, int32_t processors);
    int32_t (*shrink)(struct pleat_pass *pass, uint32_t site, int32_t processors, uint32_t waiter);
    /* malleability, optional: called before a site's free processors are handed out, also if there
     * are none. Shrinks components that have more than the policy wants, by offers without a
     * waiter */
    void (*balance)(struct pleat_pass *pass, uint32_t site);

    /* order: the component with the smaller key stands in front; among equal ones the one that came
     * first. Asked once, when a component begins to wait. NULL: in order of arrival */
    int64_t (*key)(const struct pleat_component *component);
    /* buffer: reviews the buffer of a running component that evolves, at its start and when the
     * last review asked for it. NULL: buffers are not reviewed, and processors that the application
     * leaves are not kept in them */
    struct pleat_review (*review)(const struct pleat_pass *pass, uint32_t component);
    /* need: shrinks others for a running component that lacks `processors` at its site and cannot
     * go on without them, beyond what is idle or on its way to it (pleat_pass_take_for). NULL:
     * takes nothing from others */
    void (*take)(struct pleat_pass *pass, uint32_t asker, int32_t processors);
    bool yields; /* need: a job that waits in the queue comes before components that ask */
    /* reward: offers processors that may be used for growing at a site to components that have
     * earned them, before malleability hands out the rest. NULL: to none */
    void (*repay)(struct pleat_pass *pass, uint32_t site);
    /* reward: is a component shrunk for others only where the other components do not suffice?
     * NULL: none is */
    bool (*spares)(const struct pleat_view *view, const struct pleat_component *component);

    /* ---- optional state ---- */
    size_t state_size; /* 0: none; zeroed at first */
    void (*observe)(void *state, const struct pleat_view *view, const struct pleat_event *event);
};

struct pleat_pass {
    const struct pleat_view *view;
    struct pleat_plan *plan;
    /* What a component that starts must leave to others, since they were promised it: */
    struct pleat_shadow *shadow;    /* set by a queue policy; NULL: there is no shadow */
    struct pleat_profile *profiles; /* per site; NULL: no component has a place in them */
    bool shrinkable;                /* how the profiles count: see pleat_pass_expect */
    /* set by a queue policy: folding components that start now may be folded as far as their users
     * and the configuration let them, whatever moldability says */
    bool backfilling;
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    const void *states[PLEAT_QUESTION_COUNT];
};

const char *pleat_question_name(enum pleat_question question);
/* The policy with a name, or with a number; NULL: there is none. */
const struct pleat_policy *pleat_policy_find(enum pleat_question question, const char *name);
const struct pleat_policy *pleat_policy_get(enum pleat_question question, uint32_t number);
/* The i-th of all policies; NULL: at the end. */
const struct pleat_policy *pleat_policy_at(size_t i);
/* The policy that is in force unless another one is configured. */
const struct pleat_policy *pleat_policy_default(enum pleat_question question);

/* ---- what a pass has before it ---- */

/* Is there a reservation that has not started yet? Those whose time has come stand in front of the
 * queue. */
static inline bool pleat_pass_reserved(const struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    return view->reserved_first != PLEAT_NONE ||
           (view->queue_first != PLEAT_NONE && view->components[view->queue_first].begin_us > 0);
}

/* Is any running component malleable, or asks for processors? */
static inline bool pleat_pass_grows(const struct pleat_pass *pass)
{
    return pass->view->malleable_count > 0 || pass->view->ask_count > 0;
}

#endif

/* policy.h - the seam between the core and what decides.
 *
 * Seven questions, a folder each; a policy answers one of them and is a file and a row of
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
    PLEAT_QUESTION_COUNT
};

/* Knowledge that costs something and is kept, or asked for, only while a policy in force needs it.
 */
enum {
    PLEAT_NEEDS_ENDS = 1, /* running components by expected end: pleat_ending_first */
    PLEAT_NEEDS_TIMES = 2 /* what iterations take: pleat_timing_smallest */
};

struct pleat_pass;

/* How a component starts: what a moldability policy answers. */
struct pleat_start_size {
    int32_t processors; /* 0: it cannot start now */
    int32_t processes;  /* of one that folds; 0: as many as it takes for these processors */
    int32_t mpl; /* of one that folds: the most processes on a processor in its run; 0: as its user
                  * and the configuration let it */
    int32_t
        take; /* it cannot now, but could once this many processors were taken from running ones */
};

/* What a buffer policy wants when it reviews a buffer. */
struct pleat_review {
    int32_t request, release; /* prepared processes more, and fewer */
    int64_t again_us;         /* the next review is then; PLEAT_NEVER */
    int32_t again_iteration;  /* or when that iteration is done; INT32_MAX: at none */
};

struct pleat_part { /* of a flexible job */
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
    bool shrinks;   /* approach, malleability: can take processors from running components */
    bool overtakes; /* queue: any job that fits may start, whoever else waits */
    /* queue, placement, moldability: while nobody runs who could be resized, and no job has several
     * components, no second pass is needed after one whose starts succeeded at once: it would start
     * nobody else. It is saved where all three say so and the sites are PLEAT_SITE_INSTANT */
    bool settles;

    /* ---- the answer: the one that belongs to `question` ---- */

    /* approach: decides everything, with the help of the others */
    void (*decide)(struct pleat_pass *pass);
    /* queue: starts what it may; returns the first component that has to wait, or PLEAT_NONE */
    uint32_t (*start)(struct pleat_pass *pass);
    /* placement: the site where a component can start now, or PLEAT_NONE */
    uint32_t (*place)(struct pleat_pass *pass, uint32_t component);
    /* placement, optional: sites for the `processors` of a flexible job (the component is the one
     * that waits for it), in at most `most` parts; returns the number of parts, 0: it cannot be
     * placed. NULL: such a job is placed whole, as one component */
    uint32_t (*split)(struct pleat_pass *pass, uint32_t component, int32_t processors,
                      struct pleat_part *parts, uint32_t most);
    /* moldability: its size, given what is available */
    struct pleat_start_size (*size)(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                    int32_t available);
    /* malleability: hand out / get back `processors` at a site, by offers to running malleable
     * components; returns what was not accepted */
    int32_t (*grow)(struct pleat_pass *pass, uint32_t site, int32_t processors);
    int32_t (*shrink)(struct pleat_pass *pass, uint32_t site, int32_t processors, uint32_t waiter);
    /* malleability, optional: before a site's free processors are handed out, also where there are
     * none: shrinks whoever has more than the policy wants, by offers without a waiter */
    void (*balance)(struct pleat_pass *pass, uint32_t site);

    /* order: the component with the smaller key stands in front; equal ones as they came. Looked at
     * once, when it begins to wait. NULL: as they came */
    int64_t (*key)(const struct pleat_component *component);
    /* buffer: of a running component that evolves, at its start, and when it asked to be asked
     * again. NULL: buffers are not reviewed, and nothing that was vacated is kept in them */
    struct pleat_review (*review)(const struct pleat_pass *pass, uint32_t component);

    /* ---- optional state ---- */
    size_t state_size; /* 0: none; zeroed at first */
    void (*observe)(void *state, const struct pleat_view *view, const struct pleat_event *event);
};

struct pleat_pass {
    const struct pleat_view *view;
    struct pleat_plan *plan;
    /* What a component that starts must leave to others, since they were promised it: */
    struct pleat_shadow *shadow;    /* set by a queue policy; NULL: nobody has a shadow */
    struct pleat_profile *profiles; /* per site; NULL: nobody has a reservation */
    bool shrinkable;                /* of the profiles: see pleat_pass_expect */
    bool backfilling; /* set by a queue policy: those that start now and fold may be folded as far
                       * as their users and the configuration let them, whatever moldability says */
    const struct pleat_policy *policies[PLEAT_QUESTION_COUNT];
    const void *states[PLEAT_QUESTION_COUNT];
};

const char *pleat_question_name(enum pleat_question question);
/* By name or by number; NULL where there is none. */
const struct pleat_policy *pleat_policy_find(enum pleat_question question, const char *name);
const struct pleat_policy *pleat_policy_get(enum pleat_question question, uint32_t number);
/* The i-th of all, NULL at the end. */
const struct pleat_policy *pleat_policy_at(size_t i);
/* The one in force unless configured. */
const struct pleat_policy *pleat_policy_default(enum pleat_question question);

/* ---- steps that policies share (pass.c) ---- */

/* Starts a waiting component if a site has room: placement, then moldability. It does not start
 * where it would keep from others what they were promised by an advance reservation or by the
 * pass's shadow or profiles; these are brought up to date. Of a job of several components all that
 * are not placed yet start, the largest first (Lammers 2005, 3.3), or none; where the sizes that
 * moldability chooses leave no room for all, at their smallest. */
bool pleat_pass_start(struct pleat_pass *pass, uint32_t component);
/* What the moldability policy answers for a component at a site, nothing left open. */
struct pleat_start_size pleat_pass_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available);
/* Is there a reservation, aside or come and not yet started? Those stand in front of everybody. */
static inline bool pleat_pass_reserved(const struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    return view->reserved_first != PLEAT_NONE ||
           (view->queue_first != PLEAT_NONE && view->components[view->queue_first].begin_us > 0);
}

/* Can the policies in force take processors back from running components, at any time? */
bool pleat_pass_shrinks(const struct pleat_pass *pass);
/* Sets the pass's profiles, from now on: what reservations, those that run and those that this plan
 * starts leave, by expected ends. `shrinkable`: malleable components count with their smallest
 * size, since the rest can be had back. What is free now is the plan's business. False: out of
 * memory. */
bool pleat_pass_expect(struct pleat_pass *pass, bool shrinkable);
/* The earliest time at which a component could start by the pass's profiles, at its smallest size
 * for as long as it is expected to run; PLEAT_NEVER. *site: where; of several the one that it was
 * promised, then the first. */
int64_t pleat_pass_earliest(const struct pleat_pass *pass, uint32_t component, uint32_t *site);
/* The same for a component whose promised place is in the profiles, and would be given up for a
 * start before before_us; if there is no such start, that place. */
int64_t pleat_pass_earlier(const struct pleat_pass *pass, uint32_t component, int64_t before_us,
                           uint32_t *site);
/* Takes `processors` (below 0: gives them back) in a profile of the pass, from a time on, for as
 * long as the component is expected to run on `size` processors. */
void pleat_pass_take(struct pleat_pass *pass, uint32_t component, uint32_t site, int64_t from_us,
                     int32_t size, int32_t processors);
/* Reviews the buffers that are due: what they are to get comes from what the plan leaves for
 * growing. For the core, at the end of a pass. */
void pleat_pass_review(struct pleat_pass *pass);
/* Shrinks running components at one site, by the malleability policy, so that a waiting one can
 * start there at its smallest size: only where that lets it start, and no more than it takes. The
 * site where room was made, or is being made already; PLEAT_NONE: nowhere. */
uint32_t pleat_pass_make_room(struct pleat_pass *pass, uint32_t waiter);
/* Lets the malleability policy balance a site that is not withheld, then offers what may be used
 * for growing there until nobody accepts more. */
void pleat_pass_grow(struct pleat_pass *pass, uint32_t site);
/* Could a running component of the site still be grown into what is free there, now or as soon as
 * the resize that it is in is over? */
bool pleat_pass_could_grow(const struct pleat_pass *pass, uint32_t site);

#endif

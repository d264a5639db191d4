/* policy.h - the seam between the core and what decides.
 *
 * Six questions, a folder each; a policy answers one of them and is a file and a row of
 * registry.c. A pass asks the approach; the approach uses the others. A policy may keep state:
 * it is changed only by observe (which also runs when a log is replayed), never while deciding, so
 * that the same log always gives the same decisions.
 *
 *   approach      who gets free processors first, and when is room made?   pra, pwa
 *   order         in which order do waiting components stand?              arrival, sjf, edf
 *   queue         which of them start, in that order?                      fcfs, easy
 *   placement     at which site?                                           worst-fit
 *   moldability   at which size does a component start?                    available, minimum
 *   malleability  which running ones grow or shrink, by how much?          fpsma, egs
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
    PLEAT_QUESTION_COUNT
};

/* Indexes that cost something and are kept only while a policy in force needs them. */
enum {
    PLEAT_NEEDS_ENDS = 1 /* running components by expected end: pleat_ending_first */
};

struct pleat_pass;

struct pleat_policy {
    uint32_t number;  /* in logs: never reuse one */
    uint32_t version; /* raise it when the policy's decisions change */
    enum pleat_question question;
    const char *name;   /* as users write it */
    const char *source; /* paper and section */
    const char *summary;
    unsigned needs; /* PLEAT_NEEDS_* */

    /* ---- the answer: the one that belongs to `question` ---- */

    /* approach: decides everything, with the help of the others */
    void (*decide)(struct pleat_pass *pass);
    /* queue: starts what it may; returns the first component that has to wait, or PLEAT_NONE */
    uint32_t (*start)(struct pleat_pass *pass);
    /* placement: the site where a component can start now, or PLEAT_NONE */
    uint32_t (*place)(struct pleat_pass *pass, uint32_t component);
    /* moldability: its size, given what is available; 0: it cannot start */
    int32_t (*size)(struct pleat_pass *pass, uint32_t component, uint32_t site, int32_t available);
    /* malleability: hand out / get back `processors` at a site, by offers to running malleable
     * components; returns what was not accepted */
    int32_t (*grow)(struct pleat_pass *pass, uint32_t site, int32_t processors);
    int32_t (*shrink)(struct pleat_pass *pass, uint32_t site, int32_t processors, uint32_t waiter);

    /* order: the component with the smaller key stands in front; equal ones as they came. Looked at
     * once, when it begins to wait. NULL: as they came */
    int64_t (*key)(const struct pleat_component *component);

    /* ---- optional state ---- */
    size_t state_size; /* 0: none; zeroed at first */
    void (*observe)(void *state, const struct pleat_view *view, const struct pleat_event *event);
};

/* What a waiting component will need, and others must not keep from it. */
struct pleat_shadow {
    uint32_t site;
    int64_t at_us; /* when it is expected to start there */
    int32_t extra; /* processors that are expected to be free then, and that it does not need */
};

struct pleat_pass {
    const struct pleat_view *view;
    struct pleat_plan *plan;
    struct pleat_shadow *shadow; /* set by a queue policy: whoever starts must not stand in it */
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

/* Starts a waiting component if a site has room: placement, then moldability; but not on processors
 * on which it would stand in the pass's shadow. What it leaves there is put right. */
bool pleat_pass_start(struct pleat_pass *pass, uint32_t component);
/* Offers what may be used for growing at a site until nobody accepts more. */
void pleat_pass_grow(struct pleat_pass *pass, uint32_t site);
/* Could a running component of the site still be grown into what is free there, now or as soon as
 * the resize that it is in is over? */
bool pleat_pass_could_grow(const struct pleat_pass *pass, uint32_t site);

#endif

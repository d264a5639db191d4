/* why.h - why a waiting component does not start, and why a running one is not larger: questions
 * that people ask, answered from the view and from what a rehearsed pass leaves. Policies do not
 * use this, and need not know of it. */
#ifndef PLEAT_POLICY_WHY_H
#define PLEAT_POLICY_WHY_H

#include "policy/policy.h"

/* Why a waiting component has not started. */
enum pleat_why_waits {
    PLEAT_WAITS_NEXT,       /* nothing keeps it: the next pass starts it */
    PLEAT_WAITS_BEGIN,      /* its reservation begins later */
    PLEAT_WAITS_TOO_LARGE,  /* it needs more processors than any site has */
    PLEAT_WAITS_ROOM,       /* running components are being shrunk for it */
    PLEAT_WAITS_PROCESSORS, /* fewer processors are free than it needs */
    PLEAT_WAITS_BEHIND,     /* it would fit, but nobody may overtake the job in front */
    PLEAT_WAITS_GROWING,    /* it would fit, but running jobs that can still grow come first */
    PLEAT_WAITS_KEPT,       /* it would fit, but the free processors were promised to others */
    PLEAT_WAITS_QUIET,      /* its site refused processors a moment ago */
    PLEAT_WAITS_POLICY,     /* it would fit, and the policies in force do not start it */
    PLEAT_WAITS_HELD,       /* something holds it: pleat_component.holds */
    PLEAT_WAITS_PAUSED,     /* its node, or its site, could not start it or others a moment ago */
    PLEAT_WAITS_DRAINED,    /* every site that is large enough for it is drained */
    PLEAT_WAITS_NODES,      /* it needs nodes that take no jobs now */
    PLEAT_WAITS_COUNT
};

/* Why a running component is not larger than it is. */
enum pleat_why_size {
    PLEAT_SIZE_NEXT,       /* nothing keeps it: the next pass changes it */
    PLEAT_SIZE_FIXED,      /* rigid or moldable: its size does not change while it runs */
    PLEAT_SIZE_RESIZING,   /* it is in a resize */
    PLEAT_SIZE_AT_MAXIMUM, /* it has its maximum */
    PLEAT_SIZE_CAPPED,     /* its user shrank it: not grown until its user grows it */
    PLEAT_SIZE_NO_SIZE,    /* it takes no size between what it has and what it could have */
    PLEAT_SIZE_BACKOFF,    /* an offer failed: no other before a time */
    PLEAT_SIZE_QUIET,      /* its site refused processors a moment ago */
    PLEAT_SIZE_NONE_FREE,  /* nothing is free at its site */
    PLEAT_SIZE_THRESHOLD,  /* no more is free than the threshold, which growing leaves */
    PLEAT_SIZE_FOR_WAITER, /* what is free is kept for a waiting job */
    PLEAT_SIZE_RESERVED,   /* what is free is kept for reservations */
    PLEAT_SIZE_POLICY,     /* the policies in force do not grow it */
    PLEAT_SIZE_LIFETIME,   /* its size is young: no policy changes it before its lifetime is over */
    PLEAT_SIZE_NOT_NOW,    /* its program says that its size must not change now */
    PLEAT_SIZE_DRAINED,    /* its site is drained: nothing grows there */
    PLEAT_SIZE_TOTAL,      /* jobs of all sites have what they may be grown to, together */
    PLEAT_SIZE_ALLOCATION, /* it stays on its node, and has all of what was given there */
    PLEAT_SIZE_NODES, /* its processes stay on their nodes, where it has all that it can have */
    PLEAT_SIZE_COUNT
};

struct pleat_wait_answer {
    enum pleat_why_waits code;
    int32_t need;     /* the smallest size at which it can start */
    int32_t free;     /* the most processors that it could get at one site now, its earmarks
                       * included */
    uint32_t site;    /* at which site; PLEAT_NONE: at none */
    uint32_t behind;  /* BEHIND: the job in front; PLEAT_NONE */
    int64_t until_us; /* BEGIN, QUIET, PAUSED: when that is over; else PLEAT_NEVER */
};

struct pleat_size_answer {
    enum pleat_why_size code;
    int32_t largest;  /* the largest size that it takes, by its limits and its user */
    int32_t next;     /* the next larger size that it takes; 0: none */
    int32_t growable; /* processors that may be used for growing at its site now */
    uint32_t waiter;  /* FOR_WAITER: who; PLEAT_NONE */
    int64_t until_us; /* BACKOFF, QUIET, LIFETIME: when that is over; else PLEAT_NEVER */
};

/* "processors", "behind", ...: stable names for other programs. */
const char *pleat_waits_name(enum pleat_why_waits code);
const char *pleat_size_name(enum pleat_why_size code);

/* Both look at a pass that has decided, on a plan that nobody carries out; nothing is changed. The
 * first is for a component in the state queued, the second for one that runs or is resized. */
struct pleat_wait_answer pleat_why_waits(const struct pleat_pass *pass, uint32_t component);
struct pleat_size_answer pleat_why_size(const struct pleat_pass *pass, uint32_t component);

#endif

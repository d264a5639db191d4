/* lent.h - processors that a site lends for a time
 *
 * A site says until when a claim is its owner's (CLAIM_ENDS). A malleable component leaves such a
 * claim in time, if it can do without. It gives back first what it got last; so it cannot do
 * without the first ones, as far as its minimum goes, and from the node of the very first one it is
 * led. With PLEAT_PARAM_REPLACE_US a component that can be led from another node (move.h) keeps
 * the claims that last longest, whichever it got first; and if those that last are fewer than it
 * needs, it asks for others before that. With PLEAT_PARAM_REPLACE_SHORT it goes on so also where
 * all claims have the same short time. One whose processes stay on several nodes can leave what
 * later allocations brought there, whichever it is, and nothing else. */
#ifndef PLEAT_CORE_LENT_H
#define PLEAT_CORE_LENT_H

#include "core/state.h"

/* What a component's site lends it, and when that is over. */
struct lent {
    int64_t until_us; /* the first of the claims that it cannot do without; PLEAT_NEVER: none */
    int64_t next_us;  /* when it has to leave another claim, or to ask for others, later than now;
                       * PLEAT_NEVER: it has not */
    int32_t stays;    /* processors that it has before the first claim that it has to leave now */
    enum pleat_reason ends_why, leaves_why; /* of until_us, and of leaving that claim */
};

/* When a component begins to leave a claim that its site lends for a time. Of a claim that was
 * short from the beginning it has at least half the time; one that is taken from it is left at
 * once. */
int64_t lent_leaves_at(const struct pleat_core *core, const struct pleat_component *component,
                       const struct pleat_claim *claim);
struct lent lent_to(const struct pleat_core *core, const struct pleat_component *component);
/* The size that a component, which runs, has to shrink to now, since its site takes processors back
 * soon (PLEAT_PARAM_SHRINK_OFF_US), and why; its present size: it need not. */
int32_t size_without_lent(const struct pleat_core *core, const struct pleat_component *component,
                          enum pleat_reason *why);
/* The size that a component, which runs, has to grow to now, so that it has others when its site
 * takes back what it needs (PLEAT_PARAM_REPLACE_US). A smaller one: it is too large to grow by as
 * many, and shrinks first. Its present size: it need not, or cannot. */
int32_t size_to_replace(const struct pleat_core *core, const struct pleat_component *component);
/* Are processors of the component being taken from it, sooner than its site had said? Its processes
 * there may be killed at any moment. */
bool is_taken_from(const struct pleat_core *core, const struct pleat_component *component);
/* Puts the claims that a component, which is in no resize, is to leave now behind all others, as
 * the last ones are given back first: those that are taken from it, or, with
 * PLEAT_PARAM_REPLACE_US, also those whose time is over; of one whose processes stay on several
 * nodes those of later allocations there, for either reason. The first one stays where it is, as
 * the component is led from there, unless it can be led from another node. Returns whether their
 * order has changed. */
bool lent_last(struct pleat_core *core, uint32_t component);
/* How long before its enforcement the component is told of a mandatory shrink, in microseconds. */
int64_t notice_of(const struct pleat_core *core, const struct pleat_component *component);

#endif

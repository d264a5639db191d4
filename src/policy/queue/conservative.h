/* conservative.h - what conservative.c and conservative_memo.c share. */
#ifndef PLEAT_POLICY_QUEUE_CONSERVATIVE_H
#define PLEAT_POLICY_QUEUE_CONSERVATIVE_H

#include "policy/policies.h"
#include "policy/watch.h"

enum { EARLY_ENDS = 8 };

/* Processors that a component would have had for longer than it needed. */
struct early_end {
    int64_t until_us;
    uint32_t site;
    int32_t processors;
};

struct conservative_state {
    struct pleat_watch watch;
    uint32_t early; /* early ends observed; the last ones are: */
    struct early_end ends[EARLY_ENDS];
};

/* What a pass finds out as it goes. */
struct conservative_round {
    struct pleat_pass *pass;
    bool anew;         /* all places are given out anew */
    bool stuck;        /* a component did not start in its place */
    bool blocked;      /* a job of several components holds up the queue */
    uint32_t waiter;   /* the first component that does not start */
    int64_t next_us;   /* when the next place begins */
    int64_t before_us; /* a component can only move to a place that begins before this time */
    int64_t freed_us;  /* the last end of places that were given up */
};

static inline bool is_reservation(const struct pleat_component *component)
{
    return component->begin_us > 0;
}

/* ---- conservative_memo.c: what saves work; a pass without it decides the same ---- */

/* An event, as policies observe it: does what the last pass found out still hold? */
void conservative_observe(void *memory, const struct pleat_view *view,
                          const struct pleat_event *event);
/* Takes the profiles of the last pass, and what has become free since; false: they are of no use.
 */
bool conservative_memo_take(struct conservative_round *round);
/* After conservative_memo_take: the first component that has to be looked at; it is a new one if no
 * other one's time has come. */
uint32_t conservative_memo_first(struct conservative_round *round);
/* Does a component keep its place without being looked at? Its time is to come, and nothing has
 * become free since it last looked. */
static inline bool conservative_memo_keeps_place(const struct conservative_round *round,
                                                 const struct pleat_component *component)
{
    const int64_t now_us = round->pass->view->now_us;
    return round->before_us <= now_us && component->promised_us > now_us &&
           component->promised_us != PLEAT_NEVER;
}
/* A component gives up the place that it was promised: the others may move there. */
void conservative_memo_give_up(struct conservative_round *round,
                               const struct pleat_component *component);
void conservative_memo_leave(const struct conservative_round *round);
/* When the next pass is wanted: at the next place, or later if a component is stuck. PLEAT_NEVER:
 * no pass is wanted. */
int64_t conservative_next_look(const struct conservative_round *round);

#endif

/* Periodic (P): Liu et al. 2009, 4.1.
 *
 * Every t_p (buffer_review_s) the buffer is brought to the request level RL: with R prepared
 * processes N = RL - R are asked for, or R - RL given back. RL is given (buffer_level); or, with
 * buffer_derived = 1, "determined by the maximum number of requests that the application could
 * consecutively make". Open in the paper:
 * - which requests are consecutive: those within one t_p of the first of them, since the buffer is
 *   filled again only after t_p. What counts is the most of earlier executions and of this one up
 *   to now, and at least buffer_level. A request that is made again until it is satisfied is one;
 * - the first review: when the run begins;
 * - whether R counts processes that are on their way: "the current number of prepared processes"
 *   does not. Where an allocation takes longer than t_p, more are asked for than are wanted, and
 *   given back at a later review. With buffer_pending = 1 they count.
 * - releases: the paper assumes that applications only add processes. Those that one says it will
 *   give back (RETURNING) come into the buffer then, and are not asked for. What is prepared is not
 *   given back before they are there. */
#include "policy/policies.h"

static struct pleat_review periodic_review(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    int32_t level = pleat_view_level(view, buffer);
    int32_t prepared = pleat_view_prepared(view, buffer);
    int64_t will_be = (int64_t)prepared + pleat_view_returning(buffer);
    return (struct pleat_review){
        .request = will_be < level ? (int32_t)(level - will_be) : 0,
        .release = prepared > level ? prepared - level : 0,
        .again_us = view->now_us + view->buffer_review_us,
        .again_iteration = INT32_MAX,
    };
}

const struct pleat_policy pleat_policy_periodic = {
    .number = 2,
    .version = 1,
    .question = PLEAT_BUFFER,
    .name = "periodic",
    .source = "Liu et al. 2009, 4.1 (P)",
    .summary = "bring the buffer to its level at regular intervals",
    .review = periodic_review,
};

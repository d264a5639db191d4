/* Periodic Prediction (PP): Liu et al. 2009, 4.1 and figure 3.
 *
 * Every `range` iterations (buffer_range) the policy looks at `range` iterations further on, as far
 * ahead as an allocation takes. It asks for as many processes as earlier executions of the
 * application asked for in those, on average. Prepared processes above the request level RL
 * (buffer_level) are given back. Open in the paper:
 * - max T_alloc: the longest that the site took so far to give anything;
 * - sp_exe: the mean of this run so far, and before that of earlier ones, where it was recorded.
 *   Before it is known nothing is predicted;
 * - delta = [theta / sp_exe]: rounded up, or what was asked for would come too late;
 * - the sum from i to i + range has both ends in it, as printed: the iteration in which two periods
 *   meet is predicted in both;
 * - R in "if R > RL" is that of before the request; processes on their way count in it with
 *   buffer_pending = 1;
 * - no executions recorded: nothing is predicted;
 * - a request that fails between two reviews leads to an allocation of its own (3.1) in simulations
 *   and with buffer_own = 1. Without, where agents prepare processes, it takes what is on its way,
 *   also what was predicted for a later request, and nothing is asked for in its place. Then it
 *   matters whether a request that is made as an iteration begins is known at the review of that
 *   iteration (docs/experiments/application-agent-live);
 * - releases, which the paper leaves out: of what is predicted those are not asked for that the
 *   application says it will give back (RETURNING). */
#include "policy/policies.h"

/* The mean number of requests of an earlier execution in the `range` iterations that begin when an
 * allocation made now is there. */
static int32_t predicted(const struct pleat_view *view, const struct pleat_component *component)
{
    const struct pleat_buffer *buffer = &view->buffers[component->buffer];
    int64_t theta = view->sites[component->site].slowest_claim_us,
            speed = pleat_view_iteration(buffer);
    if (buffer->executions == 0 || speed == 0)
        return 0;
    int64_t delta = (theta + speed - 1) / speed;
    int64_t i = buffer->iteration + delta;
    int64_t requests = pleat_view_requested(view, component, i, i + view->buffer_range);
    int64_t wanted = requests / buffer->executions;
    return wanted < PLEAT_SIZE_MAX ? (int32_t)wanted : PLEAT_SIZE_MAX;
}

static struct pleat_review prediction_review(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    int32_t prepared = pleat_view_prepared(view, buffer);
    int32_t range = view->buffer_range > 0 ? view->buffer_range : 1;
    int32_t level = pleat_view_level(view, buffer);
    int32_t wanted = predicted(view, comp) - pleat_view_returning(buffer);
    return (struct pleat_review){
        .request = wanted > 0 ? wanted : 0,
        .release = prepared > level ? prepared - level : 0,
        .again_us = PLEAT_NEVER,
        .again_iteration =
            buffer->iteration < INT32_MAX - range ? buffer->iteration + range : INT32_MAX,
    };
}

const struct pleat_policy pleat_policy_prediction = {
    .number = 3,
    .version = 1,
    .question = PLEAT_BUFFER,
    .name = "periodic-prediction",
    .source = "Liu et al. 2009, 4.1 (PP)",
    .summary = "prepare what earlier executions asked for at this point",
    .review = prediction_review,
};

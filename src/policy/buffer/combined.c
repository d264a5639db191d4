/* Combined: P and PP of Liu et al. 2009, 4.1, which leave open how to combine them.
 *
 * P holds RL processes all the time: it satisfies, and wastes. PP asks for what earlier executions
 * asked for at the iteration at which an allocation begun now is there: it wastes little, but
 * satisfies only where that iteration is the same in each execution, and allocation times are. Here
 * the buffer is kept as P keeps it, reviewed every t_p (buffer_review_s) and every `range`
 * iterations (buffer_range), but its level is what earlier executions asked for until an allocation
 * begun at the next review could be there:
 *
 *   level = the mean number of requests from now to delta + range iterations ahead
 *   delta = theta / (time of an iteration), rounded up
 *   theta = the longest allocation so far, and at least their mean + 3 standard deviations
 *
 * - A tenth of a request is rounded up: a process is there for whatever may come. Less than that
 * are retries of few executions among many.
 * - Allocation times that are steady leave PP's look ahead. Where they are irregular it is longer,
 * so that also a slow allocation is there in time.
 * - What was expected up to `range` iterations ago, and has not come yet, is not given back.
 * - Processes on their way count: the level is about all requests until they are there.
 * - What the application says it will give back (RETURNING) counts, too, where more would be asked
 *   for.
 * - Nothing is recorded of earlier executions: the level is RL (buffer_level), as P has it. */
#include <math.h>

#include "policy/policies.h"

/* The longest that an allocation is expected to take, in microseconds. */
static double longest(const struct pleat_site *site)
{
    double slowest_us = (double)site->slowest_claim_us;
    if (site->allocation_count < 2)
        return slowest_us;
    double deviation_us = sqrt(site->allocation_squares / (site->allocation_count - 1));
    return fmax(slowest_us, site->allocation_us + 3 * deviation_us);
}

/* Iterations until an allocation begun now is there; 0: nobody knows how long they take. */
static int64_t iterations_ahead(const struct pleat_view *view, const struct pleat_buffer *buffer,
                                uint32_t site)
{
    int64_t iteration_us = pleat_view_iteration(buffer);
    if (iteration_us == 0)
        return 0;
    double ahead = ceil(longest(&view->sites[site]) / (double)iteration_us);
    return ahead < INT32_MAX ? (int64_t)ahead : INT32_MAX;
}

/* The mean number of requests from an iteration to another; what is above a tenth is rounded up. */
static int32_t expected(const struct pleat_view *view, const struct pleat_component *component,
                        int64_t from, int64_t to)
{
    int64_t executions = view->buffers[component->buffer].executions;
    int64_t requests = pleat_view_requested(view, component, from, to);
    int64_t level = (requests * 10 + executions * 9) / (executions * 10);
    return level < PLEAT_SIZE_MAX ? (int32_t)level : PLEAT_SIZE_MAX;
}

static struct pleat_review combined_review(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    int32_t range = view->buffer_range > 0 ? view->buffer_range : 1;
    int32_t least = pleat_view_level(view, buffer), most = least;
    if (buffer->executions > 0) {
        int64_t i = buffer->iteration;
        int64_t end = i + iterations_ahead(view, buffer, comp->site) + range;
        least = expected(view, comp, i + 1, end);
        most = expected(view, comp, i - range, end);
    }
    int32_t has = pleat_view_spare(view, buffer);
    int64_t will_be = (int64_t)has + pleat_view_returning(buffer);
    return (struct pleat_review){
        .request = will_be < least ? (int32_t)(least - will_be) : 0,
        .release = has > most ? has - most : 0,
        .again_us = view->now_us + view->buffer_review_us,
        .again_iteration =
            buffer->iteration < INT32_MAX - range ? buffer->iteration + range : INT32_MAX,
    };
}

const struct pleat_policy pleat_policy_combined = {
    .number = 4,
    .version = 1,
    .question = PLEAT_BUFFER,
    .name = "combined",
    .source = "our own, from P and PP of Liu et al. 2009, 4.1",
    .summary = "keep what earlier executions asked for until the next allocation can be there",
    .needs = PLEAT_NEEDS_ALLOCATIONS,
    .review = combined_review,
};

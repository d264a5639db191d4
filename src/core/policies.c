/* The policies in force, and what they see. */
#include <stdlib.h>

#include "core/buffer.h"
#include "core/policies.h"
#include "core/side.h"
#include "core/tally.h"

/* A parameter that counts processes or iterations, of which more than PLEAT_SIZE_MAX make no
 * sense. */
static int32_t count_of(const struct pleat_core *core, enum pleat_parameter which)
{
    int64_t value = core->parameters[which];
    return value < PLEAT_SIZE_MAX ? (int32_t)value : PLEAT_SIZE_MAX;
}

void core_sync_view(struct pleat_core *core)
{
    core->view.components = core->components.items;
    core->view.component_count = (uint32_t)core->components.count;
    sides_sync_view(core);
    core->view.sites = core->sites.items;
    core->view.site_count = (uint32_t)core->sites.count;
    core->view.size_lists = core->size_lists.items;
    core->view.timings = core->timings.items;
    core->view.buffers = core->buffers.items;
    core->view.histories = core->histories.items;
    core->view.outposts = core->outposts.items;
    core->view.outpost_count = (uint32_t)core->outposts.count;
    core->view.inputs = core->inputs.items;
    core->view.links = core->links.items;
    core->view.link_count = (uint32_t)core->links.count;
    core->view.nodes = core->nodes.items;
    core->view.node_count = (uint32_t)core->nodes.count;
    core->view.claims = core->claims.items;
    core->view.pieces = core->pieces.items;
    core->decides_at_times = core->parameters[PLEAT_PARAM_DECIDE_US] > 0;
    core->view.max_tries = (int32_t)core->parameters[PLEAT_PARAM_MAX_TRIES];
    core->view.try_us = core->parameters[PLEAT_PARAM_TRY_US];
    core->view.lifetime_us = core->parameters[PLEAT_PARAM_LIFETIME_US];
    core->view.lifetime_max_us = core->parameters[PLEAT_PARAM_LIFETIME_MAX_US];
    core->view.lifetimes |= core->view.lifetime_us > 0;
    core->view.mpl_max = (int32_t)core->parameters[PLEAT_PARAM_MPL_MAX];
    core->view.preemptions = (int32_t)core->parameters[PLEAT_PARAM_PREEMPTIONS];
    core->view.grow_total = count_of(core, PLEAT_PARAM_GROW_TOTAL);
    core->view.room_partly = core->parameters[PLEAT_PARAM_ROOM_PARTLY] > 0;
    core->view.spot_metric = count_of(core, PLEAT_PARAM_SPOT_METRIC);
    core->view.spot_threshold = count_of(core, PLEAT_PARAM_SPOT_THRESHOLD);
    core->view.spot_gain = count_of(core, PLEAT_PARAM_SPOT_GAIN);
    core->view.spot_hysteresis = count_of(core, PLEAT_PARAM_SPOT_HYSTERESIS);
    core->view.spot_confidence = count_of(core, PLEAT_PARAM_SPOT_CONFIDENCE);
    core->view.spot_probe = core->parameters[PLEAT_PARAM_SPOT_PROBE] > 0;
    core->view.buffer_level = count_of(core, PLEAT_PARAM_BUFFER_LEVEL);
    core->view.buffer_range = count_of(core, PLEAT_PARAM_BUFFER_RANGE);
    core->view.buffer_review_us = core->parameters[PLEAT_PARAM_BUFFER_REVIEW_US];
    core->view.buffer_derived = core->parameters[PLEAT_PARAM_BUFFER_DERIVED] > 0;
    core->view.buffer_pending = core->parameters[PLEAT_PARAM_BUFFER_PENDING] > 0;
    core->view.buffer_own = core->parameters[PLEAT_PARAM_BUFFER_OWN] > 0;
}

void core_set_pass_time(struct pleat_core *core)
{
    int64_t every_us = core->parameters[PLEAT_PARAM_DECIDE_US], now_us = now_of(core);
    if (every_us == 0 || !core_has_use_for_pass(core))
        core->pass_us = PLEAT_NEVER;
    else if (core->pass_us == PLEAT_NEVER)
        core->pass_us = now_us % every_us == 0 ? now_us : (now_us / every_us + 1) * every_us;
}

/* Removes the promises of the last queue policy: they do not bind another one. Those of
 * reservations stay. */
static void promises_drop(struct pleat_core *core)
{
    for (uint32_t c = core->view.queue_first; c != PLEAT_NONE; c = core->components.items[c].next) {
        struct pleat_component *component = &core->components.items[c];
        if (component->begin_us == 0) {
            component->promised_us = PLEAT_NEVER;
            component->promised_site = PLEAT_NONE;
        }
    }
}

int core_set_policy(struct pleat_core *core, const struct pleat_policy *policy)
{
    void *state = policy->state_size ? calloc(1, policy->state_size) : NULL;
    if (policy->state_size && !state)
        return PLEAT_E_NOMEM;
    if (policy->question == PLEAT_QUEUE && policy != core->pass.policies[PLEAT_QUEUE])
        promises_drop(core);
    free(core->states[policy->question]);
    core->states[policy->question] = state;
    core->pass.policies[policy->question] = policy;
    core->pass.states[policy->question] = state;
    core->plan.memo.pass = 0;
    core->observed = false;
    core->settles = true;
    unsigned needs = 0;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (core->pass.policies[q] && core->pass.policies[q]->observe)
            core->observed = true;
        bool starts = q == PLEAT_QUEUE || q == PLEAT_PLACEMENT || q == PLEAT_MOLDABILITY;
        if (starts && core->pass.policies[q] && !core->pass.policies[q]->settles)
            core->settles = false;
        needs |= core->pass.policies[q] ? core->pass.policies[q]->needs : 0;
    }
    core->needs = needs;
    ends_keep(core, needs & PLEAT_NEEDS_ENDS);
    if (policy->question == PLEAT_ORDER)
        queue_sort(core);
    if (policy->question == PLEAT_BUFFER)
        buffers_review(core);
    return 0;
}

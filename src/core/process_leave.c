/* Processes that leave before their site takes their processors back. */
#include "core/process_leave.h"
#include "core/buffer.h"
#include "core/lent.h"
#include "core/tell.h"
#include "core/transition.h"

/* When the process on a claim is to be told; PLEAT_NEVER: it is not, or was. */
static int64_t due(const struct pleat_core *core, uint32_t claim)
{
    const struct pleat_claim *c = &core->claims.items[claim];
    bool told = c->purpose == PLEAT_FOR_BUFFER ? c->process == PLEAT_KEPT_UNPREPARING
                                               : c->lent & PLEAT_LENT_LEAVES;
    if (c->state != PLEAT_CLAIM_HELD || c->until_us == 0 || told || !process_can_leave(core, claim))
        return PLEAT_NEVER;
    return lent_leaves_at(core, &core->components.items[c->component], c);
}

static int64_t earliest(const struct pleat_core *core, uint32_t first, int64_t at_us)
{
    for (uint32_t c = first; c != PLEAT_NONE; c = core->claims.items[c].next)
        if (due(core, c) > now_of(core) && due(core, c) < at_us)
            at_us = due(core, c);
    return at_us;
}

int64_t processes_leave_next(const struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = &core->components.items[component];
    if (comp->buffer == PLEAT_NONE || !prepares(comp) ||
        core->parameters[PLEAT_PARAM_LEAVE_PROCESSES] == 0)
        return PLEAT_NEVER;
    int64_t at_us = earliest(core, comp->first_claim, PLEAT_NEVER);
    return earliest(core, core->buffers.items[comp->buffer].first_claim, at_us);
}

void processes_leave(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    uint32_t next;
    if (!is_running(comp) || comp->buffer == PLEAT_NONE || !prepares(comp))
        return;
    for (uint32_t c = comp->first_claim; c != PLEAT_NONE; c = claim_at(core, c)->next) {
        if (due(core, c) > now_of(core))
            continue;
        claim_at(core, c)->lent |= PLEAT_LENT_LEAVES;
        process_leave_effect(core, c);
    }
    for (uint32_t c = buffer_at(core, comp->buffer)->first_claim; c != PLEAT_NONE; c = next) {
        next = claim_at(core, c)->next;
        if (due(core, c) <= now_of(core))
            buffer_give_back(core, c);
    }
}

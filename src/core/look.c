/* Looking at the state: what core.h gives to whoever drives the core. */
#include "core/state.h"

uint32_t pleat_core_next_component(const struct pleat_core *core)
{
    return core->free_component != PLEAT_NONE ? core->free_component
                                              : (uint32_t)core->components.count;
}

uint32_t pleat_core_next_group(const struct pleat_core *core)
{
    return core->free_group != PLEAT_NONE ? core->free_group : (uint32_t)core->groups.count;
}

const struct pleat_dependency *pleat_core_dependency(const struct pleat_core *core, uint32_t index)
{
    return &core->dependencies.items[index];
}

const struct pleat_view *pleat_core_view(const struct pleat_core *core)
{
    return &core->view;
}

const struct pleat_claim *pleat_core_claim(const struct pleat_core *core, uint32_t index)
{
    return &core->claims.items[index];
}

uint32_t pleat_core_size_list_count(const struct pleat_core *core)
{
    return (uint32_t)core->size_lists.count;
}

uint32_t pleat_core_claim_count(const struct pleat_core *core)
{
    return (uint32_t)core->claims.count;
}

const struct pleat_piece *pleat_core_piece(const struct pleat_core *core, uint32_t index)
{
    return &core->pieces.items[index];
}

const struct pleat_resize *pleat_core_resize(const struct pleat_core *core, uint32_t index)
{
    return &core->resizes.items[index];
}

const struct pleat_policy *pleat_core_policy(const struct pleat_core *core,
                                             enum pleat_question question)
{
    return core->pass.policies[question];
}

unsigned pleat_core_needs(const struct pleat_core *core)
{
    return core->needs;
}

int64_t pleat_core_parameter(const struct pleat_core *core, enum pleat_parameter parameter)
{
    return core->parameters[parameter];
}

uint64_t pleat_core_operations(const struct pleat_core *core)
{
    return core->operations + core->deadlines.steps + core->places.steps;
}

/* The files of a component, where they are, and how fast they come from one site to another. */
#include "core/files.h"
#include "core/effects.h"
#include "core/handlers.h"
#include "core/policies.h"
#include "core/side.h"
#include "core/state.h"
#include "core/transition.h"

int on_input(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_input input = {.bytes = event->u.input.bytes,
                                .file = event->u.input.file,
                                .site = event->u.input.site,
                                .next = PLEAT_NONE};
    if (component->state != PLEAT_QUEUED || component->attempt > 0)
        return pleat_error_set(err, PLEAT_E_STATE, "files are named when a job is submitted");
    if (input.bytes < 0 || input.bytes > PLEAT_NEVER / 4 || input.site >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a file is at a site that exists, and not smaller than 0 bytes");
    struct pleat_coallocation *files = side_make(core, SIDE_COALLOCATION, event->component);
    if (!files)
        return PLEAT_E_NOMEM;
    input.next = files->first_input;
    uint32_t index = core->free_input;
    if (index != PLEAT_NONE) {
        core->free_input = core->inputs.items[index].next;
        core->inputs.items[index] = input;
    } else {
        index = (uint32_t)core->inputs.count;
        if (pleat_array_push(&core->inputs, input))
            return PLEAT_E_NOMEM;
    }
    files->first_input = index;
    core->view.stages = true;
    core_sync_view(core);
    core->wants_pass = true;
    return 0;
}

void inputs_free(struct pleat_core *core, uint32_t component)
{
    struct pleat_coallocation *files = side_find(core, SIDE_COALLOCATION, component);
    while (files && files->first_input != PLEAT_NONE) {
        uint32_t index = files->first_input;
        files->first_input = core->inputs.items[index].next;
        core->inputs.items[index] = (struct pleat_input){.next = core->free_input};
        core->free_input = index;
    }
}

int on_link(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_link link = {event->u.link.bytes_per_s, event->u.link.from, event->u.link.to};
    if (link.from >= core->sites.count || link.to >= core->sites.count || link.from == link.to ||
        link.bytes_per_s < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a link leads from one site to another, with at least 0 bytes a "
                               "second");
    struct pleat_link_array *links = &core->links;
    size_t at = links->count;
    while (at > 0 &&
           (links->items[at - 1].from > link.from ||
            (links->items[at - 1].from == link.from && links->items[at - 1].to >= link.to)))
        at--;
    if (at == links->count || links->items[at].from != link.from ||
        links->items[at].to != link.to) {
        if (pleat_array_reserve(links, 1))
            return PLEAT_E_NOMEM;
        for (size_t i = links->count++; i > at; i--)
            links->items[i] = links->items[i - 1];
    }
    links->items[at] = link;
    core_sync_view(core);
    core->wants_pass = true;
    return 0;
}

void stage_effect(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *effect = emit(core, PLEAT_DO_STAGE, component, comp->staging_number);
    if (!effect)
        return;
    const struct pleat_coallocation *files = pleat_view_coallocation(&core->view, comp);
    effect->u.stage.site = files->files_site;
    effect->u.stage.expected_us = files->files_us;
}

void staging_drop(struct pleat_core *core, uint32_t component)
{
    if (!component_at(core, component)->staging)
        return;
    struct pleat_coallocation *files = side_find(core, SIDE_COALLOCATION, component);
    component_at(core, component)->staging = 0;
    files->files_site = PLEAT_NONE;
    files->files_us = 0;
}

void files_bring(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    struct pleat_coallocation *files = side_find(core, SIDE_COALLOCATION, component);
    if (!files || files->first_input == PLEAT_NONE)
        return;
    if (files->files_site != comp->site) {
        int64_t us = pleat_view_transfer(&core->view, comp, comp->site);
        files->files_site = comp->site;
        files->files_us = us > 0 ? now_of(core) + us : 0;
        comp->staging = us > 0;
        if (us > 0) {
            comp->staging_number = core->next_id++;
            stage_effect(core, component);
        }
    }
    if (comp->staging)
        set_state(core, component, PLEAT_STAGING_IN);
}

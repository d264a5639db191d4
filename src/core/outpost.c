/* Outposts: processes of a component at sites other than its own, where its application asks for
 * them. Their claims are in the component's lists as all others are; here is what is counted for
 * each such site, and which requests wait for it. */
#include "core/outpost.h"
#include "core/deadlines.h"
#include "core/save_columns.h"

#include <string.h>

static const struct pleat_outpost fresh = {
    .buffer = PLEAT_NONE, .next = PLEAT_NONE, .pause = PLEAT_HEAP_NONE};

const struct pleat_outpost *outpost_fresh(void)
{
    return &fresh;
}

uint32_t outpost_of(const struct pleat_core *core, uint32_t component, uint32_t site)
{
    uint32_t buffer = core->components.items[component].buffer;
    const struct pleat_outpost *outpost =
        buffer == PLEAT_NONE ? NULL
                             : pleat_view_outpost(&core->view, &core->buffers.items[buffer], site);
    return outpost ? (uint32_t)(outpost - core->view.outposts) : PLEAT_NONE;
}

uint32_t outpost_make(struct pleat_core *core, uint32_t buffer, uint32_t site)
{
    uint32_t index = 0;
    while (index < core->outposts.count && outpost_at(core, index)->buffer != PLEAT_NONE)
        index++;
    if (index == core->outposts.count) {
        if (pleat_array_push(&core->outposts, fresh))
            return PLEAT_NONE;
        core->view.outposts = core->outposts.items; /* the array may have moved */
        core->view.outpost_count = (uint32_t)core->outposts.count;
    }
    struct pleat_outpost *outpost = outpost_at(core, index);
    outpost->buffer = buffer;
    outpost->site = site;
    outpost->next = core->buffers.items[buffer].outposts - 1u;
    if (core->buffers.items[buffer].outposts == 0)
        outpost->next = PLEAT_NONE;
    core->buffers.items[buffer].outposts = index + 1;
    return index;
}

static void forget(struct pleat_core *core, uint32_t index)
{
    struct pleat_outpost *outpost = outpost_at(core, index);
    struct pleat_buffer *buffer = &core->buffers.items[outpost->buffer];
    if (buffer->outposts == index + 1)
        buffer->outposts = outpost->next == PLEAT_NONE ? 0 : outpost->next + 1;
    for (size_t i = 0; i < core->outposts.count; i++)
        if (outpost_at(core, (uint32_t)i)->next == index)
            outpost_at(core, (uint32_t)i)->next = outpost->next;
    disarm(core, &outpost->pause);
    *outpost = fresh;
}

void outposts_rest(struct pleat_core *core, uint32_t component)
{
    uint32_t buffer = component_at(core, component)->buffer;
    for (size_t i = 0; i < core->outposts.count; i++) {
        struct pleat_outpost *outpost = outpost_at(core, (uint32_t)i);
        if (outpost->buffer != buffer)
            continue;
        site_at(core, outpost->site)->buffered -= outpost->prepared;
        outpost->waiting = outpost->failures = outpost->rank = 0;
        memset(outpost->waiting_on, 0, sizeof(outpost->waiting_on));
        outpost->quiet_until_us = 0;
        disarm(core, &outpost->pause);
    }
}

void outposts_drop(struct pleat_core *core, uint32_t buffer)
{
    while (core->buffers.items[buffer].outposts > 0)
        forget(core, core->buffers.items[buffer].outposts - 1);
}

void outposts_leave(struct pleat_core *core, uint32_t site)
{
    for (size_t i = 0; i < core->outposts.count; i++)
        if (outpost_at(core, (uint32_t)i)->buffer != PLEAT_NONE &&
            outpost_at(core, (uint32_t)i)->site == site)
            forget(core, (uint32_t)i);
}

/* ---- what is saved: as in save_columns.c ---- */

#define OUTPOST_MEMBERS(X)                                                                         \
    X(1, buffer)                                                                                   \
    X(2, site)                                                                                     \
    X(3, next)                                                                                     \
    X(4, waiting)                                                                                  \
    X(5, waiting_on)                                                                               \
    X(6, prepared)                                                                                 \
    X(7, requested)                                                                                \
    X(8, preparing)                                                                                \
    X(9, leaving)                                                                                  \
    X(10, taken)                                                                                   \
    X(11, failures)                                                                                \
    X(12, pause)                                                                                   \
    X(13, rank)                                                                                    \
    X(14, quiet_until_us)

#define OF_OUTPOST(number, member)                                                                 \
    {number, sizeof(((struct pleat_outpost *)0)->member), offsetof(struct pleat_outpost, member)},
#define OUTPOST_WIDTH(number, member) +sizeof(((struct pleat_outpost *)0)->member)

const struct column outpost_columns[] = {OUTPOST_MEMBERS(OF_OUTPOST){0}};
_Static_assert((0 OUTPOST_MEMBERS(OUTPOST_WIDTH)) == sizeof(struct pleat_outpost),
               "a member of pleat_outpost is not saved");

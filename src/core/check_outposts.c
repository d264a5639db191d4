/* Recounts what components have at sites other than their own. */
#include "core/check_outposts.h"
#include "core/outpost.h"
#include "core/transition.h"

#define FAIL(...) return pleat_error_set(err, PLEAT_E_CORRUPT, __VA_ARGS__)

/* What the claims of a component at a site are. */
static struct pleat_outpost count(const struct pleat_core *core, uint32_t component, uint32_t site)
{
    struct pleat_outpost sum = {.prepared = 0};
    for (size_t c = 0; c < core->claims.count; c++) {
        const struct pleat_claim *claim = &core->claims.items[c];
        bool held = claim->state == PLEAT_CLAIM_HELD;
        if (claim->component != component || claim->site != site ||
            (!held && claim->state != PLEAT_CLAIM_REQUESTED))
            continue;
        bool buffered = claim->purpose == PLEAT_FOR_BUFFER;
        bool preparing = held && buffered && claim->process == PLEAT_KEPT_PREPARING;
        bool leaving = held && buffered && claim->process == PLEAT_KEPT_UNPREPARING;
        sum.taken += buffered ? 0 : claim->count;
        sum.requested += buffered && (!held || preparing);
        sum.preparing += preparing;
        sum.leaving += leaving;
        sum.prepared += held && buffered && !preparing && !leaving;
    }
    return sum;
}

static int check_one(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_outpost *kept = &core->outposts.items[index];
    const struct pleat_buffer *buffer = &core->buffers.items[kept->buffer];
    const struct pleat_component *component = &core->components.items[buffer->component];
    struct pleat_outpost sum = count(core, buffer->component, kept->site);
    if (pleat_view_outpost(&core->view, buffer, kept->site) != kept)
        FAIL("outpost %u is not in its buffer's list, or there is another one at its site", index);
    if (kept->prepared != sum.prepared || kept->requested != sum.requested ||
        kept->preparing != sum.preparing || kept->leaving != sum.leaving ||
        kept->taken != sum.taken)
        FAIL("outpost %u at site %u: %d/%d prepared, %d/%d on their way, %d/%d being prepared, "
             "%d/%d leaving, %d/%d taken (kept/counted)",
             index, kept->site, kept->prepared, sum.prepared, kept->requested, sum.requested,
             kept->preparing, sum.preparing, kept->leaving, sum.leaving, kept->taken, sum.taken);
    if (is_running(component) && (component->site == kept->site || !pleat_view_roams(component)))
        FAIL("outpost %u: its component may have none at site %u", index, kept->site);
    if (!is_running(component) && component->state != PLEAT_FINISHING)
        FAIL("outpost %u of a component that has no processors", index);
    if (!is_running(component) && (kept->waiting > 0 || kept->rank > 0 ||
                                   kept->pause != PLEAT_HEAP_NONE || kept->quiet_until_us > 0))
        FAIL("outpost %u of a component that does not run is not at rest", index);
    return 0;
}

/* All processors of a component are at its site, or at one of its outposts. */
static int check_claims(const struct pleat_core *core, struct pleat_error *err)
{
    for (size_t c = 0; c < core->claims.count; c++) {
        const struct pleat_claim *claim = &core->claims.items[c];
        const struct pleat_component *component = &core->components.items[claim->component];
        bool has = claim->state == PLEAT_CLAIM_HELD || claim->state == PLEAT_CLAIM_REQUESTED;
        if (has && component->site != PLEAT_NONE && claim->site != component->site &&
            outpost_of(core, claim->component, claim->site) == PLEAT_NONE)
            FAIL("claim %zu of component %u is at site %u, and the component at site %u", c,
                 claim->component, claim->site, component->site);
    }
    return 0;
}

int core_check_outposts(const struct pleat_core *core, struct pleat_site *sums,
                        struct pleat_error *err)
{
    int rc = check_claims(core, err);
    for (uint32_t o = 0; !rc && o < core->outposts.count; o++) {
        const struct pleat_outpost *kept = &core->outposts.items[o];
        if (kept->buffer == PLEAT_NONE)
            continue;
        rc = check_one(core, o, err);
        if (is_running(&core->components.items[core->buffers.items[kept->buffer].component]))
            sums[kept->site].buffered += kept->prepared;
    }
    return rc;
}

/* Advance reservations: processors kept from a time on, for all components of a job. */
#include "core/reserve.h"
#include "core/deadlines.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/state.h"
#include "core/tally.h"
#include "policy/expect.h"

/* The most processors of a site that reservations take at one time between from_us and to_us. */
static int32_t reserved_at_most(const struct pleat_core *core, uint32_t site, int64_t from_us,
                                int64_t to_us)
{
    const struct pleat_component *all = core->components.items;
    int32_t most = 0;
    for (uint32_t a = core->view.reserved_first; a != PLEAT_NONE; a = all[a].next) {
        /* the sum rises only where a reservation begins: look there, and at from_us */
        int64_t at_us = all[a].begin_us > from_us ? all[a].begin_us : from_us;
        int32_t sum = 0;
        if (all[a].wanted_site != site || at_us >= to_us)
            continue;
        for (uint32_t b = core->view.reserved_first; b != PLEAT_NONE; b = all[b].next)
            if (all[b].wanted_site == site && all[b].begin_us <= at_us &&
                at_us < all[b].begin_us + all[b].estimate_us)
                sum += pleat_accept_start(&core->view, &all[b]);
        most = sum > most ? sum : most;
    }
    return most;
}

/* Processors that the components of a list are expected to have still at at_us. */
static int32_t expected_still(const struct pleat_core *core, uint32_t first, int64_t at_us)
{
    const struct pleat_component *all = core->components.items;
    bool shrinks = pleat_pass_shrinks(&core->pass);
    int32_t sum = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = all[c].next) {
        if (all[c].expected_end_us <= at_us || all[c].expected_end_us == PLEAT_NEVER)
            continue; /* a component without an estimate may well have ended by then */
        int32_t smallest = pleat_accept_smallest(&core->view, &all[c]);
        sum += shrinks ? 0 : pleat_view_buffered(&core->view, &all[c]);
        bool gives = shrinks && all[c].kind == PLEAT_MALLEABLE && smallest < all[c].target;
        sum += gives ? smallest : all[c].target;
    }
    return sum;
}

/* Not more than this many processors of a site are taken at one time between from_us and to_us, as
 * far as is known. */
static int32_t taken_at_most(const struct pleat_core *core, uint32_t site, int64_t from_us,
                             int64_t to_us)
{
    return reserved_at_most(core, site, from_us, to_us) +
           expected_still(core, core->sites.items[site].malleable_first, from_us) +
           expected_still(core, core->sites.items[site].rigid_first, from_us);
}

static bool is_free(const struct pleat_component *component)
{
    return pleat_view_unplaced(component) && !component->earmarked && !component->coming;
}

/* Can a reservation be made for all components of the job? */
static int check_reserve(const struct pleat_core *core, uint32_t first, int64_t begin_us,
                         struct pleat_error *err)
{
    const struct pleat_component *all = core->components.items;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (!is_free(&all[c]) || core->open_lead == first)
            return pleat_error_set(err, PLEAT_E_STATE,
                                   "a reservation is made when a job is submitted");
    if (pleat_view_total(&core->view, first) > 0)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a flexible job cannot be reserved for: nobody knows yet how it "
                               "will be split");
    if (begin_us <= core->view.now_us || begin_us > PLEAT_NEVER / 4)
        return pleat_error_set(err, PLEAT_E_INVALID, "a reservation begins in the future");
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        if (all[c].estimate_us <= 0 || all[c].estimate_us > PLEAT_NEVER / 4)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "a reservation needs an estimate of the run time: how long are "
                                   "the processors kept?");
    return 0;
}

/* Reserves processors for one component, at the first site that has room for it then. False: no
 * site has. */
static bool reserve_one(struct pleat_core *core, uint32_t component, int64_t begin_us)
{
    struct pleat_component *comp = component_at(core, component);
    int32_t need = pleat_accept_start(&core->view, comp);
    for (uint32_t s = 0; s < core->sites.count; s++) {
        if ((comp->wanted_site != PLEAT_NONE && comp->wanted_site != s) ||
            need + taken_at_most(core, s, begin_us, begin_us + comp->estimate_us) >
                site_at(core, s)->capacity ||
            need > pleat_view_capacity(&core->view, comp, s))
            continue;
        comp->begin_us = comp->promised_us = begin_us;
        comp->wanted_site = comp->promised_site = s;
        reserved_add(core, component);
        return true;
    }
    return false;
}

/* The largest component of the job that has no reservation yet; PLEAT_NONE: all have one. */
static uint32_t largest_without(struct pleat_core *core, uint32_t first)
{
    uint32_t largest = PLEAT_NONE;
    int32_t most = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c)) {
        int32_t need = pleat_accept_start(&core->view, component_at(core, c));
        if (component_at(core, c)->aside != PLEAT_ASIDE_RESERVATION && need > most) {
            largest = c;
            most = need;
        }
    }
    return largest;
}

/* What a reservation changes of a component, as it was before. */
struct before {
    int64_t begin_us, promised_us;
    uint32_t promised_site, wanted_site;
};

static void unreserve(struct pleat_core *core, uint32_t first, const struct before *before)
{
    for (uint32_t c = first; c != PLEAT_NONE; c = sibling_of(core, c), before++) {
        struct pleat_component *component = component_at(core, c);
        if (component->aside == PLEAT_ASIDE_RESERVATION)
            reserved_remove(core, c);
        component->begin_us = before->begin_us;
        component->promised_us = before->promised_us;
        component->promised_site = before->promised_site;
        component->wanted_site = before->wanted_site;
        component->aside = component->lead == PLEAT_NONE ? PLEAT_ASIDE_NOT : PLEAT_ASIDE_TOWED;
    }
}

int on_reserve(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    const struct pleat_component *component = component_at(core, event->component);
    uint32_t first = component->lead == PLEAT_NONE ? event->component : component->lead;
    struct before before[PLEAT_COMPONENTS_MAX];
    uint32_t count = 0, c;
    int rc = check_reserve(core, first, event->u.at.at_us, err);
    if (rc)
        return rc;
    uint32_t stands = event->component;
    for (c = first; c != PLEAT_NONE; c = sibling_of(core, c)) {
        const struct pleat_component *part = component_at(core, c);
        before[count++] = (struct before){part->begin_us, part->promised_us, part->promised_site,
                                          part->wanted_site};
        if (part->aside == PLEAT_ASIDE_NOT)
            stands = c;
    }
    queue_remove(core, stands);
    int32_t need = 0;
    while ((c = largest_without(core, first)) != PLEAT_NONE &&
           reserve_one(core, c, event->u.at.at_us)) {
    }
    if (c != PLEAT_NONE) {
        need = pleat_accept_start(&core->view, component_at(core, c));
        unreserve(core, first, before);
        component_at(core, stands)->aside = PLEAT_ASIDE_NOT;
        queue_replace(core, stands);
        return pleat_error_set(
            err, PLEAT_E_BUSY,
            "%d processors are not free at that time: others have reserved them, or are "
            "expected to run still",
            need);
    }
    for (c = first; c != PLEAT_NONE; c = sibling_of(core, c))
        arm(core, &component_at(core, c)->deadline, DEADLINE_COMPONENT, c, event->u.at.at_us);
    core->wants_pass = true;
    return 0;
}

void on_reservation_comes(struct pleat_core *core, uint32_t component)
{
    reserved_remove(core, component);
    component_wait(core, component);
}

/* Submits components; sets what they are due at and promised while they wait. */
#include "core/submit.h"

#include <string.h>

#include "base/lines.h"
#include "core/buffer.h"
#include "core/handlers.h"
#include "core/job.h"
#include "core/limits.h"
#include "core/side.h"
#include "core/tally.h"
#include "core/transition.h"

/* Whether a component is as most are: rigid, of a size that needs no further check. Asked of the
 * event, since small members of the record were stored one by one just before: a load of several of
 * them together would wait until they have reached the cache. */
static bool is_usual(const struct pleat_event *event)
{
    return event->u.submit.job_kind == PLEAT_RIGID &&
           event->u.submit.sizes_kind == PLEAT_SIZES_ANY && event->u.submit.minimum > 0 &&
           event->u.submit.minimum == event->u.submit.maximum &&
           event->u.submit.maximum <= PLEAT_SIZE_MAX && event->u.submit.initial == 0 &&
           !(event->flags & (PLEAT_COMPONENT_FOLDS | PLEAT_COMPONENT_PREPARES));
}

/* Is the first site large enough for a usual component, wherever it may run? limits_check_fits
 * looks at all sites. */
static bool fits_first_site(const struct pleat_core *core, const struct pleat_component *component)
{
    return component->wanted_site == PLEAT_NONE && core->sites.count > 0 &&
           !core->sites.items[0].several && core->sites.items[0].node_most == 0 &&
           component->maximum <= core->sites.items[0].capacity;
}

/* Do the kind and the sizes of a component make sense together? `is_part`: of a job whose other
 * components have some of its processors. */
static int check_sizes(const struct pleat_core *core, const struct pleat_component *component,
                       bool is_part, struct pleat_error *err)
{
    int rc = is_part ? 0 : limits_check(component->minimum, component->maximum, err);
    if (rc)
        return rc;
    if (component->kind > PLEAT_MALLEABLE || component->sizes_kind >= PLEAT_SIZES_KIND_COUNT)
        return pleat_error_set(err, PLEAT_E_INVALID, "no such kind of job or of sizes");
    if (component->kind == PLEAT_RIGID && component->minimum != component->maximum)
        return pleat_error_set(err, PLEAT_E_INVALID, "a rigid job has one size, not from %d to %d",
                               component->minimum, component->maximum);
    if (component->minimum == 0 && !is_part && !(component->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a minimum of 0 needs a runner that can hold an application "
                               "without processes; this one cannot: use 1");
    if (component->initial &&
        (component->initial < component->minimum || component->initial > component->maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the initial size %d is not between the minimum %d and the "
                               "maximum %d",
                               component->initial, component->minimum, component->maximum);
    if (pleat_view_folds(component) &&
        (component->kind != PLEAT_MALLEABLE || component->minimum == 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds is malleable and has at least one process");
    if (pleat_view_folds(component) && (component->flags & PLEAT_COMPONENT_EVOLVES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds keeps its processes: it cannot ask for more");
    if ((component->flags & PLEAT_COMPONENT_PREPARES) &&
        (!(component->flags & PLEAT_COMPONENT_EVOLVES) || component->kind == PLEAT_MALLEABLE ||
         component->minimum == 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "processes are prepared for a job that asks for them itself, has at "
                               "least one, and is not resized by Pleat");
    if (component->flags & PLEAT_COMPONENT_ROAMS && !(component->flags & PLEAT_COMPONENT_PREPARES))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "only processes that agents prepare may be on any node");
    if (component->sizes_kind == PLEAT_SIZES_LIST
            ? component->sizes_parameter < 0 ||
                  (size_t)component->sizes_parameter >= core->size_lists.count
            : component->sizes_kind == PLEAT_SIZES_MULTIPLES && component->sizes_parameter < 1)
        return pleat_error_set(err, PLEAT_E_INVALID, "the accepted sizes are not known");
    return 0;
}

static int check_submit(const struct pleat_core *core, const struct pleat_event *event,
                        const struct pleat_component *component, struct pleat_error *err)
{
    bool is_part = false, alone = event->u.submit.ordinal == 0 &&
                                  !(event->flags & PLEAT_COMPONENT_FOLLOWS) &&
                                  core->open_lead == PLEAT_NONE;
    int rc = alone ? 0 : job_check_submit(core, event, component, &is_part, err);
    if (!rc && !alone && (event->flags & PLEAT_COMPONENT_PREPARES))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "processes are not prepared for a job of several components");
    bool usual = is_usual(event);
    if (!rc && !usual)
        rc = check_sizes(core, component, is_part, err);
    if (rc)
        return rc;
    if (event->component != pleat_core_next_component(core) || event->component == PLEAT_NONE)
        return pleat_error_set(err, PLEAT_E_INVALID, "component %u is not the next index",
                               event->component);
    if (component->wanted_site != PLEAT_NONE && component->wanted_site >= core->sites.count)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no such site");
    bool splits = (event->flags & PLEAT_COMPONENT_FLEXIBLE) != 0;
    if (is_part || splits || (usual && fits_first_site(core, component)))
        return 0;
    return limits_check_fits(core, component, err);
}

static const struct pleat_component fresh = {
    .start_us = PLEAT_NEVER,
    .end_us = PLEAT_NEVER,
    .due_us = PLEAT_NEVER,
    .expected_end_us = PLEAT_NEVER,
    .promised_us = PLEAT_NEVER,
    .state = PLEAT_NEW,
    .cap = PLEAT_SIZE_MAX,
    .site = PLEAT_NONE,
    .promised_site = PLEAT_NONE,
    .resize = PLEAT_NONE,
    .first_claim = PLEAT_NONE,
    .last_claim = PLEAT_NONE,
    .start_claim = PLEAT_NONE,
    .previous = PLEAT_NONE,
    .next = PLEAT_NONE,
    .ends_previous = PLEAT_NONE,
    .ends_next = PLEAT_NONE,
    .deadline = PLEAT_HEAP_NONE,
    .first_timing = PLEAT_NONE,
    .buffer = PLEAT_NONE,
    .terms = PLEAT_NONE,
    .folding = PLEAT_NONE,
    .declaration = PLEAT_NONE,
    .coallocation = PLEAT_NONE,
    .ask = PLEAT_NONE,
    .exited = 1,
    .lead = PLEAT_NONE,
    .first_need = PLEAT_NONE,
    .first_dependent = PLEAT_NONE,
    .group = PLEAT_NONE,
};

const struct pleat_component *component_fresh(void)
{
    return &fresh;
}

static inline void copy_line(struct pleat_component *component, size_t line)
{
    memcpy((char *)component + line * PLEAT_LINE, (const char *)&fresh + line * PLEAT_LINE,
           PLEAT_LINE);
}

/* Line by line: the compiler copies these by moves, but a whole record in a loop. */
static inline void make_fresh(struct pleat_component *component)
{
    _Static_assert(sizeof(fresh) == 5 * PLEAT_LINE, "whole lines");
    copy_line(component, 0);
    copy_line(component, 1);
    copy_line(component, 2);
    copy_line(component, 3);
    copy_line(component, 4);
}

/* The record that the next component gets (pleat_core_next_component), not yet taken; NULL: out of
 * memory. */
static struct pleat_component *next_record(struct pleat_core *core)
{
    if (core->free_component != PLEAT_NONE)
        return component_at(core, core->free_component);
    int rc = pleat_lines_reserve(&core->components, 1);
    core->view.components = core->components.items; /* the array may have moved */
    return rc ? NULL : &core->components.items[core->components.count];
}

static void take_record(struct pleat_core *core, uint32_t next_free)
{
    if (core->free_component != PLEAT_NONE)
        core->free_component = next_free;
    else
        core->view.component_count = (uint32_t)++core->components.count;
}

/* What stands beside a component from its submission on; it is not taken yet. */
static int make_beside(struct pleat_core *core, uint8_t mpl_max, bool is_part)
{
    uint32_t component = pleat_core_next_component(core);
    struct pleat_folding *folding = mpl_max ? side_make(core, SIDE_FOLDING, component) : NULL;
    if ((mpl_max && !folding) || (is_part && !side_make(core, SIDE_COALLOCATION, component)))
        return PLEAT_E_NOMEM;
    if (folding)
        folding->mpl_max = mpl_max;
    return 0;
}

int on_submit(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    /* built in place: a simulation does this for every job */
    struct pleat_component *component = next_record(core);
    if (!component)
        return PLEAT_E_NOMEM;
    uint32_t next_free = PLEAT_NONE;
    if (core->free_component != PLEAT_NONE) {
        next_free = component->next;
        if (side_any(component))
            side_drop(core, core->free_component);
    }
    make_fresh(component);
    component->job = event->u.submit.job;
    component->submit_us = now_of(core);
    component->estimate_us = event->u.submit.estimate_us;
    component->minimum = event->u.submit.minimum;
    component->maximum = event->u.submit.maximum;
    component->initial = event->u.submit.initial;
    component->sizes_parameter = event->u.submit.sizes_parameter;
    component->reference = event->u.submit.reference;
    component->priority = event->u.submit.priority;
    component->job_class = event->u.submit.job_class;
    component->wanted_site = event->u.submit.site;
    component->ordinal = event->u.submit.ordinal;
    component->flags = (uint16_t)(event->flags & ~PLEAT_COMPONENT_FOLLOWS);
    component->kind = event->u.submit.job_kind;
    component->sizes_kind = event->u.submit.sizes_kind;
    bool is_part = event->u.submit.ordinal > 0 || (event->flags & PLEAT_COMPONENT_FOLLOWS);
    int rc = event->u.submit.mpl_max || is_part
                 ? make_beside(core, event->u.submit.mpl_max, is_part)
                 : 0;
    if (!rc)
        rc = check_submit(core, event, component, err);
    if (rc) { /* a free record again: ended and forgotten */
        side_drop(core, pleat_core_next_component(core));
        component->state = PLEAT_DONE;
        component->aside = PLEAT_FORGOTTEN;
        component->next = next_free;
        return rc;
    }
    take_record(core, next_free);
    if ((event->flags & PLEAT_COMPONENT_EVOLVES) && buffer_open(core, event->component))
        core->failed = 1;
    set_state(core, event->component, PLEAT_QUEUED);
    if (is_part)
        job_submitted(core, event->component, event->flags);
    else
        queue_append(core, event->component);
    core->wants_pass = true;
    return 0;
}

/* Sets when one component is due, and its place in the queue. */
static void set_due(struct pleat_core *core, uint32_t component, int64_t due_us)
{
    struct pleat_component *comp = component_at(core, component);
    bool queued = comp->state == PLEAT_QUEUED && !comp->aside;
    if (queued)
        queue_remove(core, component);
    comp->due_us = due_us;
    if (queued)
        queue_replace(core, component);
}

int on_deadline(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (pleat_component_state_is_final(component->state))
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over");
    for (uint32_t c = job_first(core, event->component); c != PLEAT_NONE; c = sibling_of(core, c))
        set_due(core, c, event->u.at.at_us);
    core->wants_pass = true;
    return 0;
}

int on_promise(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    if (component->state != PLEAT_QUEUED ||
        (event->u.promise.start_us != PLEAT_NEVER && event->u.promise.site >= core->sites.count))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "a job that does not wait can be promised nothing");
    component->promised_us = event->u.promise.start_us;
    component->promised_site = event->u.promise.site;
    return 0;
}

/* What sizes a component may have: checked, and changed by its user; and the largest size that an
 * application says it can use, while it runs. Until the run ends that size is the component's
 * maximum, within the limits that its user asked for; likewise the smallest, and its sizes. */
#include <stdio.h>

#include "core/buffer.h"
#include "core/effects.h"
#include "core/handlers.h"
#include "core/limits.h"
#include "core/resize.h"
#include "core/side.h"
#include "core/tally.h"
#include "core/terms.h"
#include "policy/shares.h"

/* What has too few processors, in words. */
static const char *what_is_too_small(const struct pleat_core *core, bool one_node)
{
    if (one_node)
        return "must be on one node: the largest";
    if (core->sites.count > 1)
        return "the largest site";
    bool is_cluster = core->sites.items[0].several || core->sites.items[0].node_most > 0;
    return is_cluster ? "its cluster" : "this machine";
}

int limits_check_fits(const struct pleat_core *core, const struct pleat_component *component,
                      struct pleat_error *err)
{
    int32_t need = pleat_accept_start(&core->view, component);
    int32_t most = pleat_view_folding(&core->view, component)->partition_most;
    if (need == 0 && pleat_view_folds(component) && most > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d processors are too few for %d processes: at most %d may be on "
                               "one",
                               most, component->minimum, pleat_view_mpl(&core->view, component));
    if (need == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no accepted size lies between the minimum %d and the maximum %d",
                               component->minimum, component->maximum);
    int32_t largest = 0;
    for (uint32_t s = 0; s < core->sites.count; s++) {
        int32_t capacity = pleat_view_whole_capacity(&core->view, component, s);
        if (component->wanted_site != PLEAT_NONE && component->wanted_site != s)
            continue;
        if (capacity >= need)
            return 0;
        largest = capacity > largest ? capacity : largest;
    }
    bool one_node = false;
    for (uint32_t s = 0; s < core->sites.count; s++)
        one_node = one_node || pleat_view_keeps_to_a_node(&core->view, component, s);
    char why[80] = "";
    if (pleat_view_folds(component))
        snprintf(why, sizeof(why), " (for %d processes, at most %d on a processor)",
                 component->minimum, pleat_view_mpl(&core->view, component));
    if (largest == 0)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "it needs at least %d processors%s, and %s now ('pleat sites' shows "
                               "why): try again later",
                               need, why,
                               component->wanted_site != PLEAT_NONE
                                   ? "no node of its site takes jobs"
                                   : "no node of any site takes jobs");
    return pleat_error_set(err, PLEAT_E_TOOBIG, "it needs at least %d processors%s, and %s has %d",
                           need, why, what_is_too_small(core, one_node), largest);
}

int limits_check(int32_t minimum, int32_t maximum, struct pleat_error *err)
{
    if (minimum < 0 || maximum < 1 || maximum > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "limits %d to %d: the minimum is at least 0, the maximum from 1 "
                               "to %d",
                               minimum, maximum, PLEAT_SIZE_MAX);
    if (minimum > maximum)
        return pleat_error_set(err, PLEAT_E_INVALID, "the minimum %d is above the maximum %d",
                               minimum, maximum);
    return 0;
}

/* Shrinks a component into its limits, where it runs, which have changed. It may not be able any
 * more to do without processors that its site takes back, or be able to again. */
static void follow(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    if ((comp->state == PLEAT_RUNNING || comp->state == PLEAT_RESIZING) &&
        !site_at(core, comp->site)->instant)
        running_arm(core, component);
    resize_to_limits(core, component);
}

/* The component's limits have changed: notes it, and shrinks the component into them where it runs.
 */
static void limits_changed(struct pleat_core *core, uint32_t component, bool by_user)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_effect *note = emit_note(core, PLEAT_NOTE_LIMITS, component, comp->job);
    if (note) {
        note->flags = by_user ? PLEAT_BY_USER : 0;
        note->u.change.processors = comp->minimum;
        note->u.change.processes = comp->maximum;
    }
    follow(core, component);
    resize_as_asked(core, component);
    if (comp->buffer != PLEAT_NONE)
        buffer_trim(core, component);
    core->wants_pass = true;
}

/* The user asks for the limits `least` to `asked`: the component gets as much of that as its
 * application can use. Its sizes are those that both accept already. */
static void declared_apply(struct pleat_core *core, uint32_t index, int32_t least, int32_t asked)
{
    struct pleat_component *component = component_at(core, index);
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, index);
    component->minimum = least;
    component->maximum = asked;
    if (said) {
        said->asked = said->declared ? asked : 0;
        said->asked_least = said->declared_least ? least : 0;
    }
    if (said && said->declared != 0 && said->declared < asked) {
        /* the user's minimum holds, and the application must accept some size up to the maximum */
        int32_t smallest = pleat_accept_smallest(&core->view, component);
        int32_t most = pleat_larger(said->declared, pleat_larger(smallest, 1));
        if (most < asked)
            component->maximum = most;
    }
    if (said && said->declared_least > least)
        component->minimum = pleat_smaller(said->declared_least, component->maximum);
    component->below = is_below(core, component);
}

/* Sets the component's limits and sizes as if its application had said nothing. */
static void set_undeclared(const struct pleat_declaration *said, struct pleat_component *component)
{
    if (said->declared)
        component->maximum = said->asked;
    if (said->declared_least)
        component->minimum = said->asked_least;
    if (said->declared_sizes) {
        component->sizes_kind = said->asked_sizes_kind;
        component->sizes_parameter = said->asked_sizes_parameter;
    }
}

void declared_forget(struct pleat_core *core, uint32_t component)
{
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, component);
    if (!said)
        return;
    set_undeclared(said, component_at(core, component));
    *said = (struct pleat_declaration){.component = component};
}

void declared_keep(struct pleat_core *core, uint32_t component)
{
    const struct pleat_component *comp = component_at(core, component);
    struct pleat_declaration *said = side_find(core, SIDE_DECLARATION, component);
    if (!said)
        return;
    said->not_now = 0; /* it was about the run that is over */
    said->expected_us = 0;
    if (!said->lasting || limits_check_fits(core, comp, &(struct pleat_error){0}))
        declared_forget(core, component);
}

int on_limits(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_component wish = *component;
    /* the user's limits must make sense without what the program says */
    set_undeclared(pleat_view_declaration(&core->view, component), &wish);
    int32_t least = wish.minimum;
    wish.minimum = event->u.limits.minimum;
    wish.maximum = event->u.limits.maximum;
    int rc = limits_check(wish.minimum, wish.maximum, err);
    if (rc)
        return rc;
    if (pleat_component_state_is_final(component->state) || component->state == PLEAT_FINISHING)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over (%s)",
                               pleat_component_state_name(component->state));
    if (component->kind == PLEAT_RIGID)
        return pleat_error_set(err, PLEAT_E_STATE, "a rigid job has no limits to change");
    if (pleat_view_folds(component) && (component->mpl > 0 || wish.minimum == 0))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "its limits are about its processes: at least 1, and chosen when it "
                               "starts");
    if (wish.minimum == 0 && !(component->flags & PLEAT_COMPONENT_EMPTY))
        return pleat_error_set(err, PLEAT_E_INVALID, "its runner cannot run it on 0 processors");
    /* a resize under way may still end either way */
    int32_t certain =
        component->state == PLEAT_RESIZING && component->processors < component->target
            ? component->processors
            : component->target;
    if (component->state != PLEAT_QUEUED && wish.minimum > certain && wish.minimum > least)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, wish.minimum);
    if (component->state != PLEAT_QUEUED && component->kind == PLEAT_MOLDABLE &&
        wish.maximum < component->target)
        return pleat_error_set(err, PLEAT_E_STATE, "it runs on %d processors and is not malleable",
                               component->target);
    rc = limits_check_fits(core, &wish, err);
    if (rc)
        return rc;
    tally_out(core, event->component);
    declared_apply(core, event->component, wish.minimum, wish.maximum);
    if (component->initial > wish.maximum)
        component->initial = wish.maximum;
    if (component->initial && component->initial < wish.minimum)
        component->initial = wish.minimum;
    tally_in(core, event->component);
    limits_changed(core, event->component, true);
    return 0;
}

/* Does a run stay on its nodes of which it is not known how many processes each has? An earlier
 * Pleat has started it, with one number of processors. */
static bool keeps_its_size(const struct pleat_core *core, const struct pleat_component *component)
{
    uint32_t claim = component->first_claim;
    return component->flags & PLEAT_COMPONENT_SPREADS && claim != PLEAT_NONE &&
           core->claims.items[claim].first_piece != PLEAT_NONE &&
           pleat_view_share_nodes(&core->view, component) == 0 &&
           (component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING);
}

/* Checks the limits of a component's partition, while it waits or runs; least: the minimum until
 * now. */
static int check_partition(const struct pleat_core *core, const struct pleat_component *component,
                           int32_t least, const struct pleat_event *event, struct pleat_error *err)
{
    int32_t minimum = event->u.partition.minimum, maximum = event->u.partition.maximum;
    if (pleat_component_state_is_final((enum pleat_component_state)component->state) ||
        component->state == PLEAT_FINISHING)
        return pleat_error_set(
            err, PLEAT_E_STATE, "the job is over (%s)",
            pleat_component_state_name((enum pleat_component_state)component->state));
    if (!pleat_view_folds(component))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it does not fold: its processors are its processes");
    if (keeps_its_size(core, component))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it was started before Pleat was upgraded, and keeps its %d "
                               "processors: requeue it ('pleat requeue'), or wait for its end",
                               component->processors);
    if (minimum < 0 || maximum < 0 || minimum > PLEAT_SIZE_MAX || maximum > PLEAT_SIZE_MAX ||
        event->u.partition.mpl > UINT8_MAX || (maximum && minimum > maximum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a partition of %d to %d processors, %u processes on one of them: "
                               "that makes no sense",
                               minimum, maximum, event->u.partition.mpl);
    if (component->state == PLEAT_QUEUED)
        return 0;
    int32_t fewest = pleat_larger(pleat_mpl(component->processes, component->mpl),
                                  pleat_view_shares_least(&core->view, component));
    if (maximum && maximum < fewest)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processes, at most %u on a processor: at least %d "
                               "processors",
                               component->processes, component->mpl, fewest);
    int32_t certain =
        component->state == PLEAT_RESIZING && component->processors < component->target
            ? component->processors
            : component->target;
    if (minimum > least && certain < minimum && certain < component->processes)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "it has %d processors, fewer than a minimum of %d: grow it first",
                               certain, minimum);
    return 0;
}

int on_partition(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    struct pleat_component *component = component_at(core, event->component);
    struct pleat_folding before = *pleat_view_folding(&core->view, component);
    int rc = check_partition(core, component, before.partition_least, event, err);
    if (rc)
        return rc;
    struct pleat_folding *folding = side_make(core, SIDE_FOLDING, event->component);
    if (!folding)
        return PLEAT_E_NOMEM;
    tally_out(core, event->component);
    folding->partition_least = event->u.partition.minimum;
    folding->partition_most = event->u.partition.maximum;
    rc = limits_check_fits(core, component, err);
    if (rc) {
        folding->partition_least = before.partition_least;
        folding->partition_most = before.partition_most;
    } else {
        folding->mpl_first = (uint8_t)event->u.partition.mpl;
        folding->nearest = (event->flags & PLEAT_PARTITION_NEAREST) != 0;
    }
    tally_in(core, event->component);
    if (rc)
        return rc;
    /* for a job just submitted this is no change */
    bool first =
        component->state == PLEAT_QUEUED && !before.partition_least && !before.partition_most;
    struct pleat_effect *note =
        first ? NULL : emit_note(core, PLEAT_NOTE_LIMITS, event->component, component->job);
    if (note) {
        note->flags = PLEAT_BY_USER;
        note->u.change.processors = folding->partition_least;
        note->u.change.processes = folding->partition_most;
    }
    follow(core, event->component);
    core->wants_pass = true;
    return 0;
}

/* Do the sizes that an application says make sense? */
static bool are_sizes(const struct pleat_core *core, uint32_t kind, int32_t parameter)
{
    if (kind == PLEAT_SIZES_LIST)
        return parameter >= 0 && (size_t)parameter < core->size_lists.count &&
               core->size_lists.items[parameter].count > 0;
    return kind < PLEAT_SIZES_KIND_COUNT && (kind != PLEAT_SIZES_MULTIPLES || parameter >= 1);
}

static void declare_sizes(struct pleat_component *component, struct pleat_declaration *said,
                          uint32_t kind, int32_t parameter)
{
    if (said->declared_sizes) {
        component->sizes_kind = said->asked_sizes_kind;
        component->sizes_parameter = said->asked_sizes_parameter;
    }
    said->declared_sizes = kind != PLEAT_SIZES_ANY;
    said->asked_sizes_kind = said->declared_sizes ? component->sizes_kind : 0;
    said->asked_sizes_parameter = said->declared_sizes ? component->sizes_parameter : 0;
    if (!said->declared_sizes)
        return;
    component->sizes_kind = (uint8_t)kind;
    component->sizes_parameter = parameter;
}

static bool is_news(const struct pleat_view *view, const struct pleat_component *component,
                    int32_t minimum, int32_t maximum, uint32_t kind, int32_t parameter)
{
    const struct pleat_declaration *said = pleat_view_declaration(view, component);
    if (minimum != said->declared_least || maximum != said->declared ||
        (kind != PLEAT_SIZES_ANY) != said->declared_sizes)
        return true;
    return said->declared_sizes &&
           (kind != component->sizes_kind || parameter != component->sizes_parameter);
}

int on_declared(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *component = component_at(core, event->component);
    int32_t maximum = event->u.declared.maximum, minimum = event->u.declared.minimum;
    uint32_t kind = event->u.declared.sizes_kind;
    int32_t parameter = event->u.declared.sizes_parameter;
    if ((component->state != PLEAT_RUNNING && component->state != PLEAT_RESIZING) ||
        event->u.declared.run != component->run || component->kind != PLEAT_MALLEABLE ||
        pleat_view_folds(component))
        return PLEAT_CORE_STALE; /* the run is over, or its size cannot change */
    if (maximum < 0 || maximum > PLEAT_SIZE_MAX || minimum < 0 || minimum > PLEAT_SIZE_MAX ||
        !are_sizes(core, kind, parameter) ||
        !is_news(&core->view, component, minimum, maximum, kind, parameter))
        return PLEAT_CORE_STALE;
    struct pleat_declaration *said = side_make(core, SIDE_DECLARATION, event->component);
    if (!said)
        return PLEAT_E_NOMEM;
    int32_t most = pleat_view_asked(&core->view, component);
    int32_t least = pleat_view_asked_least(&core->view, component);
    const struct pleat_component before = *component;
    tally_out(core, event->component);
    said->declared = maximum;
    said->declared_least = minimum;
    said->lasting = (event->flags & PLEAT_LASTING) != 0;
    declare_sizes(component, said, kind, parameter);
    declared_apply(core, event->component, least, most);
    tally_in(core, event->component);
    if (component->maximum != before.maximum || component->minimum != before.minimum ||
        component->sizes_kind != before.sizes_kind ||
        component->sizes_parameter != before.sizes_parameter)
        limits_changed(core, event->component, false);
    return 0;
}

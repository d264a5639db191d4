#include "policy/pass.h"

static int32_t earmarked_at(const struct pleat_component *component, uint32_t site)
{
    return component->site == site ? component->earmarked : 0;
}

/* Would a component that starts now at a site, on `size` processors, still run when the shadow's
 * component needs its own? One without an estimate would. */
static bool stands_in_shadow(const struct pleat_pass *pass, const struct pleat_component *component,
                             uint32_t site, int32_t size)
{
    const struct pleat_shadow *shadow = pass->shadow;
    return shadow && shadow->site == site &&
           (component->estimate_us <= 0 ||
            pleat_view_expected_run(component, size) > shadow->at_us - pass->view->now_us);
}

static int32_t smallest_folded(const struct pleat_view *view,
                               const struct pleat_component *component,
                               struct pleat_start_size size)
{
    int32_t least = pleat_view_partition_least(view, component, size.processes);
    int32_t fewest = pleat_mpl(size.processes, size.mpl);
    return fewest > least ? fewest : least;
}

/* With how many processors a component that starts is counted in the pass's profiles. */
static int32_t counted(const struct pleat_pass *pass, const struct pleat_component *component,
                       struct pleat_start_size size)
{
    if (!pass->shrinkable || component->kind != PLEAT_MALLEABLE)
        return size.processors;
    int32_t smallest = pleat_view_folds(component) ? smallest_folded(pass->view, component, size)
                                                   : pleat_accept_smallest(pass->view, component);
    return smallest < size.processors ? smallest : size.processors;
}

/* Does a component that starts now at a site, on `size` processors, take more from others than the
 * *most that they can spare? What is earmarked for it is its own. A reservation whose time has come
 * may take anything. */
static bool takes_too_much(const struct pleat_pass *pass, const struct pleat_component *component,
                           uint32_t site, struct pleat_start_size size, int32_t *most)
{
    int32_t taken = size.processors - earmarked_at(component, site);
    if (stands_in_shadow(pass, component, site, size.processors)) {
        *most = pass->shadow->extra > 0 ? pass->shadow->extra : 0;
    } else if (pass->profiles && component->begin_us == 0) {
        taken = counted(pass, component, size) - earmarked_at(component, site);
        int32_t least = pleat_profile_least(&pass->profiles[site], pass->view->now_us,
                                            pleat_view_expected_run(component, size.processors));
        *most = least > 0 ? least : 0;
    } else {
        return false;
    }
    return taken > *most;
}

/* Brings what a policy chose for a folding component within the limits of its partition: no more
 * processors than it may have or than it is to start on, no fewer than it wants. */
static PLEAT_COLD struct pleat_start_size within_partition(const struct pleat_view *view,
                                                           const struct pleat_component *component,
                                                           struct pleat_start_size size,
                                                           int32_t available)
{
    int32_t most = pleat_view_partition_most(view, component),
            allowed = pleat_view_mpl(view, component);
    int32_t mpl_first = pleat_view_folding(view, component)->mpl_first;
    if (mpl_first > 1) {
        int32_t first = pleat_mpl(size.processes, pleat_smaller(mpl_first, allowed));
        most = pleat_smaller(most, first);
    }
    int32_t least = pleat_view_partition_least(view, component, size.processes);
    int32_t processors = pleat_smaller(size.processors, most);
    size.processors = processors < least ? least : processors;
    if (size.processors > available)
        return (struct pleat_start_size){.take = size.take};
    int32_t mpl = pleat_mpl(size.processes, size.processors);
    if (mpl > allowed) { /* it starts with fewer processes then */
        size.processes = pleat_accept_processes(view, component, size.processors, allowed);
        size.processors = pleat_smaller(size.processors, size.processes);
        mpl = allowed;
    }
    size.mpl = mpl > size.mpl ? mpl : size.mpl;
    return size;
}

struct pleat_start_size pleat_pass_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    struct pleat_start_size size =
        pass->policies[PLEAT_MOLDABILITY]->size(pass, component, site, available);
    if (!pleat_view_folds(comp) || size.processors == 0)
        return size;
    if (size.mpl == 0 || pass->backfilling)
        size.mpl = pleat_view_mpl(view, comp);
    if (size.processes == 0)
        size.processes = pleat_accept_processes(view, comp, size.processors, size.mpl);
    const struct pleat_folding *folding = pleat_view_folding(view, comp);
    bool limited =
        folding->partition_most > 0 || folding->partition_least > 0 || folding->mpl_first > 1;
    return limited ? within_partition(view, comp, size, available) : size;
}

/* The site and size that the policies choose for a component; another size where the chosen one
 * would keep from others what they were promised. No processors: it cannot start. */
static struct pleat_start_size choose(struct pleat_pass *pass, uint32_t component, uint32_t *site)
{
    const struct pleat_component *comp = &pass->view->components[component];
    for (;;) {
        *site = pass->policies[PLEAT_PLACEMENT]->place(pass, component);
        if (*site == PLEAT_NONE)
            return (struct pleat_start_size){0};
        int32_t most, available = pleat_plan_available(pass->plan, component, *site);
        struct pleat_start_size size = pleat_pass_size(pass, component, *site, available);
        if (size.processors == 0 || size.processors > available ||
            !takes_too_much(pass, comp, *site, size, &most))
            return size;
        pleat_plan_limit(pass->plan, *site, most);
    }
}

/* Takes from the shadow and from the profiles what a component that starts needs. */
static void put_right(struct pleat_pass *pass, uint32_t component, uint32_t site,
                      struct pleat_start_size size)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t taken = size.processors - earmarked_at(comp, site);
    if (taken > 0 && stands_in_shadow(pass, comp, site, size.processors))
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): start_one has asked for one */
        pass->shadow->extra -= taken;
    if (pass->profiles && comp->begin_us == 0)
        pleat_pass_take(pass, component, site, pass->view->now_us, size.processors,
                        counted(pass, comp, size) - earmarked_at(comp, site));
}

static bool start(struct pleat_pass *pass, uint32_t component, uint32_t site,
                  struct pleat_start_size size)
{
    if (size.processors == 0)
        return false;
    if (!pleat_view_folds(&pass->view->components[component]))
        return pleat_plan_start(pass->plan, component, site, size.processors);
    return pleat_plan_start_folded(pass->plan, component, site, size.processors, size.processes,
                                   size.mpl);
}

/* Starts one component: at a site on `processors` processors, or, if these are 0, where and as the
 * policies choose. */
static bool start_one(struct pleat_pass *pass, uint32_t component, uint32_t site,
                      int32_t processors)
{
    struct pleat_start_size size = {.processors = processors};
    if (processors == 0)
        size = choose(pass, component, &site);
    bool started = start(pass, component, site, size);
    if (!pass->shadow && !pass->profiles)
        return started;
    for (uint32_t s = 0; s < pass->view->site_count; s++)
        pleat_plan_limit(pass->plan, s, PLEAT_SIZE_MAX);
    if (started)
        put_right(pass, component, site, size);
    return started;
}

/* ---- jobs of several components ---- */

/* Takes back what was started since a mark, from the profiles, too. */
static PLEAT_COLD void take_back(struct pleat_pass *pass, pleat_plan_mark mark, size_t decision,
                                 int32_t shadow_extra)
{
    const struct pleat_events *decisions = &pass->plan->decisions;
    for (size_t i = decision; pass->profiles && i < decisions->count; i++) {
        const struct pleat_event *start = &decisions->items[i];
        const struct pleat_component *component = &pass->view->components[start->component];
        struct pleat_start_size size = {.processors = start->u.start.processors,
                                        .processes = start->u.start.processes,
                                        .mpl = (int32_t)start->u.start.mpl};
        if (component->begin_us == 0)
            pleat_pass_take(
                pass, start->component, start->u.start.site, pass->view->now_us, size.processors,
                earmarked_at(component, start->u.start.site) - counted(pass, component, size));
    }
    if (pass->shadow)
        pass->shadow->extra = shadow_extra;
    pleat_plan_rollback(pass->plan, mark);
}

/* The largest component of a job that is not placed yet, neither before nor by this plan;
 * PLEAT_NONE. */
static uint32_t largest_left(const struct pleat_pass *pass, uint32_t lead)
{
    const struct pleat_view *view = pass->view;
    uint32_t largest = PLEAT_NONE;
    int32_t most = 0;
    for (uint32_t c = lead; c != PLEAT_NONE; c = pleat_view_sibling(view, c)) {
        int32_t size = pleat_accept_start(view, &view->components[c]);
        if (size > most && pleat_view_unplaced(&view->components[c]) &&
            pleat_plan_place(pass->plan, c) == PLEAT_NONE) {
            largest = c;
            most = size;
        }
    }
    return largest;
}

/* Starts a component at its smallest size. */
static bool start_smallest(struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    uint32_t site = pass->policies[PLEAT_PLACEMENT]->place(pass, component);
    struct pleat_start_size size = {.processors = pleat_accept_start(pass->view, comp)};
    int32_t most;
    if (site == PLEAT_NONE || takes_too_much(pass, comp, site, size, &most) ||
        !pleat_plan_start(pass->plan, component, site, size.processors))
        return false;
    put_right(pass, component, site, size);
    return true;
}

static bool start_all(struct pleat_pass *pass, uint32_t lead, bool smallest)
{
    for (;;) {
        uint32_t c = largest_left(pass, lead);
        if (c == PLEAT_NONE)
            return true;
        if (!(smallest ? start_smallest(pass, c) : start_one(pass, c, PLEAT_NONE, 0)))
            return false;
    }
}

/* The parts that the policies choose for a flexible job. */
static uint32_t choose_parts(struct pleat_pass *pass, uint32_t component, int32_t missing,
                             struct pleat_flexible_part *parts, uint32_t most)
{
    const struct pleat_policy *placement = pass->policies[PLEAT_PLACEMENT];
    if (placement->split)
        return placement->split(pass, component, missing, parts, most);
    parts->site = placement->place(pass, component);
    parts->processors = missing;
    return parts->site != PLEAT_NONE;
}

/* Is a component refused a site, since its files cannot be brought there, or since it would keep
 * from others what they were promised? */
static bool is_out_of_place(const struct pleat_pass *pass, const struct pleat_component *component,
                            const struct pleat_flexible_part *part)
{
    int32_t most;
    struct pleat_start_size size = {.processors = part->processors};
    if (!pleat_view_allows(pass->view, component, part->site))
        return true;
    return takes_too_much(pass, component, part->site, size, &most);
}

static bool start_flexible(struct pleat_pass *pass, uint32_t component, uint32_t lead)
{
    const struct pleat_view *view = pass->view;
    struct pleat_flexible_part parts[PLEAT_COMPONENTS_MAX];
    uint32_t waiting = 0, c = lead, at = 0;
    for (; c != PLEAT_NONE; c = pleat_view_sibling(view, c))
        waiting += pleat_view_unplaced(&view->components[c]);
    uint32_t count = choose_parts(pass, component, pleat_view_missing(view, lead), parts, waiting);
    for (c = lead; c != PLEAT_NONE && at < count; c = pleat_view_sibling(view, c)) {
        if (!pleat_view_unplaced(&view->components[c]))
            continue;
        if (is_out_of_place(pass, &view->components[c], &parts[at]) ||
            !start_one(pass, c, parts[at].site, parts[at].processors))
            return false;
        at++;
    }
    return count > 0 && at == count;
}

static PLEAT_COLD bool start_several(struct pleat_pass *pass, uint32_t component)
{
    uint32_t lead = pass->view->components[component].lead;
    pleat_plan_mark mark = pleat_plan_remember(pass->plan);
    size_t decision = pass->plan->decisions.count;
    int32_t extra = pass->shadow ? pass->shadow->extra : 0;
    bool flexible = pleat_view_total(pass->view, lead) > 0;
    if (flexible ? start_flexible(pass, component, lead) : start_all(pass, lead, false))
        return true;
    take_back(pass, mark, decision, extra);
    if (flexible || pass->plan->failed)
        return false;
    /* a component that takes all that it can might leave nothing to the others of its job */
    if (start_all(pass, lead, true))
        return true;
    take_back(pass, mark, decision, extra);
    return false;
}

bool pleat_pass_start(struct pleat_pass *pass, uint32_t component)
{
    if (!pass->profiles && pleat_pass_reserved(pass) &&
        !pleat_pass_expect(pass, pleat_pass_shrinks(pass)))
        return false;
    if (pleat_view_is_several(pass->view, &pass->view->components[component]))
        return start_several(pass, component);
    return start_one(pass, component, PLEAT_NONE, 0);
}

/* Where no component can be shrunk, growing leaves to reservations what they will need. */
static void keep_for_reservations(struct pleat_pass *pass, uint32_t site)
{
    if (pleat_pass_shrinks(pass) || !pleat_pass_expect(pass, false))
        return;
    int32_t least = pleat_profile_least(&pass->profiles[site], pass->view->now_us, PLEAT_NEVER);
    int32_t free = pleat_plan_free(pass->plan, site);
    pleat_plan_keep(pass->plan, site, least < free ? free - least : 0);
    pass->profiles = NULL; /* the profiles do not know who grows now */
}

/* Is an outpost the first one of its component, in the order of their records? */
static bool is_first(const struct pleat_view *view, uint32_t outpost)
{
    for (uint32_t o = 0; o < outpost; o++)
        if (view->outposts[o].buffer == view->outposts[outpost].buffer)
            return false;
    return true;
}

/* Requests that wait for a process come before what policies prepare; of several components, those
 * of the one that started first. Those for processes at other sites come after all that are for
 * their own. */
static PLEAT_COLD void serve_waiting(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    for (uint32_t site = 0; site < view->site_count; site++) {
        uint32_t oldest = PLEAT_NONE;
        for (uint32_t b = view->sites[site].buffers_first; b != PLEAT_NONE;
             b = view->buffers[b].next)
            oldest = b;
        for (uint32_t b = oldest; b != PLEAT_NONE; b = view->buffers[b].previous)
            pleat_plan_serve(pass->plan, view->buffers[b].component);
    }
    for (uint32_t o = 0; o < view->outpost_count; o++)
        if (pleat_view_outpost_runs(view, &view->outposts[o]) && is_first(view, o))
            pleat_plan_serve_elsewhere(pass->plan,
                                       view->buffers[view->outposts[o].buffer].component);
}

void pleat_pass_review(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_policy *policy = pass->policies[PLEAT_BUFFER];
    if (pleat_pass_reserved(pass))
        for (uint32_t site = 0; site < view->site_count; site++)
            keep_for_reservations(pass, site);
    if (view->prepares)
        serve_waiting(pass);
    for (uint32_t b = view->reviews_first; b != PLEAT_NONE; b = view->buffers[b].due_next) {
        struct pleat_review review = policy->review(pass, view->buffers[b].component);
        pleat_plan_review(pass->plan, view->buffers[b].component, &review);
    }
}

void pleat_pass_grow_running(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_policy *policy = pass->policies[PLEAT_MALLEABILITY];
    if (pass->view->sites[site].drained)
        return; /* no component is shrunk for the growth of others there either */
    if (pass->view->ask_count > 0)
        pleat_pass_ask_voluntary(pass, site);
    if (policy->balance && !pass->plan->sites[site].withheld)
        policy->balance(pass, site);
    if (pass->view->sites[site].growers == 0)
        return; /* no component there has room: the common case, which must cost nothing */
    if (pleat_pass_reserved(pass))
        keep_for_reservations(pass, site);
    if (pass->view->ask_count > 0 && pass->policies[PLEAT_REWARD]->repay)
        pass->policies[PLEAT_REWARD]->repay(pass, site);
    for (;;) {
        int32_t before = pleat_plan_growable(pass->plan, site);
        if (before == 0)
            return;
        policy->grow(pass, site, before);
        if (policy->once || pleat_plan_growable(pass->plan, site) == before)
            return;
    }
}

bool pleat_pass_could_grow(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    int32_t growable = pleat_plan_growable(pass->plan, site);
    if (growable == 0 || view->sites[site].growers == 0 || view->sites[site].resizing_count == 0)
        return false; /* every component that is not in a resize has just been asked */
    for (uint32_t c = pleat_malleable_oldest(view, site); c != PLEAT_NONE;
         c = pleat_malleable_younger(view, c)) {
        const struct pleat_component *component = &view->components[c];
        if (component->state == PLEAT_RESIZING && !pleat_view_is_young(view, component) &&
            pleat_accept_grow(view, component, component->target, growable) > 0)
            return true;
    }
    return false;
}

/* Equipartition: McCann and Zahorjan 1994, as Buisson et al. 2007, III and V-C.2 have it.
 *
 * Distributes the whole set of processors, not only the free ones, equally over the running
 * malleable jobs: in one pass some jobs may shrink so that others can grow. The equal share is a
 * level up to which all jobs are filled within their limits. Processors that are left over go to
 * the earliest started jobs, one to each. Deviations, and what is taken where that account is
 * silent:
 * - "almost the same number": a job shrinks for others only if it is more than one above the level
 *   and some other below it;
 * - a job gets the largest size that it accepts up to its share; what nobody's share can use is
 *   handed out to whoever takes it, until a share needs it;
 * - what is coming back from others is counted as there, so it is not taken twice. */
#include "policy/policies.h"

/* The size up to which all jobs are filled; how many, the earliest started first, get one more. */
struct share {
    int32_t level, bonus;
};

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The processors of a component once its resize under way, or in this plan, is done. */
static int32_t size_of(const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_component *comp = &pass->view->components[component];
    return comp->state == PLEAT_RESIZING ? comp->target : pleat_plan_size(pass->plan, component);
}

/* The first component from this one on that is not young. Young components keep what they have, and
 * count in no sum. */
static uint32_t first_not_young(const struct pleat_view *view, uint32_t component)
{
    while (component != PLEAT_NONE && pleat_view_is_young(view, &view->components[component]))
        component = pleat_malleable_younger(view, component);
    return component;
}

static uint32_t oldest(const struct pleat_view *view, uint32_t site)
{
    return first_not_young(view, pleat_malleable_oldest(view, site));
}

static uint32_t younger(const struct pleat_view *view, uint32_t component)
{
    return first_not_young(view, pleat_malleable_younger(view, component));
}

/* The size up to which a component may be filled. With `giving`, where all only give back, at most
 * its present size. */
static int32_t filled(const struct pleat_pass *pass, uint32_t component, int32_t level, bool giving)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t low = pleat_accept_smallest(pass->view, comp);
    int32_t high = giving ? size_of(pass, component) : pleat_accept_largest(pass->view, comp);
    return clamp(level, low < high ? low : high, high);
}

static int64_t sum_at(const struct pleat_pass *pass, uint32_t site, int32_t level, bool giving)
{
    int64_t sum = 0;
    for (uint32_t c = oldest(pass->view, site); c != PLEAT_NONE; c = younger(pass->view, c))
        sum += filled(pass, c, level, giving);
    return sum;
}

/* The largest level at which all jobs together have at most `processors` processors. */
static struct share share_of(const struct pleat_pass *pass, uint32_t site, int64_t processors,
                             bool giving)
{
    int32_t low = 0, high = pass->view->sites[site].capacity;
    while (low < high) {
        int32_t middle = low + (high - low + 1) / 2;
        if (sum_at(pass, site, middle, giving) <= processors)
            low = middle;
        else
            high = middle - 1;
    }
    int64_t rest = processors - sum_at(pass, site, low, giving);
    return (struct share){low, rest > 0 ? (int32_t)rest : 0};
}

/* A component's share, as far as the component accepts it. */
static int32_t wanted(const struct pleat_pass *pass, uint32_t component, int32_t level)
{
    const struct pleat_component *comp = &pass->view->components[component];
    int32_t size = pleat_accept_grow(pass->view, comp, 0, filled(pass, component, level, false));
    int32_t smallest = pleat_accept_smallest(pass->view, comp);
    return size > smallest ? size : smallest;
}

/* The processors of a site that are free for growing, or on their way back. */
static int32_t spare(const struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_site *place = &pass->view->sites[site];
    int32_t left = pleat_plan_idle(pass->plan, site) + place->coming + place->releasing -
                   pleat_view_site_left(place) - pleat_plan_kept(pass->plan, site);
    return left > 0 ? left : 0;
}

static struct share fair_share(const struct pleat_pass *pass, uint32_t site)
{
    int64_t all = spare(pass, site);
    for (uint32_t c = oldest(pass->view, site); c != PLEAT_NONE; c = younger(pass->view, c)) {
        const struct pleat_component *component = &pass->view->components[c];
        bool gives = component->state == PLEAT_RUNNING && size_of(pass, c) < component->processors;
        all += gives ? component->processors : size_of(pass, c); /* what is given comes back */
    }
    return share_of(pass, site, all, false);
}

static bool may_grow(const struct pleat_view *view, uint32_t component)
{
    return view->components[component].quiet_until_us <= view->now_us;
}

static void equipartition_balance(struct pleat_pass *pass, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    if (view->sites[site].malleable_count < 2)
        return;
    struct share fair = fair_share(pass, site);
    int64_t missing = -(int64_t)spare(pass, site);
    for (uint32_t c = oldest(view, site); c != PLEAT_NONE; c = younger(view, c)) {
        int32_t below = wanted(pass, c, fair.level) - size_of(pass, c);
        missing += below > 0 && may_grow(view, c) ? below : 0;
    }
    for (uint32_t c = pleat_malleable_newest(view, site); c != PLEAT_NONE && missing > 0;
         c = pleat_malleable_older(view, c)) {
        int32_t above = size_of(pass, c) > wanted(pass, c, fair.level + 1)
                            ? size_of(pass, c) - wanted(pass, c, fair.level)
                            : 0;
        if (above > 0)
            missing -= pleat_plan_offer_shrink(
                pass->plan, c, above < missing ? above : (int32_t)missing, PLEAT_NONE);
    }
}

/* Fills all jobs up to a level, the earliest started first. */
static int32_t fill(struct pleat_pass *pass, uint32_t site, int32_t level, int32_t left)
{
    for (uint32_t c = oldest(pass->view, site); c != PLEAT_NONE; c = younger(pass->view, c)) {
        int32_t below = wanted(pass, c, level) - size_of(pass, c);
        if (below > 0 && left > 0)
            left -= pleat_plan_offer_grow(pass->plan, c, below < left ? below : left);
    }
    return left;
}

static int32_t equipartition_grow(struct pleat_pass *pass, uint32_t site, int32_t processors)
{
    const struct pleat_view *view = pass->view;
    struct share fair = fair_share(pass, site);
    int32_t left = fill(pass, site, fair.level, processors), owed = 0;
    for (uint32_t c = oldest(view, site); c != PLEAT_NONE; c = younger(view, c)) {
        int32_t below = wanted(pass, c, fair.level) - size_of(pass, c);
        owed += below > 0 ? below : 0; /* their jobs cannot take these processors now */
    }
    int32_t others = left > owed ? left - owed : 0, kept = left - others;
    others = fill(pass, site, fair.level + 1, others);
    for (uint32_t c = oldest(view, site); c != PLEAT_NONE; c = younger(view, c))
        others -= pleat_plan_offer_grow(pass->plan, c, others);
    return others + kept;
}

static int32_t equipartition_shrink(struct pleat_pass *pass, uint32_t site, int32_t processors,
                                    uint32_t waiter)
{
    const struct pleat_view *view = pass->view;
    int64_t all = -(int64_t)processors;
    for (uint32_t c = oldest(view, site); c != PLEAT_NONE; c = younger(view, c))
        all += size_of(pass, c);
    struct share share = share_of(pass, site, all, true);
    int32_t left = processors;
    for (uint32_t c = oldest(view, site); c != PLEAT_NONE; c = younger(view, c)) {
        int32_t keeps = filled(pass, c, share.level, true);
        if (keeps < size_of(pass, c) && keeps == share.level && share.bonus > 0) {
            keeps++;
            share.bonus--;
        }
        if (keeps < size_of(pass, c) && left > 0)
            left -= pleat_plan_offer_shrink(pass->plan, c, size_of(pass, c) - keeps, waiter);
    }
    return left;
}

const struct pleat_policy pleat_policy_equipartition = {
    .number = 11,
    .version = 1,
    .question = PLEAT_MALLEABILITY,
    .name = "equipartition",
    .source = "McCann and Zahorjan 1994; Buisson et al. 2007, V-C.2",
    .summary = "all running malleable jobs have the same size: some shrink so that others grow",
    .shrinks = true,
    .grow = equipartition_grow,
    .shrink = equipartition_shrink,
    .balance = equipartition_balance,
};

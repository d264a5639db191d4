/* How much of a simulated site is up, and what is drawn at random for it. */
#include <math.h>

#include "sim/internal.h"

static const double two_pi = 6.283185307179586476925;

/* ---- chance ---- */

int64_t site_exponential(struct pleat_random *random, double mean_us)
{
    double drawn = -log(1 - pleat_random_unit(random)) * mean_us;
    return drawn < 1 ? 1 : drawn < 1e18 ? llround(drawn) : INT64_C(1000000000000000000);
}

int64_t site_delay(struct site *site, const struct pleat_delay *delay)
{
    if (delay->spread_us == 0)
        return delay->mean_us;
    double radius = sqrt(-2 * log(1 - pleat_random_unit(&site->delays)));
    double normal = radius * cos(two_pi * pleat_random_unit(&site->delays));
    int64_t drawn = delay->mean_us + llround(normal * (double)delay->spread_us);
    return drawn > 0 ? drawn : 0;
}

bool site_fails(struct site *site, enum pleat_failure_kind kind)
{
    const struct pleat_failure *failure = &site->spec->failure;
    return failure->kind == kind && pleat_random_unit(&site->failures) < failure->probability;
}

/* ---- what is there ---- */

int32_t site_capacity(const struct pleat_sim_site *spec)
{
    return spec->nodes * spec->slots;
}

int32_t site_up(const struct site *site)
{
    return site->present ? (site->spec->nodes - site->down) * site->spec->slots : 0;
}

/* Notes the sums at the last end of a job so far: it may be the end of the last job. */
static void mark(const struct sim *sim, struct site *site)
{
    double passed = (double)(sim->totals->end_us - site->counted_us);
    if (passed < 0)
        return; /* noted already */
    site->marked_capacity_us = site->capacity_us + passed * site_up(site);
    site->marked_background_us = site->background_us + passed * site->local;
}

void site_count(struct sim *sim, struct site *site)
{
    mark(sim, site);
    double passed = (double)(sim->now_us - site->counted_us);
    site->capacity_us += passed * site_up(site);
    site->background_us += passed * site->local;
    site->counted_us = sim->now_us;
}

void sites_count(struct sim *sim)
{
    for (uint32_t s = 0; s < sim->site_count; s++) {
        mark(sim, &sim->sites[s]);
        sim->totals->capacity_us += sim->sites[s].marked_capacity_us;
        sim->totals->background_us += sim->sites[s].marked_background_us;
    }
}

int site_tell(struct sim *sim, uint32_t index, int32_t capacity)
{
    const struct site *site = &sim->sites[index];
    /* nodes come with allocations; one of single processors says nothing of its nodes */
    const bool lends = site->spec->queue != PLEAT_QUEUE_NONE && site->spec->slots > 1;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_SITE,
                                .flags = site->instant ? PLEAT_SITE_INSTANT : 0,
                                .component = index,
                                .u.site = {.capacity = capacity,
                                           .threshold = site->spec->threshold,
                                           .background = site->background,
                                           .node_most = lends ? site->spec->slots : 0}};
    return input(sim, &event);
}

/* Processors that are not there for jobs. What other users of a batch system have is not known. */
static int32_t background_of(const struct site *site)
{
    int32_t others = site->spec->queue == PLEAT_QUEUE_NONE ? site->local : 0;
    return site_capacity(site->spec) - site_up(site) + others;
}

int site_poll(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int32_t background = background_of(site);
    if (background == site->background || site->left)
        return 0;
    site->background = background;
    struct pleat_event event = {.time_us = sim->now_us,
                                .kind = PLEAT_EV_BACKGROUND,
                                .component = index,
                                .u.site = {.background = background}};
    return input(sim, &event);
}

/* Looks are only made where something has changed: others would find nothing new. */
int site_tell_background(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int64_t every_us = site->spec->poll_us;
    if (every_us == 0)
        return site_poll(sim, index);
    if (site->left || site->poll_timer != PLEAT_HEAP_NONE ||
        background_of(site) == site->background)
        return 0;
    int64_t looks = (sim->now_us - site->polled_us) / every_us;
    return set_timer(sim, TIMER_POLL, index, 0, site->polled_us + (looks + 1) * every_us,
                     &site->poll_timer);
}

/* Simulated sites: claims and their delays, nodes that fail, joining and leaving.
 *
 * The capacity of a site counts all of its nodes. Nodes that are down, and all nodes of a site that
 * has not joined, count as background: so a job that fits when they are up waits for them. A site
 * that has left has a capacity of 0. Where a site is polled, policies know of local users and of
 * nodes what the last look told: a claim for which there is no room then is refused.
 *
 * Where claims are is said only of clusters, for jobs that fold (allocations.c), and does not
 * matter for failures: when a node fails all slots are laid out on the nodes that are up: those of
 * claims, in the order of their records, then those of local users, then free slots. The node takes
 * the slots in its part. Every node fails with the same probability, so every slot is taken with
 * the same one. */
#include <math.h>

#include "sim/app_move.h"
#include "sim/internal.h"

#define EVERYTHING INT64_MAX
#define CLAIM_EACH_MOST_US INT64_C(86400000000)

/* ---- failures ---- */

/* Draws the time to the next failure of a node that is up. Times between failures are exponential,
 * hence without memory: they may be drawn anew whenever the number of nodes that are up changes. */
static int next_failure(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    int32_t nodes = site->spec->nodes - site->down;
    if (site->spec->failure.kind != PLEAT_FAILURE_NODE || !site->present || nodes == 0) {
        stop_timer(sim, &site->failure_timer);
        return 0;
    }
    double mean_us = (double)site->spec->failure.between_us / nodes;
    return set_timer(sim, TIMER_FAILURE, index, 0,
                     sim->now_us + site_exponential(&site->failures, mean_us),
                     &site->failure_timer);
}

/* All claims of a site with a slot from `first` to before `end` are lost; with EVERYTHING also
 * claims that still wait. */
static int strike(struct sim *sim, uint32_t index, int64_t first, int64_t end)
{
    int64_t at = 0;
    int rc = 0;
    sim->struck.count = 0;
    for (uint32_t c = 0; c < pleat_core_claim_count(sim->core); c++) {
        const struct pleat_claim *claim = pleat_core_claim(sim->core, c);
        if (claim->state == PLEAT_CLAIM_FREE || claim->site != index)
            continue;
        bool slots = site_claim_has_slots(sim, c);
        bool hit = end == EVERYTHING || (slots && at < end && at + claim->count > first);
        if (hit && pleat_array_push(&sim->struck, c))
            return nomem(sim);
        at += slots ? claim->count : 0;
    }
    for (size_t i = 0; !rc && i < sim->struck.count; i++)
        rc = site_lose(sim, sim->struck.items[i]);
    return rc;
}

static int node_fails(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    uint64_t node = pleat_random_below(&site->failures, (uint64_t)(site->spec->nodes - site->down));
    int64_t first = (int64_t)node * site->spec->slots, end = first + site->spec->slots;
    int64_t repaired =
        sim->now_us + site_exponential(&site->failures, (double)site->spec->failure.repair_us);
    uint32_t handle = PLEAT_HEAP_NONE;
    site_count(sim, site);
    if (site->spec->queue != PLEAT_QUEUE_NONE)
        batch_strike(sim, index, first, end);
    else
        load_strike(site, sim->view->sites[index].claimed, first, end);
    site->down++;
    int rc = site_tell_background(sim, index);
    if (!rc)
        rc = strike(sim, index, first, end);
    if (!rc)
        rc = set_timer(sim, TIMER_REPAIR, index, 0, repaired, &handle);
    return rc ? rc : next_failure(sim, index);
}

static int node_is_repaired(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    site_count(sim, site);
    site->down--;
    site->batch.changed = true;
    int rc = site_tell_background(sim, index);
    return rc ? rc : next_failure(sim, index);
}

/* ---- joining and leaving ---- */

static int joins(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    site_count(sim, site);
    site->present = true;
    site->polled_us = sim->now_us;
    int rc = site_poll(sim, index);
    if (!rc)
        rc = load_begin(sim, index);
    return rc ? rc : next_failure(sim, index);
}

static int leaves(struct sim *sim, uint32_t index)
{
    struct site *site = &sim->sites[index];
    site_count(sim, site);
    site->present = false;
    site->left = true;
    site->background = 0;
    load_end(site);
    batch_end(sim, index);
    stop_timer(sim, &site->failure_timer);
    stop_timer(sim, &site->poll_timer);
    int rc = site_tell(sim, index, 0);
    return rc ? rc : strike(sim, index, 0, EVERYTHING);
}

/* ---- claims ---- */

int site_claim(struct sim *sim, uint32_t claim, uint64_t id, uint32_t site)
{
    if (sim->sites[site].spec->queue != PLEAT_QUEUE_NONE)
        return batch_claim(sim, site, claim, id);
    int64_t delay =
        site_delay(&sim->sites[site], &sim->sites[site].spec->claim) +
        sim->sites[site].spec->claim_each_us * pleat_core_claim(sim->core, claim)->count;
    return delay > 0 ? site_claim_timer(sim, TIMER_CLAIM, claim, id, delay)
                     : site_claimed(sim, claim, id);
}

int site_release(struct sim *sim, uint32_t claim, uint64_t id, uint32_t site)
{
    int64_t delay = site_delay(&sim->sites[site], &sim->sites[site].spec->release);
    allocation_withdraw(sim, site, claim);
    return delay > 0 ? site_claim_timer(sim, TIMER_RELEASE, claim, id, delay)
                     : site_released(sim, claim, id);
}

int site_timer(struct sim *sim, enum timer_kind kind, uint32_t index, uint32_t extra)
{
    switch (kind) {
    case TIMER_CLAIM:
        sim->claims.items[index].timer = PLEAT_HEAP_NONE;
        return site_claimed(sim, index, sim->claims.items[index].claim);
    case TIMER_RELEASE:
        sim->claims.items[index].timer = PLEAT_HEAP_NONE;
        return site_released(sim, index, sim->claims.items[index].claim);
    case TIMER_JOIN:
        return joins(sim, index);
    case TIMER_LEAVE:
        return leaves(sim, index);
    case TIMER_FAILURE:
        sim->sites[index].failure_timer = PLEAT_HEAP_NONE;
        return node_fails(sim, index);
    case TIMER_POLL:
        sim->sites[index].poll_timer = PLEAT_HEAP_NONE;
        return site_poll(sim, index);
    case TIMER_QUEUE:
        sim->sites[index].batch.timer = PLEAT_HEAP_NONE;
        return batch_timer(sim, index);
    case TIMER_REPAIR:
        return node_is_repaired(sim, index);
    case TIMER_LOCAL_ENDED:
        return load_goes(sim, index, (int32_t)extra);
    case TIMER_TRACE:
        return sim->sites[index].present ? load_trace_point(sim, index) : 0;
    default:
        return sim->sites[index].present ? load_comes(sim, index) : 0;
    }
}

/* ---- from beginning to end ---- */

static bool delay_is_sound(const struct pleat_delay *delay)
{
    return delay->mean_us >= 0 && delay->spread_us >= 0 && delay->mean_us < PLEAT_NEVER / 16 &&
           delay->spread_us < PLEAT_NEVER / 64;
}

static bool trace_is_sound(const struct pleat_load_points *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->items[i].processors < 0 ||
            (i > 0 && trace->items[i].at_us < trace->items[i - 1].at_us))
            return false;
    return true;
}

static bool failure_is_sound(const struct pleat_failure *failure)
{
    switch (failure->kind) {
    case PLEAT_FAILURE_NONE:
        return true;
    case PLEAT_FAILURE_NODE:
        return failure->between_us > 0 && failure->repair_us >= 0;
    default:
        return failure->probability >= 0 && failure->probability < 1;
    }
}

static bool others_are_sound(const struct pleat_sim_site *spec)
{
    const struct pleat_other_jobs *others = &spec->others;
    if (others->count > 0 && spec->queue == PLEAT_QUEUE_NONE)
        return false;
    for (size_t i = 0; i < others->count; i++) {
        const struct pleat_other_job *job = &others->items[i];
        if (job->processors < 1 || job->processors > site_capacity(spec) || job->run_us < 0 ||
            job->limit_us < 1 || (i > 0 && job->submit_us < others->items[i - 1].submit_us))
            return false;
    }
    return true;
}

/* What is wrong with a site; NULL: nothing. */
static const char *fault_of(const struct pleat_sim_site *spec)
{
    if (spec->nodes < 1 || spec->slots < 1 ||
        (int64_t)spec->nodes * spec->slots >= PLEAT_SIZE_MAX || spec->threshold < 0)
        return "nodes and slots are at least 1, with fewer than 16777216 slots in all; the "
               "threshold is at least 0";
    if (!(spec->speed >= 0.001 && spec->speed <= 1000))
        return "the speed is from 0.001 to 1000";
    if (!delay_is_sound(&spec->claim) || !delay_is_sound(&spec->start) ||
        !delay_is_sound(&spec->grow) || !delay_is_sound(&spec->release))
        return "delays and their spreads are at least 0";
    if (!failure_is_sound(&spec->failure))
        return "nodes fail after more than 0 seconds; a probability of failures is at least 0, "
               "and below 1";
    if (!trace_is_sound(&spec->trace))
        return "the background load is at least 0, at times that do not go back";
    if (spec->load_gap_us < 0 ||
        (spec->load_gap_us > 0 && (spec->load_run_us < 1 || spec->load_processors < 1 ||
                                   spec->load_processors > spec->nodes * spec->slots)))
        return "jobs of local users run for more than 0 seconds on 1 processor to all of the "
               "site's";
    if (spec->queue != PLEAT_QUEUE_NONE && spec->trace.count > 0)
        return "others' processors are in a trace or in a queue, not both";
    if (!others_are_sound(spec))
        return "jobs in its queue are in the order of their submission, have at most the site's "
               "processors, a run time of at least 0 and a limit above 0; and it has a queue";
    if (spec->limit_us < 0 || spec->leave_us < 0 || spec->queue_us < 1 ||
        !(spec->load_estimate >= 1 && spec->load_estimate <= 1e6))
        return "limits of allocations and the time to leave them are at least 0, the time in the "
               "queue is above 0, and users ask for at least as long as they run";
    if (spec->claim_each_us < 0 || spec->claim_each_us > CLAIM_EACH_MOST_US)
        return "a claim takes 0 s to a day for each of its processors";
    if (spec->poll_us < 0)
        return "the time between two looks at it is at least 0";
    if (spec->leaves_us <= spec->joins_us)
        return "it leaves before it joins";
    return NULL;
}

static bool is_instant(const struct pleat_sim_site *spec)
{
    const struct pleat_delay *delays[] = {&spec->claim, &spec->start, &spec->grow, &spec->release};
    for (size_t i = 0; i < sizeof(delays) / sizeof(*delays); i++)
        if (delays[i]->mean_us > 0 || delays[i]->spread_us > 0)
            return false;
    return spec->poll_us == 0 && spec->claim_each_us == 0 && spec->queue == PLEAT_QUEUE_NONE &&
           (spec->failure.kind == PLEAT_FAILURE_NONE || spec->failure.kind == PLEAT_FAILURE_NODE);
}

/* Which nodes a claim has matters only to jobs that fold, whose processes stay there, and to those
 * that leave them. */
static bool tells_nodes(const struct sim *sim)
{
    if (sim->moves)
        return true;
    for (size_t i = 0; sim->lends && i < sim->workload->jobs.count; i++)
        if (sim->workload->jobs.items[i].mpl_max > 0)
            return true;
    return false;
}

int sites_create(struct sim *sim)
{
    const struct pleat_sim_sites *specs = &sim->options->platform->sites;
    if (specs->count == 0 || specs->count > PLEAT_SITES_MAX)
        return pleat_error_set(sim->err, PLEAT_E_INVALID, "a platform has 1 to %d sites, not %zu",
                               PLEAT_SITES_MAX, specs->count);
    for (size_t s = 0; s < specs->count; s++) {
        const char *fault = fault_of(&specs->items[s]);
        if (fault)
            return pleat_error_set(sim->err, PLEAT_E_INVALID, "site '%s': %s", specs->items[s].name,
                                   fault);
    }
    sim->sites = calloc(specs->count, sizeof(*sim->sites));
    if (!sim->sites)
        return nomem(sim);
    sim->site_count = (uint32_t)specs->count;
    for (uint32_t s = 0; s < sim->site_count; s++) {
        struct site *site = &sim->sites[s];
        uint64_t seed = sim->options->seed * 0x9e3779b97f4a7c15u + (uint64_t)s * 4;
        site->spec = &specs->items[s];
        site->failure_timer = site->poll_timer = site->batch.timer = PLEAT_HEAP_NONE;
        site->counted_us = sim->now_us;
        site->instant = !sim->options->asks_all_sites && is_instant(site->spec);
        sim->reads_decisions |= !site->instant;
        sim->lends |= site->spec->queue != PLEAT_QUEUE_NONE && site->spec->slots > 1;
        sim->crowded |= site->spec->trace.count > 0 || site->spec->load_gap_us > 0 ||
                        site->spec->queue != PLEAT_QUEUE_NONE;
        pleat_random_init(&site->delays, seed + 1);
        pleat_random_init(&site->failures, seed + 2);
        pleat_random_init(&site->load, seed + 3);
    }
    sim->moves = app_moves_at_all(sim);
    sim->tells_nodes = tells_nodes(sim);
    return 0;
}

static int tell_links(struct sim *sim)
{
    const struct pleat_sim_links *links = &sim->options->platform->links;
    int rc = 0;
    for (size_t i = 0; !rc && i < links->count; i++) {
        const struct pleat_sim_link *link = &links->items[i];
        struct pleat_event event = {.time_us = sim->now_us,
                                    .kind = PLEAT_EV_LINK,
                                    .component = PLEAT_NONE,
                                    .u.link = {.from = link->from,
                                               .to = link->to,
                                               .bytes_per_s = llround(link->bytes_per_s)}};
        rc = link->bytes_per_s >= 1 && link->bytes_per_s < 1e18
                 ? input(sim, &event)
                 : pleat_error_set(sim->err, PLEAT_E_INVALID,
                                   "a link carries at least 1 byte a second");
    }
    return rc;
}

int sites_begin(struct sim *sim)
{
    int rc = 0;
    for (uint32_t s = 0; !rc && s < sim->site_count; s++) {
        struct site *site = &sim->sites[s];
        uint32_t join = PLEAT_HEAP_NONE, leave = PLEAT_HEAP_NONE;
        site->left = site->spec->leaves_us <= sim->now_us;
        site->background = site->left ? 0 : site_capacity(site->spec);
        rc = site_tell(sim, s, site->background);
        if (rc || site->left)
            continue;
        if (site->spec->leaves_us != PLEAT_NEVER)
            rc = set_timer(sim, TIMER_LEAVE, s, 0, site->spec->leaves_us, &leave);
        if (!rc && site->spec->joins_us > sim->now_us)
            rc = set_timer(sim, TIMER_JOIN, s, 0, site->spec->joins_us, &join);
        else if (!rc)
            rc = joins(sim, s);
    }
    return rc ? rc : tell_links(sim);
}

void sites_destroy(struct sim *sim)
{
    for (uint32_t s = 0; s < sim->site_count; s++) {
        pleat_array_finish(&sim->sites[s].waiting);
        batch_destroy(&sim->sites[s].batch);
    }
    free(sim->sites);
    pleat_array_finish(&sim->claims);
    pleat_array_finish(&sim->struck);
}

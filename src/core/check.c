/* Recounts what the core keeps incrementally. Runs after every event in tests. */
#include "core/check_component.h"
#include "core/check_jobs.h"
#include "core/check_outposts.h"
#include "core/node.h"
#include "core/side.h"
#include "core/terms.h"
#include "policy/shares.h"

#include <string.h>

#define FAIL(...) return pleat_error_set(err, PLEAT_E_CORRUPT, __VA_ARGS__)

static int check_claims(const struct pleat_core *core, struct pleat_site *sums, uint32_t *owned,
                        struct pleat_error *err)
{
    for (uint32_t i = 0; i < core->claims.count; i++) {
        const struct pleat_claim *claim = &core->claims.items[i];
        if (claim->state == PLEAT_CLAIM_FREE)
            continue;
        if (claim->component >= core->components.count || claim->site >= core->sites.count)
            FAIL("claim %u has no owner or site", i);
        if (claim->count < 1)
            FAIL("claim %u is of %d processors", i, claim->count);
        owned[claim->component]++;
        sums[claim->site].claimed += claim->count;
        if (claim->state == PLEAT_CLAIM_RELEASING)
            sums[claim->site].releasing += claim->count;
        if (claim->state == PLEAT_CLAIM_HELD && claim->process == PLEAT_KEPT_UNPREPARING)
            sums[claim->site].coming += claim->count;
        uint32_t in_pieces = 0;
        for (uint32_t p = claim->first_piece; p != PLEAT_NONE; p = core->pieces.items[p].next)
            in_pieces += core->pieces.items[p].count;
        if (claim->first_piece != PLEAT_NONE && claim->state == PLEAT_CLAIM_HELD &&
            in_pieces != (uint32_t)claim->count)
            FAIL("claim %u of %d processors has pieces of %u", i, claim->count, in_pieces);
    }
    return 0;
}

static int check_queue(const struct pleat_core *core, uint32_t *waiting, struct pleat_error *err)
{
    uint32_t previous = PLEAT_NONE;
    for (uint32_t c = core->view.queue_first; c != PLEAT_NONE; c = core->components.items[c].next) {
        const struct pleat_component *component = &core->components.items[c];
        if (component->state != PLEAT_QUEUED || component->aside || component->previous != previous)
            FAIL("component %u in the queue is %s", c,
                 pleat_component_state_name(component->state));
        if (previous != PLEAT_NONE) {
            const struct pleat_component *before = &core->components.items[previous];
            if (before->key > component->key ||
                (before->key == component->key && before->position >= component->position))
                FAIL("component %u is out of order in the queue", c);
        }
        previous = c;
        ++*waiting;
    }
    if (core->view.queue_last != previous)
        FAIL("the queue has a loose end");
    if (*waiting != core->view.queue_count)
        FAIL("%u components in the queue, %u counted", core->view.queue_count, *waiting);
    return 0;
}

static int check_reservations(const struct pleat_core *core, uint32_t *waiting,
                              struct pleat_error *err)
{
    int64_t begin_us = 0;
    uint32_t previous = PLEAT_NONE;
    for (uint32_t c = core->view.reserved_first; c != PLEAT_NONE;
         c = core->components.items[c].next) {
        const struct pleat_component *component = &core->components.items[c];
        if (component->state != PLEAT_QUEUED || component->aside != PLEAT_ASIDE_RESERVATION ||
            component->previous != previous || component->begin_us < begin_us)
            FAIL("component %u is out of order among the reservations", c);
        begin_us = component->begin_us;
        previous = c;
        ++*waiting;
    }
    return 0;
}

/* The running malleable components of a site; adds up what the site keeps of them. */
static int check_malleable(const struct pleat_core *core, uint32_t s, struct pleat_site *sum,
                           struct pleat_error *err)
{
    int64_t latest = INT64_MIN;
    for (uint32_t c = core->sites.items[s].malleable_first; c != PLEAT_NONE;
         c = core->components.items[c].next) {
        const struct pleat_component *component = &core->components.items[c];
        if (component->start_us < latest || component->kind != PLEAT_MALLEABLE ||
            component->site != s)
            FAIL("component %u is out of order among the running ones", c);
        latest = component->start_us;
        sum->malleable_count++;
        if (component->young)
            continue;
        sum->resizing_count += component->state == PLEAT_RESIZING;
        int32_t smallest = pleat_accept_smallest(&core->view, component);
        sum->reclaimable += component->target > smallest ? component->target - smallest : 0;
        sum->growers += component->target < pleat_view_limit(&core->view, component);
    }
    return 0;
}

static int check_lists(const struct pleat_core *core, struct pleat_site *sums,
                       struct pleat_error *err)
{
    uint32_t waiting = 0, malleable = 0;
    int rc = check_queue(core, &waiting, err);
    if (!rc)
        rc = check_reservations(core, &waiting, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < core->components.count; i++)
        waiting -= core->components.items[i].state == PLEAT_QUEUED &&
                   (core->components.items[i].aside == PLEAT_ASIDE_NOT ||
                    core->components.items[i].aside == PLEAT_ASIDE_RESERVATION);
    if (waiting != 0)
        FAIL("the queue misses a waiting component");
    for (uint32_t s = 0; !rc && s < core->sites.count; s++) {
        malleable += core->sites.items[s].malleable_count;
        rc = check_malleable(core, s, &sums[s], err);
    }
    if (!rc && malleable != core->view.malleable_count)
        FAIL("%u malleable components run, %u counted", core->view.malleable_count, malleable);
    return rc;
}

/* Times of iterations: sorted by size, each record in one list, none of a component that has
 * ended. */
static int check_timings(const struct pleat_core *core, struct pleat_error *err)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < core->components.count; i++) {
        const struct pleat_component *component = &core->components.items[i];
        if (pleat_component_is_forgotten(component))
            continue; /* a free record keeps its old values */
        if (pleat_component_state_is_final((enum pleat_component_state)component->state) &&
            component->first_timing != PLEAT_NONE)
            FAIL("component %u has ended, and times of it are kept", i);
        int32_t before = 0;
        for (uint32_t t = component->first_timing; t != PLEAT_NONE;
             t = core->timings.items[t].next) {
            const struct pleat_timing *timing = &core->timings.items[t];
            if (timing->processors <= before || timing->iteration_us <= 0 ||
                timing->redistribution_us < 0 || ++known > core->timings.count)
                FAIL("component %u: the times of its iterations are out of order", i);
            if (timing->count < 0 || timing->count > PLEAT_TIMING_WINDOW ||
                (timing->count > 0 && !(timing->mean_us > 0)) || !(timing->squares >= 0))
                FAIL("component %u: the spread of its iterations makes no sense", i);
            before = timing->processors;
        }
    }
    for (uint32_t t = core->free_timing; t != PLEAT_NONE; t = core->timings.items[t].next)
        if (++known > core->timings.count)
            break;
    if (known != core->timings.count)
        FAIL("%zu records of times, %llu counted", core->timings.count, (unsigned long long)known);
    return 0;
}

static int check_ends(const struct pleat_core *core, struct pleat_error *err)
{
    uint32_t listed = 0;
    for (uint32_t s = 0; s < core->sites.count; s++) {
        uint32_t previous = PLEAT_NONE;
        for (uint32_t c = core->sites.items[s].ends_first; c != PLEAT_NONE;
             c = core->components.items[c].ends_next) {
            const struct pleat_component *component = &core->components.items[c];
            if (component->site != s || component->ends_previous != previous ||
                (previous != PLEAT_NONE &&
                 core->components.items[previous].expected_end_us > component->expected_end_us))
                FAIL("component %u is out of order among the expected ends", c);
            previous = c;
            listed++;
        }
        if (core->sites.items[s].ends_last != previous)
            FAIL("the expected ends of site %u have a loose end", s);
    }
    for (uint32_t i = 0; core->keeps_ends && i < core->components.count; i++)
        listed -= core->components.items[i].state == PLEAT_RUNNING ||
                  core->components.items[i].state == PLEAT_RESIZING;
    if (listed != 0)
        FAIL("not all running components are among the expected ends");
    return 0;
}

static int check_resizes(const struct pleat_core *core, struct pleat_site *sums, int32_t *coming,
                         struct pleat_error *err)
{
    uint32_t active = 0, resizing = 0;
    for (uint32_t r = 0; r < core->resizes.count; r++) {
        const struct pleat_resize *resize = &core->resizes.items[r];
        if (resize->step == PLEAT_RESIZE_FREE)
            continue;
        active++;
        const struct pleat_component *component = &core->components.items[resize->component];
        if (component->resize != r)
            FAIL("resize %u is not its component's", r);
        bool stands = resize->left_us > 0;
        if (stands &&
            (!core_is_away(core, resize->component) || resize->step == PLEAT_RESIZE_ACCEPTED))
            FAIL("the time of resize %u stands still, and its agent is there", r);
        if ((resize->deadline == PLEAT_HEAP_NONE) != stands)
            FAIL("resize %u has no deadline: it could wait for ever", r);
        if ((resize->step == PLEAT_RESIZE_ACCEPTED || resize->step == PLEAT_RESIZE_GRANTED) &&
            (resize->to > resize->from) != (resize->claim != PLEAT_NONE))
            FAIL("resize %u from %d to %d: its claim is %d", r, resize->from, resize->to,
                 (int)resize->claim);
        if (resize->step == PLEAT_RESIZE_RELAUNCHING) {
            if (resize->to > resize->from && resize->claim == PLEAT_NONE)
                FAIL("resize %u is relaunched on %d processors and has %d", r, resize->to,
                     resize->from);
            if (resize->to < 1 || resize->cause == PLEAT_REASON_NONE ||
                component->relaunches == 0 || !(component->flags & PLEAT_COMPONENT_RELAUNCHES))
                FAIL("resize %u is relaunched without cause, or may not be", r);
        }
        if (resize->waiter != PLEAT_NONE &&
            core->components.items[resize->waiter].state != PLEAT_QUEUED) {
            const struct pleat_component *waiter = &core->components.items[resize->waiter];
            const struct pleat_ask *ask = pleat_view_ask(&core->view, waiter);
            if ((waiter->state != PLEAT_RUNNING && waiter->state != PLEAT_RESIZING) ||
                ask->state != PLEAT_ASK_PENDING || !ask->more || !ask->mandatory ||
                waiter->site != component->site)
                FAIL("resize %u is for component %u, which asks for nothing", r, resize->waiter);
        }
        if ((resize->step == PLEAT_RESIZE_MOVING) != (component->starting != 0))
            FAIL("resize %u: its component %s started", r,
                 component->starting ? "is being" : "is not being");
        if (resize->to < resize->from && resize->step != PLEAT_RESIZE_MOVING) {
            if (resize->waiter != PLEAT_NONE)
                coming[resize->waiter] += resize->from - resize->to;
            else
                sums[component->site].coming += resize->from - resize->to;
        }
    }
    for (uint32_t i = 0; i < core->components.count; i++) {
        resizing += core->components.items[i].state == PLEAT_RESIZING;
        if (core->components.items[i].coming != coming[i])
            FAIL("component %u expects %d processors, %d are coming", i,
                 core->components.items[i].coming, coming[i]);
    }
    if (active != resizing)
        FAIL("%u resizes under way, %u components in one", active, resizing);
    return 0;
}

/* Counts a claim of a buffer as what it is. */
static void count_claim(const struct pleat_claim *claim, struct pleat_buffer *sum)
{
    bool held = claim->state == PLEAT_CLAIM_HELD;
    sum->requested += !held || claim->process == PLEAT_KEPT_PREPARING;
    sum->preparing += held && claim->process == PLEAT_KEPT_PREPARING;
    sum->leaving += held && claim->process == PLEAT_KEPT_UNPREPARING;
    sum->prepared +=
        held && (claim->process == PLEAT_KEPT_NONE || claim->process == PLEAT_KEPT_WAITING);
}

/* Compares the counts of a buffer with its claims. */
static int check_buffer(const struct pleat_core *core, uint32_t index, struct pleat_error *err)
{
    const struct pleat_buffer *buffer = &core->buffers.items[index];
    const struct pleat_component *component = &core->components.items[buffer->component];
    struct pleat_buffer sum = {.preparing = 0};
    uint32_t previous = PLEAT_NONE;
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next) {
        const struct pleat_claim *claim = &core->claims.items[c];
        if (claim->component != buffer->component || claim->purpose != PLEAT_FOR_BUFFER ||
            claim->count != 1 || claim->previous != previous ||
            (claim->state != PLEAT_CLAIM_HELD && claim->state != PLEAT_CLAIM_REQUESTED))
            FAIL("buffer %u: claim %u is not one of its own", index, c);
        if (claim->state == PLEAT_CLAIM_HELD && claim->process != PLEAT_KEPT_NONE &&
            !(component->flags & PLEAT_COMPONENT_PREPARES))
            FAIL("buffer %u: claim %u has a process that no agent was asked for", index, c);
        count_claim(claim, &sum);
        previous = c;
    }
    if (buffer->last_claim != previous)
        FAIL("buffer %u: its list of claims has a loose end", index);
    if (sum.prepared != buffer->prepared || sum.requested != buffer->requested ||
        sum.preparing != buffer->preparing || sum.leaving != buffer->leaving)
        FAIL("buffer %u: %d/%d prepared, %d/%d on their way, %d/%d being prepared, %d/%d leaving "
             "(kept/counted)",
             index, buffer->prepared, sum.prepared, buffer->requested, sum.requested,
             buffer->preparing, sum.preparing, buffer->leaving, sum.leaving);
    if (!(component->flags & PLEAT_COMPONENT_PREPARES) &&
        (pleat_view_waits_on(buffer) || buffer->architecture > 0 || buffer->anywhere > 0))
        FAIL("buffer %u: requests of a component whose processes no agent prepares", index);
    int32_t buffered = sum.prepared + sum.requested;
    if (buffer->own > buffer->waiting || buffer->own > (uint32_t)buffered)
        FAIL("buffer %u: %u processes for requests, of which %u wait, of %d processes", index,
             buffer->own, buffer->waiting, buffered);
    bool running = component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
    int32_t size =
        component->target > component->processors ? component->target : component->processors;
    int32_t most = pleat_view_limit(&core->view, component);
    if (running && buffered > 0 && size + buffered > most)
        FAIL("buffer %u: %d more than component %u may ever use", index, size + buffered - most,
             buffer->component);
    if (!running &&
        (buffer->due || buffer->deadline != PLEAT_HEAP_NONE || buffer->pause != PLEAT_HEAP_NONE ||
         (component->state != PLEAT_FINISHING && buffered + sum.leaving > 0)))
        FAIL("buffer %u of a component that does not run is not at rest", index);
    bool reviewed = core->pass.policies[PLEAT_BUFFER]->review != NULL;
    if (running && reviewed && !buffer->due && buffer->deadline == PLEAT_HEAP_NONE &&
        buffer->review_iteration == INT32_MAX)
        FAIL("buffer %u will never be reviewed", index);
    return 0;
}

static int check_buffers(const struct pleat_core *core, struct pleat_site *sums,
                         struct pleat_error *err)
{
    uint32_t due = 0, listed = 0, previous = PLEAT_NONE;
    int rc = 0;
    for (uint32_t b = 0; b < core->buffers.count && !rc; b++) {
        uint32_t component = core->buffers.items[b].component;
        if (component == PLEAT_NONE)
            continue;
        if (component >= core->components.count || core->components.items[component].buffer != b)
            FAIL("buffer %u is not its component's", b);
        due += core->buffers.items[b].due;
        listed += core->components.items[component].state == PLEAT_RUNNING ||
                  core->components.items[component].state == PLEAT_RESIZING;
        rc = check_buffer(core, b, err);
    }
    if (rc)
        return rc;
    for (uint32_t b = core->view.reviews_first; b != PLEAT_NONE;
         b = core->buffers.items[b].due_next) {
        if (!core->buffers.items[b].due || core->buffers.items[b].due_previous != previous)
            FAIL("buffer %u is out of order among those that are due", b);
        previous = b;
        due--;
    }
    if (due != 0 || core->reviews_last != previous)
        FAIL("not all buffers that are due wait for a review");
    for (uint32_t s = 0; s < core->sites.count; s++) {
        previous = PLEAT_NONE;
        for (uint32_t b = core->sites.items[s].buffers_first; b != PLEAT_NONE;
             b = core->buffers.items[b].next) {
            const struct pleat_buffer *buffer = &core->buffers.items[b];
            if (core->components.items[buffer->component].site != s || buffer->previous != previous)
                FAIL("buffer %u is out of order at its site", b);
            sums[s].buffered += pleat_view_prepared_at(&core->view, buffer, s);
            previous = b;
            listed--;
        }
    }
    if (listed != 0)
        FAIL("not all buffers of running components are listed");
    return 0;
}

/* A component that must be on one node has no processor on another. */
static int check_one_node(const struct pleat_core *core, const struct pleat_component *component,
                          struct pleat_error *err)
{
    uint32_t on = PLEAT_NONE;
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        for (uint32_t p = core->claims.items[c].first_piece; p != PLEAT_NONE;
             p = core->pieces.items[p].next) {
            if (on != PLEAT_NONE && core->pieces.items[p].node != on)
                FAIL("job %llu is on nodes %u and %u, and must be on one",
                     (unsigned long long)component->job, on, core->pieces.items[p].node);
            on = core->pieces.items[p].node;
        }
    return 0;
}

/* Likewise, but for what its application has added where that may be on any node. */
static bool is_on_one_node(const struct pleat_core *core, const struct pleat_component *component)
{
    return component->site != PLEAT_NONE && !pleat_view_roams(component) &&
           pleat_view_is_on_one_node(&core->view, component, component->site);
}

/* A folded run whose processes stay on its nodes has a processor on each, none elsewhere, and no
 * more than processes. */
static int check_shares(const struct pleat_core *core, const struct pleat_component *component,
                        struct pleat_error *err)
{
    struct pleat_share_list shares = {0};
    int32_t processes = 0, processors = 0, held = 0;
    bool good = !pleat_shares_of(&core->view, component, &shares);
    for (size_t i = 0; i < shares.count; i++) {
        const struct pleat_share *share = &shares.items[i];
        good = good && share->processors >= 1 && share->processors <= share->processes &&
               share->processes == pleat_view_share_on(&core->view, component, share->node);
        processes += share->processes;
        processors += share->processors;
    }
    for (uint32_t c = component->first_claim; c != PLEAT_NONE; c = core->claims.items[c].next)
        held += core->claims.items[c].count;
    good = good && (shares.count == 0 || (processes == component->processes && processors == held));
    pleat_array_finish(&shares);
    if (!good)
        FAIL("job %llu has %d processes and %d of %d processors where these are",
             (unsigned long long)component->job, processes, processors, held);
    return 0;
}

static int check_nodes(const struct pleat_core *core, struct pleat_error *err)
{
    int rc = 0;
    int64_t shut = 0;
    for (size_t n = 0; n < core->nodes.count; n++) {
        const struct pleat_node *node = &core->nodes.items[n];
        int32_t claimed = node->slots > 0 ? core_node_count(core, node) : 0;
        if (node->claimed != claimed ||
            (node->slots > 0 && !node->lent && !core->sites.items[node->site].several))
            FAIL("node %u of site %u: %d of %d processors claimed, counted %d", node->node,
                 node->site, node->claimed, node->slots, claimed);
        const struct pleat_node *home =
            node->home > 0 ? pleat_view_node(&core->view, node->site, node->home - 1) : NULL;
        if ((node->home > 0 && (!node->lent || !home || !home->lent || home->home > 0)) ||
            (node->more > 0 && !node->lent))
            FAIL("node %u of site %u has %d more, and the home %u", node->node, node->site,
                 node->more, node->home);
        if (node->barred && node->slots > 0 && node->again_us > 0 &&
            core->nodes_again == PLEAT_HEAP_NONE)
            FAIL("node %u of site %u is left alone for ever", node->node, node->site);
        shut += core_node_shut(node);
    }
    for (size_t s = 0; s < core->sites.count; s++)
        shut -= core->sites.items[s].shut;
    if (shut != 0)
        FAIL("closed nodes have %lld processors more than their sites keep", (long long)shut);
    for (size_t i = 0; !rc && i < core->components.count; i++) {
        const struct pleat_component *component = &core->components.items[i];
        if (is_on_one_node(core, component))
            rc = check_one_node(core, component, err);
        if (!rc && (component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING))
            rc = check_shares(core, component, err);
    }
    return rc;
}

static int compare_sites(const struct pleat_core *core, const struct pleat_site *sums,
                         struct pleat_error *err)
{
    for (uint32_t s = 0; s < core->sites.count; s++) {
        const struct pleat_site *kept = &core->sites.items[s], *sum = &sums[s];
        if (kept->claimed != sum->claimed || kept->releasing != sum->releasing ||
            kept->coming != sum->coming || kept->reclaimable != sum->reclaimable ||
            kept->malleable_count != sum->malleable_count ||
            kept->resizing_count != sum->resizing_count || kept->growers != sum->growers ||
            kept->buffered != sum->buffered)
            FAIL("site %u: buffered %d/%d claimed %d/%d releasing %d/%d coming %d/%d reclaimable "
                 "%d/%d malleable "
                 "%u/%u resizing %u/%u growers %u/%u (kept/counted)",
                 s, kept->buffered, sum->buffered, kept->claimed, sum->claimed, kept->releasing,
                 sum->releasing, kept->coming, sum->coming, kept->reclaimable, sum->reclaimable,
                 kept->malleable_count, sum->malleable_count, kept->resizing_count,
                 sum->resizing_count, kept->growers, sum->growers);
    }
    return 0;
}

int pleat_core_check(const struct pleat_core *core, struct pleat_error *err)
{
    size_t components = core->components.count + 1, sites = core->sites.count + 1;
    struct pleat_site *sums = calloc(sites, sizeof(*sums));
    uint32_t *owned = calloc(components, sizeof(*owned));
    int32_t *coming = calloc(components, sizeof(*coming));
    int rc = PLEAT_E_NOMEM;
    if (sums && owned && coming) {
        rc = check_claims(core, sums, owned, err);
        for (uint32_t i = 0; !rc && i < core->components.count; i++) {
            if (owned[i] != core->components.items[i].claims)
                rc = pleat_error_set(err, PLEAT_E_CORRUPT, "component %u owns %u claims, counts %u",
                                     i, owned[i], core->components.items[i].claims);
            else
                rc = core_check_component(core, i, err);
        }
        if (!rc)
            rc = check_lists(core, sums, err);
        if (!rc)
            rc = core_check_jobs(core, err);
        if (!rc)
            rc = check_ends(core, err);
        if (!rc)
            rc = check_timings(core, err);
        if (!rc)
            rc = check_buffers(core, sums, err);
        if (!rc)
            rc = core_check_outposts(core, sums, err);
        if (!rc)
            rc = sides_check(core, err);
        if (!rc)
            rc = check_resizes(core, sums, coming, err);
        if (!rc)
            rc = compare_sites(core, sums, err);
        if (!rc)
            rc = check_nodes(core, err);
    }
    free(sums);
    free(owned);
    free(coming);
    return rc;
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "world_processes.h"

/* Orders reach agents in their order, and later than the moment at which they were given. */
static const int64_t order_us = 200000;

static bool is_away(const struct world *world, uint32_t site, uint32_t node)
{
    const struct pleat_node *known = pleat_view_node(pleat_core_view(world->core), site, node);
    return known && known->away;
}

static const struct pleat_claim *claim_of(const struct world *world, uint32_t index, uint64_t id)
{
    if (index >= pleat_core_claim_count(world->core))
        return NULL;
    const struct pleat_claim *claim = pleat_core_claim(world->core, index);
    return claim->state != PLEAT_CLAIM_FREE && claim->id == id ? claim : NULL;
}

static uint32_t node_of(const struct world *world, const struct pleat_claim *claim)
{
    return pleat_view_claim_node(pleat_core_view(world->core), claim);
}

/* Nobody can say anything about the process now. */
static bool is_silent(const struct world *world, const struct pleat_claim *claim)
{
    const struct pleat_component *job = world_job(world, claim->component);
    return (!job->exited && is_away(world, job->site, job->lead_node)) ||
           is_away(world, claim->site, node_of(world, claim));
}

static struct world_process *find(struct world *world, uint64_t claim)
{
    for (size_t i = 0; i < world->processes.count; i++)
        if (world->processes.items[i].claim == claim)
            return &world->processes.items[i];
    return NULL;
}

static void drop(struct world *world, struct world_process *process)
{
    *process = world->processes.items[--world->processes.count];
}

static struct world_requests *requests_of(struct world *world, uint32_t component)
{
    struct world_requests none = {0};
    while (world->requests.count <= component)
        assert_int_equal(pleat_array_push(&world->requests, none), 0);
    struct world_requests *requests = &world->requests.items[component];
    if (requests->run != world_job(world, component)->run)
        *requests = (struct world_requests){.run = world_job(world, component)->run};
    return requests;
}

/* ---- what agents say ---- */

static void say(struct world *world, uint16_t kind, uint32_t index, uint64_t claim, uint64_t run,
                uint32_t reason)
{
    struct pleat_event event = {
        .kind = kind, .component = index, .u.kept = {.claim = claim, .run = run, .reason = reason}};
    world->host.emit(world->host.arg, &event);
}

/* What is said of an order that was given anew meanwhile is not taken: the new one is answered as
 * well (src/daemon/processes.c). */
static void say_of(struct world *world, uint16_t kind, const struct world_process *process,
                   uint32_t reason)
{
    for (size_t i = world->told.count; i-- > process->order + 1;)
        if (world->told.items[i].kind == PLEAT_DO_PREPARE &&
            world->told.items[i].id == process->claim) {
            world->outdated++;
            return;
        }
    say(world, kind, process->index, process->claim, process->run, reason);
}

/* Any site but one without delays can serve such requests, the last one first. */
static void say_any(struct world *world, uint32_t component)
{
    const struct world_requests *requests = requests_of(world, component);
    const struct pleat_view *view = pleat_core_view(world->core);
    for (uint32_t s = 0; s < view->site_count; s++) {
        struct pleat_event named = {
            .kind = PLEAT_EV_SITE_FOR_ANY,
            .component = component,
            .u.site_for_any = {.run = requests->run, .site = s, .rank = view->site_count - s}};
        if (s != world_job(world, component)->site && !view->sites[s].instant)
            world->host.emit(world->host.arg, &named);
    }
    struct pleat_event any = {
        .kind = PLEAT_EV_DEMANDED_ANY,
        .component = component,
        .u.demanded_any = {.run = requests->run, .waiting = requests->waiting_any}};
    world->host.emit(world->host.arg, &any);
}

static void say_demand(struct world *world, uint32_t component)
{
    const struct world_requests *requests = requests_of(world, component);
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED,
                                .component = component,
                                .u.demanded = {.run = requests->run,
                                               .requests = requests->asked,
                                               .satisfied = requests->satisfied,
                                               .waiting = requests->waiting}};
    world->host.emit(world->host.arg, &event);
    struct pleat_event on = {.kind = PLEAT_EV_DEMANDED_ON,
                             .component = component,
                             .u.demanded_on = {.run = requests->run,
                                               .architecture = requests->on,
                                               .waiting = requests->waiting_on}};
    struct pleat_event at = {.kind = PLEAT_EV_DEMANDED_AT,
                             .component = component,
                             .u.demanded_at = {.run = requests->run,
                                               .site = requests->at - 1,
                                               .waiting = requests->waiting_at}};
    if (requests->on > 0)
        world->host.emit(world->host.arg, &on);
    if (requests->at > 0)
        world->host.emit(world->host.arg, &at);
    if (requests->any)
        say_any(world, component);
}

/* What the node of a claim is, as its agent said. */
static uint32_t architecture_of(const struct world *world, const struct pleat_claim *claim)
{
    const struct pleat_node *node =
        pleat_view_node(pleat_core_view(world->core), claim->site, node_of(world, claim));
    return node ? node->architecture : 0;
}

/* The process on a claim is for a request that waits, if one fits. */
static bool serves(struct world *world, struct world_requests *requests,
                   const struct pleat_claim *claim)
{
    bool own = claim->site == world_job(world, claim->component)->site;
    bool there = !own && requests->waiting_at > 0 && claim->site == requests->at - 1;
    bool suits = own && requests->waiting_on > 0 && architecture_of(world, claim) == requests->on;
    bool plain = own && requests->waiting >
                            requests->waiting_on + requests->waiting_at + requests->waiting_any;
    bool any = !there && !suits && !plain && requests->waiting_any > 0;
    requests->waiting_at -= there;
    requests->waiting_on -= suits;
    requests->waiting_any -= any;
    requests->waiting -= there || suits || plain || any;
    world->elsewhere += any && !own;
    return there || suits || plain || any;
}

static void hand_over(struct world *world, struct world_process *process)
{
    const struct pleat_claim *claim = claim_of(world, process->index, process->claim);
    say_demand(world, process->component);
    process->state = WORLD_PROCESS_TAKEN;
    world->crossed += claim && claim->process == PLEAT_KEPT_UNPREPARING;
    pleat_fake_runner_add(world->runner, process->component, 1);
    say_of(world, PLEAT_EV_TAKEN, process, 0);
}

static void has_started(struct world *world, struct world_process *process)
{
    struct world_requests *requests = requests_of(world, process->component);
    process->state = WORLD_PROCESS_WAITING;
    say_of(world, PLEAT_EV_PREPARED, process, 0);
    const struct pleat_claim *claim = claim_of(world, process->index, process->claim);
    if (claim && serves(world, requests, claim))
        hand_over(world, process);
}

/* token: the number of the order that asked for the process */
static void on_started(void *arg, uint64_t token)
{
    struct world *world = arg;
    const struct pleat_effect *order = &world->told.items[token];
    struct world_process *process = find(world, order->id);
    const struct pleat_claim *claim = claim_of(world, order->u.claim.index, order->id);
    if (!process || !claim || process->state != WORLD_PROCESS_STARTING)
        return; /* it is not wanted any more, or was lost */
    if (is_silent(world, claim)) {
        world->host.later(world->host.arg, 1000000, on_started, world, token);
        return;
    }
    if (pleat_random_unit(&world->handing) < world->prepare_fail) {
        uint32_t reason =
            pleat_random_below(&world->handing, 2) ? PLEAT_GONE_NOT_STARTED : PLEAT_GONE_DIED;
        say_of(world, PLEAT_EV_PROCESS_GONE, process, reason);
        drop(world, process);
        return;
    }
    has_started(world, process);
}

/* ---- what they are told ---- */

/* token: the number of the order */
static void prepare(struct world *world, const struct pleat_effect *order, uint64_t token)
{
    struct world_process *known = find(world, order->id);
    if (known) { /* repeated: so is the answer */
        known->order = token;
        if (known->state == WORLD_PROCESS_WAITING)
            say_of(world, PLEAT_EV_PREPARED, known, 0);
        if (known->state == WORLD_PROCESS_TAKEN)
            say_of(world, PLEAT_EV_TAKEN, known, 0);
        return;
    }
    struct world_process process = {.claim = order->id,
                                    .run = order->u.claim.run,
                                    .index = order->u.claim.index,
                                    .component = order->component,
                                    .order = token,
                                    .state = WORLD_PROCESS_STARTING};
    const struct pleat_component *job = world_job(world, order->component);
    if (job->run != process.run || job->state != PLEAT_RUNNING)
        return; /* the run is being ended: nothing more is started */
    assert_int_equal(pleat_array_push(&world->processes, process), 0);
    world->host.later(world->host.arg, (int64_t)pleat_random_below(&world->handing, 3000000),
                      on_started, world, token);
}

static void unprepare(struct world *world, const struct pleat_effect *order)
{
    struct world_process *known = find(world, order->id);
    if (known && known->state == WORLD_PROCESS_TAKEN) {
        say_of(world, PLEAT_EV_TAKEN, known, 0);
        return;
    }
    if (known)
        drop(world, known);
    world->gone_unused++;
    say(world, PLEAT_EV_PROCESS_GONE, order->u.claim.index, order->id, order->u.claim.run,
        PLEAT_GONE_UNUSED);
}

/* It sends what others still need, and ends. */
static void on_left(void *arg, uint64_t token)
{
    struct world *world = arg;
    const struct pleat_effect *order = &world->told.items[token];
    struct world_process *process = find(world, order->id);
    const struct pleat_claim *claim = claim_of(world, order->u.claim.index, order->id);
    if (!process || !claim || process->state != WORLD_PROCESS_TAKEN)
        return;
    if (is_silent(world, claim)) {
        world->host.later(world->host.arg, 1000000, on_left, world, token);
        return;
    }
    pleat_fake_runner_add(world->runner, process->component, -1);
    world->left++;
    say_of(world, PLEAT_EV_PROCESS_GONE, process, PLEAT_GONE_STOPPED);
    drop(world, process);
}

static void on_told(void *arg, uint64_t token)
{
    struct world *world = arg;
    const struct pleat_effect order = world->told.items[token];
    const struct pleat_claim *claim = claim_of(world, order.u.claim.index, order.id);
    if (!claim || is_silent(world, claim))
        return; /* the claim is lost; or it is told again when the agent is back */
    if (order.kind == PLEAT_DO_PREPARE)
        prepare(world, &order, token);
    else if (order.kind == PLEAT_DO_LEAVE)
        world->host.later(world->host.arg, (int64_t)pleat_random_below(&world->handing, 3000000),
                          on_left, world, token);
    else
        unprepare(world, &order);
}

void world_processes_tell(struct world *world, const struct pleat_effect *effect)
{
    assert_int_equal(pleat_array_push(&world->told, *effect), 0);
    world->host.later(world->host.arg, order_us, on_told, world, world->told.count - 1);
}

/* ---- losses ---- */

void world_processes_lose(struct world *world, uint32_t site, uint32_t node)
{
    for (size_t i = world->processes.count; i-- > 0;) {
        struct world_process *process = &world->processes.items[i];
        const struct pleat_claim *claim = claim_of(world, process->index, process->claim);
        if (!claim)
            continue;
        const struct pleat_component *job = world_job(world, process->component);
        bool led = job->site == site && job->lead_node == node;
        bool here = claim->site == site && node_of(world, claim) == node;
        if (!led && here && process->state != WORLD_PROCESS_STARTING) {
            if (process->state == WORLD_PROCESS_TAKEN)
                pleat_fake_runner_add(world->runner, process->component, -1);
            say_of(world, PLEAT_EV_PROCESS_GONE, process, PLEAT_GONE_DIED);
        }
        if (led || here)
            drop(world, process);
    }
}

void world_processes_before(struct world *world, const struct pleat_event *event)
{
    if (event->kind != PLEAT_EV_LOST)
        return;
    const struct pleat_claim *claim = claim_of(world, event->component, event->u.claim.claim);
    if (!claim || claim->purpose != PLEAT_FOR_RUN || claim->state != PLEAT_CLAIM_HELD ||
        find(world, claim->id))
        return;
    const struct pleat_component *job = world_job(world, claim->component);
    if ((job->flags & PLEAT_COMPONENT_PREPARES) && job->state == PLEAT_RUNNING &&
        job->first_claim != event->component)
        pleat_fake_runner_add(world->runner, claim->component, -claim->count);
}

void world_processes_check(struct world *world)
{
    for (size_t i = world->processes.count; i-- > 0;) {
        struct world_process *process = &world->processes.items[i];
        const struct pleat_claim *claim = claim_of(world, process->index, process->claim);
        const struct pleat_component *job = world_job(world, process->component);
        bool over = job->run != process->run || job->exited;
        if (claim && claim->state != PLEAT_CLAIM_HELD &&
            !(over && process->state == WORLD_PROCESS_TAKEN))
            fail_msg("at %lld: claim %llu is given back, and a process of job %llu is on it",
                     (long long)world->now_us, (unsigned long long)process->claim,
                     (unsigned long long)job->job);
        if (!claim && !over && process->state == WORLD_PROCESS_TAKEN) /* its node was lost */
            pleat_fake_runner_add(world->runner, process->component, -1);
        if (!claim || (over && process->state == WORLD_PROCESS_TAKEN))
            drop(world, process);
    }
}

void world_processes_finish(struct world *world)
{
    pleat_array_finish(&world->processes);
    pleat_array_finish(&world->requests);
    pleat_array_finish(&world->told);
}

/* ---- what applications do ---- */

static uint32_t any_component(struct world *world)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    uint32_t first = (uint32_t)pleat_random_below(&world->handing, view->component_count);
    for (uint32_t i = 0; i < view->component_count; i++) {
        uint32_t c = (first + i) % view->component_count;
        const struct pleat_component *job = &view->components[c];
        if ((job->flags & PLEAT_COMPONENT_PREPARES) && job->state == PLEAT_RUNNING &&
            !is_away(world, job->site, job->lead_node))
            return c;
    }
    return PLEAT_NONE;
}

static struct world_process *any_process(struct world *world, uint32_t component, unsigned states)
{
    for (size_t i = 0; i < world->processes.count; i++) {
        struct world_process *process = &world->processes.items[i];
        const struct pleat_claim *claim = claim_of(world, process->index, process->claim);
        if (process->component == component && (states >> process->state & 1) && claim &&
            !is_silent(world, claim))
            return process;
    }
    return NULL;
}

/* Some requests need a process at a certain other site, where the run has not its own. */
static bool is_for_another_site(struct world *world, struct world_requests *requests,
                                const struct pleat_component *job)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    uint32_t site = (job->site + 1 + (uint32_t)(job->job % 2)) % view->site_count;
    if (!pleat_view_roams(job) || requests->asked % 3 != 1 || site == job->site ||
        view->sites[site].instant || view->sites[job->site].instant)
        return false;
    requests->at = site + 1;
    return true;
}

/* Others can be served at any site. */
static bool is_for_any_site(const struct world *world, const struct world_requests *requests,
                            const struct pleat_component *job)
{
    return pleat_view_roams(job) && requests->asked % 3 == 2 &&
           !pleat_core_view(world->core)->sites[job->site].instant;
}

static void ask(struct world *world, uint32_t component)
{
    struct world_requests *requests = requests_of(world, component);
    const struct pleat_component *job = world_job(world, component);
    struct world_process *process = any_process(world, component, 1u << WORLD_PROCESS_WAITING);
    const struct pleat_buffer *buffer = &pleat_core_view(world->core)->buffers[job->buffer];
    bool instant = pleat_core_view(world->core)->sites[job->site].instant;
    const struct pleat_claim *claim =
        process ? claim_of(world, process->index, process->claim) : NULL;
    if (requests->on == 0)
        requests->on = 1 + (uint32_t)(job->job % 2);
    requests->asked++;
    if (is_for_another_site(world, requests, job)) {
        requests->waiting++;
        requests->waiting_at++;
        say_demand(world, component);
        return;
    }
    if (!process && is_for_any_site(world, requests, job)) {
        requests->any = true;
        requests->waiting++;
        requests->waiting_any++;
        say_demand(world, component);
        return;
    }
    if (!instant && requests->asked % 4 == 1 &&
        !(claim && architecture_of(world, claim) == requests->on)) {
        requests->waiting++;
        requests->waiting_on++;
        say_demand(world, component);
    } else if (process) {
        requests->satisfied++;
        hand_over(world, process);
    } else if (instant && buffer->prepared > 0) { /* nobody is asked to prepare one there */
        requests->satisfied++;
        say_demand(world, component);
        say(world, PLEAT_EV_TAKEN, buffer->first_claim,
            pleat_core_claim(world->core, buffer->first_claim)->id, job->run, 0);
    } else {
        requests->waiting++;
        say_demand(world, component);
    }
}

/* One of those with which the run was started, but its first. */
static void end_started(struct world *world, uint32_t component, uint32_t reason)
{
    const struct pleat_component *job = world_job(world, component);
    uint32_t first = job->first_claim;
    if (first == PLEAT_NONE || pleat_core_claim(world->core, first)->count < 2 ||
        pleat_fake_runner_processes(world->runner, component) < 2)
        return;
    pleat_fake_runner_add(world->runner, component, -1);
    say(world, PLEAT_EV_PROCESS_GONE, first, pleat_core_claim(world->core, first)->id, job->run,
        reason);
}

static void end_one(struct world *world, uint32_t component)
{
    uint32_t reason = pleat_random_below(&world->handing, 3) ? PLEAT_GONE_STOPPED : PLEAT_GONE_DIED;
    unsigned states = 1u << WORLD_PROCESS_TAKEN;
    if (reason == PLEAT_GONE_DIED)
        states |= 1u << WORLD_PROCESS_WAITING | 1u << WORLD_PROCESS_STARTING;
    struct world_process *process = any_process(world, component, states);
    if (!process || pleat_random_below(&world->handing, 4) == 0) {
        end_started(world, component, reason);
        return;
    }
    if (process->state == WORLD_PROCESS_TAKEN)
        pleat_fake_runner_add(world->runner, component, -1);
    say_of(world, PLEAT_EV_PROCESS_GONE, process, reason);
    drop(world, process);
}

/* Words that are late, or about another's claim: nothing may come of them. */
static void say_nonsense(struct world *world)
{
    static const uint16_t kinds[] = {PLEAT_EV_PREPARED, PLEAT_EV_TAKEN, PLEAT_EV_PROCESS_GONE};
    uint32_t count = pleat_core_claim_count(world->core);
    if (count == 0)
        return;
    uint32_t index = (uint32_t)pleat_random_below(&world->handing, count);
    const struct pleat_claim *claim = pleat_core_claim(world->core, index);
    uint16_t kind = kinds[pleat_random_below(&world->handing, 3)];
    uint32_t reason = 1 + (uint32_t)pleat_random_below(&world->handing, 4);
    uint64_t run = world_job(world, claim->component)->run;
    bool of_other = !(world_job(world, claim->component)->flags & PLEAT_COMPONENT_PREPARES);
    struct pleat_event event = {
        .kind = kind,
        .component = index,
        .u.kept = {.claim = claim->id, .run = of_other ? run : run + 1, .reason = reason}};
    assert_int_equal(world_event(world, event, NULL), PLEAT_CORE_STALE);
}

/* An agent says what its host is: every other node is of another architecture. */
static void say_architecture(struct world *world)
{
    const struct pleat_view *view = pleat_core_view(world->core);
    if (view->node_count == 0)
        return;
    const struct pleat_node *node =
        &view->nodes[pleat_random_below(&world->handing, view->node_count)];
    struct pleat_event event = {
        .kind = PLEAT_EV_NODE_ARCHITECTURE,
        .component = node->site,
        .u.node_architecture = {.node = node->node, .architecture = 1 + node->node % 2}};
    world->host.emit(world->host.arg, &event);
}

/* A request that waits is not wanted any more. */
static void withdraw(struct world *world, uint32_t component)
{
    struct world_requests *requests = requests_of(world, component);
    uint32_t *const kinds[] = {&requests->waiting_any, &requests->waiting_on,
                               &requests->waiting_at};
    requests->waiting_at -= requests->waiting_at > 0 && requests->asked % 2;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (requests->waiting_on + requests->waiting_at + requests->waiting_any >=
            requests->waiting)
            *kinds[i] -= *kinds[i] > 0;
    requests->waiting--;
    say_demand(world, component);
}

void world_processes_act(struct world *world)
{
    if (pleat_core_view(world->core)->component_count == 0)
        return;
    uint32_t component = any_component(world);
    uint64_t what = pleat_random_below(&world->handing, 8);
    if (what == 0) {
        say_nonsense(world);
        say_architecture(world);
    }
    if (component == PLEAT_NONE)
        return;
    struct world_requests *requests = requests_of(world, component);
    if (what == 1 && requests->waiting > 0) {
        withdraw(world, component);
    } else if (what < 4) {
        end_one(world, component);
    } else {
        ask(world, component);
    }
    world_settle(world);
}

/* Processes of evolving jobs: orders to prepare them, and what agents say of them.
 *
 * The agent that leads a run knows what became of each order until the claim goes back
 * (`process_known`), and says it again when it is asked. Each order has a number that rises. What
 * is said of an order that was given anew meanwhile is old, and is not taken: the new order is
 * answered as well. */
#include "daemon/processes.h"

#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/architectures.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/process_sites.h"
#include "daemon/slots.h"
#include "daemon/turn_inputs.h"
#include "policy/nodes.h"
#include "wire/message.h"

static struct process_order *find(struct daemon *d, uint64_t claim)
{
    for (size_t i = 0; i < d->processes.orders.count; i++)
        if (d->processes.orders.items[i].claim == claim)
            return &d->processes.orders.items[i];
    return NULL;
}

/* ---- orders ---- */

/* The place of a claim in the core; PLEAT_NONE: it has none any more. */
static uint32_t index_of(struct daemon *d, uint64_t claim)
{
    const struct process_order *order = find(d, claim);
    uint32_t count = pleat_core_claim_count(d->core);
    if (order && order->index < count && pleat_core_claim(d->core, order->index)->id == claim)
        return order->index;
    for (uint32_t i = 0; i < count; i++)
        if (pleat_core_claim(d->core, i)->id == claim &&
            pleat_core_claim(d->core, i)->state != PLEAT_CLAIM_FREE)
            return i;
    return PLEAT_NONE;
}

static void emit_kept(struct daemon *d, uint16_t kind, uint64_t claim, uint64_t run,
                      uint32_t reason)
{
    struct pleat_event event = {.kind = kind,
                                .component = index_of(d, claim),
                                .u.kept = {.claim = claim, .run = run, .reason = reason}};
    if (event.component != PLEAT_NONE) /* else it has gone back meanwhile */
        turn_event(d, &event);
}

static uint64_t next_number(struct daemon *d)
{
    uint64_t now = (uint64_t)daemon_now_us(d);
    d->processes.last = now > d->processes.last ? now : d->processes.last + 1;
    return d->processes.last;
}

/* The order for a claim, with its number. NULL: no memory. */
static struct process_order *renew(struct daemon *d, const struct pleat_effect *effect,
                                   uint32_t node)
{
    struct process_order *order = find(d, effect->id);
    if (!order) {
        struct process_order fresh = {.claim = effect->id};
        if (pleat_array_push(&d->processes.orders, fresh))
            return NULL;
        order = &d->processes.orders.items[d->processes.orders.count - 1];
    }
    order->number = next_number(d);
    order->index = effect->u.claim.index;
    order->run = effect->u.claim.run;
    order->site = effect->u.claim.site;
    order->node = node;
    return order;
}

static json_t *slot_of(const struct pleat_piece *piece)
{
    return json_pack("[{s:I, s:i}]", "first", (json_int_t)piece->first, "count", 1);
}

static void prepare(struct daemon *d, const struct job *job, const struct pleat_effect *effect)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_claim *claim = pleat_core_claim(d->core, effect->u.claim.index);
    struct pleat_error err = {0};
    if (claim->id != effect->id || claim->first_piece == PLEAT_NONE ||
        claim->state != PLEAT_CLAIM_HELD || claim->process != PLEAT_KEPT_PREPARING)
        return; /* it has gone meanwhile, or what was said in the same turn answers the order that
                   is repeated here: a process must not be started on what is given back */
    const struct pleat_piece *piece = pleat_core_piece(d->core, claim->first_piece);
    struct process_order *order = renew(d, effect, component->lead_node);
    int rc = order ? 0 : pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
    const bool elsewhere = claim->site != component->site;
    const bool far = elsewhere || piece->node != component->lead_node;
    const char *feature = elsewhere ? PLEAT_FEATURE_SITES
                          : far     ? PLEAT_FEATURE_ROAMS
                                    : PLEAT_FEATURE_PROCESSES;
    if (!rc && far && !pleat_view_roams(component))
        rc = pleat_error_set(&err, PLEAT_E_UNSUPPORTED,
                             "its processor is on node %u, and the job is on node %u: processes "
                             "are prepared on that node only",
                             piece->node, component->lead_node);
    if (!rc && !agent_knows(d, component->site, component->lead_node, feature))
        rc = pleat_error_set(&err, PLEAT_E_UNSUPPORTED,
                             "the agent was started before Pleat was upgraded, and prepares none");
    /* those of another node are told to the agent of that (parts_process.h) */
    json_t *slots = !rc && !far && slots_are_bound(d, component->site) ? slot_of(piece) : NULL;
    if (!rc && far)
        agent_reach(d, claim->site, piece->node); /* needed in a moment */
    if (!rc)
        rc = agent_send(d, component->site, component->lead_node, "prepare",
                        json_pack("{s:I, s:I, s:I, s:o*, s:o*, s:s*}", "run",
                                  (json_int_t)effect->u.claim.run, "claim", (json_int_t)effect->id,
                                  "number", (json_int_t)order->number, "slots", slots, "node",
                                  far ? json_integer((json_int_t)piece->node) : NULL, "site",
                                  elsewhere ? d->config.sites[claim->site].name : NULL),
                        &err);
    if (!rc)
        return;
    daemon_log("job %lld: no process is prepared: %s", (long long)job->id, err.text);
    emit_kept(d, PLEAT_EV_PROCESS_GONE, effect->id, effect->u.claim.run, PLEAT_GONE_NOT_STARTED);
}

static void unprepare(struct daemon *d, const struct job *job, const struct pleat_effect *effect)
{
    const struct pleat_component *component = job_component(d, job);
    const struct process_order *order = find(d, effect->id);
    struct pleat_error err = {0};
    if (component->exited || component->run != effect->u.claim.run) {
        /* a run is over when none of its processes is left */
        emit_kept(d, PLEAT_EV_PROCESS_GONE, effect->id, effect->u.claim.run, PLEAT_GONE_UNUSED);
        return;
    }
    if (agent_send(d, component->site, component->lead_node, "unprepare",
                   json_pack("{s:I, s:I, s:I}", "run", (json_int_t)effect->u.claim.run, "claim",
                             (json_int_t)effect->id, "number",
                             (json_int_t)(order ? order->number : 0)),
                   &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text); /* repeated by the core */
}

/* How long a process may go on until its site takes its processor back, less the time in which it
 * is ended at the latest. */
static int64_t leaves_within_ms(struct daemon *d, const struct pleat_effect *effect)
{
    const struct pleat_claim *claim = pleat_core_claim(d->core, effect->u.claim.index);
    int64_t left_us = claim->id == effect->id && claim->until_us > 0
                          ? claim->until_us - daemon_now_us(d) -
                                pleat_core_parameter(d->core, PLEAT_PARAM_GRACE_US)
                          : 0;
    return left_us > 0 ? left_us / 1000 : 0;
}

static void leave(struct daemon *d, const struct job *job, const struct pleat_effect *effect)
{
    const struct pleat_component *component = job_component(d, job);
    struct pleat_error err = {0};
    if (!agent_knows(d, component->site, component->lead_node, PLEAT_FEATURE_LEAVE))
        return; /* it was started before Pleat was upgraded: the process is lost with its processor
                 */
    if (agent_send(d, component->site, component->lead_node, "leave",
                   json_pack("{s:I, s:I, s:I}", "run", (json_int_t)effect->u.claim.run, "claim",
                             (json_int_t)effect->id, "within_ms",
                             (json_int_t)leaves_within_ms(d, effect)),
                   &err))
        daemon_log("job %lld: %s", (long long)job->id, err.text); /* repeated by the core */
}

void processes_carry_out(struct daemon *d, const struct pleat_effect *effect)
{
    const struct job *job = job_of_component(d, effect->component);
    if (job && effect->kind == PLEAT_DO_PREPARE)
        prepare(d, job, effect);
    else if (job && effect->kind == PLEAT_DO_UNPREPARE)
        unprepare(d, job, effect);
    else if (job)
        leave(d, job, effect);
}

void processes_released(struct daemon *d, uint64_t claim)
{
    struct process_order *order = find(d, claim);
    struct pleat_error err = {0};
    if (!order)
        return;
    if (agent_send(
            d, order->site, order->node, "process_known",
            json_pack("{s:I, s:I}", "run", (json_int_t)order->run, "claim", (json_int_t)claim),
            &err))
        daemon_log("claim %llu: %s", (unsigned long long)claim, err.text);
    *order = d->processes.orders.items[--d->processes.orders.count];
}

void processes_refused(struct daemon *d, uint64_t run, uint64_t claim, bool prepare)
{
    emit_kept(d, PLEAT_EV_PROCESS_GONE, claim, run,
              prepare ? PLEAT_GONE_NOT_STARTED : PLEAT_GONE_UNUSED);
}

/* ---- earlier runs ---- */

static void tell_recalled(struct daemon *d, const struct job *job, const struct demand *all)
{
    struct pleat_event event = {.kind = PLEAT_EV_RECALLED,
                                .component = job->component,
                                .u.recalled = {.iteration_us = all->iteration_us,
                                               .executions = all->executions,
                                               .most = all->most}};
    turn_event(d, &event);
    for (size_t i = 0; i < all->rows.count;) {
        struct pleat_event rows = {.kind = PLEAT_EV_HISTORY,
                                   .component = job->component,
                                   .u.history.executions = all->executions};
        for (uint32_t n = 0; n < 5 && i < all->rows.count; n++, i++) {
            rows.u.history.rows[n].iteration = all->rows.items[i].iteration;
            rows.u.history.rows[n].requests = all->rows.items[i].requests;
            rows.u.history.count = n + 1;
        }
        turn_event(d, &rows);
    }
}

void processes_recall(struct daemon *d, const struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    if (component->buffer == PLEAT_NONE || !(component->flags & PLEAT_COMPONENT_PREPARES))
        return;
    const struct demands *runs = programs_demands(d, job, component->site);
    struct demand all = {0};
    if (runs && demands_sum(runs, &all))
        daemon_log("job %lld: out of memory: what earlier runs asked for is not recalled",
                   (long long)job->id);
    else if (runs || pleat_core_view(d->core)->buffers[component->buffer].executions > 0)
        tell_recalled(d, job, &all);
    demand_finish(&all);
}

/* ---- notices ---- */

static uint32_t reason_of(const json_t *params)
{
    static const struct {
        const char *name;
        uint32_t reason;
    } reasons[] = {{"stopped", PLEAT_GONE_STOPPED},
                   {"died", PLEAT_GONE_DIED},
                   {"not started", PLEAT_GONE_NOT_STARTED},
                   {"unused", PLEAT_GONE_UNUSED},
                   {"unfit", PLEAT_GONE_UNFIT}};
    const char *name = json_string_value(json_object_get(params, "reason"));
    for (size_t i = 0; name && i < sizeof(reasons) / sizeof(*reasons); i++)
        if (!strcmp(name, reasons[i].name))
            return reasons[i].reason;
    return PLEAT_GONE_DIED;
}

/* Is the claim's process to be asked for again? So while effects wait, as the log cannot be
 * written. */
static bool is_asked_anew(const struct daemon *d, uint64_t claim)
{
    for (size_t i = 0; i < d->turn.effects.count; i++)
        if (d->turn.effects.items[i].kind == PLEAT_DO_PREPARE &&
            d->turn.effects.items[i].id == claim)
            return true;
    return false;
}

static void take_claim(struct daemon *d, uint64_t run, uint16_t kind, const json_t *params)
{
    uint64_t claim = (uint64_t)json_integer_value(json_object_get(params, "claim"));
    uint64_t number = (uint64_t)json_integer_value(json_object_get(params, "number"));
    const struct process_order *order = find(d, claim);
    if ((order && number && number < order->number) || is_asked_anew(d, claim))
        return; /* said of an order that is given anew, which is answered as well */
    emit_kept(d, kind, claim, run, kind == PLEAT_EV_PROCESS_GONE ? reason_of(params) : 0);
}

/* Processes of the start have their processors together, in the first claim of the job: those that
 * are left say how many were given up. */
static void take_start_left(struct daemon *d, struct job *job, uint64_t run, const json_t *params)
{
    const struct pleat_component *component = job_component(d, job);
    int64_t left = json_integer_value(json_object_get(params, "left"));
    if (component->run != run || component->first_claim == PLEAT_NONE || left < 1)
        return;
    const struct pleat_claim *claim = pleat_core_claim(d->core, component->first_claim);
    int64_t had = job->start_run == run && job->start_left > 0 ? job->start_left : claim->count;
    for (int64_t i = left; i < had; i++)
        emit_kept(d, PLEAT_EV_PROCESS_GONE, claim->id, run, PLEAT_GONE_DIED);
    job->start_run = run;
    job->start_left = left;
}

static uint32_t count_of(const json_t *params, const char *name)
{
    json_int_t count = json_integer_value(json_object_get(params, name));
    return count < 0 ? 0 : count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void take_demand(struct daemon *d, struct job *job, uint64_t run, const json_t *params)
{
    json_int_t iteration = json_integer_value(json_object_get(params, "iteration"));
    json_int_t us = json_integer_value(json_object_get(params, "iteration_us"));
    int32_t reached = iteration < 0 || iteration > INT32_MAX ? 0 : (int32_t)iteration;
    struct pleat_event demanded = {.kind = PLEAT_EV_DEMANDED,
                                   .component = job->component,
                                   .u.demanded = {.run = run,
                                                  .iteration = reached,
                                                  .requests = count_of(params, "requests"),
                                                  .satisfied = count_of(params, "satisfied"),
                                                  .waiting = count_of(params, "waiting")}};
    struct pleat_event progress = {
        .kind = PLEAT_EV_PROGRESS,
        .component = job->component,
        .u.progress = {.run = run, .iteration = reached, .iteration_us = us}};
    struct pleat_event returning = {.kind = PLEAT_EV_RETURNING,
                                    .component = job->component,
                                    .u.returning = {.run = run,
                                                    .iteration = reached,
                                                    .processes = count_of(params, "returning")}};
    const struct pleat_component *component = job_component(d, job);
    if (component->buffer != PLEAT_NONE && component->run == run)
        demand_take(&job->demand, run,
                    pleat_core_view(d->core)->buffers[component->buffer].requests, reached,
                    demanded.u.demanded.requests);
    turn_event(d, &demanded);
    process_sites_wanted(d, job, run, json_object_get(params, "at"));
    process_sites_any(d, job, run, count_of(params, "any"));
    architectures_wanted(d, job, run, json_object_get(params, "on"));
    if (json_is_integer(json_object_get(params, "returning")))
        turn_event(d, &returning); /* nothing comes of it if the core knows it */
    if (us > 0)
        turn_event(d, &progress);
}

bool processes_take(struct daemon *d, struct job *job, uint64_t run, const char *method,
                    const json_t *params)
{
    if (!strcmp(method, "prepared"))
        take_claim(d, run, PLEAT_EV_PREPARED, params);
    else if (!strcmp(method, "taken"))
        take_claim(d, run, PLEAT_EV_TAKEN, params);
    else if (!strcmp(method, "process_gone"))
        take_claim(d, run, PLEAT_EV_PROCESS_GONE, params);
    else if (!strcmp(method, "start_left"))
        take_start_left(d, job, run, params);
    else if (!strcmp(method, "demanded"))
        take_demand(d, job, run, params);
    else
        return false;
    return true;
}

void processes_finish(struct daemon *d)
{
    pleat_array_finish(&d->processes.orders);
}

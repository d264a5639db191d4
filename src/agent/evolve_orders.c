/* evolve_orders.c - on which processors the daemon wants processes prepared. */
#include "agent/evolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/owner.h"
#include "agent/params.h"
#include "wire/message.h"

static bool forget_gone(struct pleat_evolve *evolve, uint64_t claim)
{
    for (size_t i = 0; i < evolve->gone.count; i++) {
        if (evolve->gone.items[i].claim != claim)
            continue;
        evolve->gone.items[i] = evolve->gone.items[--evolve->gone.count];
        return true;
    }
    return false;
}

static int read_claim(const struct pleat_run *run, const json_t *params, uint64_t *claim,
                      uint64_t *order, struct pleat_error *err)
{
    int64_t number = 0;
    if (!run->evolve)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " asks for no processes",
                               run->id);
    int result = pleat_param_id(params, "claim", claim, err);
    if (!result)
        result = pleat_get_int(params, "number", false, 0, INT64_MAX, &number, err);
    *order = (uint64_t)number;
    return result;
}

int pleat_evolve_prepare(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    struct pleat_evolve *evolve = run->evolve;
    uint64_t claim = 0, order = 0;
    int64_t node = -1;
    const json_t *slots = NULL;
    const char *name = NULL, *site = NULL;
    int result = read_claim(run, params, &claim, &order, err);
    if (!result)
        result = pleat_get_string(params, "site", false, &name, err);
    if (!result && name && !(site = pleat_site_named(evolve, name)))
        result =
            pleat_error_set(err, PLEAT_E_INVALID,
                            "processes of run %" PRIu64 " are not at site %.60s", run->id, name);
    if (!result)
        result = pleat_param_slots(params, &slots, err);
    if (!result)
        result = pleat_get_int(params, "node", false, 0, UINT32_MAX - 1, &node, err);
    if (result)
        return result;
    struct pleat_proc *proc = pleat_proc_on(evolve, claim);
    if (proc) { /* the order is repeated: what became of it is told again */
        proc->order = order;
        pleat_proc_tell(proc);
        return 0;
    }
    (void)forget_gone(evolve, claim);
    if (!pleat_run_is_live(run) || evolve->ending || run->killing) {
        pleat_evolve_tell_gone(evolve, claim, order, "unused");
        return 0;
    }
    const struct pleat_proc place = {.is_far = node >= 0,
                                     .far.site = site,
                                     .far.node = node >= 0 ? (uint32_t)node : 0,
                                     .slots = (json_t *)(uintptr_t)slots};
    result = pleat_proc_place(evolve, claim, order, &place);
    if (result) /* the daemon must not order the same again at once: so it pauses after "died" */
        pleat_evolve_tell_gone(evolve, claim, order,
                               result == PLEAT_E_UNSUPPORTED ? "died" : "not started");
    return 0;
}

int pleat_evolve_unprepare(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    uint64_t claim = 0, order = 0;
    int result = read_claim(run, params, &claim, &order, err);
    if (result)
        return result;
    struct pleat_proc *proc = pleat_proc_on(run->evolve, claim);
    if (!proc) /* it is gone, or was never heard of */
        pleat_evolve_tell_gone(run->evolve, claim, order, "unused");
    else if (proc->taken) /* the application was faster */
        pleat_proc_tell(proc);
    else
        pleat_proc_stop(proc, true);
    return 0;
}

static void warn_of_leaving(const struct pleat_proc *proc, int64_t within_ms)
{
    char where[80] = "", text[300];
    if (proc->is_far)
        snprintf(where, sizeof(where), " on node %" PRIu32 "%s%.40s", proc->far.node,
                 proc->far.site ? " of site " : "", proc->far.site ? proc->far.site : "");
    snprintf(text, sizeof(text),
             "process %" PRIu32 "%s is told to leave within %" PRId64
             " s: its site takes its processor back",
             proc->id, where, within_ms / 1000);
    pleat_evolve_warn(proc->evolve->run, text);
}

int pleat_evolve_leave(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    uint64_t claim = 0, order = 0;
    int64_t within_ms = 0;
    int result = read_claim(run, params, &claim, &order, err);
    if (!result)
        result = pleat_get_int(params, "within_ms", true, 0, INT64_MAX / 1000000, &within_ms, err);
    if (result)
        return result;
    struct pleat_proc *proc = pleat_proc_on(run->evolve, claim);
    if (!proc || proc->stopping || proc->unwanted)
        return 0; /* it is gone, which was told, or leaves already */
    warn_of_leaving(proc, within_ms);
    pleat_proc_leave(proc, within_ms * 1000);
    return 0;
}

int pleat_evolve_known(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    uint64_t claim = 0, order = 0;
    int result = read_claim(run, params, &claim, &order, err);
    if (!result)
        (void)forget_gone(run->evolve, claim);
    return result;
}

/* A request waits for an architecture that no node turns out to have, or for a site that is
 * removed. */
static void give_up(struct pleat_proc *proc, const struct pleat_error *why)
{
    char text[400];
    snprintf(text, sizeof(text), "process %" PRIu32 " will not come: %.300s", proc->id, why->text);
    pleat_evolve_warn(proc->evolve->run, text);
    pleat_evolve_spread(proc, "not started", 0, 0);
    pleat_proc_remove(proc);
}

int pleat_evolve_architectures(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    struct pleat_evolve *evolve = run->evolve;
    const json_t *machines = json_object_get(params, "machines");
    const char *node;
    json_t *name;
    bool others = false;
    if (!evolve)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " asks for no processes",
                               run->id);
    int result = pleat_get_bool(params, "others", true, &others, err);
    if (!result && !json_is_object(machines))
        result = pleat_error_set(err, PLEAT_E_INVALID, "'machines' is no object");
    json_object_foreach((json_t *)(uintptr_t)machines, node, name) if (!json_is_string(name))
        result =
            pleat_error_set(err, PLEAT_E_INVALID, "the machine of node %.20s is no text", node);
    if (result)
        return result;
    json_decref(evolve->machines);
    evolve->machines = json_incref((json_t *)(uintptr_t)machines); /* the message is dropped */
    evolve->others = others;
    json_decref(evolve->sites);
    evolve->sites = json_incref(json_object_get(params, "sites"));
    for (size_t i = evolve->procs.count; i-- > 0;) {
        struct pleat_proc *proc = evolve->procs.items[i];
        struct pleat_error why = {0};
        const char *site = NULL;
        if (pleat_proc_waits(proc) &&
            (pleat_site_check(evolve, proc->site, &site, &why) ||
             (proc->architecture &&
              pleat_architecture_check(evolve, proc->site, proc->architecture, &why))))
            give_up(proc, &why);
    }
    pleat_evolve_match(evolve);
    pleat_evolve_tell_demand(evolve);
    return 0;
}

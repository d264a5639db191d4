#include "daemon/parts_exit.h"

#include "base/clock.h"
#include "daemon/agent.h"
#include "daemon/parts.h"
#include "daemon/runs.h"

/* How long a batch system takes at most to say that it took a node away. */
#define TAKEN_US (3 * PLEAT_US_PER_S)
/* How long a launcher may take to end its program after a part on another node has ended badly. */
#define BAD_US (5 * PLEAT_US_PER_S)

/* The component of a run; NULL: the run is no component's any more, or the component has no
 * site. */
static const struct pleat_component *component_of(struct daemon *d, uint64_t run)
{
    uint32_t index = run_component(d, run);
    const struct pleat_component *c =
        index == PLEAT_NONE ? NULL : &pleat_core_view(d->core)->components[index];
    return c && c->site != PLEAT_NONE ? c : NULL;
}

static int64_t number_in(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

/* Whether nothing of the run is, or may be, on its other nodes. Parts that are there are ended. */
static bool is_alone(struct daemon *d, uint64_t run)
{
    const struct pleat_component *c = component_of(d, run);
    if (!c)
        return true;
    bool alone = parts_end_rest(d, run);
    for (uint32_t k = c->first_claim; k != PLEAT_NONE; k = pleat_core_claim(d->core, k)->next)
        for (uint32_t p = pleat_core_claim(d->core, k)->first_piece; p != PLEAT_NONE;
             p = pleat_core_piece(d->core, p)->next) {
            uint32_t node = pleat_core_piece(d->core, p)->node;
            uint32_t site = pleat_core_claim(d->core, k)->site;
            bool leads = site == c->site && node == c->lead_node;
            struct agent *other = leads ? NULL : agent_get(d, site, node);
            if (!other || other->gone || (other->connection && other->listed))
                continue;
            alone = false;
            agent_want(other);
        }
    return alone;
}

/* A batch system that takes a node away ends what runs there before it says so. So the end of a run
 * that ended badly, or with its agent, and not because Pleat ended it, is held back until the site
 * has had time to say so. Otherwise it would count as the user's fault, or would have no reason. */
static bool may_be_taken(struct daemon *d, uint64_t run, const json_t *params)
{
    const struct pleat_component *c = component_of(d, run);
    bool lost = json_is_true(json_object_get(params, "lost"));
    bool told = json_is_true(json_object_get(params, "told")); /* by its agent */
    return c && !number_in(params, "moved") && d->config.sites[c->site].brings_agents &&
           c->state != PLEAT_FINISHING &&
           (number_in(params, "code") || number_in(params, "signal") || lost) && (told || !lost);
}

bool parts_hold(struct daemon *d, uint64_t run, const json_t *params)
{
    bool taken = may_be_taken(d, run, params);
    struct pending_exit fresh = {run, NULL, 0};
    struct pending_exit *known = parts_pending_exit(d, run);
    bool has_parts = taken || known;
    for (size_t i = 0; i < d->parts.items.count; i++)
        has_parts = has_parts || d->parts.items.items[i].run == run;
    if (!has_parts && is_alone(d, run))
        return false;
    if (!known && !pleat_array_push(&d->parts.exits, fresh))
        known = &d->parts.exits.items[d->parts.exits.count - 1];
    if (!known) {
        daemon_log("out of memory: the end of run %llu is told too early", (unsigned long long)run);
        return false;
    }
    json_decref(known->params);
    known->params = json_deep_copy(params);
    known->until_us = taken ? daemon_now_us(d) + TAKEN_US : 0;
    return true;
}

static void raise_member(json_t *params, const char *name, int64_t value)
{
    json_object_set_new(params, name, json_integer(value));
}

/* Adds what the run's parts used, and why they ended. */
static void add_parts(struct daemon *d, uint64_t run, json_t *params)
{
    bool failed = number_in(params, "code") || number_in(params, "signal");
    for (size_t i = 0; i < d->parts.items.count; i++) {
        const struct part *part = &d->parts.items.items[i];
        if (part->run != run)
            continue;
        if (part->failed && failed && part->role == PART_NOW)
            json_object_set_new(params, "lost", json_true());
        if (part->spoiled) { /* the run ended because of this part */
            json_object_set(params, "code", json_object_get(part->end, "code"));
            json_object_set_new(params, "signal", json_integer(0));
        }
        if (part->over_memory && part->role == PART_NOW)
            json_object_set_new(params, "over_memory", json_true());
        /* the agent that leads has counted what its processes used */
        if (!json_is_integer(json_object_get(params, "cpu_us")) || part->role == PART_PROCESS)
            continue;
        raise_member(params, "cpu_us", number_in(params, "cpu_us") + part->cpu_us);
        raise_member(params, "memory_kb", number_in(params, "memory_kb") + part->memory_kb);
        if (part->max_rss_kb > number_in(params, "max_rss_kb"))
            raise_member(params, "max_rss_kb", part->max_rss_kb);
    }
}

void parts_end_spoiled(struct daemon *d)
{
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        if (!part->bad_us || daemon_now_us(d) < part->bad_us + BAD_US || part->role == PART_NEW ||
            part->role == PART_PROCESS)
            continue;
        const struct pleat_component *c = component_of(d, part->run);
        part->bad_us = 0;
        /* a part that another one has followed was left by a run that was started again */
        part->spoiled = part->role == PART_NOW && c && !c->exited && c->state == PLEAT_RUNNING &&
                        !parts_is_followed(d, part) && !parts_pending_exit(d, part->run);
        if (part->spoiled)
            parts_end_run(d, part);
    }
}

bool parts_next_exit(struct daemon *d, uint64_t *run, json_t **params)
{
    struct pending_exits *exits = &d->parts.exits;
    for (size_t i = 0; i < exits->count; i++) {
        if (!is_alone(d, exits->items[i].run) || daemon_now_us(d) < exits->items[i].until_us)
            continue;
        *run = exits->items[i].run;
        *params = exits->items[i].params;
        exits->items[i] = exits->items[--exits->count];
        if (*params)
            add_parts(d, *run, *params);
        return true;
    }
    return false;
}

/* parts_list.c - what the lists of agents say about parts of runs. */
#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/parts_inside.h"
#include "daemon/process_sites.h"
#include "daemon/runs.h"

/* Whether the list has that number. */
static bool has(const json_t *runs, uint64_t there)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(runs, index, entry)
    {
        if ((uint64_t)part_number_in(entry, "run") == there)
            return true;
    }
    return false;
}

/* Whether the list has any part of the run: each keeps what the node has of its state. */
static bool has_any(const json_t *runs, uint64_t run)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(runs, index, entry)
    {
        if (parts_run_of((uint64_t)part_number_in(entry, "run")) == run)
            return true;
    }
    return false;
}

/* Which processes a part is of that its agent has, as far as that can say: those after it are the
 * run's, unless they wait. */
static enum part_role role_of(const json_t *runs, const json_t *part)
{
    size_t index;
    const json_t *entry;
    if (json_is_object(json_object_get(part, "process")))
        return PART_PROCESS;
    if (json_is_true(json_object_get(part, "waits")))
        return PART_NEW;
    json_array_foreach(runs, index, entry)
    {
        if (parts_run_of((uint64_t)part_number_in(entry, "run")) ==
                parts_run_of((uint64_t)part_number_in(part, "run")) &&
            part_number_in(entry, "part") > part_number_in(part, "part") &&
            json_is_false(json_object_get(entry, "waits")))
            return PART_OLD;
    }
    return PART_NOW;
}

/* An agent that leads a run says which parts that has. A part of which nothing is known here was
 * started before this pleatd. It is lost if its agent has listed its runs without it. */
static void take_parts(struct agent *agent, uint64_t run, const json_t *parts)
{
    struct daemon *d = agent->daemon;
    size_t index;
    const json_t *entry;
    json_array_foreach(parts, index, entry)
    {
        const char *state = json_string_value(json_object_get(entry, "state"));
        const char *at = json_string_value(json_object_get(entry, "site"));
        struct part fresh = {.run = run,
                             .number = (uint32_t)part_number_in(entry, "part"),
                             .site = at ? process_sites_find(d, at) : agent->site,
                             .node = (uint32_t)part_number_in(entry, "node"),
                             .state = PART_STARTED};
        const char *role = json_string_value(json_object_get(entry, "role"));
        struct part *known = parts_find(d, run, fresh.number);
        if (known)
            part_set_role(d, known, role);
        if (!state || strcmp(state, "running") != 0 || known || fresh.site == PLEAT_NONE)
            continue;
        struct agent *other = agent_get(d, fresh.site, fresh.node);
        struct part *part = part_add(d, &fresh);
        if (part)
            part_set_role(d, part, role);
        if (part && other && other->connection && other->listed)
            part_lost(d, part);
        else if (other)
            agent_want(other);
    }
}

/* An agent has led a run that another one leads now: nothing of it is left there, or nobody wants
 * it. */
static void end_former_lead(struct agent *agent, uint64_t run, const json_t *entry)
{
    const char *state = json_string_value(json_object_get(entry, "state"));
    if (state && !strcmp(state, "exited"))
        part_request(agent->daemon, agent->site, agent->node, "forget",
                     json_pack("{s:I}", "run", (json_int_t)run));
    else
        part_request(agent->daemon, agent->site, agent->node, "kill",
                     json_pack("{s:I, s:f}", "run", (json_int_t)run, "grace_s", 0.0));
}

/* An agent has a part of a run. */
static void take_part(struct agent *agent, uint64_t run, uint32_t component, const json_t *entry)
{
    struct daemon *d = agent->daemon;
    struct part fresh = {.run = run,
                         .number = (uint32_t)part_number_in(entry, "part"),
                         .there = (uint64_t)part_number_in(entry, "run"),
                         .site = agent->site,
                         .node = agent->node,
                         .state = PART_STARTED,
                         .role = role_of(agent->runs, entry)};
    struct part *part = parts_find(d, run, fresh.number);
    fresh.has_state = json_object_get(entry, "ranks") != NULL;
    if (part && part->state == PART_WANTED)
        part->state = PART_SENT;
    if (part) {
        part->there = fresh.there;
        part->has_state = part->has_state || fresh.has_state;
        if (part->forgotten || part->left) /* which it may not have heard */
            part_forget(d, part);
        return;
    }
    part = part_add(d, &fresh);
    if (part && (!fresh.number || !part_has_node(d, component, agent->site, agent->node)))
        part_end(d, part, PART_REST_GRACE_S);
}

void parts_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    size_t index;
    const json_t *entry;
    json_array_foreach(agent->runs, index, entry)
    {
        uint64_t run = parts_run_of((uint64_t)part_number_in(entry, "run"));
        uint32_t component = run_component(d, run);
        if (component == PLEAT_NONE)
            continue;
        if (json_object_get(entry, "part"))
            take_part(agent, run, component, entry);
        else if (parts_is_other(agent, component))
            end_former_lead(agent, run, entry);
        else
            take_parts(agent, run, json_object_get(entry, "parts"));
    }
    json_array_foreach(agent->runs, index, entry)
    {
        uint64_t run = (uint64_t)part_number_in(entry, "run");
        uint32_t component = run_component(d, run);
        if (component != PLEAT_NONE && !parts_is_other(agent, component))
            parts_led_here(agent, run);
    }
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        uint32_t component = run_component(d, part->run);
        if (component != PLEAT_NONE && !parts_is_other(agent, component))
            part_tell(d, part);
        if (part->site != agent->site || part->node != agent->node)
            continue;
        const bool ends = part->told_to_end; /* which its agent may not have heard */
        part->told_to_end = false;
        /* what it kept is lost with it, also where it has not ended before */
        if ((part->state == PART_ENDED || part->has_state) && !part->left &&
            !has_any(agent->runs, part->run))
            part->state_lost = true;
        if (part_is_live(part) && !has(agent->runs, part->there)) {
            if (part->state == PART_STARTED)
                part_lost(d, part);
            else
                part->state = PART_WANTED; /* its agent was not asked, or does not have it any
                                            * more */
        }
        if (ends)
            part_unwanted(d, part);
        if (agent->gone && part->state == PART_WANTED && part->role == PART_PROCESS)
            part_lost(d, part); /* its processor is gone, too */
        else
            part_go_on(d, part);
    }
    parts_change_again(d, agent->site, agent->node);
}

/* parts_orders.c - what agents say to one another about the mailboxes of a run, and what processes
 * on other nodes say to the agent that leads their run, and are told by it. */
#include "daemon/parts_inside.h"
#include "daemon/runs.h"

void parts_order(struct agent *agent, const json_t *params)
{
    struct daemon *d = agent->daemon;
    const struct part *part = parts_find(d, (uint64_t)part_number_in(params, "run"),
                                         (uint32_t)part_number_in(params, "part"));
    if (part && part_is_live(part))
        part_request(d, part->site, part->node, "part_order", part_copy(params, part->there));
}

void parts_said(struct agent *agent, uint32_t component, const json_t *params)
{
    struct daemon *d = agent->daemon;
    const struct pleat_component *c = component_of(d, component);
    const struct part *part = parts_find_there(agent, (uint64_t)part_number_in(params, "run"));
    if (part)
        part_request(d, c->site, c->lead_node, "part_said", part_copy(params, part->run));
}

/* Lines go on at once: nothing of them is in the log, and nothing waits for it. One that does not
 * arrive is said again on the process's next connection, which begins when both agents are there
 * again. */
void parts_process_said(struct agent *agent, uint32_t component, const json_t *params)
{
    struct daemon *d = agent->daemon;
    const struct pleat_component *c = component_of(d, component);
    const struct part *part = parts_find_there(agent, (uint64_t)part_number_in(params, "run"));
    json_t *copy = part ? part_copy(params, part->run) : NULL;
    if (copy)
        json_object_set_new(copy, "part", json_integer(part->number));
    if (copy)
        part_request(d, c->site, c->lead_node, "process_said", copy);
}

void parts_process_told(struct agent *agent, const json_t *params)
{
    struct daemon *d = agent->daemon;
    const struct part *part = parts_find(d, (uint64_t)part_number_in(params, "run"),
                                         (uint32_t)part_number_in(params, "part"));
    if (part && part_is_live(part))
        part_request(d, part->site, part->node, "process_told", part_copy(params, part->there));
}

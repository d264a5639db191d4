/* parts_orders.c - what agents say to one another about the mailboxes of a run. */
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

/* parts_inside.h - what the files about parts of runs share (parts.h). */
#ifndef PLEAT_DAEMON_PARTS_INSIDE_H
#define PLEAT_DAEMON_PARTS_INSIDE_H

#include "daemon/agent.h"
#include "daemon/daemon.h"
#include "daemon/parts.h"

static inline int64_t part_number_in(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

static inline const struct pleat_component *component_of(struct daemon *d, uint32_t component)
{
    return &pleat_core_view(d->core)->components[component];
}

/* Whether the part's agent was asked to start it, and it has not ended. */
bool part_is_live(const struct part *part);
/* Whether the component has processors on that node, also those of a growth under way. */
bool part_has_node(struct daemon *d, uint32_t component, uint32_t node);
/* The agent that leads says which processes the part has ("now", "new" or "old"; NULL: it does not
 * say). */
void part_set_role(struct daemon *d, struct part *part, const char *name);
/* Keeps a copy of a part. NULL: no memory. */
struct part *part_add(struct daemon *d, const struct part *fresh);

/* Sends a request to an agent, and takes `params`. */
void part_request(struct daemon *d, uint32_t site, uint32_t node, const char *method,
                  json_t *params);
/* Tells the agent that leads the run what has become of a part. If that agent is not there it is
 * told after it has listed its runs. */
void part_tell(struct daemon *d, const struct part *part);
/* Has the part's agent end it, once. */
void part_end(struct daemon *d, struct part *part, double grace_s);
/* No agent has the part any more. */
void part_lost(struct daemon *d, struct part *part);
/* Asks the agent of the part's node to start it, once that agent is there. */
void part_go_on(struct daemon *d, struct part *part);
/* Time for what outlives the launcher on another node to end. */
#define PART_REST_GRACE_S 2.0

#endif

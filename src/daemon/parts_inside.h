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
/* Whether they are of the same run, on the same node. */
bool part_is_with(const struct part *part, const struct part *other);
/* A copy of what is said of a run, under that number; NULL: no memory. */
json_t *part_copy(const json_t *params, uint64_t run);
/* Under which number its agent, which is there, has it. */
void part_take_number(struct daemon *d, struct part *part, bool has_mailbox);
/* Whether it can be started now: one of new processes also beside that of those that compute. */
bool part_has_room(struct daemon *d, const struct part *part);
/* Has its agent forget it. */
void part_forget(struct daemon *d, struct part *part);
/* It was started, and has all that parts before it keep there: those that have ended are forgotten;
 * it has ended, and another one has all that it keeps: it is. */
void part_forget_before(struct daemon *d, const struct part *part);
void part_forget_after(struct daemon *d, struct part *part);
/* The run has left its node: nothing is kept there. */
void parts_leave_node(struct daemon *d, const struct part *part);
/* The last part there that keeps what its node has of the run's state; NULL: none does. */
const struct part *part_before(struct daemon *d, const struct part *part);
/* Whether the run has parted from what an earlier part kept on this node for this one. */
bool part_has_lost_state(struct daemon *d, const struct part *part);
/* Whether the component has processors on that node of a site, also those of a growth under way. */
bool part_has_node(struct daemon *d, uint32_t component, uint32_t site, uint32_t node);
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
/* Nobody wants it any more: it is not started, or ended. */
void part_unwanted(struct daemon *d, struct part *part);
/* No agent has the part any more. */
void part_lost(struct daemon *d, struct part *part);
/* Asks the agent of the part's node to start it, once that agent is there. */
void part_go_on(struct daemon *d, struct part *part);
/* Time for what outlives the launcher on another node to end. */
#define PART_REST_GRACE_S 2.0

#endif

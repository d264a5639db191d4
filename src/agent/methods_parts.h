/* methods_parts.h - requests of the daemon that are about parts of runs on other nodes, about
 * processes that a run asks for itself, about what runs write, and about terminals. */
#ifndef PLEAT_AGENT_METHODS_PARTS_H
#define PLEAT_AGENT_METHODS_PARTS_H

#include "agent/agent.h"
#include "wire/message.h"

struct pleat_part_method;

/* The member `run` of a request, of any kind. PLEAT_E_NOTFOUND: this agent has no such run. */
int pleat_method_run(const struct pleat_agent *agent, const json_t *params, struct pleat_run **run,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* NULL: no such request is of these. */
const struct pleat_part_method *pleat_part_method_find(const char *name);
/* Does what a request wants; its answer is {}. Errors: what is wrong with the request, or its run.
 */
int pleat_part_method_call(struct pleat_agent *agent, const struct pleat_part_method *method,
                           const struct pleat_message *message,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

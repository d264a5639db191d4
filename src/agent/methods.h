/* methods.h - requests of the daemon, each to its run; those about parts are in methods_parts.h. */
#ifndef PLEAT_AGENT_METHODS_H
#define PLEAT_AGENT_METHODS_H

#include "agent/agent.h"
#include "wire/message.h"

/* Answers one request. *result is owned by the caller and may stay NULL for {}. */
int pleat_agent_answer(struct pleat_agent *agent, const struct pleat_message *message,
                       json_t **result, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

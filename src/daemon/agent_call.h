/* agent_call.h - how sites start agents on their own nodes */
#ifndef PLEAT_DAEMON_AGENT_CALL_H
#define PLEAT_DAEMON_AGENT_CALL_H

#include "model/host.h"

struct daemon;

/* As agent_call of struct pleat_host. */
int agent_call(struct daemon *d, uint32_t site, uint32_t node, struct pleat_agent_call *call,
               struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

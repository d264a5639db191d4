/* notify.h - tells the daemon. */
#ifndef PLEAT_AGENT_NOTIFY_H
#define PLEAT_AGENT_NOTIFY_H

#include "agent/agent.h"

/* Sends a notification where the daemon can receive one now. params is stolen. It may be NULL only
 * where memory ran out: that is logged and the notification dropped (`list` will bring it again).
 */
void pleat_agent_notify(struct pleat_agent *agent, const char *method, json_t *params);
/* Sends lines where there is a connection. Takes the lines over. */
void pleat_agent_send(struct pleat_agent *agent, struct pleat_string *out);

#endif

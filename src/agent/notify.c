#include "agent/notify.h"

#include "agent/agent.h"
#include "agent/log.h"

/* A connection on which nothing can be sent reports itself as closed. Then `list` tells all again.
 */
void pleat_agent_send(struct pleat_agent *agent, struct pleat_string *out)
{
    if (!agent->connection)
        pleat_string_finish(out);
    else if (pleat_connection_send(agent->connection, out))
        agent->reporting = false;
}

void pleat_agent_notify(struct pleat_agent *agent, const char *method, json_t *params)
{
    struct pleat_string out = {0};
    if (!params)
        pleat_log("no memory to tell '%s'", method);
    if (!params || !agent->connection || !agent->reporting) {
        json_decref(params);
        return;
    }
    if (pleat_write_notification(agent->answering ? &agent->behind : &out, method, params)) {
        pleat_log("no memory to tell '%s'", method);
        pleat_string_finish(&out);
        return;
    }
    if (!agent->answering)
        pleat_agent_send(agent, &out);
}

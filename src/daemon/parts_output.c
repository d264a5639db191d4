#include "daemon/parts_output.h"

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/parts_inside.h"
#include "daemon/runs.h"

/* The most bytes that are queued for an agent that does not read them. */
#define BACKLOG_MAX 4194304

/* The agent that leads the run of a part; NULL: the run is no component's any more, or at no site.
 */
static struct agent *lead_of(struct daemon *d, const struct part *part)
{
    uint32_t index = run_component(d, part->run);
    const struct active_run run = {.run = part->run, .component = index};
    return index == PLEAT_NONE ? NULL : agent_of_run(d, &run);
}

static bool is_reached(const struct agent *agent)
{
    return agent && agent->connection && agent->listed;
}

static bool is_live(const struct part *part)
{
    return part->state == PART_SENT || part->state == PART_STARTED;
}

static void tell(struct daemon *d, const struct part *part, const char *method, json_t *params)
{
    struct pleat_error err = {0};
    if (!params || agent_send(d, part->site, part->node, method, params, &err))
        daemon_log("the agent of node %u cannot be told '%s': %s", part->node, method,
                   params ? err.text : "out of memory");
}

static void let_go(struct daemon *d, struct part *part, bool go)
{
    part->stopped = !go;
    tell(d, part, "part_go", json_pack("{s:I, s:b}", "run", (json_int_t)part->there, "go", go));
}

void parts_output(struct agent *agent, struct part *part, const struct pleat_message *message)
{
    struct daemon *d = agent->daemon;
    struct agent *lead = lead_of(d, part);
    struct pleat_error err = {0};
    if (!is_reached(lead) || pleat_connection_backlog(lead->connection) > BACKLOG_MAX) {
        if (lead && !part->stopped)
            let_go(d, part, false);
        return;
    }
    if (agent_send_bytes(d, lead->site, lead->node, message->method,
                         part_copy(message->params, part->run), message->bytes,
                         message->bytes_count, &err))
        daemon_log("what run %llu wrote on node %u cannot be handed on: %s",
                   (unsigned long long)part->run, part->node, err.text);
}

void parts_heard(struct agent *agent, const json_t *params)
{
    struct daemon *d = agent->daemon;
    const struct part *part =
        parts_find(d, (uint64_t)json_integer_value(json_object_get(params, "run")),
                   (uint32_t)json_integer_value(json_object_get(params, "part")));
    if (part && is_live(part))
        tell(d, part, "part_heard", part_copy(params, part->there));
}

void parts_output_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    for (size_t i = 0; i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        const struct agent *lead = lead_of(d, part);
        if (is_live(part) && is_reached(lead) &&
            (lead == agent || (part->site == agent->site && part->node == agent->node)))
            let_go(d, part, true);
    }
}

void parts_output_drained(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    for (size_t i = 0; agent->listed && i < d->parts.items.count; i++) {
        struct part *part = &d->parts.items.items[i];
        if (part->stopped && is_live(part) && lead_of(d, part) == agent)
            let_go(d, part, true);
    }
}

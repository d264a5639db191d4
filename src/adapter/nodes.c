#include "adapter/nodes.h"

#include <stdlib.h>
#include <string.h>

static void want(struct pleat_adapter_nodes *nodes)
{
    pleat_adapter_pace_want(nodes->pace, &nodes->question, 0);
}

/* "next": the number of the first node that is not in the answer, where that is too short for all.
 */
static void answer(struct pleat_adapter_nodes *nodes, int64_t id, size_t from)
{
    json_t *part = json_array();
    size_t count = json_array_size(nodes->known), at = from;
    for (; at < count && at - from < PLEAT_ADAPTER_NODES; at++)
        json_array_append(part, json_array_get(nodes->known, at));
    json_t *result = json_pack("{sosI}", "nodes", part, "age_ms",
                               (json_int_t)(uv_now(nodes->calls->loop) - nodes->known_ms));
    if (at < count)
        json_object_set_new(result, "next", json_integer((json_int_t)at));
    pleat_adapter_answer(nodes->calls->lines, id, result);
}

static void carry_out(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->nodes(&call->result, &call->err);
}

/* What was heard is an answer to all that wait; what went wrong only to the one for which it was
 * asked. */
static void on_asked(struct pleat_adapter_call *call)
{
    struct pleat_adapter_nodes *nodes = call->arg;
    if (call->failure) {
        if (!call->late)
            pleat_adapter_refuse(nodes->calls->lines, call->id, &call->err);
        return;
    }
    json_decref(nodes->known);
    nodes->known = json_incref(call->result);
    nodes->known_ms = uv_now(nodes->calls->loop);
    if (!call->late)
        answer(nodes, call->id, 0);
    for (size_t i = 0; i < nodes->waiting.count; i++)
        answer(nodes, nodes->waiting.items[i], 0);
    nodes->waiting.count = 0;
}

static bool ask(void *arg)
{
    struct pleat_adapter_nodes *nodes = arg;
    if (nodes->waiting.count == 0)
        return false;
    struct pleat_adapter_call *call =
        pleat_adapter_call_create(nodes->calls, nodes->waiting.items[0]);
    nodes->waiting.count--;
    memmove(nodes->waiting.items, nodes->waiting.items + 1,
            nodes->waiting.count * sizeof(*nodes->waiting.items));
    call->arg = nodes;
    call->carry_out = carry_out;
    call->done = on_asked;
    pleat_adapter_call_begin(call);
    if (nodes->waiting.count > 0)
        want(nodes);
    return true;
}

void pleat_adapter_nodes_open(struct pleat_adapter_nodes *nodes, struct pleat_adapter_calls *calls,
                              struct pleat_adapter_pace *pace)
{
    nodes->calls = calls;
    nodes->pace = pace;
    nodes->question = (struct pleat_adapter_question){.ask = ask, .arg = nodes};
}

void pleat_adapter_nodes_ask(struct pleat_adapter_nodes *nodes, int64_t id, size_t from)
{
    if (nodes->known &&
        (from > 0 || uv_now(nodes->calls->loop) - nodes->known_ms < nodes->pace->interval_ms)) {
        answer(nodes, id, from);
        return;
    }
    if (pleat_array_push(&nodes->waiting, id))
        abort();
    want(nodes);
}

/* nodes.h - what the nodes of a cluster are like: asked in its turn (pace.h), answered from what
 * was heard within the last interval where there is that.
 */
#ifndef PLEAT_ADAPTER_NODES_H
#define PLEAT_ADAPTER_NODES_H

#include "adapter/call.h"
#include "adapter/pace.h"
#include "base/array.h"

/* Nodes of an answer. pleatd reads it in one turn of its loop, in which nobody else is answered:
 * some milliseconds. */
enum { PLEAT_ADAPTER_NODES = 500 };

PLEAT_ARRAY(pleat_adapter_id_list, int64_t);

struct pleat_adapter_nodes {
    struct pleat_adapter_calls *calls;
    struct pleat_adapter_pace *pace;
    struct pleat_adapter_question question;
    json_t *known; /* as they were at known_ms; NULL: not asked yet */
    uint64_t known_ms;
    struct pleat_adapter_id_list waiting; /* requests, the oldest first, that wait for a turn */
};

void pleat_adapter_nodes_open(struct pleat_adapter_nodes *nodes, struct pleat_adapter_calls *calls,
                              struct pleat_adapter_pace *pace);
/* Answers request `id`, now or when the controller has been asked: with the nodes from number
 * `from` on, of which an answer has PLEAT_ADAPTER_NODES at most. Above 0: those of the same list as
 * before. */
void pleat_adapter_nodes_ask(struct pleat_adapter_nodes *nodes, int64_t id, size_t from);

#endif

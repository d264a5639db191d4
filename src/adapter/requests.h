/* requests.h - what an adapter program is asked (docs/protocol.md, "Adapters"). */
#ifndef PLEAT_ADAPTER_REQUESTS_H
#define PLEAT_ADAPTER_REQUESTS_H

#include "adapter/nodes.h"
#include "adapter/watch.h"

struct pleat_adapter {
    struct pleat_adapter_lines lines;
    struct pleat_adapter_calls calls;
    struct pleat_adapter_pace pace;
    struct pleat_adapter_watch watch;
    struct pleat_adapter_nodes nodes;
    bool greeted; /* the other side has said hello */
};

/* Handles a message; arg is the adapter. */
void pleat_adapter_request(void *arg, const struct pleat_message *message);

#endif

/* requests.h - what an adapter program is asked (docs/protocol.md, "Adapters"). */
#ifndef PLEAT_ADAPTER_REQUESTS_H
#define PLEAT_ADAPTER_REQUESTS_H

#include "adapter/watch.h"

struct pleat_adapter {
    struct pleat_adapter_lines lines;
    struct pleat_adapter_calls calls;
    struct pleat_adapter_watch watch;
    json_t *nodes; /* as they were at nodes_ms; NULL: not asked yet */
    uint64_t nodes_ms;
    bool greeted; /* the other side has said hello */
};

/* Handles a message; arg is the adapter. */
void pleat_adapter_request(void *arg, const struct pleat_message *message);

#endif

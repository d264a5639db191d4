/* requests.h - what pleat-slurm is asked (docs/protocol.md, "pleat-slurm"). */
#ifndef PLEAT_SLURM_REQUESTS_H
#define PLEAT_SLURM_REQUESTS_H

#include "slurm/watch.h"

struct pleat_slurm_adapter {
    struct pleat_slurm_lines lines;
    struct pleat_slurm_calls calls;
    struct pleat_slurm_watch watch;
    json_t *nodes; /* as they were at nodes_ms; NULL: not asked yet */
    uint64_t nodes_ms;
    bool greeted; /* the other side has said hello */
};

/* Handles a message; arg is the adapter. */
void pleat_slurm_request(void *arg, const struct pleat_message *message);

#endif

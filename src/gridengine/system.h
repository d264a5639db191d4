/* system.h - pleat-gridengine: a Grid Engine cluster's operations (adapter/operations.h), by its
 * commands, whose answers are XML where they can be.
 *
 * DRMAA is not used: it tells nothing of hosts and queues, and finds no job by its name.
 */
#ifndef PLEAT_GRIDENGINE_SYSTEM_H
#define PLEAT_GRIDENGINE_SYSTEM_H

#include "adapter/operations.h"

/* What is in pleat_adapter_wish.texts. */
enum pleat_gridengine_text {
    PLEAT_GRIDENGINE_QUEUE,
    PLEAT_GRIDENGINE_PE,
    PLEAT_GRIDENGINE_PE_NODES,
    PLEAT_GRIDENGINE_PROJECT,
    PLEAT_GRIDENGINE_ACCOUNT,
    PLEAT_GRIDENGINE_RESOURCES
};

extern const struct pleat_adapter_ops pleat_gridengine_commands;

/* The words of qrsh (pleat_adapter_system.step). */
void pleat_gridengine_step(const struct pleat_adapter_step *step, struct pleat_adapter_words *words,
                           struct pleat_adapter_words *variables);

#endif

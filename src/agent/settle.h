/* settle.h - what comes of the outstanding request of a malleable run. */
#ifndef PLEAT_AGENT_SETTLE_H
#define PLEAT_AGENT_SETTLE_H

#include "agent/malleable.h"

/* Settles the outstanding request as failed, and tells so. */
void pleat_malleable_failed(struct pleat_malleable *malleable, const char *text);
/* Settles the outstanding request as withdrawn, and tells so. */
void pleat_malleable_withdrawn(struct pleat_malleable *malleable);
/* Settles the outstanding resize as applied, and tells so. `warning`: empty, or an error that did
 * not prevent it. */
void pleat_malleable_applied(struct pleat_malleable *malleable, uint32_t processes,
                             const struct pleat_mailbox_cost *cost, const char *warning);

#endif

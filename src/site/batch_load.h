/* batch_load.h - how large a cluster is, and how much of it others use. */
#ifndef PLEAT_SITE_BATCH_LOAD_H
#define PLEAT_SITE_BATCH_LOAD_H

#include "site/batch_claims.h"

/* Asks for the nodes, unless that is being asked; what has changed is told as events. */
void pleat_batch_ask_nodes(struct pleat_batch_site *site);
/* SITE, if one of both, or the size of the largest node, has changed. others: processors that
 * others use, as far as they count. */
void pleat_batch_tell_size(struct pleat_batch_site *site, int32_t capacity, int32_t others);

#endif

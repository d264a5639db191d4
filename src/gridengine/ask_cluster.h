/* ask_cluster.h - what a cluster offers: as in struct pleat_adapter_ops. Its partitions are the
 * queues.
 */
#ifndef PLEAT_GRIDENGINE_ASK_CLUSTER_H
#define PLEAT_GRIDENGINE_ASK_CLUSTER_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

int pleat_gridengine_cluster(json_t **cluster, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_gridengine_nodes(json_t **nodes, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The nodes in what `qhost -xml -q` says. */
json_t *pleat_gridengine_nodes_of(const json_t *root);

/* How many seconds processes of a deleted job have in a queue that `qconf -sq` shows so; 0: it does
 * not say. */
int64_t pleat_gridengine_notice_of(const char *queue);

#endif

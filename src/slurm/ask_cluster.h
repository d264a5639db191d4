/* ask_cluster.h - what a cluster offers, by Slurm's commands: as in struct pleat_adapter_ops. */
#ifndef PLEAT_SLURM_ASK_CLUSTER_H
#define PLEAT_SLURM_ASK_CLUSTER_H

#include <jansson.h>

#include "base/error.h"

int pleat_slurm_ask_cluster(json_t **cluster, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_slurm_ask_nodes(json_t **nodes, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Adds to each node that is reserved, if there is one, `reservations`: the names "a,b" of those
 * that are active there. By a command always, since it is seldom needed. */
int pleat_slurm_ask_reservations(json_t *nodes, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Libslurm asks the database only with many more structs, so this is by a command always. */
int pleat_slurm_ask_accounts(const char *cluster, json_t **accounts,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

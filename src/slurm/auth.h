/* auth.h - whether a cluster's hosts know users by munge, and secrets that are sealed by it then.
 */
#ifndef PLEAT_SLURM_AUTH_H
#define PLEAT_SLURM_AUTH_H

#include <jansson.h>

#include "base/error.h"

/* type, info: the cluster's AuthType and AuthInfo. */
void pleat_slurm_auth_learn(const char *type, const char *info);

/* As pleat_adapter_ops.seal. cluster: of the same ops; it is asked if nothing was learnt yet, and
 * learns. */
int pleat_slurm_auth_seal(int (*cluster)(json_t **cluster, struct pleat_error *err),
                          const char *secret, char **sealed,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* rank_env.h - environment variables by which MPI launchers, and batch systems around them, tell a
 * process which rank it is. This is the only list of them. A daemon that a rank starts, or a job
 * that it submits, must not take itself for that rank, so these variables are removed there.
 * Variables that the user has set under these names are removed, too, since they look the same.
 */
#ifndef PLEAT_BASE_RANK_ENV_H
#define PLEAT_BASE_RANK_ENV_H

#include <stdbool.h>

/* Whether "NAME=value" is such a variable, or an MPI's setting that its launcher uses for the same.
 */
bool pleat_rank_env_is(const char *variable);
/* Whether a process with this environment (NULL at the end) is a rank of an MPI program. */
bool pleat_rank_env_is_rank(char *const *env);
/* "LD_PRELOAD=..." without the libraries that Pleat preloads into ranks (libpleat-fold,
 * libpleat-loopback). The caller frees it; NULL: out of memory. */
char *pleat_rank_env_preload(const char *variable);
/* Whether the variable is LD_PRELOAD and names such a library. */
bool pleat_rank_env_preloads(const char *variable);

#endif

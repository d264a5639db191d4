/* rank_env.h - variables by which launchers of MPI programs, and batch systems around them, tell a
 * process who it is. The one list of them: what such a process starts for good (a daemon), or
 * submits, is somebody else and must not take itself for that rank. What a user has set under these
 * names for the program around goes with them: nobody can tell the two apart there.
 */
#ifndef PLEAT_BASE_RANK_ENV_H
#define PLEAT_BASE_RANK_ENV_H

#include <stdbool.h>

/* Whether "NAME=value" is such a variable, or a setting of an MPI by which its launcher tells. */
bool pleat_rank_env_is(const char *variable);
/* Whether a process with this environment (NULL at the end) is a rank of an MPI program. */
bool pleat_rank_env_is_rank(char *const *env);
/* "LD_PRELOAD=..." without the libraries that Pleat preloads into ranks (libpleat-fold,
 * libpleat-loopback), to be freed; NULL: out of memory. */
char *pleat_rank_env_preload(const char *variable);
/* Whether it is LD_PRELOAD and names such a library. */
bool pleat_rank_env_preloads(const char *variable);

#endif

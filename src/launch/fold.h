/* fold.h - whether a program can be folded, and where libpleat-fold is. Like detect.h, it reads
 * files.
 *
 * Folding preloads a library into the program's processes (LD_PRELOAD). The dynamic loader does
 * that, so it works neither for static programs nor for those that run with more rights than their
 * user's.
 */
#ifndef PLEAT_LAUNCH_FOLD_H
#define PLEAT_LAUNCH_FOLD_H

#include "launch/launch.h"

/* Writes the path of libpleat-fold for an MPI, found as pleat_launch_library does.
 * PLEAT_E_NOTFOUND: it is not installed; PLEAT_E_UNSUPPORTED: not an MPI; PLEAT_E_TOOBIG. */
int pleat_launch_fold_library(enum pleat_mpi mpi, char *path, size_t size,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether libpleat-fold can be preloaded into the program at `path`. PLEAT_E_UNSUPPORTED, with the
 * reason: it is linked statically, runs as another user, or its file has capabilities. Scripts and
 * files that cannot be read are assumed to be able. */
int pleat_launch_fold_check(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether LD_PRELOAD in an environment (NULL at the end) leaves to libpleat-fold the functions that
 * it takes over. PLEAT_E_UNSUPPORTED names a library that takes them over, too, such as a profiler
 * of MPI calls. Libraries that cannot be read are ignored. */
int pleat_launch_fold_check_preload(const char *const *env,
                                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

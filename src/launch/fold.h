/* fold.h - whether a program can be folded, and where libpleat-fold is. Reads files, as detect.h
 * does.
 *
 * Folding preloads a library into the program's processes (LD_PRELOAD). The dynamic loader does
 * that for programs that it starts, and not for those that run with more rights than their user's.
 */
#ifndef PLEAT_LAUNCH_FOLD_H
#define PLEAT_LAUNCH_FOLD_H

#include "launch/launch.h"

/* The library for an MPI, beside the program that runs: as it was built, or as it was installed.
 * PLEAT_E_NOTFOUND: there is none; PLEAT_E_UNSUPPORTED: for no such MPI; PLEAT_E_TOOBIG. */
int pleat_launch_fold_library(enum pleat_mpi mpi, char *path, size_t size,
                              struct pleat_error *err) PLEAT_MUST_CHECK;

/* Can libpleat-fold be preloaded into that program? PLEAT_E_UNSUPPORTED, with why not: it is linked
 * statically, or runs as another user, or with capabilities of its file. Scripts, and files that
 * cannot be read, are taken to be able. `path` is a path. */
int pleat_launch_fold_check(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Is there, among what LD_PRELOAD names in an environment (NULL at the end), a library that takes
 * over what libpleat-fold takes over (a profiler of MPI calls, say)? PLEAT_E_UNSUPPORTED, with its
 * name. Libraries that cannot be found are the dynamic loader's business. */
int pleat_launch_fold_check_preload(const char *const *env,
                                    struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

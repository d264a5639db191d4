/* library.h - where the libraries are that Pleat preloads into programs. It looks at files. */
#ifndef PLEAT_LAUNCH_LIBRARY_H
#define PLEAT_LAUNCH_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/* Writes the path of the library with that file name, next to the running program: in a build
 * directory or as installed. PLEAT_E_NOTFOUND: there is none; PLEAT_E_UNSUPPORTED: its path cannot
 * stand in LD_PRELOAD; PLEAT_E_TOOBIG. */
int pleat_launch_library(const char *file, char *path, size_t size,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes the path of libpleat-loopback (src/loopback), which Open MPI needs on one node. Errors as
 * above. */
int pleat_launch_loopback(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

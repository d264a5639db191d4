/* library.h - where the libraries are that Pleat preloads into programs. Looks at files. */
#ifndef PLEAT_LAUNCH_LIBRARY_H
#define PLEAT_LAUNCH_LIBRARY_H

#include <stddef.h>

#include "base/error.h"

/* The library of that file name, beside the program that runs: as it was built, or as it was
 * installed. PLEAT_E_NOTFOUND: there is none; PLEAT_E_UNSUPPORTED: its path cannot stand in a list
 * of libraries to preload; PLEAT_E_TOOBIG. */
int pleat_launch_library(const char *file, char *path, size_t size,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* libpleat-loopback, which Open MPI's launcher needs on one node (src/loopback). As above. */
int pleat_launch_loopback(char *path, size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

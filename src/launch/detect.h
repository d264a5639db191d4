/* detect.h - which MPI a program was linked with. Reads the program's file, so this is the part of
 * src/launch that is not pure; the decision what to do about it is the caller's.
 */
#ifndef PLEAT_LAUNCH_DETECT_H
#define PLEAT_LAUNCH_DETECT_H

#include "launch/launch.h"

struct pleat_launch_detected {
    enum pleat_mpi mpi;
    bool malleable; /* linked with libpleat: it can be resized while it runs */
};

/* Looks at the libraries an ELF program names itself (DT_NEEDED). Scripts, other files, and
 * programs that reach MPI only through another library or dlopen give {none, false}. A broken ELF
 * file is treated like any other file: whether it can run is found out by running it.
 * PLEAT_E_NOTFOUND / PLEAT_E_SYSTEM: the file cannot be opened or read. PLEAT_E_UNSUPPORTED: it is
 * linked with two MPIs, or with the libpleat of the other MPI: it cannot work. `path` is a path,
 * not searched in PATH (pleat_launch_find does that). Blocks for as long as the file system does.
 */
int pleat_launch_detect(const char *path, struct pleat_launch_detected *detected,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Where execvp would find `program`: a name with a slash is taken from directory `cwd` (NULL: as it
 * is), else the first executable regular file in `search` (the value of PATH; NULL: the system's
 * default). Writes the path to buffer. PLEAT_E_NOTFOUND, PLEAT_E_TOOBIG. */
int pleat_launch_find(const char *program, const char *search, const char *cwd, char *buffer,
                      size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

/* detect.h - which MPI a program was linked with. It reads the program's file, unlike launch.h.
 * What to do about it is for the caller to decide.
 */
#ifndef PLEAT_LAUNCH_DETECT_H
#define PLEAT_LAUNCH_DETECT_H

#include "launch/launch.h"

struct pleat_launch_detected {
    enum pleat_mpi mpi;
    bool malleable; /* linked with libpleat, so it can be resized while it runs */
};

/* Looks at the libraries that an ELF program names itself (DT_NEEDED). `path` is not searched in
 * PATH (pleat_launch_find does that). Scripts, other files, broken ELF files, and programs that
 * reach MPI only through another library or dlopen give {none, false}: whether such a file can run
 * shows when it is run. PLEAT_E_NOTFOUND, PLEAT_E_SYSTEM: the file cannot be opened or read.
 * PLEAT_E_UNSUPPORTED: it is linked with two MPIs, or with the libpleat of the other MPI, so it
 * cannot work. Blocks for as long as the file system does. */
int pleat_launch_detect(const char *path, struct pleat_launch_detected *detected,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* Finds `program` as execvp would, and writes its path to buffer. A name with a slash is relative
 * to directory `cwd` (NULL: to the current one). Other names are searched in `search` (a value of
 * PATH; NULL: the system's default) for the first executable regular file. PLEAT_E_NOTFOUND,
 * PLEAT_E_TOOBIG. */
int pleat_launch_find(const char *program, const char *search, const char *cwd, char *buffer,
                      size_t size, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

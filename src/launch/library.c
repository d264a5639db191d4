#include "launch/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

int pleat_launch_library(const char *file, char *path, size_t size, struct pleat_error *err)
{
    static const char *const directories[] = {"../lib", PLEAT_LIBRARY_DIR};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        char beside[PATH_MAX], whole[PATH_MAX];
        snprintf(beside, sizeof(beside), "%s/%s", directories[i], file);
        int rc = pleat_paths_beside(beside, path, size, err);
        if (rc)
            return rc;
        if (!realpath(path, whole))
            continue;
        /* the dynamic loader splits LD_PRELOAD at these characters */
        if (strlen(whole) >= size || strpbrk(whole, ": \t\n"))
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "'%s' cannot be preloaded: its path has a blank or a ':', or is "
                                   "too long; install Pleat elsewhere",
                                   whole);
        memcpy(path, whole, strlen(whole) + 1);
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no %s where Pleat's libraries are",
                           file);
}

int pleat_launch_loopback(char *path, size_t size, struct pleat_error *err)
{
    int rc = pleat_launch_library("libpleat-loopback.so", path, size, err);
    return rc == PLEAT_E_NOTFOUND
               ? pleat_error_set(err, rc,
                                 "there is no libpleat-loopback.so where Pleat's libraries are, "
                                 "which Open MPI programs start with: install Pleat anew")
               : rc;
}

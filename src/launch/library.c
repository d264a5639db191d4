#include "launch/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pleat_launch_library(const char *file, char *path, size_t size, struct pleat_error *err)
{
    static const char *const directories[] = {"../lib", PLEAT_LIBRARY_DIR};
    char self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return pleat_error_sys(err, errno, "cannot find out where this program is");
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        char whole[PATH_MAX];
        int used = snprintf(path, size, "%s/%s/%s", self, directories[i], file);
        if (used < 0 || (size_t)used >= size)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of %s is too long", file);
        if (!realpath(path, whole))
            continue;
        /* lists of libraries to preload are cut there */
        if (strlen(whole) >= size || strpbrk(whole, ": \t\n"))
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "'%s' cannot be preloaded: its path has a blank or a ':', or is "
                                   "too long; install Pleat elsewhere",
                                   whole);
        memcpy(path, whole, strlen(whole) + 1);
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no %s beside %s", file, self);
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

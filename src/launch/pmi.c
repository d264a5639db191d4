#include "launch/pmi.h"

#include <stdio.h>
#include <unistd.h>

#include "base/paths.h"

/* The program with that name beside this one, or, for the tests' programs, in ../bin. does: what it
 * does, for people. */
static int find(const char *name, const char *does, char *path, size_t size,
                struct pleat_error *err)
{
    static const char *const folders[] = {"", "../bin/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char file[64];
        snprintf(file, sizeof(file), "%s%s", folders[i], name);
        int rc = pleat_paths_beside(file, path, size, err);
        if (rc || access(path, X_OK) == 0)
            return rc;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no %s beside this program, which %s: install Pleat anew", name,
                           does);
}

int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err)
{
    return find("pleat-pmi", "starts MPICH programs", path, size, err);
}

int pleat_launch_remote(char *path, size_t size, struct pleat_error *err)
{
    return find("pleat-remote", "starts programs on several nodes", path, size, err);
}

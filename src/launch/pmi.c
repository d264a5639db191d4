#include "launch/pmi.h"

#include <stdio.h>
#include <unistd.h>

#include "base/paths.h"

/* The program with that name beside this one, or, for the tests' programs, in ../bin. */
static int find(const char *name, char *path, size_t size, struct pleat_error *err)
{
    static const char *const folders[] = {"", "../bin/"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char file[64];
        snprintf(file, sizeof(file), "%s%s", folders[i], name);
        int rc = pleat_paths_beside(file, path, size, err);
        if (rc || access(path, X_OK) == 0)
            return rc;
    }
    return PLEAT_E_NOTFOUND;
}

int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err)
{
    int rc = find("pleat-pmi", path, size, err);
    return rc == PLEAT_E_NOTFOUND
               ? pleat_error_set(err, rc,
                                 "there is no pleat-pmi beside this program, which starts MPICH "
                                 "programs: install Pleat anew")
               : rc;
}

int pleat_launch_remote(char *path, size_t size, struct pleat_error *err)
{
    int rc = find("pleat-remote", path, size, err);
    return rc == PLEAT_E_NOTFOUND
               ? pleat_error_set(err, rc,
                                 "there is no pleat-remote beside this program, which starts "
                                 "programs on several nodes: install Pleat anew")
               : rc;
}

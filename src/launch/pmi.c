#include "launch/pmi.h"

#include <unistd.h>

#include "base/paths.h"

int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err)
{
    /* the second is for the tests' programs */
    static const char *const files[] = {"pleat-pmi", "../bin/pleat-pmi"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        int rc = pleat_paths_beside(files[i], path, size, err);
        if (rc || access(path, X_OK) == 0)
            return rc;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no pleat-pmi beside this program, which starts MPICH "
                           "programs: install Pleat anew");
}

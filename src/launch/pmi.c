#include "launch/pmi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pleat_launch_pmi(char *path, size_t size, struct pleat_error *err)
{
    static const char *const directories[] = {"", "../bin/"}; /* the second from the tests' */
    char self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return pleat_error_sys(err, errno, "cannot find out where this program is");
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        int used = snprintf(path, size, "%s/%spleat-pmi", self, directories[i]);
        if (used < 0 || (size_t)used >= size)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of pleat-pmi is too long");
        if (access(path, X_OK) == 0)
            return 0;
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no pleat-pmi beside %s, which starts MPICH programs: install "
                           "Pleat anew",
                           self);
}

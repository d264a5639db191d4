#include "base/rank_env.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD="

static bool begins_with_one(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (!strncmp(text, *beginnings, strlen(*beginnings)))
            return true;
    return false;
}

bool pleat_rank_env_is(const char *variable)
{
    /* PE_HOSTFILE tells Open MPI that it is in a job of Grid Engine's */
    static const char *const prefixes[] = {
        "OMPI_",        "ORTE_",  "PRTE_",  "PMIX_", "PMI_",        "PMI2_",
        "MPI_LOCAL",    "MPIR_",  "HYDRA_", "HYDI_", "MPIEXEC_",    "MV2_COMM_",
        "I_MPI_MPIRUN", "SLURM_", "PALS_",  "FLUX_", "PE_HOSTFILE", NULL};
    return begins_with_one(variable, prefixes);
}

bool pleat_rank_env_is_rank(char *const *env)
{
    static const char *const marks[] = {
        "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "PMI_FD=", NULL};
    for (; *env; env++)
        if (begins_with_one(*env, marks))
            return true;
    return false;
}

/* Whether the first `length` bytes of `name` are the path of a library that Pleat preloads. */
static bool is_pleats(const char *name, size_t length)
{
    static const char *const libraries[] = {"libpleat-fold", "libpleat-loopback",
                                            "libpleat-farewell", "libpleat-early"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (memmem(name, length, libraries[i], strlen(libraries[i])))
            return true;
    return false;
}

bool pleat_rank_env_preloads(const char *variable)
{
    return !strncmp(variable, PRELOAD, strlen(PRELOAD)) && is_pleats(variable, strlen(variable));
}

char *pleat_rank_env_preload(const char *variable)
{
    const size_t start = strlen(PRELOAD);
    char *kept = malloc(strlen(variable) + 1);
    if (!kept)
        return NULL;
    char *end = stpcpy(kept, PRELOAD);
    for (const char *at = variable + start; *at;) {
        size_t length = strcspn(at, ": ");
        if (length && !is_pleats(at, length)) {
            if (end > kept + start)
                *end++ = ':';
            memcpy(end, at, length);
            end += length;
        }
        at += length + (at[length] != '\0');
    }
    *end = '\0';
    return kept;
}

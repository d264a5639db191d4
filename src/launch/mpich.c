/* mpich.c - MPICH 4 with its process manager hydra.
 *
 * Debian's build (ch4:ucx) can neither spawn nor connect, so there is nothing to prepare for a
 * resize: its programs are relaunched. `-rmk user -launcher fork`: within a batch job hydra would
 * ask the batch system, and would go through ssh to a node it does not take for its own.
 * oversubscribed has no effect: MPIR_CVAR_POLLS_BEFORE_YIELD was tried (6 ranks on 2 processors)
 * and changes nothing.
 */
#include <string.h>

#include "launch/launcher.h"

static bool inherited(const char *name)
{
    static const char *const prefixes[] = {
        "PMI_",
        "HYDI_",
        "MPI_LOCALNRANKS=",
        "MPI_LOCALRANKID=",
        "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int compose(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err)
{
    (void)env;
    int result = pleat_launch_check_program("mpiexec", request, err);
    if (result)
        return result;
    pleat_launch_add(argv, "mpiexec.mpich");
    pleat_launch_add(argv, "-rmk");
    pleat_launch_add(argv, "user");
    if (pleat_launch_is_local(request)) {
        pleat_launch_add(argv, "-launcher");
        pleat_launch_add(argv, "fork");
    } else {
        pleat_launch_add(argv, "-hosts");
        pleat_launch_add_hosts(argv, request);
    }
    pleat_launch_add(argv, "-bind-to");
    pleat_launch_add(argv, "none");
    if (request->preload) {
        pleat_launch_add(argv, "-genv");
        pleat_launch_add(argv, "LD_PRELOAD");
        pleat_launch_add_preload(argv, request, "");
    }
    pleat_launch_add(argv, "-n");
    pleat_launch_addf(argv, "%u", request->processes);
    return 0;
}

const struct pleat_launcher pleat_launcher_mpich = {"mpich", false, inherited, compose};

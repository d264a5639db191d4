/* none.c - a program that is not an MPI program is executed as it is. It may start MPI programs
 * itself, so it is assumed that these can spawn.
 */
#include "launch/launcher.h"

static int compose(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err)
{
    (void)argv;
    (void)env;
    if (request->processes != 1)
        return pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "'%s' would need %u processes, but it is not an MPI program: ask for "
            "one process, or name its MPI",
            request->argv[0], request->processes);
    if (!pleat_launch_is_local(request))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "'%s' is not an MPI program: it can start only on its own node",
                               request->argv[0]);
    return 0;
}

const struct pleat_launcher pleat_launcher_none = {"none", true, false, NULL, compose};

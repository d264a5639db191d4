#include "launch/launch.h"

#include <string.h>

#include "launch/launcher.h"

static const struct pleat_launcher *const launchers[] = {
    [PLEAT_MPI_NONE] = &pleat_launcher_none,
    [PLEAT_MPI_OPENMPI] = &pleat_launcher_openmpi,
    [PLEAT_MPI_MPICH] = &pleat_launcher_mpich,
};
#define LAUNCHERS (sizeof(launchers) / sizeof(*launchers))

const char *pleat_mpi_name(enum pleat_mpi mpi)
{
    return (size_t)mpi < LAUNCHERS ? launchers[mpi]->name : "unknown";
}

bool pleat_mpi_spawns(enum pleat_mpi mpi)
{
    return (size_t)mpi < LAUNCHERS && launchers[mpi]->spawns;
}

bool pleat_mpi_yields(enum pleat_mpi mpi)
{
    return (size_t)mpi < LAUNCHERS && launchers[mpi]->yields;
}

int pleat_mpi_parse(const char *name, enum pleat_mpi *mpi, struct pleat_error *err)
{
    for (size_t i = 0; i < LAUNCHERS; i++) {
        if (strcmp(name, launchers[i]->name) == 0) {
            *mpi = (enum pleat_mpi)i;
            return 0;
        }
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "unknown MPI '%s': known are none, openmpi, mpich", name);
}

/* Host names become parts of an option's value, a list with ':' and ','. */
static int check_hosts(const struct pleat_launch_request *request, struct pleat_error *err)
{
    for (size_t i = 0; i < request->node_count; i++) {
        const char *host = request->nodes[i].host;
        if (host && (!*host || *host == '-' || strpbrk(host, ",:@ \t\n")))
            return pleat_error_set(err, PLEAT_E_INVALID, "host name '%s' cannot be used", host);
        if (request->nodes[i].slots == 0)
            return pleat_error_set(err, PLEAT_E_INVALID, "host '%s' offers no slot",
                                   host ? host : "localhost");
    }
    return 0;
}

static int check(const struct pleat_launch_request *request, struct pleat_error *err)
{
    if ((size_t)request->mpi >= LAUNCHERS)
        return pleat_error_set(err, PLEAT_E_INVALID, "unknown MPI %d", (int)request->mpi);
    if (!request->argv || !request->argv[0] || !*request->argv[0])
        return pleat_error_set(err, PLEAT_E_INVALID, "no program was given");
    if (request->processes == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' was to start with 0 processes",
                               request->argv[0]);
    if (request->processes > PLEAT_LAUNCH_PROCESSES_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "'%s' was to start with %u processes: the limit is %d",
                               request->argv[0], request->processes, PLEAT_LAUNCH_PROCESSES_MAX);
    return check_hosts(request, err);
}

static bool is_inherited(const char *entry)
{
    for (size_t i = 0; i < LAUNCHERS; i++)
        if (launchers[i]->inherited && launchers[i]->inherited(entry))
            return true;
    return false;
}

int pleat_launch_compose(const struct pleat_launch_request *request,
                         struct pleat_launch_command *command, struct pleat_error *err)
{
    memset(command, 0, sizeof(*command));
    int result = check(request, err);
    if (result)
        return result;

    struct pleat_launch_list argv = {0};
    struct pleat_launch_list env = {0};
    for (const char *const *entry = request->env; entry && *entry; entry++)
        if (!is_inherited(*entry))
            pleat_launch_add(&env, *entry);
    result = launchers[request->mpi]->compose(request, &argv, &env, err);
    for (const char *const *argument = request->argv; *argument; argument++)
        pleat_launch_add(&argv, *argument);
    /* also an empty list must end with NULL */
    if (!result && !env.failed && env.count == 0 && !(env.items = calloc(1, sizeof(*env.items))))
        env.failed = true;
    if (!result && (argv.failed || env.failed))
        result = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the command of '%s'",
                                 request->argv[0]);

    command->argv = argv.items;
    command->argc = argv.count;
    command->env = env.items;
    command->env_count = env.count;
    if (result)
        pleat_launch_command_finish(command);
    return result;
}

void pleat_launch_command_finish(struct pleat_launch_command *command)
{
    for (size_t i = 0; i < command->argc; i++)
        free(command->argv[i]);
    for (size_t i = 0; i < command->env_count; i++)
        free(command->env[i]);
    free(command->argv);
    free(command->env);
    memset(command, 0, sizeof(*command));
}

/* mpich.c - MPICH 4: on one node with pleat-pmi, on several with MPICH's process manager hydra.
 *
 * Debian's build (ch4:ucx) can neither spawn nor connect, so nothing is prepared for a resize: its
 * programs are relaunched.
 *
 * hydra listens on every address, and a connection of anybody ends the program. So do its processes
 * through UCX. On one node they can use shared memory, so UCX is told not to use TCP (UCX_TLS),
 * unless the user has set that variable.
 *
 * `-rmk user -launcher fork`: inside a batch job hydra would ask the batch system, and would use
 * ssh for a node that it does not recognize as its own. A program that is folded on several nodes,
 * or started through Pleat's agents there, gets the user's variables by name (-genvlist): otherwise
 * hydra would pass all of its own environment to all nodes, and with it variables about this node's
 * agent.
 *
 * With `-iface lo` hydra gives 127.0.0.1 as its address, but listens on every one:
 * libpleat-loopback mends that, where all nodes are of one machine.
 *
 * Through Pleat's agents on several nodes, each process has pleat-pmi above it (src/pmi/rank.h).
 *
 * On several machines the processes speak by UCX over all networks that there are, or over the one
 * by which the machines reach one another. There MPICH 4.0 may not end, which libpleat-farewell
 * mends (src/farewell).
 *
 * `oversubscribed` has no effect: MPIR_CVAR_POLLS_BEFORE_YIELD was tried (6 ranks on 2 processors)
 * and changes nothing.
 */
#include <string.h>

#include "launch/launcher.h"

static bool inherited(const char *name)
{
    static const char *const prefixes[] = {
        "PMI_",
        "HYDI_",
        "HYDRA_HOST_FILE=",
        "MPI_LOCALNRANKS=",
        "MPI_LOCALRANKID=",
        "MPIR_CVAR_CH3_INTERFACE_HOSTNAME=",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Has hydra pass the variables of env to all nodes, but those whose names have a comma. */
static void add_environment(struct pleat_launch_list *argv, const struct pleat_launch_list *env)
{
    struct pleat_string names = {0};
    for (size_t i = 0; i < env->count; i++) {
        size_t length = strcspn(env->items[i], "=");
        if (!length || memchr(env->items[i], ',', length))
            continue;
        pleat_string_add(&names, names.length ? "," : "");
        pleat_string_add_bytes(&names, env->items[i], length);
    }
    pleat_launch_add(argv, names.length ? "-genvlist" : "-genvnone");
    if (names.length)
        pleat_launch_add(argv, names.text);
    argv->failed = argv->failed || names.failed;
    pleat_string_finish(&names);
}

static void add_pmi(const struct pleat_launch_request *request, struct pleat_launch_list *argv)
{
    pleat_launch_add(argv, request->pmi);
    if (request->preload) {
        pleat_launch_add(argv, "--preload");
        pleat_launch_add_preload(argv, request, "", request->preload, NULL);
    }
    pleat_launch_add(argv, "-n");
    pleat_launch_addf(argv, "%u", request->processes);
    if (request->cpus_per_task) {
        pleat_launch_add(argv, "--cpus-per-task");
        pleat_launch_addf(argv, "%u", request->cpus_per_task);
    }
    if (request->terminal) {
        pleat_launch_add(argv, "--terminal");
        pleat_launch_add(argv, request->terminal);
    }
    pleat_launch_add(argv, "--");
}

/* Between machines: hydra's proxies call back at the interface, and UCX uses that alone, unless
 * there may be a faster one, or the user has chosen. */
static void use_network(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                        struct pleat_launch_list *env)
{
    if (request->interface) {
        pleat_launch_add(argv, "-iface");
        pleat_launch_add(argv, request->interface);
        if (!request->fabric && !pleat_launch_env(request->env, "UCX_NET_DEVICES"))
            pleat_launch_set(env, "UCX_NET_DEVICES", request->interface);
    }
    if (request->farewell)
        pleat_launch_preload(request, request->farewell, env);
}

/* hydra starts a proxy on each node through the hook. Names that do not resolve are none of its own
 * host's, so it does that for its own node, too. */
static void add_hook(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                     struct pleat_launch_list *env)
{
    pleat_launch_add(argv, "-launcher");
    pleat_launch_add(argv, "ssh");
    pleat_launch_add(argv, "-launcher-exec");
    pleat_launch_add(argv, request->hook);
    if (!request->one_machine) {
        use_network(request, argv, env);
        return;
    }
    pleat_launch_add(argv, "-iface");
    pleat_launch_add(argv, "lo");
    if (request->loopback)
        pleat_launch_stay_on_loopback(request, env);
}

/* Each process is attended by pleat-pmi: hydra takes no notice of all that end badly (pmi/rank.h).
 * What it preloads takes the place of what hydra passes on, so that has to be named again. */
static void add_attendant(const struct pleat_launch_request *request,
                          struct pleat_launch_list *argv)
{
    pleat_launch_add(argv, request->pmi);
    pleat_launch_add(argv, "--rank");
    if (request->apart)
        pleat_launch_add(argv, "--scratch");
    if (request->preload) {
        bool near = pleat_launch_is_on_one_machine(request);
        pleat_launch_add(argv, "--preload");
        pleat_launch_add_preload(argv, request, "", request->preload,
                                 near ? NULL : request->farewell);
    }
    pleat_launch_add(argv, "--");
}

static int compose(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err)
{
    int result = pleat_launch_check_program("mpiexec", request, err);
    if (result)
        return result;
    bool near = pleat_launch_is_on_one_machine(request);
    const char *hook = pleat_launch_is_local(request) ? NULL : request->hook;
    if (near && !pleat_launch_env(request->env, "UCX_TLS"))
        pleat_launch_set(env, "UCX_TLS", "^tcp");
    if (pleat_launch_is_local(request) && request->pmi) {
        add_pmi(request, argv);
        return 0;
    }
    pleat_launch_add(argv, "mpiexec.mpich");
    pleat_launch_add(argv, "-rmk");
    pleat_launch_add(argv, "user");
    if (pleat_launch_is_local(request)) {
        pleat_launch_add(argv, "-launcher");
        pleat_launch_add(argv, "fork");
    } else {
        if (hook)
            add_hook(request, argv, env);
        pleat_launch_add(argv, "-hosts");
        pleat_launch_add_hosts(argv, request);
    }
    pleat_launch_add(argv, "-bind-to");
    pleat_launch_add(argv, "none");
    if (!pleat_launch_is_local(request) && (hook || request->preload))
        add_environment(argv, env);
    bool attended = hook && request->pmi;
    if (request->preload && !attended) {
        pleat_launch_add(argv, "-genv");
        pleat_launch_add(argv, "LD_PRELOAD");
        pleat_launch_add_preload(argv, request, "", request->preload, NULL);
    }
    if (request->apart) {
        pleat_launch_add(argv, "-wdir");
        pleat_launch_add(argv, "/");
    }
    pleat_launch_add(argv, "-n");
    pleat_launch_addf(argv, "%u", request->processes);
    if (attended)
        add_attendant(request, argv);
    return 0;
}

const struct pleat_launcher pleat_launcher_mpich = {"mpich", false, false, inherited, compose};

/* openmpi.c - Open MPI 4.1: mpirun with the options under which a program can grow and shrink.
 *
 * Each was tried. What happens without it:
 *   EVENT_NOEPOLL=1         mpirun's event loop hangs after a few MPI_Comm_spawn
 *   --oversubscribe         spawning beyond the initial slots is MPI_ERR_SPAWN
 *   --bind-to none          spawned ranks are bound to CPUs that have ranks already
 *   pml ob1, btl vader,self,tcp   other components do not survive ranks that leave
 *   async_mpi_finalize      leaving ranks stay in MPI_Finalize until all others reach it
 *   btl_vader_backing_directory, orte_tmpdir_base   killed ranks leave files in /dev/shm and /tmp
 *   mpi_yield_when_idle     more ranks than processors: waiting ranks use the others' time
 *   ras/plm ^slurm,...      inside a batch job mpirun asks the batch system, and ignores the nodes
 *                           that it was given
 * On several nodes mpirun starts a daemon (orted) on each through pleat-remote. Names of hosts that
 * do not resolve are all the same to it: it has also the daemon of its own node started so. A name
 * that it took for its own host's it would serve without a daemon, and with its own directories.
 *
 * There the ranks have libpleat-early (src/farewell) preloaded: mpirun takes no notice of one that
 * ends well before MPI_Init, for which the others wait.
 *
 * On one machine libpleat-loopback (src/loopback) is preloaded into mpirun and its processes, so
 * that other machines cannot reach what they listen on. UCX, if a user has chosen it, does without
 * TCP (UCX_TLS), as under MPICH. AddressSanitizer refuses to run if another library is loaded
 * before its own, so that check is switched off (ASAN_OPTIONS, before the user's own options, which
 * override it). mpirun refuses to run as root, and to run below another mpirun, which it recognizes
 * by its environment.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/remote.h"
#include "launch/launcher.h"

/* parameters that name directories */
#define BACKING "btl_vader_backing_directory"
#define SESSIONS "orte_tmpdir_base"

static const struct {
    const char *name;
    const char *value;
} parameters[] = {
    {"pml", "ob1"},
    {"btl", "vader,self,tcp"},
    {"async_mpi_finalize", "1"},
    {"ras", "^slurm,gridengine,tm,lsf,loadleveler,alps"},
    {"plm", "^slurm,tm,lsf,alps"},
};

static bool inherited(const char *name)
{
    static const char *const prefixes[] = {
        "PMIX_",
        "OMPI_COMM_WORLD_",
        "OMPI_MCA_orte_",
        "OMPI_MCA_ess",
        "OMPI_MCA_pmix",
        "OMPI_MCA_initial_wdir",
        "OMPI_MCA_mpi_oversubscribe",
        "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
        "OMPI_UNIVERSE_SIZE=",
        "OMPI_FILE_LOCATION=",
        "OMPI_FIRST_RANKS=",
        "OMPI_APP_CTX_NUM_PROCS=",
        "OMPI_NUM_APP_CTX=",
        "OMPI_ARGV=",
        "OMPI_COMMAND=",
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void add_parameter(const struct pleat_launch_request *request,
                          struct pleat_launch_list *argv, const char *name, const char *value)
{
    char variable[64];
    snprintf(variable, sizeof(variable), "OMPI_MCA_%s", name);
    if (pleat_launch_env(request->env, variable))
        return; /* an option on the command line would override it */
    pleat_launch_add(argv, "--mca");
    pleat_launch_add(argv, name);
    pleat_launch_add(argv, value);
}

/* What mpirun's daemons (orted) and their processes need is started by the hook. They stay attached
 * to it, so that it sees them end, and mpirun starts all of them itself. No directory is a
 * parameter: mpirun hands its parameters to all nodes, but each has its own scratch directory
 * (base/remote.h). mpirun itself takes TMPDIR. */
static void add_hook(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                     struct pleat_launch_list *env)
{
    static const char *const words[] = {"--mca",
                                        "orte_leave_session_attached",
                                        "1",
                                        "--mca",
                                        "plm_rsh_no_tree_spawn",
                                        "1",
                                        "--mca",
                                        "plm",
                                        "rsh",
                                        "--mca",
                                        "plm_rsh_agent"};
    const char *own = pleat_launch_env(request->env, "TMPDIR");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        pleat_launch_add(argv, words[i]);
    pleat_launch_add(argv, request->hook);
    pleat_launch_unset(env, "OMPI_MCA_plm");
    if (!request->scratch)
        return;
    bool chosen = pleat_launch_env(request->env, "OMPI_MCA_" BACKING) != NULL;
    pleat_launch_set(env, PLEAT_PART_SCRATCH_ENV,
                     chosen ? "OMPI_MCA_" SESSIONS : "OMPI_MCA_" SESSIONS ",OMPI_MCA_" BACKING);
    pleat_launch_set(env, PLEAT_PART_TMPDIR_ENV, own ? own : "");
    pleat_launch_set(env, "TMPDIR", request->scratch);
}

/* What mpirun, its daemons and the ranks listen on and reach one another by, between machines. A
 * parameter that says which interfaces are not to be used cannot stand beside these. */
static void use_network(const struct pleat_launch_request *request, struct pleat_launch_list *argv)
{
    static const struct {
        const char *include, *other;
    } uses[] = {{"oob_tcp_if_include", "OMPI_MCA_oob_tcp_if_exclude"},
                {"btl_tcp_if_include", "OMPI_MCA_btl_tcp_if_exclude"}};
    const char *value = request->network ? request->network : request->interface;
    for (size_t i = 0; value && i < sizeof(uses) / sizeof(*uses); i++)
        if (!pleat_launch_env(request->env, uses[i].other))
            add_parameter(request, argv, uses[i].include, value);
}

static int check_hook(const struct pleat_launch_request *request, struct pleat_error *err)
{
    if (request->hook && strpbrk(request->hook, " \t"))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "mpirun would split '%s' at the blank: install Pleat in a directory "
                               "without one",
                               request->hook);
    return 0;
}

/* Each process begins as pleat-pmi: --bind-to knows nothing of which processors the job has, mpirun
 * passes no terminal on, and knows no directory that is another one on each node. */
static void add_pmi(const struct pleat_launch_request *request, struct pleat_launch_list *argv)
{
    pleat_launch_add(argv, request->pmi);
    if (request->cpus_per_task) {
        pleat_launch_add(argv, "--task");
        pleat_launch_addf(argv, "%u", request->cpus_per_task);
    }
    if (request->terminal) {
        pleat_launch_add(argv, "--terminal");
        pleat_launch_add(argv, request->terminal);
    }
    if (request->apart)
        pleat_launch_add(argv, "--scratch");
    pleat_launch_add(argv, "--");
}

/* What is preloaded into mpirun, and so into what it starts, before the user's own libraries. */
static const char *add_preloads(const struct pleat_launch_request *request,
                                struct pleat_launch_list *env, char *text, size_t size)
{
    const char *loopback = pleat_launch_is_on_one_machine(request) ? request->loopback : NULL;
    const char *early = pleat_launch_is_local(request) ? NULL : request->early;
    snprintf(text, size, "%s%s%s", loopback ? loopback : "", loopback && early ? ":" : "",
             early ? early : "");
    if (loopback)
        pleat_launch_stay_on_loopback(request, env);
    if (early)
        pleat_launch_preload(request, text, env);
    return *text ? text : NULL;
}

/* The library notices waiting processes by their yielding, whatever the user set. */
static void add_fold(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                     const char *first)
{
    pleat_launch_add(argv, "--mca");
    pleat_launch_add(argv, "mpi_yield_when_idle");
    pleat_launch_add(argv, "1");
    pleat_launch_add(argv, "-x");
    pleat_launch_add_preload(argv, request, "LD_PRELOAD=", first, request->preload);
}

static int compose(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err)
{
    bool local = pleat_launch_is_local(request);
    const char *hook = local ? NULL : request->hook;
    char libraries[2 * PATH_MAX];
    int result = pleat_launch_check_program("mpirun", request, err);
    if (!result)
        result = check_hook(request, err);
    if (result)
        return result;
    pleat_launch_add(argv, "mpirun.openmpi");
    pleat_launch_add(argv, "--oversubscribe");
    pleat_launch_add(argv, "--bind-to");
    pleat_launch_add(argv, "none");
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
        if (!hook || strcmp(parameters[i].name, "plm"))
            add_parameter(request, argv, parameters[i].name, parameters[i].value);
    if (hook) {
        add_hook(request, argv, env);
        if (!request->one_machine)
            use_network(request, argv);
    } else if (request->scratch) {
        add_parameter(request, argv, BACKING, request->scratch);
        add_parameter(request, argv, SESSIONS, request->scratch);
    }
    pleat_launch_set(env, "EVENT_NOEPOLL", "1");
    const char *first = add_preloads(request, env, libraries, sizeof(libraries));
    if (request->preload)
        add_fold(request, argv, first);
    else
        add_parameter(request, argv, "mpi_yield_when_idle", request->oversubscribed ? "1" : "0");
    if (!local) {
        pleat_launch_add(argv, "--host");
        pleat_launch_add_hosts(argv, request);
    }
    if (request->apart) {
        pleat_launch_add(argv, "--wdir");
        pleat_launch_add(argv, "/");
    }
    pleat_launch_add(argv, "-n");
    pleat_launch_addf(argv, "%u", request->processes);
    if (request->cpus_per_task || request->terminal || request->apart)
        add_pmi(request, argv);

    if (request->is_root) {
        pleat_launch_set(env, "OMPI_ALLOW_RUN_AS_ROOT", "1");
        pleat_launch_set(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    return 0;
}

const struct pleat_launcher pleat_launcher_openmpi = {"openmpi", true, true, inherited, compose};

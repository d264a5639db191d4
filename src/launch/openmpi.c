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
 * On one node libpleat-loopback (src/loopback) is preloaded into mpirun and its processes, so that
 * other machines cannot reach what they listen on. UCX, if a user has chosen it, does without TCP
 * (UCX_TLS), as under MPICH. AddressSanitizer refuses to run if another library is loaded before
 * its own, so that check is switched off (ASAN_OPTIONS, before the user's own options, which
 * override it). mpirun refuses to run as root, and to run below another mpirun, which it recognizes
 * by its environment.
 */
#include <stdio.h>
#include <string.h>

#include "launch/launcher.h"

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

static void stay_on_loopback(const struct pleat_launch_request *request,
                             struct pleat_launch_list *env)
{
    const char *asan = pleat_launch_env(request->env, "ASAN_OPTIONS");
    pleat_launch_unset(env, "LD_PRELOAD");
    pleat_launch_add_preload(env, request, "LD_PRELOAD=", request->loopback, NULL);
    pleat_launch_unset(env, "ASAN_OPTIONS");
    pleat_launch_addf(env, "ASAN_OPTIONS=verify_asan_link_order=0%s%s", asan ? ":" : "",
                      asan ? asan : "");
    if (!pleat_launch_env(request->env, "UCX_TLS"))
        pleat_launch_set(env, "UCX_TLS", "^tcp");
}

/* Each process begins as pleat-pmi: --bind-to knows nothing of which processors the job has, and
 * mpirun passes no terminal on. */
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
    pleat_launch_add(argv, "--");
}

static int compose(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err)
{
    bool local = pleat_launch_is_local(request);
    const char *loopback = local ? request->loopback : NULL;
    int result = pleat_launch_check_program("mpirun", request, err);
    if (result)
        return result;
    pleat_launch_add(argv, "mpirun.openmpi");
    pleat_launch_add(argv, "--oversubscribe");
    pleat_launch_add(argv, "--bind-to");
    pleat_launch_add(argv, "none");
    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
        add_parameter(request, argv, parameters[i].name, parameters[i].value);
    if (request->scratch) {
        add_parameter(request, argv, "btl_vader_backing_directory", request->scratch);
        add_parameter(request, argv, "orte_tmpdir_base", request->scratch);
    }
    /* the library notices waiting processes by their yielding, whatever the user set */
    if (request->preload) {
        pleat_launch_add(argv, "--mca");
        pleat_launch_add(argv, "mpi_yield_when_idle");
        pleat_launch_add(argv, "1");
        pleat_launch_add(argv, "-x");
        pleat_launch_add_preload(argv, request, "LD_PRELOAD=", loopback, request->preload);
    } else {
        add_parameter(request, argv, "mpi_yield_when_idle", request->oversubscribed ? "1" : "0");
    }
    if (!local) {
        pleat_launch_add(argv, "--host");
        pleat_launch_add_hosts(argv, request);
    }
    pleat_launch_add(argv, "-n");
    pleat_launch_addf(argv, "%u", request->processes);
    if (request->cpus_per_task || request->terminal)
        add_pmi(request, argv);

    pleat_launch_set(env, "EVENT_NOEPOLL", "1");
    if (loopback)
        stay_on_loopback(request, env);
    if (request->is_root) {
        pleat_launch_set(env, "OMPI_ALLOW_RUN_AS_ROOT", "1");
        pleat_launch_set(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    return 0;
}

const struct pleat_launcher pleat_launcher_openmpi = {"openmpi", true, true, inherited, compose};

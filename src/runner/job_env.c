/* job_env.c - the environment of a job's processes: what was submitted, and what Pleat tells them
 * (docs/user-guide.md lists it). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/remote.h"
#include "launch/pmi.h"
#include "runner/agent_runner.h"

static const char *const own[] = {
    "PLEAT_JOB", "PLEAT_JOB_NAME", "PLEAT_PROCESSORS", "PLEAT_MIN", "PLEAT_MAX", "PLEAT_SCRIPT",
    "PLEAT_SCRATCH", "PLEAT_PROCESSES", "PLEAT_ARRAY_JOB", "PLEAT_ARRAY_INDEX", "PLEAT_ARRAY_COUNT",
    "PLEAT_ARRAY_MIN", "PLEAT_ARRAY_MAX", "PLEAT_ARRAY_STEP", "PLEAT_CPUS_PER_TASK", "PLEAT_FROM",
    "PLEAT_SAVE_EVERY", "PLEAT_CHECKPOINT_SIGNAL", PLEAT_NODE_NAME_ENV,
    /* these say how many processors a script's own mpirun uses */
    "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_orte_fork_agent", "HYDRA_HOST_FILE"};

/* Whether Pleat sets this variable. One in a submission was set for an outer job, and says nothing
 * about this one. */
static bool is_own(const char *variable)
{
    size_t length = strcspn(variable, "=");
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strlen(own[i]) == length && !strncmp(variable, own[i], length))
            return true;
    return false;
}

static int add(json_t *env, const char *name, const char *value)
{
    char *text = NULL;
    if (!value)
        return 0;
    if (asprintf(&text, "%s=%s", name, value) < 0)
        return -1;
    int bad = json_array_append_new(env, json_string(text));
    free(text);
    return bad;
}

static int add_number(json_t *env, const char *name, long long number)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", number);
    return add(env, name, text);
}

static int add_array(json_t *env, const struct pleat_spec_array *array)
{
    if (array->count == 0)
        return 0;
    return add_number(env, "PLEAT_ARRAY_JOB", array->job) ||
           add_number(env, "PLEAT_ARRAY_INDEX", array->index) ||
           add_number(env, "PLEAT_ARRAY_COUNT", array->count) ||
           add_number(env, "PLEAT_ARRAY_MIN", array->least) ||
           add_number(env, "PLEAT_ARRAY_MAX", array->most) ||
           add_number(env, "PLEAT_ARRAY_STEP", array->step);
}

/* The value of a variable; NULL: it is not set. */
static const char *find(char *const *base, const char *name)
{
    size_t length = strlen(name);
    for (; *base; base++)
        if (!strncmp(*base, name, length) && (*base)[length] == '=')
            return *base + length + 1;
    return NULL;
}

/* Whether OMP_NUM_THREADS is what Pleat set for an outer job, from which this one was submitted. */
static bool is_of_outer_job(char *const *base, const char *threads)
{
    const char *cpus = find(base, "PLEAT_CPUS_PER_TASK");
    return cpus && threads && !strcmp(cpus, threads);
}

static bool is_threads(const char *variable)
{
    return !strncmp(variable, "OMP_NUM_THREADS=", strlen("OMP_NUM_THREADS="));
}

/* Adds the number of processors of each process, and the same number of OpenMP threads unless the
 * user set one. A script's own mpirun binds its processes by starting them through pleat-pmi
 * (orte_fork_agent). It splits that command at blanks, so a path with a blank is of no use. */
static int add_tasks(json_t *env, const struct pleat_run_order *order, char *const *base)
{
    const char *threads = find(base, "OMP_NUM_THREADS");
    int32_t cpus = order->spec->cpus_per_task;
    char path[PATH_MAX], agent[PATH_MAX + 32];
    if (cpus < 1)
        return 0;
    int bad = add_number(env, "PLEAT_CPUS_PER_TASK", cpus);
    if (!bad && (!threads || is_of_outer_job(base, threads)))
        bad = add_number(env, "OMP_NUM_THREADS", cpus);
    if (bad || !order->spec->script || pleat_launch_pmi(path, sizeof(path), NULL) ||
        strpbrk(path, " \t"))
        return bad;
    snprintf(agent, sizeof(agent), "%s --task %d --", path, cpus);
    return add(env, "OMPI_MCA_orte_fork_agent", agent);
}

/* Has a script's own `mpirun` or `mpiexec` start, if it is not told a number, as many processes as
 * the job has, and not ask a batch system around Pleat. What the user has set stays. Open MPI 4.1
 * takes the number from a variable, hydra from a file that the agent writes. */
static int add_launchers(json_t *env, const struct pleat_run_order *order, char *const *base)
{
    static const char *const settings[][2] = {
        {"OMPI_MCA_hwloc_base_binding_policy", "none"}, /* processes share the job's CPUs */
        {"OMPI_MCA_mpi_yield_when_idle", "1"},
        {"OMPI_MCA_ras", "^slurm,gridengine,tm,lsf,loadleveler,alps"},
        {"OMPI_MCA_plm", "^slurm,tm,lsf,alps"},
        {"HYDRA_RMK", "user"},
        {"HYDRA_LAUNCHER", "fork"}};
    char path[PATH_MAX];
    int bad = 0;
    if (!order->spec->script || !order->scratch || order->spec->folds)
        return 0;
    snprintf(path, sizeof(path), "%s/" PLEAT_RUNNER_HOSTS, order->scratch);
    bad = add(env, "HYDRA_HOST_FILE", path) ||
          add_number(env, "OMPI_MCA_orte_set_default_slots",
                     pleat_spec_tasks(order->spec, order->processes));
    for (size_t i = 0; !bad && i < sizeof(settings) / sizeof(*settings); i++)
        if (!find(base, settings[i][0]))
            bad = add(env, settings[i][0], settings[i][1]);
    /* without these mpirun refuses to run as root; `pleat launch` sets them, too */
    if (!bad && geteuid() == 0)
        bad = add(env, "OMPI_ALLOW_RUN_AS_ROOT", "1") ||
              add(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    return bad;
}

json_t *pleat_job_environment(const struct pleat_run_order *order, char *const *base, bool scratch)
{
    const struct pleat_spec *spec = order->spec;
    json_t *env = json_array();
    char *const *submitted = base;
    int bad = !env;
    for (; !bad && *base; base++) {
        bool drop = is_own(*base) ||
                    (is_threads(*base) && is_of_outer_job(submitted, strchr(*base, '=') + 1));
        json_t *item = drop ? NULL : json_string(*base);
        if (item) /* the text is UTF-8; the wire cannot carry anything else */
            bad = json_array_append_new(env, item);
    }
    bad = bad || add_number(env, "PLEAT_JOB", (long long)order->job) ||
          add(env, "PLEAT_JOB_NAME", spec->name) ||
          add_number(env, "PLEAT_PROCESSORS", spec->folds ? order->processors : order->processes) ||
          (spec->folds && add_number(env, "PLEAT_PROCESSES", order->processes)) ||
          add_number(env, "PLEAT_MIN", spec->minimum) ||
          add_number(env, "PLEAT_MAX", spec->maximum) ||
          add(env, "PLEAT_SCRIPT", spec->script ? spec->argv[0] : NULL) ||
          add(env, "PLEAT_SCRATCH", scratch ? order->scratch : NULL) ||
          add(env, "PLEAT_FROM", order->from ? order->from : spec->from) ||
          add(env, "PLEAT_SAVE_EVERY", spec->save) ||
          (spec->checkpoints.signal &&
           add_number(env, "PLEAT_CHECKPOINT_SIGNAL", spec->checkpoints.signal)) ||
          add_array(env, &spec->array) || add_tasks(env, order, submitted) ||
          add_launchers(env, order, submitted);
    if (!bad)
        return env;
    json_decref(env);
    return NULL;
}

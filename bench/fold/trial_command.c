#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "scratch.h"
#include "trial_parts.h"

#ifndef BENCH_MPICH_APPS /* there is no MPICH */
#define BENCH_MPICH_APPS NULL
#define BENCH_LIBRARY_MPICH NULL
#define BENCH_MPI_TIME_MPICH NULL
#endif

static const char *const apps[TRIAL_MPIS] = {BENCH_APPS, BENCH_MPICH_APPS};
static const char *const libraries[TRIAL_MPIS] = {BENCH_LIBRARY_OPENMPI, BENCH_LIBRARY_MPICH};
static const char *const timers[TRIAL_MPIS] = {BENCH_MPI_TIME_OPENMPI, BENCH_MPI_TIME_MPICH};

const char *trial_mpi_name(enum trial_mpi mpi)
{
    return mpi == TRIAL_OPENMPI ? "openmpi" : "mpich";
}

const char *trial_apps(enum trial_mpi mpi)
{
    return apps[mpi];
}

bool trial_has(enum trial_mpi mpi)
{
    return apps[mpi] != NULL;
}

bool trial_shares_time(const struct trial_setup *setup)
{
    return setup->settings && strstr(setup->settings, "share=time");
}

bool trial_needs_daemon(const struct trial_setup *setup)
{
    return setup->way == TRIAL_PLEAT || setup->way == TRIAL_MIX;
}

/* ---- commands ---- */

static void add(const char **argv, int *count, const char *const *words)
{
    while (words && *words && *count < TRIAL_WORDS_MAX - 1)
        argv[(*count)++] = *words++;
    argv[*count] = NULL;
    if (words && *words) {
        fprintf(stderr, "a command has too many words: %s\n", *words);
        _exit(127);
    }
}

static void compose_fold(const char **argv, int *count, const struct trial_running *run,
                         const char *processes, const char *report, int pool)
{
    static char samples[64], path[64];
    const struct trial_setup *setup = run->setup;
    snprintf(samples, sizeof(samples), "/proc/%d/fd/%d", (int)getppid(), run->samples);
    add(argv, count, WORDS(BENCH_FOLD_RUN, "--processes", processes, "--cpus", setup->cpus));
    if (setup->settings)
        add(argv, count, WORDS("--settings", setup->settings));
    if (trial_shares_time(setup)) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), pool);
        add(argv, count, WORDS("--pool", path));
    }
    for (const char *const *at = setup->plan; at && *at; at++)
        add(argv, count, WORDS("--at", *at));
    if (setup->samples)
        add(argv, count, WORDS("--samples", samples));
    add(argv, count, WORDS("--out", report, "--"));
}

static void compose_launch(const char **argv, int *count, const struct trial_setup *setup,
                           const char *processes)
{
    if (setup->mpi == TRIAL_MPICH) {
        add(argv, count,
            WORDS("mpiexec.mpich", "-rmk", "user", "-launcher", "fork", "-bind-to", "none"));
    } else {
        add(argv, count,
            WORDS("mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "--mca",
                  "orte_tmpdir_base", scratch_directory(), "--mca", "btl_vader_backing_directory",
                  scratch_directory()));
        /* what the runner passes on for a folded program as well */
        if (setup->way != TRIAL_DEFAULT)
            add(argv, count, WORDS("--mca", "mpi_yield_when_idle", "1"));
    }
    add(argv, count, WORDS("-n", processes));
}

/* A daemon of its own, which the first command starts. */
static void use_daemon(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/daemon", scratch_directory());
    mkdir(path, 0700);
    setenv("PLEAT_DIR", path, 1);
}

/* Beside the daemon's files; returns its path. */
static const char *write_file(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/daemon/%s", scratch_directory(), name);
    FILE *file = fopen(path, "we");
    if (!file || fputs(text, file) < 0 || fclose(file)) {
        fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
        _exit(127);
    }
    return path;
}

static void compose_mix(const char **argv, int *count, const struct trial_setup *setup)
{
    use_daemon();
    write_file("pleat.conf", setup->site);
    add(argv, count, WORDS(BENCH_PLEAT, "mix", "--json"));
    add(argv, count, setup->options);
    add(argv, count, WORDS(write_file("jobs.mix", setup->mix)));
}

static void compose_pleat(const char **argv, int *count, const struct trial_setup *setup,
                          const char *processes)
{
    static char processors[16], site[80];
    cpu_set_t mask = machine_mask(setup->cpus);
    snprintf(processors, sizeof(processors), "%d", CPU_COUNT(&mask));
    use_daemon();
    /* on the CPUs that it inherits, as all here does */
    snprintf(site, sizeof(site), "site \"local\" { processors = %s background = \"ignore\" }\n",
             processors);
    write_file("pleat.conf", site);
    add(argv, count,
        WORDS(BENCH_PLEAT, "run", "--processes", processes, "--min", processors, "--max",
              processors));
    if (setup->settings)
        add(argv, count, WORDS("--fold", setup->settings));
    add(argv, count, WORDS("--"));
}

static void compose_program(const char **argv, int *count, const struct trial_running *run,
                            int pool)
{
    static char processes[16], report[64], program[512], preload[512], times[64], rate[64];
    const struct trial_setup *setup = run->setup;
    snprintf(processes, sizeof(processes), "%d", setup->processes);
    snprintf(report, sizeof(report), "/proc/%d/fd/%d", (int)getppid(), run->fold);
    snprintf(times, sizeof(times), "/proc/%d/fd/%d", (int)getppid(), run->times);
    snprintf(rate, sizeof(rate), "/proc/%d/fd/%d", (int)getppid(), run->rate);
    snprintf(program, sizeof(program), "%s/%s", apps[setup->mpi], setup->program);
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s",
             setup->timed_mpi ? timers[setup->mpi] : libraries[setup->mpi]);
    if (setup->way == TRIAL_FOLDED)
        compose_fold(argv, count, run, processes, report, pool);
    if (setup->way == TRIAL_PLEAT)
        compose_pleat(argv, count, setup, processes);
    else
        compose_launch(argv, count, setup, processes);
    if (setup->way == TRIAL_FOLDED || setup->timed_mpi) /* for the ranks, not for mpirun */
        add(argv, count, WORDS("env", preload));
    add(argv, count, WORDS(program));
    add(argv, count, setup->options);
    if (!setup->untimed)
        add(argv, count, WORDS("--times", times));
    if (setup->rate)
        add(argv, count, WORDS("--rate", rate));
}

_Noreturn void trial_become(const struct trial_running *run, int output, int pool)
{
    const struct trial_setup *setup = run->setup;
    const char *argv[TRIAL_WORDS_MAX];
    int count = 0;
    cpu_set_t mask = machine_mask(setup->cpus);
    if (setup->way == TRIAL_MIX)
        compose_mix(argv, &count, setup);
    else
        compose_program(argv, &count, run, pool);
    setpgid(0, 0);
    dup2(setup->way == TRIAL_MIX ? run->fold : output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    /* fold-run binds what it starts. It stands for the agent, which is not bound to a job's
     * processors: when it was, the order in which processes yield became another one, and alltoall
     * took up to a tenth longer on 1 processor. */
    if (setup->way == TRIAL_FOLDED || !sched_setaffinity(0, sizeof(mask), &mask))
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* A command of pleat; what it prints goes to `output`, or nowhere (-1). */
void trial_ask_daemon(int output, const char *const *argv)
{
    int status;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t pid = fork();
    if (pid < 0)
        trial_give_up("cannot fork", strerror(errno));
    if (pid == 0) {
        use_daemon();
        dup2(output < 0 ? nowhere : output, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(nowhere);
    waitpid(pid, &status, 0);
}

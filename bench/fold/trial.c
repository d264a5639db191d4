#include "trial.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine.h"
#include "scratch.h"
#include "shm/fold-pool.h"

#define TRIALS_MAX 8
#define LISTEN_MS 20
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#ifndef BENCH_MPICH_APPS /* there is no MPICH */
#define BENCH_MPICH_APPS NULL
#define BENCH_LIBRARY_MPICH NULL
#define BENCH_MPI_TIME_MPICH NULL
#endif

struct running {
    const struct trial_setup *setup; /* NULL: this place is free */
    struct trial_result *result;
    pid_t pid;
    int pidfd, output, times, rate, fold, samples;
    bool ended;
    int64_t begun_us;
};

static struct running runs[TRIALS_MAX];
static struct {
    double begun_s, busy_s, own_s;
} meter; /* as it was when nothing ran and the first run was started */
static volatile sig_atomic_t interrupted;
static struct {
    struct pleat_fold_pool *mapped; /* NULL: there is none yet */
    int fd;
} pool; /* of all folded runs that share processors in time */

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

/* ---- beginning and ending ---- */

static void note_signal(int number)
{
    interrupted = number;
}

void trial_init(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    scratch_init();
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    unsetenv("PLEAT_FOLD");
}

static void ask_daemon(int output, const char *const *argv);

static bool needs_daemon(const struct trial_setup *setup)
{
    return setup->way == TRIAL_PLEAT || setup->way == TRIAL_MIX;
}

/* An agent that is killed leaves the files of its runs behind. */
static void end_daemons(void)
{
    for (int i = 0; i < TRIALS_MAX; i++) {
        bool has_daemon = runs[i].setup && needs_daemon(runs[i].setup);
        runs[i].setup = NULL;
        if (has_daemon)
            ask_daemon(-1, WORDS(BENCH_PLEAT, "stop", "--force"));
    }
}

void trial_finish(void)
{
    machine_hogs_end();
    if (pool.mapped) {
        pleat_fold_pool_close(pool.mapped);
        close(pool.fd);
        pool.mapped = NULL;
    }
    end_daemons();
    scratch_finish();
}

_Noreturn void trial_give_up(const char *what, const char *why)
{
    fprintf(stderr, "bench_fold: %s: %s\n", what, why);
    trial_finish();
    exit(1);
}

bool trial_is_interrupted(void)
{
    return interrupted != 0;
}

void trial_stop_if_interrupted(void)
{
    if (!interrupted)
        return;
    trial_finish();
    fprintf(stderr, "bench_fold: interrupted\n");
    exit(128 + interrupted);
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

static bool shares_time(const struct trial_setup *setup)
{
    return setup->settings && strstr(setup->settings, "share=time");
}

static void compose_fold(const char **argv, int *count, const struct running *run,
                         const char *processes, const char *report)
{
    static char samples[64], path[64];
    const struct trial_setup *setup = run->setup;
    snprintf(samples, sizeof(samples), "/proc/%d/fd/%d", (int)getppid(), run->samples);
    add(argv, count, WORDS(BENCH_FOLD_RUN, "--processes", processes, "--cpus", setup->cpus));
    if (setup->settings)
        add(argv, count, WORDS("--settings", setup->settings));
    if (shares_time(setup)) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), pool.fd);
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

static void compose_program(const char **argv, int *count, const struct running *run)
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
        compose_fold(argv, count, run, processes, report);
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

static _Noreturn void run_child(const struct running *run, int output)
{
    const struct trial_setup *setup = run->setup;
    const char *argv[TRIAL_WORDS_MAX];
    int count = 0;
    cpu_set_t mask = machine_mask(setup->cpus);
    if (setup->way == TRIAL_MIX)
        compose_mix(argv, &count, setup);
    else
        compose_program(argv, &count, run);
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

static void start(struct running *run)
{
    int output[2];
    run->times = memfd_create("times", MFD_CLOEXEC);
    run->rate = memfd_create("rate", MFD_CLOEXEC);
    run->fold = memfd_create("fold", MFD_CLOEXEC);
    run->samples = memfd_create("samples", MFD_CLOEXEC);
    if (run->times < 0 || run->rate < 0 || run->fold < 0 || run->samples < 0 ||
        pipe2(output, O_CLOEXEC))
        trial_give_up("cannot prepare a run", strerror(errno));
    run->begun_us = pleat_clock_monotonic_us();
    run->pid = fork();
    if (run->pid < 0)
        trial_give_up("cannot fork", strerror(errno));
    if (run->pid == 0)
        run_child(run, output[1]);
    close(output[1]);
    run->output = output[0];
    fcntl(run->output, F_SETFL, O_NONBLOCK);
    run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    if (run->pidfd < 0)
        trial_give_up("cannot watch mpirun", strerror(errno));
}

/* ---- watching ---- */

static void read_output(const struct running *run)
{
    struct trial_result *result = run->result;
    char rest[4096];
    for (;;) {
        size_t length = strlen(result->output);
        size_t room = sizeof(result->output) - 1 - length;
        ssize_t got = room ? read(run->output, result->output + length, room)
                           : read(run->output, rest, sizeof(rest));
        if (got <= 0)
            return;
    }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void collect(struct running *run, int status, const struct rusage *usage)
{
    struct trial_result *result = run->result;
    run->ended = true;
    result->elapsed_s = (double)(pleat_clock_monotonic_us() - run->begun_us) / 1e6;
    result->cpu_s = seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        result->outcome = TRIAL_FAILED;
}

/* Waits a short while until a run prints something or ends. */
static void listen_all(void)
{
    struct pollfd fds[2 * TRIALS_MAX];
    for (size_t i = 0; i < TRIALS_MAX; i++) {
        bool watch = runs[i].setup && !runs[i].ended;
        fds[2 * i] = (struct pollfd){watch ? runs[i].pidfd : -1, POLLIN, 0};
        fds[2 * i + 1] = (struct pollfd){watch ? runs[i].output : -1, POLLIN, 0};
    }
    poll(fds, sizeof(fds) / sizeof(fds[0]), LISTEN_MS);
    trial_stop_if_interrupted();
    for (int i = 0; i < TRIALS_MAX; i++) {
        int status;
        struct rusage usage;
        if (!runs[i].setup || runs[i].ended)
            continue;
        read_output(&runs[i]);
        if (wait4(runs[i].pid, &status, WNOHANG, &usage) == runs[i].pid)
            collect(&runs[i], status, &usage);
        read_output(&runs[i]);
    }
}

static bool too_late(void)
{
    int64_t now_us = pleat_clock_monotonic_us();
    for (int i = 0; i < TRIALS_MAX; i++)
        if (runs[i].setup && !runs[i].ended &&
            (double)(now_us - runs[i].begun_us) / 1e6 > runs[i].setup->limit_s)
            return true;
    return false;
}

/* Ends all runs when one is late: a run beside one that hangs says nothing either. */
static void end_late(void)
{
    for (int i = 0; i < TRIALS_MAX; i++) {
        if (!runs[i].setup || runs[i].ended)
            continue;
        runs[i].result->outcome = TRIAL_TIMED_OUT;
        runs[i].result->elapsed_s = (double)(pleat_clock_monotonic_us() - runs[i].begun_us) / 1e6;
        runs[i].result->cpu_s = NAN;
        runs[i].ended = true;
    }
    scratch_clear();
}

/* ---- what they left ---- */

/* A line for each rank: its number, when its part began and ended, the processor time between;
 * nanoseconds. */
static void read_times(const struct running *run)
{
    struct trial_result *result = run->result;
    int fd = dup(run->times);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    double begun, ended, cpu, first = INFINITY, last = -INFINITY;
    int rank, ranks = 0;
    result->own_cpu_s = 0;
    if (!file || fseek(file, 0, SEEK_SET))
        trial_give_up("cannot read times", strerror(errno));
    while (fscanf(file, "%d %lf %lf %lf", &rank, &begun, &ended, &cpu) == 4) {
        ranks++;
        first = fmin(first, begun);
        last = fmax(last, ended);
        result->own_cpu_s += cpu / 1e9;
    }
    fclose(file);
    result->own_begun_s = first / 1e9;
    result->own_ended_s = last / 1e9;
    result->own_elapsed_s = (last - first) / 1e9;
    if (result->outcome == TRIAL_DONE && !run->setup->untimed && ranks != run->setup->processes)
        result->outcome = TRIAL_FAILED;
    if (result->outcome != TRIAL_DONE || run->setup->untimed)
        result->own_elapsed_s = result->own_cpu_s = NAN;
}

static void read_stamps(const struct running *run)
{
    struct trial_result *result = run->result;
    int fd = dup(run->rate);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    size_t room = 0;
    if (!file || fseek(file, 0, SEEK_SET))
        trial_give_up("cannot read stamps", strerror(errno));
    for (double stamp; fscanf(file, "%lf", &stamp) == 1;) {
        if (result->stamp_count == room) {
            room = room ? 2 * room : 1024;
            double *more = realloc(result->stamps, room * sizeof(*more));
            if (!more)
                trial_give_up("stamps", "no memory");
            result->stamps = more;
        }
        result->stamps[result->stamp_count++] = stamp / 1e9;
    }
    fclose(file);
}

/* All that was written into a file. */
static char *read_all(int fd)
{
    struct stat file;
    if (fstat(fd, &file))
        trial_give_up("cannot read what a run has written", strerror(errno));
    char *text = calloc(1, (size_t)file.st_size + 1);
    if (!text || pread(fd, text, (size_t)file.st_size, 0) != file.st_size)
        trial_give_up("what a run has written", "it cannot be read");
    return text;
}

/* A command of pleat; what it prints goes to `output`, or nowhere (-1). */
static void ask_daemon(int output, const char *const *argv)
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

static void settle(struct running *run)
{
    struct trial_result *result = run->result;
    if (run->setup->way != TRIAL_MIX)
        read_times(run);
    if (run->setup->way == TRIAL_PLEAT)
        ask_daemon(run->fold, WORDS(BENCH_PLEAT, "show", "1", "--json"));
    if (needs_daemon(run->setup))
        ask_daemon(-1, WORDS(BENCH_PLEAT, "stop", "--force"));
    if (run->setup->rate)
        read_stamps(run);
    if (run->setup->samples)
        result->samples = read_all(run->samples);
    ssize_t got = pread(run->fold, result->fold, sizeof(result->fold) - 1, 0);
    result->fold[got > 0 ? got : 0] = '\0';
    if (run->setup->way == TRIAL_MIX)
        result->report = read_all(run->fold);
    close(run->times);
    close(run->rate);
    close(run->fold);
    close(run->samples);
    close(run->output);
    close(run->pidfd);
    if (result->outcome != TRIAL_FAILED)
        return;
    char what[256];
    if (run->setup->way == TRIAL_MIX)
        snprintf(what, sizeof(what), "a job mix with %s failed", trial_mpi_name(run->setup->mpi));
    else
        snprintf(what, sizeof(what), "%s with %s, %d processes on CPUs %s failed",
                 run->setup->program, trial_mpi_name(run->setup->mpi), run->setup->processes,
                 run->setup->cpus);
    trial_give_up(what, result->output[0] ? result->output : "it says nothing");
}

/* ---- one after another, or at the same time ---- */

static double now_s(void)
{
    return (double)pleat_clock_monotonic_us() / 1e6;
}

/* Of this process's children that have ended, and of the hogs. */
static double own_s(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(children.ru_utime) + seconds_of(children.ru_stime) + machine_hogs_s();
}

static int count_going(void)
{
    int going = 0;
    for (int i = 0; i < TRIALS_MAX; i++)
        going += runs[i].setup != NULL;
    return going;
}

void trial_start(const struct trial_setup *setup, struct trial_result *result)
{
    int at = 0;
    trial_stop_if_interrupted();
    while (at < TRIALS_MAX && runs[at].setup)
        at++;
    if (at == TRIALS_MAX)
        trial_give_up("a run", "there are too many at the same time");
    if (shares_time(setup) && !pool.mapped && pleat_fold_pool_create(&pool.mapped, &pool.fd, NULL))
        trial_give_up("runs that share processors", strerror(errno));
    if (!count_going()) {
        meter.begun_s = now_s();
        meter.busy_s = machine_busy_s();
        meter.own_s = own_s();
    }
    memset(result, 0, sizeof(*result));
    runs[at] = (struct running){.setup = setup, .result = result};
    start(&runs[at]);
    result->begun_s = (double)runs[at].begun_us / 1e6;
}

struct trial_result *trial_next(void)
{
    for (;;) {
        for (int i = 0; i < TRIALS_MAX; i++) {
            struct running *run = &runs[i];
            if (!run->setup || !run->ended)
                continue;
            settle(run);
            run->setup = NULL;
            if (!count_going())
                scratch_clear();
            return run->result;
        }
        if (!count_going())
            return NULL;
        listen_all();
        if (too_late())
            end_late();
    }
}

double trial_others(void)
{
    double busy = machine_busy_s() - meter.busy_s;
    double others = (busy - (own_s() - meter.own_s)) / (now_s() - meter.begun_s);
    return others > 0 ? others : 0;
}

double trial_run(const struct trial_setup *setup, struct trial_result *result)
{
    trial_start(setup, result);
    while (trial_next())
        ;
    return trial_others();
}

void trial_release(struct trial_result *result)
{
    free(result->stamps);
    free(result->samples);
    free(result->report);
    result->stamps = NULL;
    result->samples = NULL;
    result->report = NULL;
}

/* What follows the name, or NULL. */
static const char *find_member(const struct trial_result *result, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "\"%s\":", name);
    const char *at = strstr(result->fold, key);
    return at ? at + strlen(key) + strspn(at + strlen(key), " ") : NULL;
}

double trial_fold_number(const struct trial_result *result, const char *name)
{
    const char *at = find_member(result, name);
    char *end;
    double value = at ? strtod(at, &end) : NAN;
    return at && end == at ? NAN : value;
}

bool trial_fold_is(const struct trial_result *result, const char *name, const char *text)
{
    const char *at = find_member(result, name);
    size_t length = strlen(text);
    return at && *at == '"' && !strncmp(at + 1, text, length) && at[1 + length] == '"';
}

double trial_idleness(const struct trial_result *result)
{
    double sum = 0, most = 0;
    int count = 0;
    if (find_member(result, "idleness"))
        return trial_fold_number(result, "idleness");
    for (const char *at = result->fold; (at = strstr(at, "\"useful_s\":")); count++) {
        at += strlen("\"useful_s\":");
        double useful = strtod(at, NULL);
        sum += useful;
        most = fmax(most, useful);
    }
    return most > 0 ? 1 - sum / (count * most) : NAN;
}

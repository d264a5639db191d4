#include "trial_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "machine.h"
#include "scratch.h"
#include "shm/fold-pool.h"
#include "steady.h"

#define TRIALS_MAX 8
#define LISTEN_MS 20

static struct trial_running runs[TRIALS_MAX];
static struct {
    double begun_s, busy_s, own_s;
} meter; /* as it was when nothing ran and the first run was started */
static volatile sig_atomic_t interrupted;
static struct {
    struct pleat_fold_pool *mapped; /* NULL: there is none yet */
    int fd;
} pool; /* of all folded runs that share processors in time */

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

/* An agent that is killed leaves the files of its runs behind. */
static void end_daemons(void)
{
    for (int i = 0; i < TRIALS_MAX; i++) {
        bool has_daemon = runs[i].setup && trial_needs_daemon(runs[i].setup);
        runs[i].setup = NULL;
        if (has_daemon)
            trial_ask_daemon(-1, WORDS(BENCH_PLEAT, "stop", "--force"));
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

/* ---- starting ---- */

static void start(struct trial_running *run)
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
        trial_become(run, output[1], pool.fd);
    close(output[1]);
    run->output = output[0];
    fcntl(run->output, F_SETFL, O_NONBLOCK);
    run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    if (run->pidfd < 0)
        trial_give_up("cannot watch mpirun", strerror(errno));
}

/* ---- watching ---- */

static void read_output(const struct trial_running *run)
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

static void collect(struct trial_running *run, int status, const struct rusage *usage)
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
    if (!scratch_directory()[0]) /* it would be the root directory */
        trial_give_up("a run", "trial_init has not been called");
    while (at < TRIALS_MAX && runs[at].setup)
        at++;
    if (at == TRIALS_MAX)
        trial_give_up("a run", "there are too many at the same time");
    if (trial_shares_time(setup) && !pool.mapped &&
        pleat_fold_pool_create(&pool.mapped, &pool.fd, NULL))
        trial_give_up("runs that share processors", strerror(errno));
    if (!count_going()) {
        meter.begun_s = now_s();
        meter.busy_s = machine_busy_s();
        meter.own_s = own_s();
    }
    memset(result, 0, sizeof(*result));
    runs[at] = (struct trial_running){.setup = setup, .result = result};
    start(&runs[at]);
    result->begun_s = (double)runs[at].begun_us / 1e6;
}

struct trial_result *trial_next(void)
{
    for (;;) {
        for (int i = 0; i < TRIALS_MAX; i++) {
            struct trial_running *run = &runs[i];
            if (!run->setup || !run->ended)
                continue;
            trial_settle(run);
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

double trial_once(const struct trial_setup *setup, struct trial_result *result)
{
    trial_start(setup, result);
    while (trial_next())
        ;
    return trial_others();
}

double trial_run(const struct trial_setup *setup, struct trial_result *result)
{
    int again = 0;
    for (;;) {
        steady_begin();
        double others = trial_once(setup, result);
        if (!steady_again(setup->program ? setup->program : "a mix", &again))
            return others;
        trial_release(result);
    }
}

/* bench_pause [options] - how long resizes let a program stand still, by the size of its state, and
 * what another job loses meanwhile.
 *
 * state: a loop with 1 MB to 2 GB of rows is resized 2 -> 4 -> 8 -> 4 -> 2, by merging and
 * splitting (Open MPI) and by warm relaunches (both MPIs). The sizes of the state alternate. rigid:
 * a process of its own processor sweeps over its memory, while a job on the others, heat, computes,
 * and while it is resized. The two alternate.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "job.h"
#include "options.h"
#include "pause_report.h"

static const char usage[] =
    "usage: bench_pause [options]\n"
    "How long resizes let a program stand still, by the size of its state, and what they cost\n"
    "another job.\n"
    "  --repeats N      measurements of each value (default 5, at most 50)\n"
    "  --only PARTS     of state,rigid (default both)\n"
    "  --largest BYTES  states of up to BYTES (default 2147483648)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define REPEATS_MAX 50
#define LIMIT_S 180
#define RIGID_STATE ((uint64_t)256 << 20)
#define SWEPT_BYTES ((size_t)8 << 20) /* of the rigid job: more than the caches of a processor */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Where there is no MPICH nothing is measured with it. */
#ifndef BENCH_MPICH_LOOP
#define BENCH_MPICH_LOOP NULL
#define BENCH_MPICH_HEAT NULL
#endif

const int sizes[STEPS + 1] = {2, 4, 8, 4, 2};
const uint64_t states[STATES] = {1ull << 20, 4ull << 20,    16ull << 20,  64ull << 20,
                                 1ull << 28, 1024ull << 20, 2048ull << 20};

static struct app_job job;
static struct way ways[] = {
    {.name = "merge_openmpi",
     .text = "merging and splitting, Open MPI",
     .loop = BENCH_LOOP,
     .heat = BENCH_HEAT},
    {.name = "warm_openmpi",
     .text = "warm relaunches, Open MPI",
     .warm = true,
     .loop = BENCH_LOOP,
     .heat = BENCH_HEAT},
    {.name = "warm_mpich",
     .text = "warm relaunches, MPICH",
     .warm = true,
     .mpich = true,
     .loop = BENCH_MPICH_LOOP,
     .heat = BENCH_MPICH_HEAT},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* ---- jobs ---- */

static void start(const struct way *way, const char *const *command)
{
    const struct app_job_options options = {
        .ranks = sizes[0], .mpich = way->mpich, .limit_s = LIMIT_S};
    app_job_start(&job, &options, command);
    app_job_wait_begun(&job);
}

/* Milliseconds for which the application stood still. */
static double resize(const struct way *way, int size)
{
    if (way->warm) {
        struct pleat_mailbox_status status = app_job_relaunch_warm(&job, (uint32_t)size);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_SAVED);
        return (double)job.relaunch.total_ns / 1e6;
    }
    struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)size);
    APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
    return (double)status.cost.total_ns / 1e6;
}

/* ---- by the size of the state ---- */

static void measure_state(struct way *way, int state)
{
    char bytes[32];
    double sum = 0;
    snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)states[state]);
    const char *const *command =
        WORDS(way->loop, "--resizes", "4", "--rows", "8192", "--pause", "1", "--state", bytes);
    start(way, command);
    for (int i = 0; i < STEPS; i++) {
        const uint64_t iteration_ns = app_job_status(&job).iteration_ns;
        if (iteration_ns && state == 0) /* 0: it has just begun */
            bench_add(&way->iteration_ms[i], (double)iteration_ns / 1e6);
        double ms = resize(way, sizes[i + 1]);
        bench_add(&way->pause_ms[state][i], ms);
        sum += ms;
    }
    bench_add(&way->pause_ms[state][STEPS], sum);
    bench_job_end();
}

/* ---- what another job loses ---- */

struct rigid {
    pid_t pid;
    atomic_ullong *sweeps; /* shared with it */
};

/* The rigid job: sweeps over its memory, and counts them. */
static _Noreturn void sweep(atomic_ullong *sweeps)
{
    size_t count = SWEPT_BYTES / sizeof(double);
    double *data = calloc(count, sizeof(double));
    if (!data)
        _exit(1);
    for (;;) {
        for (size_t i = 1; i + 1 < count; i++)
            data[i] = 0.25 * (data[i - 1] + 2 * data[i] + data[i + 1]) + 1;
        atomic_fetch_add(sweeps, 1);
    }
}

/* Starts it on the first CPU of `all`; this process, and what it starts, stays on the others. */
static struct rigid start_rigid(const cpu_set_t *all)
{
    struct rigid rigid = {0};
    cpu_set_t others = *all;
    cpu_set_t first;
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, all))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    CPU_CLR(cpu, &others);
    rigid.sweeps = mmap(NULL, sizeof(*rigid.sweeps), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rigid.sweeps == MAP_FAILED)
        bench_give_up("no memory");
    atomic_init(rigid.sweeps, 0);
    pid_t parent = getpid();
    rigid.pid = fork();
    if (rigid.pid < 0)
        bench_give_up("cannot start the rigid job");
    if (rigid.pid == 0) { /* it ends with this process, however that ends */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
            sched_setaffinity(0, sizeof(first), &first))
            _exit(1);
        sweep(rigid.sweeps);
    }
    if (sched_setaffinity(0, sizeof(others), &others))
        bench_give_up("cannot bind itself to CPUs");
    return rigid;
}

static void end_rigid(struct rigid *rigid, const cpu_set_t *all)
{
    int status = 0;
    (void)kill(rigid->pid, SIGKILL);
    if (waitpid(rigid->pid, &status, 0) != rigid->pid || !WIFSIGNALED(status))
        bench_give_up("the rigid job ended by itself");
    munmap(rigid->sweeps, sizeof(*rigid->sweeps));
    (void)sched_setaffinity(0, sizeof(*all), all);
}

struct stretch {
    int64_t begun_ns;
    unsigned long long sweeps;
};

static struct stretch begin(const struct rigid *rigid)
{
    return (struct stretch){pleat_clock_monotonic_ns(), atomic_load(rigid->sweeps)};
}

static void add_rate(struct bench_series *series, const struct rigid *rigid,
                     const struct stretch *from)
{
    double seconds = (double)(pleat_clock_monotonic_ns() - from->begun_ns) / 1e9;
    bench_add(series, (double)(atomic_load(rigid->sweeps) - from->sweeps) / seconds);
}

/* Waits until the rigid job has made `count` more sweeps, however fast it is. */
static void await_sweeps(const struct rigid *rigid, const struct stretch *from, int count)
{
    const struct timespec moment = {0, 1000000};
    while (atomic_load(rigid->sweeps) < from->sweeps + (unsigned)count)
        nanosleep(&moment, NULL);
}

static void measure_rigid(struct way *way, uint64_t state, const cpu_set_t *all)
{
    enum { SWEEPS = 100 };
    char n[16];
    int edge = (int)sqrt((double)state / 8);
    bool small = edge < 2000;
    snprintf(n, sizeof(n), "%d", edge);
    struct rigid rigid = start_rigid(all);
    start(way, WORDS(way->heat, "--n", n, "--iterations", small ? "1500" : "250", "--pause",
                     small ? "5" : "0"));
    struct stretch from = begin(&rigid);
    await_sweeps(&rigid, &from, SWEEPS);
    add_rate(&way->without, &rigid, &from);
    from = begin(&rigid);
    for (int i = 0; i < STEPS; i++)
        (void)resize(way, sizes[i + 1]);
    await_sweeps(&rigid, &from, 1); /* a rate needs one */
    add_rate(&way->during, &rigid, &from);
    bench_job_end();
    end_rigid(&rigid, all);
}

/* ---- all ---- */

static void run(int repeats, const char *only, uint64_t largest)
{
    cpu_set_t all;
    bool rigid = bench_is_listed(only, "rigid");
    uint64_t rigid_state = largest < RIGID_STATE ? largest : RIGID_STATE;
    if (sched_getaffinity(0, sizeof(all), &all))
        bench_give_up("cannot see which CPUs it may use");
    if (rigid && CPU_COUNT(&all) < 2) {
        fprintf(stderr, "bench_pause: one CPU only: no rigid job beside another\n");
        rigid = false;
    }
    for (int i = 0; i < repeats; i++)
        for (int w = 0; w < WAYS; w++) {
            struct way *way = &ways[w];
            if (!way->loop)
                continue;
            for (int s = 0; bench_is_listed(only, "state") && s < STATES; s++)
                if (states[s] <= largest)
                    measure_state(way, s);
            if (rigid)
                measure_rigid(way, rigid_state, &all);
        }
}

int main(int argc, char **argv)
{
    static const char *const parts[] = {"state", "rigid", NULL};
    int repeats = 5;
    double largest = (double)states[STATES - 1];
    const char *only = NULL;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "only", .list = &only, .choices = parts},
        {.name = "largest", .real = &largest, .from = (double)states[0], .to = 1e18},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    bench_job_begin("bench_pause", &job);
    run(repeats, only, (uint64_t)largest);
    report(ways, WAYS, json);
    return 0;
}

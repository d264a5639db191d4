#include "limits.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "machine.h"
#include "progress.h"

#define ROUNDS 4000
#define ROUNDS_QUICK 100

struct seat {                            /* its own cache line */
    _Alignas(64) _Atomic uint32_t turns; /* how often the token has come here */
};

static int rounds_of(const struct limits *limits)
{
    return limits->quick ? ROUNDS_QUICK : ROUNDS;
}

/* ---- bare processes ---- */

static void pass(struct seat *seat, bool sleeps)
{
    atomic_fetch_add(&seat->turns, 1);
    if (sleeps)
        syscall(SYS_futex, &seat->turns, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(struct seat *seat, uint32_t turns, bool sleeps)
{
    for (uint32_t seen; (seen = atomic_load(&seat->turns)) < turns;) {
        if (sleeps)
            syscall(SYS_futex, &seat->turns, FUTEX_WAIT, seen, NULL, NULL, 0);
        else
            sched_yield();
    }
}

static _Noreturn void sit(struct seat *seats, int own, int rounds, bool sleeps)
{
    cpu_set_t mask = machine_mask(machine_cpus(1));
    struct seat *next = &seats[(own + 1) % CASE_PROCESSES];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the others would wait for ever */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (sched_setaffinity(0, sizeof(mask), &mask))
        _exit(1);
    for (int i = 0; i < rounds; i++) {
        if (own || i)
            await(&seats[own], (uint32_t)(own ? i + 1 : i), sleeps);
        pass(next, sleeps);
    }
    _exit(0);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double bare_us(int rounds, bool sleeps)
{
    pid_t pids[CASE_PROCESSES];
    double used = 0;
    struct seat *seats = mmap(NULL, sizeof(*seats) * CASE_PROCESSES, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seats == MAP_FAILED) {
        fprintf(stderr, "bench_fold: no shared memory: %s\n", strerror(errno));
        exit(1);
    }
    for (int i = 0; i < CASE_PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            sit(seats, i, rounds, sleeps);
    }
    for (int i = 0; i < CASE_PROCESSES; i++) {
        int status;
        struct rusage usage = {0};
        if (pids[i] > 0 && wait4(pids[i], &status, 0, &usage) == pids[i])
            used += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    munmap(seats, sizeof(*seats) * CASE_PROCESSES);
    return used * 1e6 / (CASE_PROCESSES * (double)rounds);
}

/* ---- by MPI ---- */

void limits_init(struct limits *limits, const char *mpi, bool quick)
{
    static const struct case_program ring = {.program = "ring", .name = "ring"};
    static const char *options[2][5] = {{"--iterations", "4000", "--work", "0", NULL},
                                        {"--iterations", "100", "--work", "0", NULL}};
    *limits = (struct limits){.quick = quick, .wanted = true};
    for (enum trial_mpi one = TRIAL_OPENMPI; one < TRIAL_MPIS; one++) {
        struct contest *contest = &limits->rings[one];
        struct trial_setup setup = {.mpi = one,
                                    .way = TRIAL_FOLDED,
                                    .processes = CASE_PROCESSES,
                                    .cpus = machine_cpus(1),
                                    .program = ring.program,
                                    .options = options[quick]};
        if (!trial_has(one) || (mpi && strcmp(mpi, trial_mpi_name(one)) != 0))
            continue;
        contest->program = &ring;
        snprintf(contest->name, sizeof(contest->name), "%s_hop", trial_mpi_name(one));
        contest_add(contest, "folded", &setup);
        setup.settings = "wait=immediate";
        contest_add(contest, "handed", &setup);
        setup.settings = NULL;
        setup.way = TRIAL_YIELD;
        if (one == TRIAL_OPENMPI)
            contest_add(contest, "yield", &setup);
    }
}

int limits_runs(const struct limits *limits)
{
    int runs = limits->wanted ? 2 : 0;
    for (int i = 0; i < TRIAL_MPIS; i++)
        runs += limits->rings[i].count;
    return runs;
}

void limits_round(struct limits *limits, int round)
{
    if (!limits->wanted)
        return;
    progress_step("hop", "sched_yield");
    bench_add(&limits->yield_us, bare_us(rounds_of(limits), false));
    progress_step("hop", "futex");
    bench_add(&limits->futex_us, bare_us(rounds_of(limits), true));
    for (int i = 0; i < TRIAL_MPIS; i++)
        contest_round(&limits->rings[i], round);
}

struct bench_series limits_hop_us(const struct limits *limits, const struct contender *contender)
{
    struct bench_series hops = {.count = 0};
    for (int i = 0; i < contender->own_cpu.count; i++)
        bench_add(&hops, contender->own_cpu.values[i] * 1e6 /
                             (CASE_PROCESSES * (double)rounds_of(limits)));
    return hops;
}

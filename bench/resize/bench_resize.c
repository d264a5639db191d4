/* bench_resize [options] - what a resize with Pleat costs: 2->4->8->4->2 ranks of a loop with next
 * to no state and of heat with 256 MB of state.
 *
 * Against programs that resize themselves in plain MPI (the baseline), and against stopping and
 * starting again with the state saved in memory; and what Pleat's way of relaunching costs against
 * the latter, with each MPI. Runs alternate, so that a change of the machine's load hits all. Times
 * are rank 0's, from its arrival until all ranks have their data.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "job.h"
#include "options.h"
#include "resize_report.h"
#include "shm/mailbox-rank.h"

static const char usage[] =
    "usage: bench_resize [options]\n"
    "What resizing 2->4->8->4->2 ranks costs, against plain MPI and against relaunching.\n"
    "  --repeats N      runs of each program (default 7, at most 50); of loop three times as many\n"
    "  --state BYTES    bytes of state of heat (default 268435456)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define LOOP_BYTES "8000"
#define LOOP_ROWS "1000"
#define LOOP_OPTIONS "--resizes", "4", "--state", LOOP_BYTES, "--rows", LOOP_ROWS
#define HEAT_OPTIONS(sweeps) "--n", n_text, "--iterations", sweeps, "--pause", pause
#define REPEATS_MAX 50
#define LOOP_PAIRS 3 /* short, and mostly the starting of processes, which varies */
#define LIMIT_S 120
/* Where there is no MPICH nothing is measured with it. */
#ifndef BENCH_MPICH_LOOP
#define BENCH_MPICH_LOOP NULL
#define BENCH_MPICH_HEAT NULL
#define BENCH_MPICH_RELAUNCH NULL
#endif
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct app_job job;
static struct bench_series quiet_ns;

/* ---- measuring ---- */

static double ms_of(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Memory that the machine has not used yet, or not for a while, may have to be provided by the
 * hypervisor below it, which takes up to ten times as long. So every program is given as much
 * memory as it needs that is at hand. */
static void warm_memory(const struct subject *subject)
{
    if (!subject->warm_bytes)
        return;
    void *memory =
        mmap(NULL, subject->warm_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || madvise(memory, subject->warm_bytes, MADV_POPULATE_WRITE))
        bench_give_up("not enough memory for six times the state");
    munmap(memory, subject->warm_bytes);
}

static void run_pleat(struct subject *subject)
{
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = LIMIT_S};
    warm_memory(subject);
    app_job_start(&job, &options, subject->pleat);
    app_job_wait_attached(&job);
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[i + 1]);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        bench_add(&subject->resize[i], ms_of(status.cost.total_ns));
        bench_add(&subject->processes[i], ms_of(status.cost.processes_ns));
        bench_add(&subject->move[i], ms_of(status.cost.redistribute_ns));
        bench_add(&subject->wait[i], ms_of(status.cost.wait_ns));
        bench_add(&subject->save[i], ms_of(status.cost.save_ns));
        subject->moved[i] = status.cost.bytes;
        sum += ms_of(status.cost.total_ns);
    }
    bench_add(&subject->resize[TOTAL], sum);
    bench_job_end();
}

static void run_bare(struct subject *subject)
{
    const struct app_job_options options = {
        .ranks = sizes[0], .without_pleat = true, .limit_s = LIMIT_S};
    warm_memory(subject);
    app_job_start(&job, &options, subject->bare);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    const char *at = job.output;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        int from = 0;
        int to = 0;
        double seconds = 0;
        at = strstr(at, "TIME ");
        APP_CHECK(&job, at && sscanf(at, "TIME %d %d %lf", &from, &to, &seconds) == 3);
        APP_CHECK(&job, from == sizes[i] && to == sizes[i + 1]);
        bench_add(&subject->plain[i], seconds * 1e3);
        sum += seconds * 1e3;
        at++;
    }
    bench_add(&subject->plain[TOTAL], sum);
    bench_job_end();
}

static double stamp_ms(const char *what)
{
    const char *at = strstr(job.output, what);
    long long ns = 0;
    APP_CHECK(&job, at && sscanf(at + strlen(what), "%lld", &ns) == 1);
    return (double)ns / 1e6;
}

/* Pleat's relaunching; warm: new processes are started first. */
static void run_again(struct subject *subject, enum mpi mpi, bool warm)
{
    const struct app_job_options options = {
        .ranks = sizes[0], .mpich = mpi == MPICH, .limit_s = LIMIT_S};
    struct ways *ways = &subject->ways[mpi];
    double sum = 0;
    warm_memory(subject);
    app_job_start(&job, &options, warm ? ways->pleat_warm : ways->pleat);
    app_job_wait_begun(&job);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t size = (uint32_t)sizes[i + 1];
        struct pleat_mailbox_status status =
            warm ? app_job_relaunch_warm(&job, size) : app_job_relaunch(&job, size);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_SAVED);
        sum += ms_of(job.relaunch.total_ns);
        bench_add(warm ? &ways->warm[i] : &ways->again[i], ms_of(job.relaunch.total_ns));
        if (warm)
            continue;
        bench_add(&ways->save[i], ms_of(job.relaunch.save_ns));
        bench_add(&ways->processes[i], ms_of(job.relaunch.processes_ns));
        bench_add(&ways->load[i], ms_of(job.relaunch.load_ns));
    }
    bench_add(warm ? &ways->warm[TOTAL] : &ways->again[TOTAL], sum);
    bench_job_end();
}

/* Stopping and starting again without Pleat: one life at each size; a step is the end of one and
 * the beginning of the next. */
static void run_stop(struct subject *subject, enum mpi mpi)
{
    struct ways *ways = &subject->ways[mpi];
    char path[64];
    double begin[STEPS + 1];
    double end[STEPS + 1];
    double sum = 0;
    int memory = memfd_create("bench_resize", MFD_CLOEXEC);
    APP_CHECK(&job, memory >= 0);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), memory);
    warm_memory(subject);
    for (int i = 0; i <= STEPS; i++) {
        const struct app_job_options options = {
            .ranks = sizes[i], .mpich = mpi == MPICH, .without_pleat = true, .limit_s = LIMIT_S};
        double launched = ms_of((uint64_t)pleat_clock_monotonic_ns());
        app_job_start(&job, &options, WORDS(ways->stopping, path, subject->bytes, subject->rows));
        APP_CHECK(&job, app_job_wait(&job) == 0);
        double gone = ms_of((uint64_t)pleat_clock_monotonic_ns());
        begin[i] = stamp_ms("LOADED ") - launched;
        end[i] = gone - stamp_ms("SAVING ");
        bench_job_end();
    }
    for (int i = 0; i < STEPS; i++) {
        bench_add(&ways->stop[i], end[i] + begin[i + 1]);
        sum += end[i] + begin[i + 1];
    }
    bench_add(&ways->stop[TOTAL], sum);
    close(memory);
}

/* How long one process copies the bytes that a step moves: into memory in use, and into memory
 * that the kernel has to provide first, which is what ranks receive into. */
static void run_copy(struct subject *subject)
{
    for (int i = 0; i < STEPS; i++) {
        size_t bytes = subject->moved[i];
        char *from = malloc(bytes);
        char *to = malloc(bytes);
        if (!from || !to)
            bench_give_up("no memory for two times the state");
        memset(from, i + 1, bytes);
        int64_t begun = pleat_clock_monotonic_ns();
        memcpy(to, from, bytes);
        int64_t fresh = pleat_clock_monotonic_ns();
        memcpy(to, from, bytes);
        __asm__ volatile("" : : "r"(to) : "memory");
        int64_t again = pleat_clock_monotonic_ns();
        bench_add(&subject->copy_fresh[i], ms_of((uint64_t)(fresh - begun)));
        bench_add(&subject->copy[i], ms_of((uint64_t)(again - fresh)));
        free(from);
        free(to);
    }
}

/* What an adaptation point does when nothing is asked: time, publish, arrive. */
static void run_quiet(void)
{
    enum { POINTS = 1000000 };
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_rank self;
    struct pleat_error err;
    int fd;
    if (pleat_mailbox_create(8, &mailbox, &fd, &err))
        bench_give_up(err.text);
    if (pleat_mailbox_attach(mailbox, 0, 0, -1, &self) || pleat_mailbox_set_size(&self, 1))
        bench_give_up("cannot attach to a mailbox");
    int64_t begun = pleat_clock_monotonic_ns();
    for (int i = 1; i <= POINTS; i++) {
        int64_t last = pleat_clock_monotonic_ns();
        pleat_mailbox_publish(&self, (uint64_t)(last - begun), (uint64_t)i);
        if (pleat_mailbox_arrive(&self) != PLEAT_ARRIVAL_QUIET)
            bench_give_up("a mailbox without a request asks for something");
    }
    bench_add(&quiet_ns, (double)(pleat_clock_monotonic_ns() - begun) / POINTS);
    pleat_mailbox_close(mailbox);
    close(fd);
}

/* `pairs` runs of both programs, in turns the one and the other first. */
static void measure(struct subject *subject, int pairs)
{
    static int turn;
    for (int i = 0; i < pairs; i++) {
        bool bare_first = turn++ % 2;
        if (bare_first)
            run_bare(subject);
        run_pleat(subject);
        if (!bare_first)
            run_bare(subject);
    }
    for (enum mpi mpi = OPENMPI; mpi < MPIS; mpi++) {
        if (!subject->ways[mpi].pleat[0])
            continue;
        if (turn % 2)
            run_again(subject, mpi, false);
        run_stop(subject, mpi);
        run_again(subject, mpi, true);
        if (turn % 2 == 0)
            run_again(subject, mpi, false);
    }
}

int main(int argc, char **argv)
{
    int repeats = 7;
    double state = 268435456;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "state", .real = &state, .from = 1 << 17, .to = 1LL << 36},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    /* A square plate. Sweeps enough for four resizes to be posted; small plates need a pause. */
    int n = (int)sqrt(state / 8);
    bool small = n < 2000;
    char n_text[16];
    char bytes_text[32];
    snprintf(n_text, sizeof(n_text), "%d", n);
    snprintf(bytes_text, sizeof(bytes_text), "%lld", 8LL * n * n);
    static struct subject loop = {.name = "loop", .bytes = LOOP_BYTES, .rows = LOOP_ROWS};
    static struct subject heat = {.name = "heat"};
    loop.pleat = WORDS(BENCH_LOOP, LOOP_OPTIONS);
    loop.bare = WORDS(BENCH_BARE, "loop", LOOP_BYTES, LOOP_ROWS, "4", "8", "4", "2");
    const char *const sweeps = small ? "300" : "40";
    const char *const pause = small ? "5" : "0";
    /* the program goes on while the new processes are started */
    const char *const warm_sweeps = small ? "600" : "200";
    heat.pleat = WORDS(BENCH_HEAT, HEAT_OPTIONS(sweeps));
    heat.bare = WORDS(BENCH_BARE, "heat", n_text, "4", "8", "4", "2");
    heat.bytes = bytes_text;
    heat.rows = n_text;
    loop.ways[OPENMPI].pleat = loop.pleat;
    heat.ways[OPENMPI].pleat = heat.pleat;
    loop.ways[OPENMPI].stopping = heat.ways[OPENMPI].stopping = BENCH_RELAUNCH;
    loop.ways[MPICH].pleat = WORDS(BENCH_MPICH_LOOP, LOOP_OPTIONS);
    heat.ways[MPICH].pleat = WORDS(BENCH_MPICH_HEAT, HEAT_OPTIONS(sweeps));
    loop.ways[OPENMPI].pleat_warm = loop.pleat;
    loop.ways[MPICH].pleat_warm = loop.ways[MPICH].pleat;
    heat.ways[OPENMPI].pleat_warm = WORDS(BENCH_HEAT, HEAT_OPTIONS(warm_sweeps));
    heat.ways[MPICH].pleat_warm = WORDS(BENCH_MPICH_HEAT, HEAT_OPTIONS(warm_sweeps));
    loop.ways[MPICH].stopping = heat.ways[MPICH].stopping = BENCH_MPICH_RELAUNCH;
    heat.warm_bytes = small ? 0 : 6 * (size_t)state;
    bench_job_begin("bench_resize", &job);
    for (int i = 0; i < repeats; i++) {
        run_quiet();
        measure(&loop, LOOP_PAIRS);
        measure(&heat, 1);
        run_copy(&heat);
    }
    report(&loop, &heat, &quiet_ns, json);
    return 0;
}

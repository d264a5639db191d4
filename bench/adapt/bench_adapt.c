/* bench_adapt [options] - what an adaptation point costs at which nothing happens, on 1, 2, 4 and 8
 * ranks (processes that share a mailbox), alone and while a resize is agreed on for an iteration
 * far ahead; beside an empty loop and one reading of the clock, which alternate with it.
 *
 * At such a point pleat_session_adapt reads the clock, publishes times and iteration, and looks at
 * the word. Costs are processor time, as ranks outnumber processors. Meanwhile the agent's side
 * looks at the mailbox as pleat-agent does. At the end of each run a resize is posted while the
 * ranks are in different iterations, and all must enter it in the same one.
 *
 * Then a program with libpleat measures its own points, with and without a name (program.c).
 */
#include <errno.h>
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
#include "options.h"
#include "program.h"
#include "report.h"
#include "shm/mailbox-rank.h"

static const char usage[] =
    "usage: bench_adapt [options]\n"
    "What an adaptation point costs at which nothing happens.\n"
    "  --repeats N      runs of each number of ranks (default 7, at most 50)\n"
    "  --points N       adaptation points of each measurement (default 200000)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define RANKS_MAX 8
#define REPEATS_MAX 50
#define GOAL_NS 1000.0
#define FAR_AWAY (UINT64_C(1) << 40)
#define LIMIT_US (120 * PLEAT_US_PER_S)
#define LOOK_NS 10000000 /* between two looks of the agent */

enum kind { EMPTY, CLOCK, QUIET, PENDING, KINDS };
static const char *const kind_names[] = {"empty", "clock", "quiet", "pending"};
static const int rank_counts[] = {1, 2, 4, 8};
#define COUNTS (sizeof(rank_counts) / sizeof(rank_counts[0]))

/* Shared by the processes of a run. */
struct shared {
    atomic_int arrived[KINDS + 1]; /* at the gate before each measurement */
    atomic_int done;
    atomic_bool failed;
    double ns[KINDS][RANKS_MAX];
    _Atomic uint64_t entered[RANKS_MAX];
};

struct run {
    struct shared *shared;
    struct pleat_mailbox *quiet, *pending;
    int ranks;
    long points;
};

static struct bench_series series[COUNTS][KINDS];
static struct bench_series posting[COUNTS];

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_adapt: %s\n", what);
    exit(1);
}

/* ---- one rank ---- */

static int64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void gate(struct run *run, int number)
{
    atomic_fetch_add(&run->shared->arrived[number], 1);
    while (atomic_load(&run->shared->arrived[number]) < run->ranks)
        sched_yield();
}

static int point(struct pleat_mailbox_rank *self, int64_t *last, uint64_t *busy, uint64_t *count)
{
    int64_t now = pleat_clock_monotonic_ns();
    *busy += (uint64_t)(now - *last);
    *last = now;
    pleat_mailbox_publish(self, *busy, ++*count);
    return pleat_mailbox_arrive(self);
}

static void measure_points(struct run *run, struct pleat_mailbox_rank *self)
{
    int64_t last = pleat_clock_monotonic_ns();
    uint64_t busy = 0;
    uint64_t count = 0;
    for (long i = 0; i < run->points; i++)
        if (point(self, &last, &busy, &count) != PLEAT_ARRIVAL_QUIET)
            atomic_store(&run->shared->failed, true);
}

static void measure(struct run *run, enum kind kind, struct pleat_mailbox_rank *selves, int rank)
{
    gate(run, (int)kind);
    int64_t begun = processor_ns();
    if (kind == EMPTY)
        for (long i = 0; i < run->points; i++)
            __asm__ volatile("" : : "r"(i) : "memory");
    else if (kind == CLOCK)
        for (long i = 0; i < run->points; i++)
            __asm__ volatile("" : : "r"(pleat_clock_monotonic_ns()) : "memory");
    else
        measure_points(run, &selves[kind == PENDING]);
    run->shared->ns[kind][rank] = (double)(processor_ns() - begun) / (double)run->points;
}

/* Every rank goes on at its own speed until the resize that the agent posts meanwhile. */
static void meet(struct run *run, struct pleat_mailbox_rank *self, int rank)
{
    gate(run, KINDS);
    int64_t last = pleat_clock_monotonic_ns();
    int64_t deadline_us = pleat_clock_monotonic_us() + LIMIT_US;
    uint64_t busy = 0;
    uint64_t count = 0;
    while (pleat_clock_monotonic_us() < deadline_us) {
        int arrival = point(self, &last, &busy, &count);
        if (arrival == PLEAT_ARRIVAL_ENTER) {
            atomic_store(&run->shared->entered[rank], self->iteration);
            return;
        }
        if (count % (unsigned)(rank + 1) == 0)
            sched_yield();
    }
}

static void rank_main(struct run *run, int rank)
{
    struct pleat_mailbox_rank selves[2];
    if (pleat_mailbox_attach(run->quiet, (uint32_t)rank, 0, -1, &selves[0]) ||
        pleat_mailbox_attach(run->pending, (uint32_t)rank, 0, -1, &selves[1]))
        _exit(1);
    for (int kind = 0; kind < KINDS; kind++)
        measure(run, (enum kind)kind, selves, rank);
    meet(run, &selves[0], rank);
    atomic_fetch_add(&run->shared->done, 1);
    _exit(0);
}

/* ---- a run ---- */

/* As if the ranks had attached: they do so again, in their processes. */
static void attach_all(struct pleat_mailbox *mailbox, uint32_t ranks, uint64_t last_iteration)
{
    struct pleat_mailbox_rank self;
    for (uint32_t rank = ranks; rank-- > 0;)
        if (pleat_mailbox_attach(mailbox, rank, rank == ranks - 1 ? last_iteration : 0, -1, &self))
            give_up("cannot attach to a mailbox");
    if (pleat_mailbox_set_size(&self, ranks))
        give_up("cannot attach to a mailbox");
}

/* In `pending` a resize is agreed on for an iteration that no rank reaches, as one more rank is far
 * ahead. */
static void prepare(struct run *run)
{
    const struct pleat_mailbox_request request = {.resize = 1, .target = 1};
    attach_all(run->quiet, (uint32_t)run->ranks, 0);
    attach_all(run->pending, (uint32_t)run->ranks + 1, FAR_AWAY);
    if (pleat_mailbox_post(run->pending, &request))
        give_up("cannot post a resize");
}

static void look_until(struct run *run, const atomic_int *what, int64_t deadline_us)
{
    struct pleat_mailbox_status status;
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    while (atomic_load(what) < run->ranks) {
        pleat_mailbox_status(run->quiet, &status);
        if (pleat_clock_monotonic_us() > deadline_us)
            give_up("the ranks did not get there within their limit");
        nanosleep(&pause, NULL);
    }
}

/* The time that the agent takes to post a resize, agreement included, while all ranks go on. */
static double post(struct run *run)
{
    const struct pleat_mailbox_request request = {.resize = 2, .target = 1};
    int64_t begun = processor_ns();
    if (pleat_mailbox_post(run->quiet, &request))
        give_up("cannot post a resize");
    return (double)(processor_ns() - begun);
}

static void check(const struct run *run)
{
    uint64_t first = atomic_load(&run->shared->entered[0]);
    if (atomic_load(&run->shared->failed))
        give_up("a point at which nothing was to happen was not quiet");
    for (int rank = 0; rank < run->ranks; rank++)
        if (!first || atomic_load(&run->shared->entered[rank]) != first)
            give_up("the ranks did not enter the resize in the same iteration");
}

static void open_mailbox(struct pleat_mailbox **mailbox)
{
    struct pleat_error err;
    int fd;
    if (pleat_mailbox_create(RANKS_MAX + 1, mailbox, &fd, &err))
        give_up(err.text);
    close(fd);
}

static void run_once(size_t which, long points)
{
    struct run run = {.ranks = rank_counts[which], .points = points};
    run.shared =
        mmap(NULL, sizeof(*run.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run.shared == MAP_FAILED)
        give_up("no memory");
    open_mailbox(&run.quiet);
    open_mailbox(&run.pending);
    prepare(&run);
    for (int rank = 0; rank < run.ranks; rank++) {
        pid_t pid = fork();
        if (pid < 0)
            give_up("cannot fork");
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            rank_main(&run, rank);
        }
    }
    int64_t deadline_us = pleat_clock_monotonic_us() + LIMIT_US;
    look_until(&run, &run.shared->arrived[KINDS], deadline_us);
    bench_add(&posting[which], post(&run));
    look_until(&run, &run.shared->done, deadline_us);
    for (int rank = 0; rank < run.ranks; rank++)
        while (wait(NULL) < 0 && errno == EINTR)
            ;
    check(&run);
    for (int kind = 0; kind < KINDS; kind++)
        for (int rank = 0; rank < run.ranks; rank++)
            bench_add(&series[which][kind], run.shared->ns[kind][rank]);
    pleat_mailbox_close(run.quiet);
    pleat_mailbox_close(run.pending);
    munmap(run.shared, sizeof(*run.shared));
}

/* ---- reporting ---- */

static struct bench_row row_of(size_t which, const char *what, const struct bench_series *values)
{
    struct bench_row row = {.value = bench_median(values), .unit = "ns"};
    snprintf(row.name, sizeof(row.name), "adapt_%s_%d", what, rank_counts[which]);
    return row;
}

static void report_json(void)
{
    struct bench_row rows[COUNTS * (KINDS + 1) + PROGRAM_ROWS_MAX];
    size_t count = 0;
    for (size_t which = 0; which < COUNTS; which++) {
        double clock = bench_median(&series[which][CLOCK]);
        for (int kind = 0; kind < KINDS; kind++) {
            struct bench_row *row = &rows[count++];
            *row = row_of(which, kind_names[kind], &series[which][kind]);
            if (kind < QUIET)
                continue;
            row->baseline = clock;
            row->goal = GOAL_NS;
            row->met = row->value <= GOAL_NS;
        }
        rows[count++] = row_of(which, "post", &posting[which]);
    }
    count += program_rows(&rows[count]);
    bench_print_json(rows, count);
}

static void report(void)
{
    printf("nanoseconds of processor time: median [min .. max]\n"
           "%-6s %19s %24s %26s %26s  %-16s %s\n",
           "ranks", "an empty loop", "reading the clock", "a quiet point",
           "with a resize far ahead", "goal 1000 ns", "posting a resize");
    for (size_t which = 0; which < COUNTS; which++) {
        printf("%-6d", rank_counts[which]);
        for (int kind = 0; kind < KINDS; kind++) {
            const struct bench_series *s = &series[which][kind];
            printf("  %6.1f [%5.1f .. %6.1f]", bench_median(s), bench_quantile(s, 0),
                   bench_quantile(s, 1));
        }
        bool met = bench_median(&series[which][QUIET]) <= GOAL_NS &&
                   bench_median(&series[which][PENDING]) <= GOAL_NS;
        printf("  %-12s  %8.0f\n", met ? "met" : "NOT MET", bench_median(&posting[which]));
    }
    printf("in every run all ranks entered the resize in the same iteration\n");
    program_report();
}

int main(int argc, char **argv)
{
    int repeats = 7, points = 200000;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "points", .number = &points, .least = 1, .most = 100000000},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    for (int i = 0; i < repeats; i++)
        for (size_t which = 0; which < COUNTS; which++)
            run_once(which, points);
    program_measure(repeats, points);
    if (json)
        report_json();
    else
        report();
    return 0;
}

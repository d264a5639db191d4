/* bench_resize [options] - what a resize with Pleat costs: 2->4->8->4->2 ranks of a loop with next
 * to no state and of heat with 256 MB of state.
 *
 * Against programs that resize themselves in plain MPI (the baseline), and against stopping and
 * starting again with the state saved in memory. Runs alternate, so that a change of the machine's
 * load hits all. Times are rank 0's, from its arrival until all ranks have their data.
 */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app_job.h"
#include "base/clock.h"
#include "report.h"
#include "shm/mailbox-rank.h"

static const char usage[] =
    "usage: bench_resize [options]\n"
    "What resizing 2->4->8->4->2 ranks costs, against plain MPI and against relaunching.\n"
    "  --repeats N      runs of each program (default 7, at most 50); of loop three times as many\n"
    "  --state BYTES    bytes of state of heat (default 268435456)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define STEPS 4
#define TOTAL STEPS /* the place of the sum in arrays of steps */
#define GOAL_RATIO 1.10
#define GOAL_QUIET_NS 1000.0
#define LOOP_BYTES "8000"
#define LOOP_ROWS "1000"
#define REPEATS_MAX 50
#define LOOP_PAIRS 3 /* short, and mostly the starting of processes, which varies */
#define LIMIT_S 120
#define ROWS_MAX 64
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const int sizes[STEPS + 1] = {2, 4, 8, 4, 2};

/* Milliseconds, by step and in total. */
struct subject {
    const char *name;
    const char *const *pleat;
    const char *const *bare;
    const char *bytes, *rows; /* of the relaunched program */
    struct bench_series resize[STEPS + 1], plain[STEPS + 1], relaunch[STEPS + 1];
    struct bench_series processes[STEPS], move[STEPS], wait[STEPS], save[STEPS];
    struct bench_series copy[STEPS], copy_fresh[STEPS]; /* memcpy of as many bytes */
    uint64_t moved[STEPS];                              /* bytes that change their rank */
};

static struct app_job job;
static struct bench_series quiet_ns;
static volatile sig_atomic_t interrupted;

/* ---- being interrupted ---- */

/* The job lives in a process group of its own; its next look at the time cleans it up. */
static void interrupt(int number)
{
    static const char text[] = "bench_resize: interrupted\n";
    interrupted = number;
    job.deadline_us = 0;
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        return;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Nothing may be left of a job, and no number may come from one that went wrong. */
static void end_job(void)
{
    APP_CHECK(&job, app_job_wait(&job) == 0 && strstr(job.output, "RESULT ok"));
    if (app_job_finish(&job))
        fprintf(stderr, "bench_resize: a job left something behind; it was cleared away\n");
    if (interrupted)
        exit(128 + interrupted);
}

/* ---- measuring ---- */

static double ms_of(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void run_pleat(struct subject *subject)
{
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = LIMIT_S};
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
    end_job();
}

static void run_bare(struct subject *subject)
{
    const struct app_job_options options = {
        .ranks = sizes[0], .without_pleat = true, .limit_s = LIMIT_S};
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
    end_job();
}

static double stamp_ms(const char *what)
{
    const char *at = strstr(job.output, what);
    long long ns = 0;
    APP_CHECK(&job, at && sscanf(at + strlen(what), "%lld", &ns) == 1);
    return (double)ns / 1e6;
}

/* One life at each size; a step is the end of one and the beginning of the next. */
static void run_relaunch(struct subject *subject)
{
    char path[64];
    double begin[STEPS + 1];
    double end[STEPS + 1];
    double sum = 0;
    int memory = memfd_create("bench_resize", MFD_CLOEXEC);
    APP_CHECK(&job, memory >= 0);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), memory);
    for (int i = 0; i <= STEPS; i++) {
        const struct app_job_options options = {
            .ranks = sizes[i], .without_pleat = true, .limit_s = LIMIT_S};
        double launched = ms_of((uint64_t)pleat_clock_monotonic_ns());
        app_job_start(&job, &options, WORDS(BENCH_RELAUNCH, path, subject->bytes, subject->rows));
        APP_CHECK(&job, app_job_wait(&job) == 0);
        double gone = ms_of((uint64_t)pleat_clock_monotonic_ns());
        begin[i] = stamp_ms("LOADED ") - launched;
        end[i] = gone - stamp_ms("SAVING ");
        end_job();
    }
    for (int i = 0; i < STEPS; i++) {
        bench_add(&subject->relaunch[i], end[i] + begin[i + 1]);
        sum += end[i] + begin[i + 1];
    }
    bench_add(&subject->relaunch[TOTAL], sum);
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
        if (!from || !to) {
            fprintf(stderr, "bench_resize: no memory for two times %zu bytes\n", bytes);
            exit(1);
        }
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

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_resize: %s\n", what);
    exit(1);
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
        give_up(err.text);
    if (pleat_mailbox_attach(mailbox, 0, 0, -1, &self) || pleat_mailbox_set_size(&self, 1))
        give_up("cannot attach to a mailbox");
    int64_t begun = pleat_clock_monotonic_ns();
    for (int i = 1; i <= POINTS; i++) {
        int64_t last = pleat_clock_monotonic_ns();
        pleat_mailbox_publish(&self, (uint64_t)(last - begun), (uint64_t)i);
        if (pleat_mailbox_arrive(&self) != PLEAT_ARRIVAL_QUIET)
            give_up("a mailbox without a request asks for something");
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
    run_relaunch(subject);
}

/* ---- reporting ---- */

/* A shrink without state takes about a millisecond: what eight ranks on two processors wait for
 * each other to be scheduled. Its ratio is printed, but judges nothing. */
static bool has_goal(const struct subject *subject, int step)
{
    return step == TOTAL || sizes[step + 1] > sizes[step] || subject->copy[step].count;
}

static struct bench_row *add_row(struct bench_row *rows, size_t *count, const char *subject,
                                 int step, const char *what)
{
    struct bench_row *row = &rows[(*count)++];
    *row = (struct bench_row){.unit = "ms"};
    if (step == TOTAL)
        snprintf(row->name, sizeof(row->name), "resize_%s_total%s", subject, what);
    else
        snprintf(row->name, sizeof(row->name), "resize_%s_%d_%d%s", subject, sizes[step],
                 sizes[step + 1], what);
    return row;
}

static void add_subject(struct bench_row *rows, size_t *count, const struct subject *s)
{
    for (int i = 0; i <= STEPS; i++) {
        struct bench_row *row = add_row(rows, count, s->name, i, "");
        row->value = bench_median(&s->resize[i]);
        row->baseline = bench_median(&s->plain[i]);
        row->goal = has_goal(s, i) ? GOAL_RATIO : 0;
        row->met = bench_ratio(row) <= GOAL_RATIO;
    }
    for (int i = 0; i <= STEPS; i++) {
        struct bench_row *row = add_row(rows, count, s->name, i, "_to_relaunch");
        row->value = bench_median(&s->resize[i]);
        row->baseline = bench_median(&s->relaunch[i]);
    }
    for (int i = 0; i < STEPS; i++) {
        add_row(rows, count, s->name, i, "_processes")->value = bench_median(&s->processes[i]);
        struct bench_row *row = add_row(rows, count, s->name, i, "_move");
        row->value = bench_median(&s->move[i]);
        row->baseline = bench_median(&s->copy[i]);
        add_row(rows, count, s->name, i, "_wait")->value = bench_median(&s->wait[i]);
        add_row(rows, count, s->name, i, "_save")->value = bench_median(&s->save[i]);
    }
}

static void print_range(const struct bench_series *series)
{
    printf(" %8.2f [%7.2f ..%8.2f]", bench_median(series), bench_quantile(series, 0),
           bench_quantile(series, 1));
}

static void print_subject(const struct subject *s, const struct bench_row *rows)
{
    printf("%-12s %29s %29s %7s  %-12s %28s %7s\n", s->name, "Pleat, ms: median [min .. max]",
           "plain MPI", "ratio", "goal 1.10", "stop and relaunch", "ratio");
    for (int i = 0; i <= STEPS; i++) {
        char label[16] = "all four";
        if (i < STEPS)
            snprintf(label, sizeof(label), "%d -> %d", sizes[i], sizes[i + 1]);
        printf("  %-10s", label);
        print_range(&s->resize[i]);
        print_range(&s->plain[i]);
        printf(" %7.3f  %-12s", bench_ratio(&rows[i]),
               rows[i].goal <= 0 ? "-"
               : rows[i].met     ? "met"
                                 : "NOT MET");
        print_range(&s->relaunch[i]);
        printf(" %7.3f\n", bench_ratio(&rows[STEPS + 1 + i]));
    }
    printf("  of which, medians in ms:\n");
    for (int i = 0; i < STEPS; i++) {
        printf("  %d -> %d     saving %.2f, processes %.2f, data %.2f; before, waiting for an "
               "adaptation point %.2f\n",
               sizes[i], sizes[i + 1], bench_median(&s->save[i]), bench_median(&s->processes[i]),
               bench_median(&s->move[i]), bench_median(&s->wait[i]));
        if (s->copy[i].count)
            printf("             moved %.1f MB; memcpy of as much %.2f, into new memory %.2f\n",
                   (double)s->moved[i] / 1e6, bench_median(&s->copy[i]),
                   bench_median(&s->copy_fresh[i]));
    }
}

static void report(const struct subject *loop, const struct subject *heat, bool json)
{
    struct bench_row rows[ROWS_MAX];
    size_t count = 0;
    add_subject(rows, &count, loop);
    size_t first_of_heat = count;
    add_subject(rows, &count, heat);
    struct bench_row *quiet = &rows[count++];
    *quiet = (struct bench_row){.name = "resize_quiet_point",
                                .value = bench_median(&quiet_ns),
                                .unit = "ns",
                                .goal = GOAL_QUIET_NS};
    quiet->met = quiet->value <= GOAL_QUIET_NS;
    if (json) {
        bench_print_json(rows, count);
        return;
    }
    print_subject(loop, rows);
    print_subject(heat, rows + first_of_heat);
    printf("an adaptation point at which nothing happens: %.0f ns [%.0f .. %.0f], goal %.0f ns: "
           "%s\n",
           quiet->value, bench_quantile(&quiet_ns, 0), bench_quantile(&quiet_ns, 1), GOAL_QUIET_NS,
           quiet->met ? "met" : "NOT MET");
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"repeats", 1, NULL, 'r'},
                                          {"state", 1, NULL, 's'},
                                          {"json", 0, NULL, 'j'},
                                          {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int repeats = 7;
    double state = 268435456;
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'r')
            repeats = atoi(optarg);
        else if (c == 's')
            state = atof(optarg);
        else if (c == 'j')
            json = true;
        else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (repeats < 1 || repeats > REPEATS_MAX || !(state >= 1 << 17 && state <= 1LL << 36)) {
        fprintf(stderr, "bench_resize: --repeats wants 1 to %d, --state %d bytes to 64 GiB\n",
                REPEATS_MAX, 1 << 17);
        return 2;
    }
    /* A square plate. Sweeps enough for four resizes to be posted; small plates need a pause. */
    int n = (int)sqrt(state / 8);
    bool small = n < 2000;
    char n_text[16];
    char bytes_text[32];
    snprintf(n_text, sizeof(n_text), "%d", n);
    snprintf(bytes_text, sizeof(bytes_text), "%lld", 8LL * n * n);
    static struct subject loop = {.name = "loop", .bytes = LOOP_BYTES, .rows = LOOP_ROWS};
    static struct subject heat = {.name = "heat"};
    loop.pleat = WORDS(BENCH_LOOP, "--resizes", "4", "--state", LOOP_BYTES, "--rows", LOOP_ROWS);
    loop.bare = WORDS(BENCH_BARE, "loop", LOOP_BYTES, LOOP_ROWS, "4", "8", "4", "2");
    heat.pleat = WORDS(BENCH_HEAT, "--n", n_text, "--iterations", small ? "300" : "40", "--pause",
                       small ? "5" : "0");
    heat.bare = WORDS(BENCH_BARE, "heat", n_text, "4", "8", "4", "2");
    heat.bytes = bytes_text;
    heat.rows = n_text;
    handle_signals();
    for (int i = 0; i < repeats; i++) {
        run_quiet();
        measure(&loop, LOOP_PAIRS);
        measure(&heat, 1);
        run_copy(&heat);
    }
    report(&loop, &heat, json);
    return 0;
}

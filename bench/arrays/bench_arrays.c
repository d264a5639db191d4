/* bench_arrays [options] - what it costs to resize a program with a 2-D block-cyclic matrix: the
 * time in which the matrix moves, 2 -> 4 -> 8 -> 6 -> 4 -> 2 ranks, against ScaLAPACK's pdgemr2d
 * between the same process grids and against memcpy of the whole matrix into new memory; and the
 * memory that it takes at most meanwhile. The three alternate. */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "app_job.h"
#include "base/clock.h"
#include "report.h"

static const char usage[] =
    "usage: bench_arrays [options]\n"
    "Resizes a program with a 2-D block-cyclic matrix, against pdgemr2d and memcpy.\n"
    "  --repeats N      measurements of each value (default 5)\n"
    "  --largest N      matrices up to N x N (default 8000)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#ifndef BENCH_GEMR2D
#define BENCH_GEMR2D NULL
#endif
#define REPEATS_MAX 50
#define GOAL_GEMR2D 0.25
#define GOAL_MEMCPY 2.0
#define RANK_BYTES (64 << 20) /* what each rank may need besides the matrix, new and old */

static const int sizes[] = {2, 4, 8, 6, 4, 2};
enum { STEPS = 5, ORDERS = 3 };
static int orders[ORDERS] = {2000, 4000, 8000};
static int order_count = ORDERS;

struct figures {
    struct bench_series move_ms[STEPS], gemr2d_ms[STEPS], memcpy_ms;
    double peak_bytes;
};

static struct figures figures[ORDERS];
static struct app_job job;

/* ---- memory ---- */

static atomic_bool sampling;
static uint64_t peak;

/* Looks all the time how much memory the files take. */
static void *sample(void *unused)
{
    const struct timespec moment = {0, 200000};
    (void)unused;
    while (atomic_load(&sampling)) {
        uint64_t bytes = pleat_state_store_bytes(&job.store);
        peak = bytes > peak ? bytes : peak;
        nanosleep(&moment, NULL);
    }
    return NULL;
}

/* ---- measuring ---- */

static void end_job(void)
{
    APP_CHECK(&job, app_job_wait(&job) == 0 && strstr(job.output, "RESULT ok"));
    if (app_job_finish(&job))
        fprintf(stderr, "bench_arrays: a job left something behind; it was cleared away\n");
}

static void run_pleat(struct figures *f, const char *n)
{
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = 120};
    const char *const command[] = {BENCH_ARRAYS, n, "5", NULL};
    pthread_t sampler;
    app_job_start(&job, &options, command);
    app_job_wait_begun(&job);
    peak = 0;
    atomic_store(&sampling, true);
    APP_CHECK(&job, pthread_create(&sampler, NULL, sample, NULL) == 0);
    for (int i = 0; i < STEPS; i++) {
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[i + 1]);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        bench_add(&f->move_ms[i], (double)status.cost.redistribute_ns / 1e6);
    }
    atomic_store(&sampling, false);
    pthread_join(sampler, NULL);
    f->peak_bytes = (double)peak > f->peak_bytes ? (double)peak : f->peak_bytes;
    end_job();
}

static void run_gemr2d(struct figures *f, const char *n)
{
    /* the grids that Pleat proposes */
    static const char *const program = BENCH_GEMR2D;
    const char *const command[] = {program, n,   "1", "2", "2", "2", "2", "4",
                                   "2",     "3", "2", "2", "1", "2", NULL};
    const struct app_job_options options = {.ranks = 8, .without_pleat = true, .limit_s = 120};
    if (!program)
        return;
    app_job_start(&job, &options, command);
    APP_CHECK(&job, app_job_wait(&job) == 0);
    const char *at = job.output;
    for (int i = 0; i < STEPS; i++) {
        double seconds = 0;
        at = strstr(at, "TIME ");
        APP_CHECK(&job, at && sscanf(at, "TIME %lf", &seconds) == 1);
        bench_add(&f->gemr2d_ms[i], seconds * 1e3);
        at++;
    }
    end_job();
}

static void run_memcpy(struct figures *f, size_t bytes)
{
    char *from = malloc(bytes);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!from || to == MAP_FAILED) {
        fprintf(stderr, "bench_arrays: no memory for twice the matrix\n");
        exit(1);
    }
    memset(from, 1, bytes);
    int64_t begun = pleat_clock_monotonic_ns();
    memcpy(to, from, bytes);
    bench_add(&f->memcpy_ms, (double)(pleat_clock_monotonic_ns() - begun) / 1e6);
    free(from);
    munmap(to, bytes);
}

static void measure(int order, int turn)
{
    char n[16];
    snprintf(n, sizeof(n), "%d", orders[order]);
    struct figures *f = &figures[order];
    if (turn % 2)
        run_gemr2d(f, n);
    run_pleat(f, n);
    run_memcpy(f, (size_t)orders[order] * (size_t)orders[order] * 8);
    if (turn % 2 == 0)
        run_gemr2d(f, n);
}

/* ---- reporting ---- */

static double bytes_of(int order)
{
    return 8.0 * orders[order] * orders[order];
}

/* The matrix before and after, and 64 MiB for each rank. */
static double bound_of(int order)
{
    return 2 * bytes_of(order) + 8.0 * RANK_BYTES;
}

static struct bench_row row_of(int order, int step, const char *what, double baseline, double goal)
{
    struct bench_row row = {.value = bench_median(&figures[order].move_ms[step]),
                            .unit = "ms",
                            .baseline = baseline,
                            .goal = baseline > 0 ? goal : 0};
    row.met = baseline > 0 && row.value <= goal * baseline;
    snprintf(row.name, sizeof(row.name), "arrays_%s_%d_%d_to_%d", what, orders[order], sizes[step],
             sizes[step + 1]);
    return row;
}

static void report_json(void)
{
    struct bench_row rows[ORDERS * (2 * STEPS + 1)];
    size_t count = 0;
    for (int n = 0; n < order_count; n++) {
        const struct figures *f = &figures[n];
        for (int s = 0; s < STEPS; s++) {
            rows[count++] = row_of(n, s, "gemr2d", bench_median(&f->gemr2d_ms[s]), GOAL_GEMR2D);
            rows[count++] = row_of(n, s, "memcpy", bench_median(&f->memcpy_ms), GOAL_MEMCPY);
        }
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.value = f->peak_bytes / 1e6,
                                  .unit = "MB",
                                  .goal = bound_of(n) / 1e6,
                                  .met = f->peak_bytes <= bound_of(n)};
        snprintf(row->name, sizeof(row->name), "arrays_memory_%d", orders[n]);
    }
    bench_print_json(rows, count);
}

static void print_range(const struct bench_series *s)
{
    char text[64] = "-";
    if (s->count)
        snprintf(text, sizeof(text), "%.1f [%.1f .. %.1f]", bench_median(s), bench_quantile(s, 0),
                 bench_quantile(s, 1));
    printf("  %-26s", text);
}

static void report(void)
{
    printf("median [min .. max]\n    N  ranks   %-26s  %-26s  %-26s  of gemr2d  of memcpy\n",
           "the matrix moves, ms", "pdgemr2d, ms", "memcpy, ms");
    for (int n = 0; n < order_count; n++) {
        const struct figures *f = &figures[n];
        for (int s = 0; s < STEPS; s++) {
            double moves = bench_median(&f->move_ms[s]);
            double other = bench_median(&f->gemr2d_ms[s]);
            printf("%5d  %d -> %d", orders[n], sizes[s], sizes[s + 1]);
            print_range(&f->move_ms[s]);
            print_range(&f->gemr2d_ms[s]);
            print_range(&f->memcpy_ms);
            printf("  %9.2f  %9.2f\n", other > 0 ? moves / other : 0,
                   moves / bench_median(&f->memcpy_ms));
        }
        printf("%5d  memory: the matrix has %.0f MB, its file at most %.0f MB\n", orders[n],
               bytes_of(n) / 1e6, f->peak_bytes / 1e6);
    }
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"repeats", 1, NULL, 'r'},
                                          {"largest", 1, NULL, 'l'},
                                          {"json", 0, NULL, 'j'},
                                          {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int repeats = 5;
    int largest = orders[ORDERS - 1];
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'r')
            repeats = atoi(optarg);
        else if (c == 'l')
            largest = atoi(optarg);
        else if (c == 'j')
            json = true;
        else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (repeats < 1 || repeats > REPEATS_MAX || largest < 1 || largest > 40000) {
        fprintf(stderr, "bench_arrays: --repeats wants 1 to %d, --largest 1 to 40000\n",
                REPEATS_MAX);
        return 2;
    }
    while (order_count > 1 && orders[order_count - 1] > largest)
        order_count--;
    if (orders[0] > largest)
        orders[0] = largest;
    for (int i = 0; i < repeats; i++)
        for (int n = 0; n < order_count; n++)
            measure(n, i + n);
    if (json)
        report_json();
    else
        report();
    return 0;
}

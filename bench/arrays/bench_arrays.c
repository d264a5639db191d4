/* bench_arrays [options] - what it costs to resize a program with a 2-D block-cyclic matrix: the
 * time in which the matrix moves, 2 -> 4 -> 8 -> 6 -> 4 -> 2 ranks, where old and new ranks are
 * merged, and the pause of a warm relaunch; against ScaLAPACK's pdgemr2d between the same process
 * grids and against memcpy of the whole matrix into new memory. The four alternate. And, in a run
 * whose times do not count, the memory that it takes meanwhile. Or of a program with slabs of the
 * matrix, or particles, of the same size: the same without pdgemr2d. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "job.h"
#include "options.h"
#include "report.h"
#include "support/store_bytes.h"

static const char usage[] =
    "usage: bench_arrays [options]\n"
    "Resizes a program with a 2-D block-cyclic matrix, against pdgemr2d and memcpy.\n"
    "  --repeats N      measurements of each value (default 5)\n"
    "  --largest N      matrices up to N x N (default 8000)\n"
    "  --data KIND      matrix (default); slabs, particles: other data of its size\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#ifndef BENCH_GEMR2D
#define BENCH_GEMR2D NULL
#endif
#define REPEATS_MAX 50
#define GOAL_GEMR2D 0.25
#define GOAL_MEMCPY 2.0
#define RANK_BYTES (64 << 20) /* what each rank may need besides its new part of the matrix */
#define FILE_BYTES                                                                                 \
    (2 << 20) /* what the data file may need besides: marks, pages that are not full */

static const int sizes[] = {2, 4, 8, 6, 4, 2};
enum { STEPS = 5, ORDERS = 3 };
static int orders[ORDERS] = {2000, 4000, 8000};
static int order_count = ORDERS;

struct figures {
    struct bench_series move_ms[STEPS], warm_ms[STEPS], gemr2d_ms[STEPS], memcpy_ms;
    double before_bytes[STEPS], peak_bytes[STEPS]; /* of the job, before and in a step */
    double before_file[STEPS], peak_file[STEPS];   /* of the data file alone */
};

static struct figures figures[ORDERS];
static const char *data = "matrix";
static struct app_job job;

/* ---- memory ---- */

static atomic_bool sampling;
static atomic_ullong peak, file_peak;

/* Private memory of a process and all its descendants. A process that ends meanwhile counts as
 * 0. */
static uint64_t private_bytes(long pid)
{
    char path[64], line[256];
    uint64_t bytes = 0;
    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    FILE *file = fopen(path, "re");
    unsigned long long kib;
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1)
            bytes += kib * 1024;
    if (file)
        fclose(file);
    snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
    file = fopen(path, "re");
    long child;
    while (file && fscanf(file, "%ld", &child) == 1)
        bytes += private_bytes(child);
    if (file)
        fclose(file);
    return bytes;
}

/* What the MPI's ranks share: files in the job's directory. */
static uint64_t mpi_bytes(void)
{
    uint64_t bytes = 0;
    DIR *directory = opendir(job.directory);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat status;
        if (!fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_blocks * 512;
    }
    closedir(directory);
    return bytes;
}

/* All memory of the job: the file with the matrix, and that of mpirun and the ranks. */
static uint64_t job_bytes(void)
{
    return store_bytes(&job.store) + private_bytes(job.pid) + mpi_bytes();
}

/* Samples all the time how much memory the job has. */
static void *sample(void *unused)
{
    const struct timespec moment = {0, 200000};
    (void)unused;
    while (atomic_load(&sampling)) {
        uint64_t bytes = job_bytes();
        if (bytes > atomic_load(&peak))
            atomic_store(&peak, bytes);
        bytes = store_bytes(&job.store);
        if (bytes > atomic_load(&file_peak))
            atomic_store(&file_peak, bytes);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

/* ---- measuring ---- */

static void start_pleat(const char *n)
{
    static const char *command[] = {BENCH_ARRAYS, NULL, "5", NULL, NULL};
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = 120};
    command[1] = n;
    command[3] = data;
    app_job_start(&job, &options, command);
    app_job_wait_begun(&job);
}

static struct pleat_mailbox_status resize(int step)
{
    struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[step + 1]);
    APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
    return status;
}

static void run_pleat(struct figures *f, const char *n)
{
    start_pleat(n);
    for (int i = 0; i < STEPS; i++)
        bench_add(&f->move_ms[i], (double)resize(i).cost.redistribute_ns / 1e6);
    bench_job_end();
}

/* The whole pause: the old ranks leave the matrix, the new ones take it. */
static void run_warm(struct figures *f, const char *n)
{
    start_pleat(n);
    for (int i = 0; i < STEPS; i++) {
        struct pleat_mailbox_status status = app_job_relaunch_warm(&job, (uint32_t)sizes[i + 1]);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_SAVED);
        bench_add(&f->warm_ms[i], (double)job.relaunch.total_ns / 1e6);
    }
    bench_job_end();
}

/* The file has the matrix once: all of it is filled, and what the last step left is free. */
static void await_one_matrix(double bytes)
{
    const double beside = 1 << 20;
    /* with slabs, pages that two ranks share are not in the file: two for each rank */
    const double less = strcmp(data, "slabs") ? 0 : 2 * 8 * 4096;
    for (double there = 0; there < bytes - less || there > bytes + beside;
         there = (double)store_bytes(&job.store))
        app_job_listen(&job);
}

/* Sampling the memory takes time from the job, so nothing else is measured. */
static void run_memory(struct figures *f, const char *n)
{
    pthread_t sampler;
    start_pleat(n);
    for (int i = 0; i < STEPS; i++) {
        await_one_matrix(8 * atof(n) * atof(n));
        f->before_bytes[i] = (double)job_bytes();
        f->before_file[i] = (double)store_bytes(&job.store);
        atomic_store(&peak, 0);
        atomic_store(&file_peak, 0);
        atomic_store(&sampling, true);
        APP_CHECK(&job, pthread_create(&sampler, NULL, sample, NULL) == 0);
        (void)resize(i);
        atomic_store(&sampling, false);
        pthread_join(sampler, NULL);
        f->peak_bytes[i] = (double)atomic_load(&peak);
        f->peak_file[i] = (double)atomic_load(&file_peak);
    }
    bench_job_end();
}

static void run_gemr2d(struct figures *f, const char *n)
{
    /* the grids that Pleat proposes */
    static const char *const program = BENCH_GEMR2D;
    const char *const command[] = {program, n,   "1", "2", "2", "2", "2", "4",
                                   "2",     "3", "2", "2", "1", "2", NULL};
    const struct app_job_options options = {.ranks = 8, .without_pleat = true, .limit_s = 120};
    if (!program || strcmp(data, "matrix") != 0)
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
    bench_job_end();
}

static void run_memcpy(struct figures *f, size_t bytes)
{
    char *from = malloc(bytes);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!from || to == MAP_FAILED)
        bench_give_up("no memory for twice the matrix");
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
    if (!f->move_ms[0].count)
        run_memory(f, n);
    if (turn % 2)
        run_gemr2d(f, n);
    run_pleat(f, n);
    run_warm(f, n);
    run_memcpy(f, (size_t)orders[order] * (size_t)orders[order] * 8);
    if (turn % 2 == 0)
        run_gemr2d(f, n);
}

/* ---- reporting ---- */

static double bytes_of(int order)
{
    return 8.0 * orders[order] * orders[order];
}

/* The most that a step may need beyond what there is: the new parts, and 64 MiB for each rank. */
static double bound_of(int order, int step)
{
    return bytes_of(order) + (double)sizes[step + 1] * RANK_BYTES;
}

static double extra_of(double before, double most)
{
    return most > before ? most - before : 0;
}

/* Of the names of rows. */
static const char *prefix(void)
{
    return !strcmp(data, "slabs") ? "slabs_" : !strcmp(data, "particles") ? "particles_" : "";
}

static struct bench_row row_of_memory(int order, int step)
{
    const struct figures *f = &figures[order];
    struct bench_row row = {.value = extra_of(f->before_bytes[step], f->peak_bytes[step]) / 1e6,
                            .unit = "MB",
                            .goal = bound_of(order, step) / 1e6};
    row.met = row.value <= row.goal;
    snprintf(row.name, sizeof(row.name), "arrays_%smemory_%d_%d_to_%d", prefix(), orders[order],
             sizes[step], sizes[step + 1]);
    return row;
}

/* The row of the data file: what is copied is in the file twice meanwhile; slabs are not copied. */
static struct bench_row row_of_file(int order, int step)
{
    const struct figures *f = &figures[order];
    const double twice = strcmp(data, "slabs") ? bytes_of(order) : 0;
    struct bench_row row = {.value = extra_of(f->before_file[step], f->peak_file[step]) / 1e6,
                            .unit = "MB",
                            .goal = (twice + FILE_BYTES) / 1e6};
    row.met = row.value <= row.goal;
    snprintf(row.name, sizeof(row.name), "arrays_%sdata_file_%d_%d_to_%d", prefix(), orders[order],
             sizes[step], sizes[step + 1]);
    return row;
}

static struct bench_row row_of(const struct bench_series *series, int order, int step,
                               const char *what, double baseline, double goal)
{
    struct bench_row row = {.value = bench_median(series),
                            .unit = "ms",
                            .baseline = baseline,
                            .goal = baseline > 0 ? goal : 0};
    row.met = baseline > 0 && row.value <= goal * baseline;
    snprintf(row.name, sizeof(row.name), "arrays_%s%s_%d_%d_to_%d", prefix(), what, orders[order],
             sizes[step], sizes[step + 1]);
    return row;
}

static void report_json(void)
{
    struct bench_row rows[ORDERS * 6 * STEPS];
    size_t count = 0;
    for (int n = 0; n < order_count; n++) {
        const struct figures *f = &figures[n];
        for (int s = 0; s < STEPS; s++) {
            double gemr2d = bench_median(&f->gemr2d_ms[s]);
            double copied = bench_median(&f->memcpy_ms);
            if (!strcmp(data, "matrix")) {
                rows[count++] = row_of(&f->move_ms[s], n, s, "gemr2d", gemr2d, GOAL_GEMR2D);
                rows[count++] = row_of(&f->warm_ms[s], n, s, "warm_gemr2d", gemr2d, GOAL_GEMR2D);
            }
            rows[count++] = row_of(&f->move_ms[s], n, s, "memcpy", copied, GOAL_MEMCPY);
            rows[count++] = row_of(&f->warm_ms[s], n, s, "warm_memcpy", copied, GOAL_MEMCPY);
            rows[count++] = row_of_memory(n, s);
            rows[count++] = row_of_file(n, s);
        }
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
    printf(
        "median [min .. max]\n    N  ranks   %-26s  %-26s  %-26s  %-26s  merged, warm of gemr2d  "
        "of memcpy\n",
        "the matrix moves, ms", "warm relaunch, ms", "pdgemr2d, ms", "memcpy, ms");
    for (int n = 0; n < order_count; n++) {
        const struct figures *f = &figures[n];
        for (int s = 0; s < STEPS; s++) {
            double moves = bench_median(&f->move_ms[s]);
            double warm = bench_median(&f->warm_ms[s]);
            double other = bench_median(&f->gemr2d_ms[s]);
            double copied = bench_median(&f->memcpy_ms);
            printf("%5d  %d -> %d", orders[n], sizes[s], sizes[s + 1]);
            print_range(&f->move_ms[s]);
            print_range(&f->warm_ms[s]);
            print_range(&f->gemr2d_ms[s]);
            print_range(&f->memcpy_ms);
            printf("  %12.2f  %8.2f  %4.2f  %4.2f\n", other > 0 ? moves / other : 0,
                   other > 0 ? warm / other : 0, moves / copied, warm / copied);
        }
        for (int s = 0; s < STEPS; s++) {
            struct bench_row row = row_of_memory(n, s);
            printf("%5d  %d -> %d  memory of the job: %.0f MB before, at most %.0f MB more; bound "
                   "%.0f: "
                   "%s\n",
                   orders[n], sizes[s], sizes[s + 1], f->before_bytes[s] / 1e6, row.value, row.goal,
                   row.met ? "met" : "NOT MET");
            row = row_of_file(n, s);
            printf("%5d  %d -> %d  the data file: at most %.1f MB more; bound %.1f: %s\n",
                   orders[n], sizes[s], sizes[s + 1], row.value, row.goal,
                   row.met ? "met" : "NOT MET");
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"matrix", "slabs", "particles", NULL};
    int repeats = 5, largest = orders[ORDERS - 1];
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "largest", .number = &largest, .least = 1, .most = 40000},
        {.name = "data", .text = &data, .choices = kinds},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    while (order_count > 1 && orders[order_count - 1] > largest)
        order_count--;
    if (orders[0] > largest)
        orders[0] = largest;
    bench_job_begin("bench_arrays", &job);
    for (int i = 0; i < repeats; i++)
        for (int n = 0; n < order_count; n++)
            measure(n, i + n);
    if (json)
        report_json();
    else
        report();
    return 0;
}

/* bench_checkpoint [options] - how long a program of 2 ranks takes to write a checkpoint and to go
 * on from it, against a plain program that writes and reads as many bytes in the same directory.
 *
 * The plain program is one process. It writes as a checkpoint is written: under another name, with
 * room for all of it asked for first, to the disk (fsync), then renamed, and the name is on the
 * disk, too. It reads into new memory. Whatever is read comes from the disk and not from memory,
 * where the file system can be asked for that (POSIX_FADV_DONTNEED). All alternate.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "checkpoint/checkpoint.h"
#include "job.h"
#include "options.h"
#include "report.h"

static const char usage[] =
    "usage: bench_checkpoint [options]\n"
    "Writes checkpoints and goes on from them, against plain writing and reading of the same "
    "bytes.\n"
    "  --repeats N      measurements of each value (default 7, at most 50)\n"
    "  --largest BYTES  states of up to BYTES (default 268435456)\n"
    "  --dir DIR        where the files are (default: TMPDIR, or /tmp)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define REPEATS_MAX 50
#define LIMIT_S 180
#define RANKS 2
#define LEAST (1 << 20)
/* Where there is no MPICH nothing is measured with it. */
#ifndef BENCH_MPICH_LOOP
#define BENCH_MPICH_LOOP NULL
#endif

enum { MPIS = 2, STATES = 2 };
static uint64_t states[STATES] = {64 << 20, 256 << 20};
static int state_count = STATES;

static const struct mpi {
    const char *name, *text, *loop;
} mpis[MPIS] = {{"openmpi", "Open MPI", BENCH_LOOP}, {"mpich", "MPICH", BENCH_MPICH_LOOP}};

/* What is done with a file: made, made in place of one that is there, read. */
enum what { WRITE, REPLACE, READ, WHATS };
static const char *const what_names[WHATS] = {"write", "replace", "read"};
static const char *const what_texts[WHATS] = {"a new file", "in place of an older one",
                                              "going on from it"};

struct figures {
    struct bench_series pleat_ms[MPIS][WHATS], plain_ms[WHATS];
    double bytes; /* of the file */
};

static struct figures figures[STATES];
static struct app_job job;

/* ---- files ---- */

static char directory[512];
static char until[600], file[600], plain[600];

/* Called however the program ends; a job that is still there is ended before. */
static void remove_files(void)
{
    static const char *const paths[] = {until, file, plain};
    char part[700];
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        (void)unlink(paths[i]);
        snprintf(part, sizeof(part), "%s.part", paths[i]);
        (void)unlink(part);
    }
    (void)rmdir(directory);
}

static void make_directory(const char *where)
{
    if (snprintf(directory, sizeof(directory), "%s/pleat-checkpoint-XXXXXX", where) >=
            (int)sizeof(directory) ||
        !mkdtemp(directory)) {
        directory[0] = '\0';
        bench_give_up("cannot make a directory for its files (--dir, TMPDIR)");
    }
    snprintf(until, sizeof(until), "%s/until", directory);
    snprintf(file, sizeof(file), "%s/file", directory);
    snprintf(plain, sizeof(plain), "%s/plain", directory);
    atexit(remove_files);
}

/* From now on the file is only on the disk. */
static void forget_pages(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
        bench_give_up("cannot have the file read from the disk");
    close(fd);
}

/* ---- the plain program ---- */

/* Memory that is there already, or that the kernel has to provide first. */
static unsigned char *take_memory(size_t bytes, bool there)
{
    unsigned char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_give_up("no memory for the state");
    for (size_t i = 0; there && i < bytes; i += 8)
        memory[i] = (unsigned char)(i * 131 + 1);
    return memory;
}

static bool write_all(int fd, const unsigned char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = pwrite(fd, data + done, bytes - done, (off_t)done);
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return true;
}

static bool read_all(int fd, unsigned char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, data + done, bytes - done, (off_t)done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static double ms_since(int64_t begun_ns)
{
    return (double)(pleat_clock_monotonic_ns() - begun_ns) / 1e6;
}

static double plain_write(size_t bytes)
{
    char part[700];
    unsigned char *data = take_memory(bytes, true);
    snprintf(part, sizeof(part), "%s.part", plain);
    int64_t begun = pleat_clock_monotonic_ns();
    int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool good = fd >= 0 && !ftruncate(fd, (off_t)bytes);
    if (good)
        (void)fallocate(fd, 0, 0, (off_t)bytes);
    good = good && write_all(fd, data, bytes) && !fsync(fd) && !rename(part, plain);
    int above = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good = good && above >= 0 && !fsync(above);
    double ms = ms_since(begun);
    if (!good)
        bench_give_up("cannot write a file (is the disk full?)");
    close(above);
    close(fd);
    munmap(data, bytes);
    forget_pages(plain);
    return ms;
}

static double plain_read(size_t bytes)
{
    unsigned char *data = take_memory(bytes, false);
    int64_t begun = pleat_clock_monotonic_ns();
    int fd = open(plain, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read_all(fd, data, bytes);
    double ms = ms_since(begun);
    if (!good)
        bench_give_up("cannot read a file");
    close(fd);
    munmap(data, bytes);
    return ms;
}

static void run_plain(struct figures *f)
{
    size_t bytes = (size_t)f->bytes;
    bench_add(&f->plain_ms[WRITE], plain_write(bytes));
    bench_add(&f->plain_ms[REPLACE], plain_write(bytes));
    bench_add(&f->plain_ms[READ], plain_read(bytes));
    (void)unlink(plain);
}

/* ---- a program with libpleat ---- */

static void start(const struct mpi *mpi, const char *bytes)
{
    static const char *command[] = {NULL,     "--until", until,     "--state", NULL,
                                    "--rows", "8192",    "--pause", "1",       NULL};
    const struct app_job_options options = {
        .ranks = RANKS, .mpich = mpi != mpis, .limit_s = LIMIT_S};
    command[0] = mpi->loop;
    command[4] = bytes;
    (void)unlink(until);
    app_job_start(&job, &options, command);
    app_job_wait_begun(&job);
}

static void end(void)
{
    int fd = open(until, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    APP_CHECK(&job, fd >= 0);
    close(fd);
    bench_job_end();
}

/* What rank 0 took, from entering until all is on the disk. */
static double write_checkpoint(double *bytes)
{
    static uint64_t number;
    struct pleat_mailbox_status status;
    APP_CHECK(&job, pleat_mailbox_post_checkpoint(job.mailbox, ++number, file, false) == 0);
    while (status = app_job_status(&job),
           status.phase != PLEAT_MAILBOX_APPLIED && status.phase != PLEAT_MAILBOX_FAILED) {
        APP_CHECK(&job, !job.ended);
        app_job_listen(&job);
    }
    APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED && status.resize == number);
    pleat_mailbox_acknowledge(job.mailbox);
    *bytes = (double)status.cost.bytes;
    return (double)status.cost.save_ns / 1e6;
}

static void run_pleat(struct figures *f, int m, const char *bytes)
{
    start(&mpis[m], bytes);
    bench_add(&f->pleat_ms[m][WRITE], write_checkpoint(&f->bytes));
    bench_add(&f->pleat_ms[m][REPLACE], write_checkpoint(&f->bytes));
    end();
    forget_pages(file);
    setenv(PLEAT_FROM_ENV, file, 1);
    start(&mpis[m], bytes);
    unsetenv(PLEAT_FROM_ENV);
    APP_CHECK(&job, app_job_status(&job).loaded);
    bench_add(&f->pleat_ms[m][READ], (double)app_job_status(&job).cost.load_ns / 1e6);
    end();
    (void)unlink(file);
}

/* The two programs begin in turns; for the first time the plain program has to know how large a
 * checkpoint is. */
static void measure(int state, int turn)
{
    struct figures *f = &figures[state];
    char bytes[32];
    snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)states[state]);
    for (int m = 0; m < MPIS; m++)
        if (mpis[m].loop && turn % 2 == 0)
            run_pleat(f, m, bytes);
    run_plain(f);
    for (int m = 0; m < MPIS; m++)
        if (mpis[m].loop && turn % 2)
            run_pleat(f, m, bytes);
}

/* ---- reporting ---- */

static struct bench_row row_of(int state, int m, int what)
{
    const struct figures *f = &figures[state];
    struct bench_row row = {.value = bench_median(&f->pleat_ms[m][what]),
                            .unit = "ms",
                            .baseline = bench_median(&f->plain_ms[what])};
    snprintf(row.name, sizeof(row.name), "checkpoint_%s_%s_%llu_mb", what_names[what], mpis[m].name,
             (unsigned long long)(states[state] >> 20));
    return row;
}

static void print_series(const char *who, const char *what, double bytes,
                         const struct bench_series *s)
{
    char range[64];
    snprintf(range, sizeof(range), "[%.1f .. %.1f]", bench_quantile(s, 0), bench_quantile(s, 1));
    printf("%6.0f MB  %-25s %-13s %10.1f  %-22s %8.0f", bytes / 1e6, what, who, bench_median(s),
           range, bytes / 1e3 / bench_median(s));
}

static void report(void)
{
    printf("                                                 median, ms  [min .. max]           "
           "    MB/s  ratio to plain\n");
    for (int n = 0; n < state_count; n++)
        for (int what = 0; what < WHATS; what++) {
            const struct figures *f = &figures[n];
            print_series("plain", what_texts[what], f->bytes, &f->plain_ms[what]);
            printf("\n");
            for (int m = 0; m < MPIS; m++) {
                struct bench_row row = row_of(n, m, what);
                if (!mpis[m].loop)
                    continue;
                print_series(mpis[m].text, what_texts[what], f->bytes, &f->pleat_ms[m][what]);
                printf("  %.2f\n", bench_ratio(&row));
            }
        }
}

static void report_json(void)
{
    struct bench_row rows[STATES * MPIS * WHATS];
    size_t count = 0;
    for (int n = 0; n < state_count; n++)
        for (int m = 0; m < MPIS; m++)
            for (int what = 0; mpis[m].loop && what < WHATS; what++)
                rows[count++] = row_of(n, m, what);
    bench_print_json(rows, count);
}

int main(int argc, char **argv)
{
    int repeats = 7;
    double largest = (double)states[STATES - 1];
    const char *where = getenv("TMPDIR");
    bool json = false;
    where = where && *where ? where : "/tmp";
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "largest", .real = &largest, .from = LEAST, .to = 1e12},
        {.name = "dir", .text = &where},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    states[STATES - 1] = (uint64_t)largest;
    if (states[0] >= states[STATES - 1]) { /* one size only */
        states[0] = states[STATES - 1];
        state_count = 1;
    }
    bench_job_begin("bench_checkpoint", &job);
    make_directory(where);
    for (int i = 0; i < repeats; i++)
        for (int n = 0; n < state_count; n++)
            measure(n, i);
    if (json)
        report_json();
    else
        report();
    return 0;
}

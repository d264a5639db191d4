/* bench_recover - from the start of a daemon to its first answer, and its memory then, with logs of
 * several lengths; against reading the same rows (the checkpoint, and the records after it) with
 * SQLite alone, alternating. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "options.h"
#include "recover/make_log.h"
#include "report.h"

#define GOAL_JOBS 100000
#define GOAL_S 1.0
#define GOAL_MB 200.0
#define CASES 3

static const int sizes[CASES] = {10, 1000, 100000};

struct log_case {
    int jobs;
    int64_t records, after; /* records in the log; those of them after the checkpoint */
    struct pleat_paths paths;
    char directory[280];
    struct bench_series start_s, memory_mb, bare_s;
};

static char scratch[256];
static struct log_case cases[CASES];

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_recover: %s: %s\n", what, why);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the daemon ---- */

static struct pleat_client *start(const struct log_case *log)
{
    struct pleat_client *client;
    struct pleat_error err = {0};
    setenv("PLEAT_DIR", log->directory, 1);
    if (pleat_client_open_or_start(&log->paths, BENCH_PLEATD, NULL, &client, &err))
        die("no daemon", err.text);
    return client;
}

static int process_of(const struct pleat_client *client)
{
    return (int)json_integer_value(json_object_get(pleat_client_hello(client), "pid"));
}

/* Returns when the process is gone: only then are its files at rest. */
static void stop(struct pleat_client *client)
{
    struct pleat_error err = {0};
    struct pollfd gone = {.fd = (int)syscall(SYS_pidfd_open, process_of(client), 0),
                          .events = POLLIN};
    if (gone.fd < 0)
        die("the daemon", strerror(errno));
    if (pleat_client_call(client, "stop", NULL, NULL, &err))
        die("the daemon cannot be stopped", err.text);
    while (poll(&gone, 1, -1) < 0 && errno == EINTR)
        ;
    close(gone.fd);
    pleat_client_close(client);
}

static double memory_mb(int process)
{
    char path[64], line[256];
    long kb = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (!file || !kb)
        die(path, "does not say how much memory it has");
    fclose(file);
    return (double)kb * 1024 / 1e6;
}

static void run_daemon(struct log_case *log)
{
    struct pleat_error err = {0};
    json_t *answer = NULL;
    double begun = now_s();
    struct pleat_client *client = start(log);
    int rc = pleat_client_call(
        client, "jobs", json_pack("{s:b, s:i, s:i}", "all", 1, "after", log->jobs - 1, "limit", 1),
        &answer, &err);
    bench_add(&log->start_s, now_s() - begun);
    if (rc || json_array_size(json_object_get(answer, "jobs")) != 1)
        die("its last job is not known", rc ? err.text : "no error");
    json_decref(answer);
    bench_add(&log->memory_mb, memory_mb(process_of(client)));
    stop(client);
}

/* ---- SQLite alone ---- */

static int64_t read_rows(sqlite3 *db, const char *text, int64_t after, int64_t *number)
{
    sqlite3_stmt *row;
    int64_t bytes = 0;
    int code;
    if (sqlite3_prepare_v2(db, text, -1, &row, NULL) != SQLITE_OK)
        die("SQLite", sqlite3_errmsg(db));
    sqlite3_bind_int64(row, 1, after);
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        const unsigned char *blob = sqlite3_column_blob(row, 1);
        int size = sqlite3_column_bytes(row, 1);
        bytes += size && blob ? size : 0;
        *number = sqlite3_column_int64(row, 0);
    }
    if (code != SQLITE_DONE)
        die("SQLite", sqlite3_errmsg(db));
    sqlite3_finalize(row);
    return bytes;
}

static void run_bare(struct log_case *log)
{
    char path[300];
    sqlite3 *db;
    int64_t checkpoint = 0, last = 0;
    snprintf(path, sizeof(path), "%s/log.sqlite", log->directory);
    double begun = now_s();
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        die(path, sqlite3_errmsg(db));
    read_rows(db, "SELECT seq, state FROM checkpoint WHERE seq > ?1 ORDER BY seq DESC LIMIT 1", 0,
              &checkpoint);
    read_rows(db, "SELECT seq, record FROM log WHERE seq > ?1 ORDER BY seq", checkpoint, &last);
    if (sqlite3_close(db) != SQLITE_OK || last <= checkpoint || !checkpoint)
        die(path, "has not the rows that it should have");
    bench_add(&log->bare_s, now_s() - begun);
    log->records = last;
    log->after = last - checkpoint;
}

/* ---- */

static void make_case(struct log_case *log, int jobs)
{
    struct pleat_error err = {0};
    char path[300];
    log->jobs = jobs;
    snprintf(log->directory, sizeof(log->directory), "%s/%d", scratch, jobs);
    if (pleat_paths_make_private(log->directory, &err))
        die(log->directory, err.text);
    snprintf(path, sizeof(path), "%s/pleat.conf", log->directory);
    FILE *file = fopen(path, "w");
    /* neither a checkpoint nor letting go of jobs changes the log between two starts */
    if (!file ||
        fputs("site \"local\" { processors = 4 background = \"ignore\" }\nidle_exit_s = 0\n"
              "checkpoint_records = 1000000000\nkeep_ended_s = 1e9\n",
              file) < 0 ||
        fclose(file))
        die(path, strerror(errno));
    setenv("PLEAT_DIR", log->directory, 1);
    if (pleat_paths_init(&log->paths, &err))
        die("directory", err.text);
    stop(start(log)); /* begins the log */
    snprintf(path, sizeof(path), "%s/log.sqlite", log->directory);
    if (bench_make_log(path, jobs, &err))
        die(path, err.text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static void print_json(int count)
{
    struct bench_row rows[2 * CASES] = {0};
    for (int i = 0; i < count; i++) {
        const struct log_case *log = &cases[i];
        struct bench_row *time = &rows[2 * i], *memory = &rows[2 * i + 1];
        bool goal = log->jobs >= GOAL_JOBS || i + 1 == count;
        snprintf(time->name, sizeof(time->name), "recover_%d", log->jobs);
        snprintf(memory->name, sizeof(memory->name), "recover_%d_memory", log->jobs);
        time->unit = "s";
        memory->unit = "MB";
        time->value = bench_median(&log->start_s);
        time->baseline = bench_median(&log->bare_s);
        memory->value = bench_median(&log->memory_mb);
        time->goal = goal ? GOAL_S : 0;
        memory->goal = goal ? GOAL_MB : 0;
        time->met = time->value < GOAL_S;
        memory->met = memory->value < GOAL_MB;
    }
    bench_print_json(rows, (size_t)(2 * count));
}

static void print_series(const struct bench_series *series, int digits)
{
    printf(" %9.*f [%.*f .. %.*f]", digits, bench_median(series), digits, bench_quantile(series, 0),
           digits, bench_quantile(series, 1));
}

static void print_table(int count)
{
    printf("   jobs   records   applied      start to answer, s        SQLite alone, s"
           "               memory, MB: median [min .. max]\n");
    for (int i = 0; i < count; i++) {
        const struct log_case *log = &cases[i];
        printf("%7d %9lld %9lld", log->jobs, (long long)log->records, (long long)log->after);
        print_series(&log->start_s, 3);
        print_series(&log->bare_s, 4);
        print_series(&log->memory_mb, 1);
        putchar('\n');
    }
    const struct log_case *most = &cases[count - 1];
    printf("goals, %d jobs: under %.0f s: %s; under %.0f MB: %s\n", most->jobs, GOAL_S,
           bench_median(&most->start_s) < GOAL_S ? "met" : "NOT MET", GOAL_MB,
           bench_median(&most->memory_mb) < GOAL_MB ? "met" : "NOT MET");
}

static const char usage[] = "usage: bench_recover [--repeats N] [--most JOBS] [--json]\n"
                            "--most: no log of more jobs\n"
                            "TMPDIR: the file system to measure on\n";

int main(int argc, char **argv)
{
    int repeats = 7, most = GOAL_JOBS, count = 0;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = BENCH_REPEATS_MAX},
        {.name = "most", .number = &most, .least = sizes[0], .most = INT_MAX},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    const char *place = getenv("TMPDIR");
    snprintf(scratch, sizeof(scratch), "%.200s/pl-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(scratch))
        die(scratch, strerror(errno));
    for (; count < CASES && sizes[count] <= most; count++)
        make_case(&cases[count], sizes[count]);
    for (int r = 0; r < repeats; r++) { /* alternating: the machine's moods hit both */
        for (int i = 0; i < count; i++) {
            run_bare(&cases[i]);
            run_daemon(&cases[i]);
        }
    }
    nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (json)
        print_json(count);
    else
        print_table(count);
    return 0;
}

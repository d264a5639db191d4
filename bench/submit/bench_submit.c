/* bench_submit - jobs per second that a real daemon takes, each answered when it is on the disk.
 *
 * One client that waits for each answer, then eight at once, against commits of the same bytes by
 * SQLite alone (same settings, same file system), alternating. The jobs wait behind one that has
 * all processors, so that nothing but their submission is measured. Where Slurm is installed, also
 * `pleat submit` against `sbatch`, a command for each job.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "commands.h"
#include "options.h"
#include "report.h"
#include "slurm.h"

#define CLIENTS 8
#define COMMANDS_SHARE 4 /* one command for 4 of --jobs: a command takes longer than a request */
#define VARIABLES 40     /* of an environment of 2 KB */
#define GOAL_RATIO 0.5
#define GOAL_RATE 2000.0

/* What the daemon writes for a job: SUBMIT and the pass; that it is queued, as a note. */
#define RECORDS 2
#define RECORD_BYTES 64
static const char note[] = "{\"from\":\"new\",\"to\":\"queued\",\"reason\":null}";

static struct pleat_paths paths;
static char directory[256];
static int jobs = 200;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_submit: %s: %s\n", what, why);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the daemon ---- */

static json_t *spec(const char *program, const char *argument)
{
    json_t *env = json_array();
    for (int i = 0; i < VARIABLES; i++) {
        char text[80];
        snprintf(text, sizeof(text), "VARIABLE_%02d=%s", i,
                 "/usr/local/lib/some/where/else/in/path");
        json_array_append_new(env, json_string(text));
    }
    return json_pack("{s:s, s:[s, s], s:s, s:o, s:s, s:s, s:s, s:i, s:i}", "name", "bench", "argv",
                     program, argument, "cwd", "/", "env", env, "runner", "plain", "mpi", "none",
                     "kind", "rigid", "min", 4, "max", 4);
}

static struct pleat_client *connect_client(void)
{
    struct pleat_client *client;
    struct pleat_error err = {0};
    if (pleat_client_open_or_start(&paths, BENCH_PLEATD, NULL, &client, &err))
        die("no daemon", err.text);
    return client;
}

static void submit(struct pleat_client *client, int count)
{
    struct pleat_error err = {0};
    for (int i = 0; i < count; i++)
        if (pleat_client_call(client, "submit", spec("/bin/sleep", "100000"), NULL, &err))
            die("a job is refused", err.text);
}

static void start_daemon(void)
{
    char path[300];
    struct pleat_error err = {0};
    snprintf(path, sizeof(path), "%s/pleat.conf", directory);
    FILE *file = fopen(path, "w");
    if (!file ||
        fputs("site \"local\" { processors = 4 background = \"ignore\" }\nidle_exit_s = 0\n",
              file) < 0 ||
        fclose(file))
        die(path, strerror(errno));
    setenv("PLEAT_DIR", directory, 1);
    if (pleat_paths_init(&paths, &err))
        die("directory", err.text);
    struct pleat_client *client = connect_client();
    submit(client, 1); /* this job has all processors from here on */
    pleat_client_close(client);
}

static void stop_daemon(void)
{
    struct pleat_error err = {0};
    struct pleat_client *client = connect_client();
    json_t *result = NULL;
    if (pleat_client_call(client, "stop", json_pack("{s:b}", "force", 1), NULL, &err))
        die("the daemon cannot be stopped", err.text);
    /* the connection ends when the daemon does */
    if (!pleat_client_call(client, "wait", NULL, &result, &err))
        while (!pleat_client_call(client, "sites", NULL, NULL, &err))
            usleep(10000);
    json_decref(result);
    pleat_client_close(client);
}

static double run_one(void)
{
    struct pleat_client *client = connect_client();
    double begun = now_s();
    submit(client, jobs);
    double rate = jobs / (now_s() - begun);
    pleat_client_close(client);
    return rate;
}

static pthread_barrier_t barrier;

static void *run_thread(void *arg)
{
    struct pleat_client *client = connect_client();
    (void)arg;
    pthread_barrier_wait(&barrier);
    submit(client, jobs);
    pthread_barrier_wait(&barrier);
    pleat_client_close(client);
    return NULL;
}

static double run_many(void)
{
    pthread_t threads[CLIENTS];
    pthread_barrier_init(&barrier, NULL, CLIENTS + 1);
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&threads[i], NULL, run_thread, NULL))
            die("a thread", "cannot be made");
    pthread_barrier_wait(&barrier);
    double begun = now_s();
    pthread_barrier_wait(&barrier);
    double rate = CLIENTS * jobs / (now_s() - begun);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return rate;
}

/* ---- SQLite alone ---- */

static sqlite3 *db;
static sqlite3_stmt *insert, *begin, *commit;

static void check(int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE)
        die("SQLite", sqlite3_errmsg(db));
}

static void open_bare(void)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/bare.sqlite", directory);
    check(sqlite3_open(path, &db));
    check(sqlite3_exec(db,
                       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                       "PRAGMA synchronous = FULL; CREATE TABLE row (seq INTEGER PRIMARY KEY, "
                       "bytes BLOB NOT NULL)",
                       NULL, NULL, NULL));
    check(sqlite3_prepare_v2(db, "INSERT INTO row (bytes) VALUES (?1)", -1, &insert, NULL));
    check(sqlite3_prepare_v2(db, "BEGIN IMMEDIATE", -1, &begin, NULL));
    check(sqlite3_prepare_v2(db, "COMMIT", -1, &commit, NULL));
}

static void close_bare(void)
{
    sqlite3_finalize(insert);
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_close(db);
}

static void step(sqlite3_stmt *statement)
{
    check(sqlite3_step(statement));
    sqlite3_reset(statement);
}

static void put(const void *bytes, size_t size)
{
    sqlite3_bind_blob(insert, 1, bytes, (int)size, SQLITE_STATIC);
    step(insert);
}

static double run_bare(void)
{
    static const char record[RECORD_BYTES] = {1};
    json_t *one = spec("/bin/sleep", "100000");
    char *text = json_dumps(one, JSON_COMPACT);
    double begun = now_s();
    for (int i = 0; i < jobs; i++) {
        step(begin);
        for (int r = 0; r < RECORDS; r++)
            put(record, sizeof(record));
        put(text, strlen(text));
        put(note, sizeof(note) - 1);
        step(commit);
    }
    double rate = jobs / (now_s() - begun);
    free(text);
    json_decref(one);
    return rate;
}

/* ---- commands: pleat submit, and sbatch ---- */

/* Why sbatch is not measured; "": it is. */
static char no_sbatch[700];

static void start_slurm(void)
{
    const char *missing = bench_slurm_missing();
    if (missing)
        snprintf(no_sbatch, sizeof(no_sbatch), "not installed (no %s)", missing);
    else if (!bench_slurm_start(directory, no_sbatch, sizeof(no_sbatch)))
        die("sbatch", no_sbatch);
}

static double run_commands(bool sbatch, int clients)
{
    char program[] = BENCH_PLEAT;
    char script[700];
    snprintf(script, sizeof(script), "%s", bench_slurm_script());
    char *pleat[] = {program, "submit", "-n", "4", "--chdir", "/", script, NULL};
    char *slurm[] = {"sbatch", "--parsable", "-n", "4", "-D", "/", "-o", "/dev/null", script, NULL};
    return bench_commands(sbatch ? slurm : pleat, clients, (jobs + 3) / COMMANDS_SHARE);
}

/* ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

enum { BARE, ONE, MANY, PLEAT_ONE, SBATCH_ONE, PLEAT_MANY, SBATCH_MANY, KINDS };
static struct bench_series series[KINDS];

static void measure(void)
{
    bench_add(&series[BARE], run_bare());
    bench_add(&series[ONE], run_one());
    bench_add(&series[MANY], run_many());
    for (int clients = 1; !*no_sbatch && clients <= CLIENTS; clients += CLIENTS - 1) {
        int kind = clients == 1 ? PLEAT_ONE : PLEAT_MANY;
        bench_add(&series[kind], run_commands(false, clients));
        bench_add(&series[kind + 1], run_commands(true, clients));
    }
}

static void print_table(const struct bench_row *rows)
{
    static const char *const names[] = {
        "SQLite alone, commits", "one client",   "eight clients", "pleat submit", "sbatch",
        "pleat submit, eight",   "sbatch, eight"};
    printf("%-24s %10s  %s\n", "jobs per second", "median", "[min .. max]");
    for (int i = 0; i < KINDS && series[i].count; i++)
        printf("%-24s %10.0f  [%.0f .. %.0f]\n", names[i], bench_median(&series[i]),
               bench_quantile(&series[i], 0), bench_quantile(&series[i], 1));
    printf("one client / SQLite alone: %.2f (goal %.1f: %s); eight clients: goal %.0f/s: %s\n",
           bench_ratio(&rows[0]), GOAL_RATIO, rows[0].met ? "met" : "NOT MET", GOAL_RATE,
           rows[1].met ? "met" : "NOT MET");
    if (*no_sbatch)
        printf("sbatch: %s\n", no_sbatch);
    else
        printf("pleat submit / sbatch, a command for each job: %.2f; eight at once: %.2f\n",
               bench_ratio(&rows[2]), bench_ratio(&rows[3]));
}

static void report(bool json)
{
    double bare = bench_median(&series[BARE]);
    struct bench_row rows[4] = {
        {"submit_one_client", bench_median(&series[ONE]), "jobs/s", bare, GOAL_RATIO * bare, false},
        {"submit_eight_clients", bench_median(&series[MANY]), "jobs/s", bare, GOAL_RATE, false},
        {"submit_sbatch_one", bench_median(&series[PLEAT_ONE]), "jobs/s",
         bench_median(&series[SBATCH_ONE]), 0, false},
        {"submit_sbatch_eight", bench_median(&series[PLEAT_MANY]), "jobs/s",
         bench_median(&series[SBATCH_MANY]), 0, false}};
    for (int i = 0; i < 2; i++)
        rows[i].met = rows[i].value >= rows[i].goal;
    if (json && *no_sbatch)
        fprintf(stderr, "bench_submit: sbatch: skipped: %s\n", no_sbatch);
    if (json)
        bench_print_json(rows, *no_sbatch ? 2 : 4);
    else
        print_table(rows);
}

static const char usage[] = "usage: bench_submit [--repeats N] [--jobs N] [--json]\n"
                            "TMPDIR: the file system to measure on\n";

int main(int argc, char **argv)
{
    int repeats = 7;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = BENCH_REPEATS_MAX},
        {.name = "jobs", .number = &jobs, .least = 1, .most = INT_MAX},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    const char *scratch = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.200s/pleat-bench-XXXXXX", scratch ? scratch : "/tmp");
    if (!mkdtemp(directory))
        die(directory, strerror(errno));
    atexit(bench_slurm_stop); /* also when something fails */
    open_bare();
    start_slurm();
    start_daemon();
    for (int r = 0; r < repeats; r++) /* alternating: the machine's moods hit all */
        measure();
    stop_daemon();
    bench_slurm_stop();
    close_bare();
    nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    report(json);
    return 0;
}

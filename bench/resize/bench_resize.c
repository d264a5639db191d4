/* bench_resize [options] - what a resize with Pleat costs, against the same in plain MPI.
 *
 * Runs alternate between the two programs, so that a change of the machine's load hits both. Times
 * are rank 0's, from all ranks being there until all have their data. Stopping and starting again
 * is the third column, without the time to save and load the state: a lower bound of that way.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_job.h"
#include "base/clock.h"
#include "shm/mailbox-rank.h"

static const char usage[] =
    "usage: bench_resize [options]\n"
    "  --repeats N      runs of each program (default 5)\n"
    "  --state BYTES    bytes of state (default 268435456)\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n"
    "  --loop PATH, --bare PATH   the programs measured (default: this build's)\n";

#define STEPS 4
#define REPEATS_MAX 200
#define ROWS "32768"
#define GOAL_RATIO 1.10
#define GOAL_QUIET_NS 1000.0
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const int sizes[STEPS + 1] = {2, 4, 8, 4, 2};

struct series {
    double values[REPEATS_MAX];
    int count;
};

struct measured {
    struct series pleat[STEPS], bare[STEPS], wait[STEPS], move[STEPS];
    struct series start[STEPS + 1], stop[STEPS + 1];
    struct series pleat_sum, bare_sum;
    struct series quiet_ns;
};

static struct measured measured;
static struct app_job job;
static char state_text[32] = "268435456";
static const char *loop_path = BENCH_LOOP;
static const char *bare_path = BENCH_BARE;

static void add(struct series *series, double value)
{
    if (series->count < REPEATS_MAX)
        series->values[series->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const struct series *series, double at)
{
    double sorted[REPEATS_MAX];
    memcpy(sorted, series->values, sizeof(sorted));
    qsort(sorted, (size_t)series->count, sizeof(sorted[0]), compare);
    double where = at * (series->count - 1);
    int low = (int)where;
    int high = low + 1 < series->count ? low + 1 : low;
    return sorted[low] + (where - low) * (sorted[high] - sorted[low]);
}

static double median(const struct series *series)
{
    return series->count ? quantile(series, 0.5) : 0;
}

/* ---- measuring ---- */

static void run_pleat(void)
{
    const struct app_job_options options = {.ranks = sizes[0], .limit_s = 300};
    app_job_start(
        &job, &options,
        WORDS(loop_path, "--resizes", "4", "--state", state_text, "--rows", ROWS, "--halo", "0"));
    app_job_wait_attached(&job);
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        struct pleat_mailbox_status status = app_job_resize(&job, (uint32_t)sizes[i + 1]);
        APP_CHECK(&job, status.phase == PLEAT_MAILBOX_APPLIED);
        add(&measured.pleat[i], (double)status.cost.total_ns / 1e6);
        add(&measured.wait[i], (double)status.cost.wait_ns / 1e6);
        add(&measured.move[i], (double)status.cost.redistribute_ns / 1e6);
        sum += (double)status.cost.total_ns / 1e6;
    }
    add(&measured.pleat_sum, sum);
    APP_CHECK(&job, app_job_wait(&job) == 0 && strstr(job.output, "RESULT ok"));
    app_job_finish(&job);
}

static void run_bare(void)
{
    const struct app_job_options options = {
        .ranks = sizes[0], .without_pleat = true, .limit_s = 300};
    app_job_start(&job, &options, WORDS(bare_path, state_text, ROWS, "4", "8", "4", "2"));
    APP_CHECK(&job, app_job_wait(&job) == 0 && strstr(job.output, "RESULT ok"));
    const char *at = job.output;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        int from = 0;
        int to = 0;
        double seconds = 0;
        at = strstr(at, "TIME ");
        APP_CHECK(&job, at && sscanf(at, "TIME %d %d %lf", &from, &to, &seconds) == 3);
        APP_CHECK(&job, from == sizes[i] && to == sizes[i + 1]);
        add(&measured.bare[i], seconds * 1e3);
        sum += seconds * 1e3;
        at++;
    }
    add(&measured.bare_sum, sum);
    app_job_finish(&job);
}

/* How long a launch takes until the ranks are there, and an end until mpirun is gone. */
static void run_relaunch(int which)
{
    const struct app_job_options options = {.ranks = sizes[which], .limit_s = 300};
    int64_t begun = pleat_clock_monotonic_us();
    app_job_start(&job, &options, WORDS(loop_path, "--iterations", "2", "--pause", "100"));
    while (!app_job_status(&job).attached)
        usleep(500);
    add(&measured.start[which], (double)(pleat_clock_monotonic_us() - begun) / 1e3);
    while (!app_job_status(&job).finished)
        usleep(500);
    begun = pleat_clock_monotonic_us();
    APP_CHECK(&job, app_job_wait(&job) == 0);
    add(&measured.stop[which], (double)(pleat_clock_monotonic_us() - begun) / 1e3);
    app_job_finish(&job);
}

/* What an adaptation point does when nothing is asked: time, publish, arrive. */
static void run_quiet(void)
{
    enum { POINTS = 1000000 };
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_rank self;
    struct pleat_error err;
    int fd;
    if (pleat_mailbox_create(8, &mailbox, &fd, &err) ||
        pleat_mailbox_attach(mailbox, 0, 0, -1, &self) || pleat_mailbox_set_size(&self, 1)) {
        fprintf(stderr, "bench_resize: no mailbox: %s\n", err.text);
        exit(1);
    }
    int64_t begun = pleat_clock_monotonic_ns();
    for (int i = 1; i <= POINTS; i++) {
        int64_t last = pleat_clock_monotonic_ns();
        pleat_mailbox_publish(&self, (uint64_t)(last - begun), (uint64_t)i);
        if (pleat_mailbox_arrive(&self) != PLEAT_ARRIVAL_QUIET)
            exit(1);
    }
    add(&measured.quiet_ns, (double)(pleat_clock_monotonic_ns() - begun) / POINTS);
    pleat_mailbox_close(mailbox);
    close(fd);
}

/* ---- reporting ---- */

struct row {
    const char *name;
    const struct series *value;
    const char *unit;
    double baseline; /* 0: none */
    double goal;     /* 0: none; of the ratio, or of the value where there is no baseline */
};

static void print_row(const struct row *row, bool json, bool first)
{
    double value = median(row->value);
    double ratio = row->baseline > 0 ? value / row->baseline : 0;
    bool met = row->baseline > 0 ? ratio <= row->goal : value <= row->goal;
    if (!json) {
        char against[48] = "";
        if (row->baseline > 0)
            snprintf(against, sizeof(against), "%10.2f %7.3f", row->baseline, ratio);
        printf("%-34s %10.2f %-3s [%.2f - %.2f] %s%s\n", row->name, value, row->unit,
               quantile(row->value, 0), quantile(row->value, 1), against,
               row->goal <= 0 ? ""
               : met          ? "  goal met"
                              : "  GOAL MISSED");
        return;
    }
    printf(
        "%s\n  {\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"min\": %.3f, \"max\": %.3f",
        first ? "" : ",", row->name, value, row->unit, quantile(row->value, 0),
        quantile(row->value, 1));
    if (row->baseline > 0)
        printf(", \"baseline\": %.3f, \"ratio\": %.4f", row->baseline, ratio);
    else
        printf(", \"baseline\": null, \"ratio\": null");
    if (row->goal > 0)
        printf(", \"goal\": %.2f, \"met\": %s}", row->goal, met ? "true" : "false");
    else
        printf(", \"goal\": null, \"met\": null}");
}

/* Stop at one size and start at the next, for all steps. */
static void relaunch_series(struct series *sum, int step)
{
    memset(sum, 0, sizeof(*sum));
    int count = measured.start[0].count;
    for (int i = 0; i < count; i++)
        add(sum, measured.stop[step].values[i] + measured.start[step + 1].values[i]);
}

static void report(bool json)
{
    static char names[STEPS][5][48];
    static struct series relaunch[STEPS];
    struct row rows[5 * STEPS + 2];
    int count = 0;
    rows[count++] = (struct row){"resize 2->4->8->4->2, all four", &measured.pleat_sum, "ms",
                                 median(&measured.bare_sum), GOAL_RATIO};
    for (int i = 0; i < STEPS; i++) {
        const char *kinds[5] = {"resize", "plain MPI", "redistribute", "wait to agree",
                                "stop and relaunch"};
        for (int k = 0; k < 5; k++)
            snprintf(names[i][k], sizeof(names[i][k]), "%s %d->%d", kinds[k], sizes[i],
                     sizes[i + 1]);
        relaunch_series(&relaunch[i], i);
        rows[count++] = (struct row){names[i][0], &measured.pleat[i], "ms",
                                     median(&measured.bare[i]), GOAL_RATIO};
        rows[count++] = (struct row){names[i][1], &measured.bare[i], "ms", 0, 0};
        rows[count++] = (struct row){names[i][2], &measured.move[i], "ms", 0, 0};
        rows[count++] = (struct row){names[i][3], &measured.wait[i], "ms", 0, 0};
        rows[count++] = (struct row){names[i][4], &relaunch[i], "ms", 0, 0};
    }
    rows[count++] =
        (struct row){"quiet adaptation point", &measured.quiet_ns, "ns", 0, GOAL_QUIET_NS};
    if (!json)
        printf("%-34s %10s     %-15s %12s %7s\n", "", "median", "[min - max]", "plain MPI",
               "ratio");
    else
        printf("[");
    for (int i = 0; i < count; i++)
        print_row(&rows[i], json, i == 0);
    if (json)
        printf("\n]\n");
}

int main(int argc, char **argv)
{
    static const struct option table[] = {{"repeats", 1, NULL, 'r'}, {"state", 1, NULL, 's'},
                                          {"json", 0, NULL, 'j'},    {"loop", 1, NULL, 'l'},
                                          {"bare", 1, NULL, 'b'},    {"help", 0, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int repeats = 5;
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == 'r')
            repeats = atoi(optarg);
        else if (c == 's')
            snprintf(state_text, sizeof(state_text), "%s", optarg);
        else if (c == 'j')
            json = true;
        else if (c == 'l')
            loop_path = optarg;
        else if (c == 'b')
            bare_path = optarg;
        else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (repeats < 1 || repeats > REPEATS_MAX) {
        fprintf(stderr, "bench_resize: --repeats wants 1 to %d\n", REPEATS_MAX);
        return 2;
    }
    for (int i = 0; i < repeats; i++) {
        run_quiet();
        if (i % 2) {
            run_bare();
            run_pleat();
        } else {
            run_pleat();
            run_bare();
        }
        for (int size = 0; size <= STEPS; size++)
            run_relaunch(size);
    }
    report(json);
    return 0;
}

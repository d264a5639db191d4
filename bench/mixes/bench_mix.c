/* bench_mix - makespan and mean response of the job mixes of Swaminathan 2004 (4.3), whose jobs are
 * resized while they run, against the best of the same jobs with sizes that stay (static ones and
 * moldable ones): all in turn, in one run.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fold/cases.h"
#include "fold/machine.h"
#include "fold/progress.h"
#include "fold/steady.h"
#include "mixes.h"
#include "options.h"

static const char usage[] = "usage: bench_mix [options]\n"
                            "Job mixes that are resized, against sizes that stay.\n"
                            "  --repeats N   rounds (default 3, at most 50)\n"
                            "  --times X     X times the usual work (default 1)\n"
                            "  --json        an array of rows instead of a table\n";

#define BETTER 0.75 /* goal: of the best static choice's mean response */

enum { RESPONSE, MAKESPAN, VALUES };
static const char *const names[VALUES] = {"mean response", "makespan"};
static const char *const keys[VALUES] = {"mean_response", "makespan"};
static struct bench_series values[VALUES][MIXES_MIXES][MIXES_WAYS_MAX];

static void measure(int rounds, double times)
{
    static struct live_outcome outcomes[MIXES_JOBS];
    for (int round = 0; round < rounds; round++)
        for (int m = 0; m < MIXES_MIXES; m++) {
            const struct mixes_mix *mix = &mixes_mixes[m];
            for (int i = 0; i < mix->way_count; i++) {
                int way = (i + round) % mix->way_count;
                progress_step(mix->name, mix->ways[way].name);
                (void)mixes_run(mix, &mix->ways[way], times, outcomes);
                bench_add(&values[RESPONSE][m][way], mixes_response_s(mix, outcomes));
                bench_add(&values[MAKESPAN][m][way], live_makespan_s(outcomes, mix->count));
            }
        }
}

/* The way, other than the first, with the least median. */
static int best_of(const struct bench_series of[MIXES_WAYS_MAX], int count)
{
    int best = 1;
    for (int way = 2; way < count; way++)
        if (bench_median(&of[way]) < bench_median(&of[best]))
            best = way;
    return best;
}

static void print_table(int value, int m)
{
    const struct mixes_mix *mix = &mixes_mixes[m];
    const struct bench_series *of = values[value][m];
    printf("%s, %s, seconds: median [least .. most]\n", mix->name, names[value]);
    for (int way = 0; way < mix->way_count; way++)
        printf("  %-20s %7.2f [%.2f .. %.2f]  %.2f of resized\n", mix->ways[way].name,
               bench_median(&of[way]), bench_quantile(&of[way], 0), bench_quantile(&of[way], 1),
               bench_median(&of[way]) / bench_median(&of[0]));
}

/* The rows; tables on the way, unless json. */
static size_t make_rows(struct bench_row rows[VALUES * MIXES_MIXES], bool json)
{
    size_t count = 0;
    for (int m = 0; m < MIXES_MIXES; m++)
        for (int value = 0; value < VALUES; value++) {
            const struct bench_series *of = values[value][m];
            int best = best_of(of, mixes_mixes[m].way_count);
            struct bench_row *row = &rows[count++];
            *row = (struct bench_row){.value = bench_median(&of[0]),
                                      .unit = "s",
                                      .baseline = bench_median(&of[best]),
                                      .goal = value == RESPONSE ? BETTER : 0};
            row->met = row->goal > 0 && bench_ratio(row) <= row->goal;
            snprintf(row->name, sizeof(row->name), "mix_%d_%s", m + 1, keys[value]);
            if (json)
                continue;
            print_table(value, m);
            printf("  resized over %s: %.2f%s\n", mixes_mixes[m].ways[best].name, bench_ratio(row),
                   row->goal <= 0 ? ""
                   : row->met     ? ", goal 0.75: met"
                                  : ", goal 0.75: NOT met");
        }
    return count;
}

int main(int argc, char **argv)
{
    int rounds = 3, runs = 0;
    double times = 1;
    bool json = false;
    struct bench_row rows[VALUES * MIXES_MIXES];
    const struct bench_option options[] = {
        {.name = "repeats", .number = &rounds, .least = 1, .most = 50},
        {.name = "times", .real = &times, .from = 0.01, .to = 100},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    for (int m = 0; m < MIXES_MIXES; m++)
        runs += mixes_mixes[m].way_count;
    if (!machine_cpus(CASE_PROCESSORS_MAX)) {
        fprintf(stderr, "bench_mix: it needs two processors\n");
        return 1;
    }
    if (times < 1)
        steady_accept();
    trial_init();
    progress_begin(rounds * runs, !isatty(STDERR_FILENO));
    measure(rounds, times);
    progress_end();
    trial_finish();
    size_t count = make_rows(rows, json);
    if (json)
        bench_print_json(rows, count);
    return 0;
}

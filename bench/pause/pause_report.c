#include "pause_report.h"

#include <stdio.h>

#define GOAL_FLAT 2.0 /* times the pause with the smallest state */
#define MB (1 << 20)

enum { ROWS_OF_WAY = STATES * (STEPS + 1) + 1, WAYS_MAX = 3 };

static struct bench_row row_of_pause(const struct way *way, int state, int step)
{
    struct bench_row row = {.value = bench_median(&way->pause_ms[state][step]), .unit = "ms"};
    int length = snprintf(row.name, sizeof(row.name), "pause_%s_%d_mb_", way->name,
                          (int)(states[state] / MB));
    if (step == STEPS)
        snprintf(row.name + length, sizeof(row.name) - (size_t)length, "all");
    else
        snprintf(row.name + length, sizeof(row.name) - (size_t)length, "%d_to_%d", sizes[step],
                 sizes[step + 1]);
    if (state > 0) {
        row.baseline = bench_median(&way->pause_ms[0][step]);
        row.goal = GOAL_FLAT;
        row.met = row.value <= GOAL_FLAT * row.baseline;
    }
    return row;
}

static struct bench_row row_of_rigid(const struct way *way)
{
    struct bench_row row = {.value = bench_median(&way->during),
                            .unit = "1/s",
                            .baseline = bench_median(&way->without)};
    snprintf(row.name, sizeof(row.name), "pause_rigid_%s", way->name);
    return row;
}

static void print_range(const struct bench_series *s)
{
    printf("  %8.2f [%8.2f .. %8.2f]", bench_median(s), bench_quantile(s, 0), bench_quantile(s, 1));
}

static void print_states(const struct way *way)
{
    if (!way->pause_ms[0][0].count)
        return;
    printf("%s: pause in ms, median [min .. max]\nstate, MB", way->text);
    for (int i = 0; i < STEPS; i++)
        printf("%20d -> %d        ", sizes[i], sizes[i + 1]);
    printf("      of that with %d MB, goal %.0f\n", (int)(states[0] / MB), GOAL_FLAT);
    for (int s = 0; s < STATES && way->pause_ms[s][0].count; s++) {
        bool met = true;
        printf("%9d", (int)(states[s] / MB));
        for (int i = 0; i < STEPS; i++)
            print_range(&way->pause_ms[s][i]);
        for (int i = 0; s && i < STEPS; i++) {
            struct bench_row row = row_of_pause(way, s, i);
            met = met && row.met;
            printf("  %.2f", bench_ratio(&row));
        }
        printf("%s\n", !s ? "" : met ? "  met" : "  NOT MET");
    }
    /* rank 0 waits that long for the others in each iteration, and so it does in the last one */
    printf("iteration");
    for (int i = 0; i < STEPS; i++)
        if (way->iteration_ms[i].count)
            print_range(&way->iteration_ms[i]);
        else
            printf("%33s", "");
    printf("      before that resize, with 1 MB\n");
}

static void print_rigid(const struct way *way)
{
    struct bench_row row = row_of_rigid(way);
    if (!way->during.count)
        return;
    printf("%s: sweeps a second of a rigid job beside it, during resizes", way->text);
    print_range(&way->during);
    printf(", without");
    print_range(&way->without);
    printf(", ratio %.3f\n", bench_ratio(&row));
}

void report(const struct way *ways, int count, bool json)
{
    struct bench_row rows[WAYS_MAX * ROWS_OF_WAY];
    size_t used = 0;
    for (int w = 0; w < count && w < WAYS_MAX; w++) {
        if (!json) {
            print_states(&ways[w]);
            print_rigid(&ways[w]);
            continue;
        }
        for (int s = 0; s < STATES && ways[w].pause_ms[s][0].count; s++)
            for (int i = 0; i <= STEPS; i++)
                rows[used++] = row_of_pause(&ways[w], s, i);
        if (ways[w].during.count)
            rows[used++] = row_of_rigid(&ways[w]);
    }
    if (json)
        bench_print_json(rows, used);
}

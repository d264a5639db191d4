/* bench_sweetspot - the iterations that a program loses while its best size is searched.
 *
 * One program of 200 iterations runs on a simulated machine that it has for itself, under the
 * policy sweet-spot-learned. What its run takes beyond 200 iterations at its best size is lost:
 * iterations at other sizes, and the time for which resizes let it stand still. Each program begins
 * small, and with the whole machine, with times that differ from iteration to iteration by 0 to
 * 20 %, and with and without knowing what an earlier run has measured. Compared with the same under
 * the policy sweet-spot (which is told no noise), and with 200 iterations at the worst size. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "report.h"
#include "search.h"

enum { PROGRAMS = 6, NOISES = 4, STARTS = 2 };

static const double noises[NOISES] = {0, 0.05, 0.10, 0.20};
/* A resize lets a program stand still for as long as that share of an iteration at its best size.
 */
#define PAUSE 0.5
#define GOAL 5.0 /* per cent */

static void add(struct search_program *program, int32_t size, double us)
{
    program->sizes[program->count] = size;
    program->iteration_us[program->count++] = us;
}

/* Any size from 4 to 64: a serial part, a parallel part, and an overhead for each processor. */
static struct search_program by_law(const char *name, double serial, double overhead)
{
    struct search_program program = {.name = name};
    for (int32_t p = 4; p <= 64; p++)
        add(&program, p, 1e8 * (serial + (1 - serial) / p + overhead * p));
    return program;
}

static struct search_program by_table(const char *name, const int32_t *sizes, const double *seconds,
                                      int count)
{
    struct search_program program = {.name = name};
    for (int i = 0; i < count; i++)
        add(&program, sizes[i], seconds[i] * 1e6);
    return program;
}

static void make_programs(struct search_program programs[PROGRAMS])
{
    /* Swaminathan 2004, tables 1 and 2: each step's gain, from 1000 s on 2 processors */
    static const int32_t grids[] = {2, 4, 6, 9, 12, 16, 20, 25};
    static const double product[] = {1000, 531, 420, 312, 282, 227, 217, 217};
    static const double factors[] = {1000, 481, 427, 305, 267, 235, 283};
    programs[0] = by_law("amdahl2", 0.02, 0);
    programs[1] = by_law("amdahl10", 0.10, 0);
    programs[2] = by_law("overhead", 0.02, 0.0025);
    programs[3] = by_law("steep", 0.01, 0.0005);
    programs[4] = by_table("product", grids, product, 8);
    programs[5] = by_table("factors", grids, factors, 7);
}

struct result {
    struct bench_series lost, known, resizes; /* lost: per cent of the run at its best size */
    double printed, worst;
};

static double lost(const struct search_program *program, double run_us)
{
    double share = 100 * (run_us / (SEARCH_ITERATIONS * search_shortest(program)) - 1);
    return share < 0 && share > -0.01 ? 0 : share; /* runs end at whole microseconds */
}

static void measure(const struct search_program *program, uint32_t start, double noise, int repeats,
                    struct result *result)
{
    double pause_us = PAUSE * search_shortest(program);
    memset(result, 0, sizeof(*result));
    for (int i = 0; i < repeats; i++) {
        uint64_t seed = 1000 + 10 * (uint64_t)i;
        struct search_run first =
            search_simulate(program, "sweet-spot-learned", start, pause_us, noise, seed, NULL);
        struct search_run second = search_simulate(program, "sweet-spot-learned", start, pause_us,
                                                   noise, seed + 5, &first.known);
        bench_add(&result->lost, lost(program, first.run_us));
        bench_add(&result->known, lost(program, second.run_us));
        bench_add(&result->resizes, first.resizes);
    }
    result->printed =
        lost(program, search_simulate(program, "sweet-spot", start, pause_us, 0, 1, NULL).run_us);
    result->worst = lost(program, SEARCH_ITERATIONS * search_longest(program));
}

static struct bench_row row_of(const char *name, double value, double baseline)
{
    struct bench_row row = {.value = value,
                            .unit = "% of the run",
                            .baseline = baseline,
                            .goal = GOAL,
                            .met = value <= GOAL};
    snprintf(row.name, sizeof(row.name), "%s", name);
    return row;
}

static void print_line(const char *name, const struct result *result)
{
    printf("%-32s %6.1f [%5.1f ..%6.1f] %6.1f [%5.1f ..%6.1f] %7.0f %9.1f %8.0f  %s\n", name,
           bench_median(&result->lost), bench_quantile(&result->lost, 0),
           bench_quantile(&result->lost, 1), bench_median(&result->known),
           bench_quantile(&result->known, 0), bench_quantile(&result->known, 1),
           bench_median(&result->resizes), result->printed, result->worst,
           bench_median(&result->lost) <= GOAL ? "met" : "not met");
}

int main(int argc, char **argv)
{
    int repeats = 7;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = BENCH_REPEATS_MAX},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, "bench_sweetspot [--repeats N] [--json]", options, 2);
    static struct search_program programs[PROGRAMS];
    static struct bench_row rows[PROGRAMS * NOISES * STARTS * 2];
    size_t count = 0;
    make_programs(programs);
    if (!json)
        printf("iterations lost, as a share of a run at the best size, in %%: median [min .. max]\n"
               "%-32s %23s %23s %7s %9s %8s  goal %.0f %%\n",
               "program, begun, noise", "learned", "with a history", "resizes", "as printed",
               "worst", GOAL);
    for (int p = 0; p < PROGRAMS; p++)
        for (int s = 0; s < STARTS; s++)
            for (int n = 0; n < NOISES; n++) {
                struct result result;
                char name[48];
                uint32_t start = s ? programs[p].count - 1 : 0;
                measure(&programs[p], start, noises[n], repeats, &result);
                snprintf(name, sizeof(name), "sweetspot_%s_%s_noise%.0f", programs[p].name,
                         s ? "large" : "small", 100 * noises[n]);
                rows[count++] = row_of(name, bench_median(&result.lost), result.worst);
                if (!json)
                    print_line(name + strlen("sweetspot_"), &result);
                strcat(name, "_known");
                rows[count++] = row_of(name, bench_median(&result.known), result.worst);
            }
    if (json)
        bench_print_json(rows, count);
    return 0;
}

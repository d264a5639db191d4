#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "points.h"
#ifdef BENCH_POINTS_PROGRAM
#include "job.h"
#endif

/* Where an MPI is missing nothing is measured with it. */
#ifndef BENCH_POINTS
#define BENCH_POINTS NULL
#endif
#ifndef BENCH_MPICH_POINTS
#define BENCH_MPICH_POINTS NULL
#endif

#define RANKS 2
#define GOAL_NS 30.0

enum { MPIS = 2 };
static const struct mpi {
    const char *name, *text, *program;
} mpis[MPIS] = {{"openmpi", "Open MPI", BENCH_POINTS}, {"mpich", "MPICH", BENCH_MPICH_POINTS}};
static const char *const kind_names[POINTS_KINDS] = {"clock", "unnamed", "named", "times"};
static const char *const kind_texts[POINTS_KINDS] = {
    "reading the clock", "pleat_session_adapt", "a point with a name", "a point for times alone"};

static struct bench_series series[MPIS][POINTS_KINDS];

#ifdef BENCH_POINTS_PROGRAM
static struct app_job job;

static void measure(int m, int repeats, long points)
{
    char count[32], rounds[32];
    const char *command[] = {mpis[m].program, count, rounds, NULL};
    const struct app_job_options options = {.ranks = RANKS, .mpich = m == 1};
    snprintf(count, sizeof(count), "%ld", points);
    snprintf(rounds, sizeof(rounds), "%d", repeats);
    app_job_start(&job, &options, command);
    bench_job_end();
    for (const char *line = job.output; line; line = strchr(line, '\n')) {
        double ns[POINTS_KINDS];
        line += *line == '\n';
        if (sscanf(line, POINTS_READ, &ns[0], &ns[1], &ns[2], &ns[3]) == POINTS_KINDS)
            for (int kind = 0; kind < POINTS_KINDS; kind++)
                bench_add(&series[m][kind], ns[kind]);
        line += strcspn(line, "\n");
        if (!*line)
            break;
    }
    if (series[m][0].count != repeats)
        bench_give_up("the program did not print all of its rounds");
}

void program_measure(int repeats, long points)
{
    bench_job_begin("bench_adapt", &job);
    for (int m = 0; m < MPIS; m++)
        if (mpis[m].program)
            measure(m, repeats, points);
}
#else
void program_measure(int repeats, long points)
{
    (void)repeats;
    (void)points;
}
#endif

static double over_clock(int m, int kind)
{
    return bench_median(&series[m][kind]) - bench_median(&series[m][POINTS_CLOCK]);
}

size_t program_rows(struct bench_row *rows)
{
    size_t count = 0;
    for (int m = 0; m < MPIS; m++)
        for (int kind = POINTS_UNNAMED; kind < POINTS_KINDS && series[m][0].count; kind++) {
            struct bench_row *row = &rows[count++];
            *row = (struct bench_row){.value = over_clock(m, kind), .unit = "ns", .goal = GOAL_NS};
            snprintf(row->name, sizeof(row->name), "adapt_call_%s_%s", kind_names[kind],
                     mpis[m].name);
            row->met = row->value <= GOAL_NS;
        }
    return count;
}

void program_report(void)
{
    for (int m = 0; m < MPIS; m++) {
        if (!series[m][0].count)
            continue;
        printf("in a program of %d ranks, %s: %-28s %22s %s\n", RANKS, mpis[m].text, "",
               "over the clock", "goal 30 ns");
        for (int kind = 0; kind < POINTS_KINDS; kind++) {
            const struct bench_series *s = &series[m][kind];
            printf("  %-24s  %6.1f [%5.1f .. %6.1f]", kind_texts[kind], bench_median(s),
                   bench_quantile(s, 0), bench_quantile(s, 1));
            if (kind != POINTS_CLOCK)
                printf("  %30.1f  %s", over_clock(m, kind),
                       over_clock(m, kind) <= GOAL_NS ? "met" : "NOT MET");
            printf("\n");
        }
    }
}

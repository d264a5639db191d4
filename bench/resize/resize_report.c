#include "resize_report.h"

#include <stdio.h>

#define GOAL_RATIO 1.10
#define GOAL_QUIET_NS 1000.0
#define ROWS_MAX 128
#define ROWS_COMPARED (STEPS + 1)

const int sizes[STEPS + 1] = {2, 4, 8, 4, 2};

static const char *const mpi_words[MPIS] = {"openmpi", "mpich"};

/* A shrink without state takes about a millisecond: the time that eight ranks on two processors
 * wait for each other to be scheduled. Its ratio is printed, but has no goal. */
static bool has_goal(const struct subject *subject, int step)
{
    return step == TOTAL || sizes[step + 1] > sizes[step] || subject->copy[step].count;
}

static struct bench_row *add_row(struct bench_row *rows, size_t *count, const char *subject,
                                 int step, const char *what)
{
    struct bench_row *row = &rows[(*count)++];
    *row = (struct bench_row){.unit = "ms"};
    if (step == TOTAL)
        snprintf(row->name, sizeof(row->name), "resize_%s_total%s", subject, what);
    else
        snprintf(row->name, sizeof(row->name), "resize_%s_%d_%d%s", subject, sizes[step],
                 sizes[step + 1], what);
    return row;
}

static void add_subject(struct bench_row *rows, size_t *count, const struct subject *s)
{
    for (int i = 0; i <= STEPS; i++) {
        struct bench_row *row = add_row(rows, count, s->name, i, "");
        row->value = bench_median(&s->resize[i]);
        row->baseline = bench_median(&s->plain[i]);
        row->goal = has_goal(s, i) ? GOAL_RATIO : 0;
        row->met = bench_ratio(row) <= GOAL_RATIO;
    }
    for (int i = 0; i <= STEPS; i++) {
        struct bench_row *row = add_row(rows, count, s->name, i, "_to_relaunch");
        row->value = bench_median(&s->resize[i]);
        row->baseline = bench_median(&s->ways[OPENMPI].stop[i]);
    }
    for (int i = 0; i < STEPS; i++) {
        add_row(rows, count, s->name, i, "_processes")->value = bench_median(&s->processes[i]);
        struct bench_row *row = add_row(rows, count, s->name, i, "_move");
        row->value = bench_median(&s->move[i]);
        row->baseline = bench_median(&s->copy[i]);
        add_row(rows, count, s->name, i, "_wait")->value = bench_median(&s->wait[i]);
        add_row(rows, count, s->name, i, "_save")->value = bench_median(&s->save[i]);
    }
}

/* Relaunching by Pleat, against stopping and starting again; warm with an MPI that can start
 * processes, against plain MPI. */
static void add_ways(struct bench_row *rows, size_t *count, const struct subject *s)
{
    for (enum mpi mpi = OPENMPI; mpi < MPIS; mpi++) {
        const struct ways *ways = &s->ways[mpi];
        char what[32];
        snprintf(what, sizeof(what), "_relaunched_%s", mpi_words[mpi]);
        for (int i = 0; i <= STEPS && ways->again[TOTAL].count; i++) {
            struct bench_row *row = add_row(rows, count, s->name, i, what);
            row->value = bench_median(&ways->again[i]);
            row->baseline = bench_median(&ways->stop[i]);
        }
        snprintf(what, sizeof(what), "_warm_%s", mpi_words[mpi]);
        for (int i = 0; i <= STEPS && ways->warm[TOTAL].count; i++) {
            struct bench_row *row = add_row(rows, count, s->name, i, what);
            row->value = bench_median(&ways->warm[i]);
            row->baseline = bench_median(mpi == OPENMPI ? &s->plain[i] : &ways->stop[i]);
        }
    }
}

static void print_range(const struct bench_series *series)
{
    printf(" %8.2f [%7.2f ..%8.2f]", bench_median(series), bench_quantile(series, 0),
           bench_quantile(series, 1));
}

static void print_step(int step)
{
    char label[16] = "all four";
    if (step < STEPS)
        snprintf(label, sizeof(label), "%d -> %d", sizes[step], sizes[step + 1]);
    printf("  %-10s", label);
}

static void print_ways(const struct subject *s)
{
    for (enum mpi mpi = OPENMPI; mpi < MPIS; mpi++) {
        const struct ways *ways = &s->ways[mpi];
        if (!ways->again[TOTAL].count)
            continue;
        printf("%-12s %29s %29s %7s  median of saving, processes, loading\n", s->name,
               mpi == OPENMPI ? "Pleat relaunching, Open MPI" : "Pleat relaunching, MPICH",
               "stop and relaunch", "ratio");
        for (int i = 0; i <= STEPS; i++) {
            print_step(i);
            print_range(&ways->again[i]);
            print_range(&ways->stop[i]);
            printf(" %7.3f", bench_median(&ways->again[i]) / bench_median(&ways->stop[i]));
            if (i < STEPS)
                printf("  %.2f, %.2f, %.2f", bench_median(&ways->save[i]),
                       bench_median(&ways->processes[i]), bench_median(&ways->load[i]));
            putchar('\n');
        }
    }
}

static void print_warm(const struct subject *s)
{
    for (enum mpi mpi = OPENMPI; mpi < MPIS; mpi++) {
        const struct ways *ways = &s->ways[mpi];
        const struct bench_series *stop = mpi == OPENMPI ? s->plain : ways->stop;
        if (!ways->warm[TOTAL].count)
            continue;
        printf("%-12s %29s %29s %7s\n", s->name,
               mpi == OPENMPI ? "warm relaunch, Open MPI" : "warm relaunch, MPICH",
               mpi == OPENMPI ? "plain MPI" : "stop and relaunch", "ratio");
        for (int i = 0; i <= STEPS; i++) {
            print_step(i);
            print_range(&ways->warm[i]);
            print_range(&stop[i]);
            printf(" %7.3f\n", bench_median(&ways->warm[i]) / bench_median(&stop[i]));
        }
    }
}

static void print_subject(const struct subject *s, const struct bench_row *rows)
{
    printf("%-12s %29s %29s %7s  %-12s %28s %7s\n", s->name, "Pleat, ms: median [min .. max]",
           "plain MPI", "ratio", "goal 1.10", "stop and relaunch", "ratio");
    for (int i = 0; i <= STEPS; i++) {
        print_step(i);
        print_range(&s->resize[i]);
        print_range(&s->plain[i]);
        printf(" %7.3f  %-12s", bench_ratio(&rows[i]),
               rows[i].goal <= 0 ? "-"
               : rows[i].met     ? "met"
                                 : "NOT MET");
        print_range(&s->ways[OPENMPI].stop[i]);
        printf(" %7.3f\n", bench_ratio(&rows[ROWS_COMPARED + i]));
    }
    printf("  of which, medians in ms:\n");
    for (int i = 0; i < STEPS; i++) {
        printf("  %d -> %d     saving %.2f, processes %.2f, data %.2f; before, waiting for an "
               "adaptation point %.2f\n",
               sizes[i], sizes[i + 1], bench_median(&s->save[i]), bench_median(&s->processes[i]),
               bench_median(&s->move[i]), bench_median(&s->wait[i]));
        if (s->copy[i].count)
            printf("             moved %.1f MB; memcpy of as much %.2f, into new memory %.2f\n",
                   (double)s->moved[i] / 1e6, bench_median(&s->copy[i]),
                   bench_median(&s->copy_fresh[i]));
    }
}

void report(const struct subject *loop, const struct subject *heat,
            const struct bench_series *quiet_ns, bool json)
{
    struct bench_row rows[ROWS_MAX];
    size_t count = 0;
    add_subject(rows, &count, loop);
    size_t first_of_heat = count;
    add_subject(rows, &count, heat);
    add_ways(rows, &count, loop);
    add_ways(rows, &count, heat);
    struct bench_row *quiet = &rows[count++];
    *quiet = (struct bench_row){.name = "resize_quiet_point",
                                .value = bench_median(quiet_ns),
                                .unit = "ns",
                                .goal = GOAL_QUIET_NS};
    quiet->met = quiet->value <= GOAL_QUIET_NS;
    if (json) {
        bench_print_json(rows, count);
        return;
    }
    print_subject(loop, rows);
    print_subject(heat, rows + first_of_heat);
    print_ways(loop);
    print_ways(heat);
    print_warm(loop);
    print_warm(heat);
    printf("an adaptation point at which nothing happens: %.0f ns [%.0f .. %.0f], goal %.0f ns: "
           "%s\n",
           quiet->value, bench_quantile(quiet_ns, 0), bench_quantile(quiet_ns, 1), GOAL_QUIET_NS,
           quiet->met ? "met" : "NOT MET");
}

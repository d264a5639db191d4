/* eval_classes.c - how long programs of the paper's classes are in MPI, and how much faster they
 * get (Utrera 2010, 3.6.1.2: table 3.1, figures 3.11 and 3.12). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "machine.h"
#include "progress.h"

#define LIMIT_S 300.0
#define TEXT 64

enum { EP, FT, MG, CG, BT, SWEEP, LU, SP, IS, MZ, PROGRAMS };
enum { SMALL, LARGE, EDITIONS };
enum { ONE, TWO, NUMBERS }; /* of ranks: one, and the fewest above that the program takes */
enum { COLLECTIVE, POINT_TO_POINT, ALL, SHARES };

/* In the order of table 3.1, which has the first seven. Iterations of about half a second, and of
 * about a second, of one processor. */
static const struct program {
    const char *name;
    int iterations[EDITIONS], work; /* 0: there is no such edition */
    int fewest;                     /* of ranks above one */
    int paper[SHARES];              /* percent, with 64 processes; 0 for all: not in the table */
} programs[PROGRAMS] = {
    [EP] = {"ep", {1000}, 1000, 2, {6, 0, 6}},    [FT] = {"ft", {350, 90}, 0, 2, {15, 15, 30}},
    [MG] = {"mg", {400, 120}, 0, 2, {4, 34, 38}}, [CG] = {"cg", {200, 70}, 0, 2, {0, 40, 40}},
    [BT] = {"bt", {200, 60}, 0, 4, {7, 39, 46}},  [SWEEP] = {"sweep", {250, 70}, 0, 2, {9, 39, 47}},
    [LU] = {"lu", {175, 65}, 0, 2, {0, 51, 51}},  [SP] = {"sp", {125, 50}, 0, 4, {0}},
    [IS] = {"is", {175, 50}, 0, 2, {0}},          [MZ] = {"mz", {125, 55}, 0, 2, {0}},
};
static const char *const edition_names[EDITIONS] = {"small", "large"};

struct measured {
    struct bench_series seconds, shares[SHARES];
};

static struct measured all[TRIAL_MPIS][PROGRAMS][EDITIONS][NUMBERS];
static bool quick, wanted[TRIAL_MPIS];
static double times;

static int ranks_of(int program, int number)
{
    return number == ONE ? 1 : programs[program].fewest;
}

static bool is_run(int program, int edition)
{
    return programs[program].iterations[edition] && (!quick || (program < MG && edition == SMALL));
}

static void plan(struct eval *eval)
{
    quick = eval->quick;
    times = eval->times;
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        wanted[mpi] = eval_wants(eval, mpi);
}

static int runs(void)
{
    int count = 0;
    for (int m = 0; m < TRIAL_MPIS; m++)
        for (int p = 0; wanted[m] && p < PROGRAMS; p++)
            for (int e = 0; e < EDITIONS; e++)
                count += is_run(p, e) ? NUMBERS : 0;
    return count;
}

/* ---- a run ---- */

static void note(struct measured *measured, const struct trial_result *result, const char *what)
{
    const char *line = strstr(result->output, "MPITIME ");
    double seconds, collective, others;
    if (result->outcome == TRIAL_TIMED_OUT)
        trial_give_up(what, "it took too long");
    if (!line || sscanf(line, "MPITIME %lf %lf %lf", &seconds, &collective, &others) != 3)
        trial_give_up(what, "it does not say how long it was in MPI");
    bench_add(&measured->seconds, result->own_elapsed_s);
    bench_add(&measured->shares[COLLECTIVE], collective / seconds);
    bench_add(&measured->shares[POINT_TO_POINT], others / seconds);
    bench_add(&measured->shares[ALL], (collective + others) / seconds);
}

static void run(struct eval *eval, enum trial_mpi mpi, int program, int edition, int number)
{
    const struct program *p = &programs[program];
    char iterations[TEXT], work[TEXT], what[TEXT];
    snprintf(iterations, sizeof(iterations), "%.0f",
             fmax(1, round(p->iterations[edition] * times)));
    snprintf(work, sizeof(work), "%d", p->work);
    snprintf(what, sizeof(what), "%s, %s, %d ranks", trial_mpi_name(mpi), edition_names[edition],
             ranks_of(program, number));
    const char *const options[] = {"--iterations", iterations, p->work ? "--work" : "--size",
                                   p->work ? work : edition_names[edition], NULL};
    const struct trial_setup setup = {.mpi = mpi,
                                      .way = TRIAL_DEFAULT,
                                      .processes = ranks_of(program, number),
                                      .cpus = machine_cpus(CASE_PROCESSORS_MAX),
                                      .program = p->name,
                                      .options = options,
                                      .timed_mpi = true,
                                      .limit_s = LIMIT_S};
    struct trial_result result;
    progress_step(p->name, what);
    bench_add(&eval->others, trial_run(&setup, &result));
    note(&all[mpi][program][edition][number], &result, what);
    trial_release(&result);
}

static void do_round(struct eval *eval, int round)
{
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int i = 0; wanted[mpi] && i < PROGRAMS * EDITIONS * NUMBERS; i++) {
            int program = (i + round) % PROGRAMS, at = i / PROGRAMS;
            if (is_run(program, at / NUMBERS))
                run(eval, mpi, program, at / NUMBERS, at % NUMBERS);
        }
}

/* ---- tables ---- */

static bool is_oversubscribed(int program)
{
    return programs[program].fewest > CASE_PROCESSORS_MAX;
}

static void add_share(struct pleat_page *page, const struct bench_series *share)
{
    pleat_page_cell(page, "%.1f [%.1f .. %.1f]", 100 * bench_median(share),
                    100 * bench_quantile(share, 0), 100 * bench_quantile(share, 1));
}

static void add_shares(struct pleat_page *page, enum trial_mpi mpi)
{
    pleat_page_table(page, "program|<size|ranks|in MPI, %|collective, %|point to point, %|"
                           "Utrera 2010, 64 processes, %|<");
    for (int p = 0; p < PROGRAMS; p++)
        for (int e = 0; e < EDITIONS; e++) {
            const struct measured *measured = &all[mpi][p][e][TWO];
            if (!measured->seconds.count)
                continue;
            pleat_page_cell(page, "%s", programs[p].name);
            pleat_page_cell(page, "%s", programs[p].iterations[LARGE] ? edition_names[e] : "");
            pleat_page_cell(page, "%d", ranks_of(p, TWO));
            add_share(page, &measured->shares[ALL]);
            add_share(page, &measured->shares[COLLECTIVE]);
            add_share(page, &measured->shares[POINT_TO_POINT]);
            if (programs[p].paper[ALL])
                pleat_page_cell(page, "%d: %d, %d", programs[p].paper[ALL],
                                programs[p].paper[COLLECTIVE], programs[p].paper[POINT_TO_POINT]);
            else
                pleat_page_cell(page, "-");
            pleat_page_cell(page, "%s", is_oversubscribed(p) ? "oversubscribed" : "");
        }
}

/* The time on one processor over that on two. */
static struct bench_paired gain(enum trial_mpi mpi, int program, int edition)
{
    return bench_paired(&all[mpi][program][edition][ONE].seconds,
                        &all[mpi][program][edition][TWO].seconds);
}

static void add_times(struct pleat_page *page, enum trial_mpi mpi)
{
    pleat_page_table(page, "program|<size|1 rank, s|ranks|s|speed-up|<");
    for (int p = 0; p < PROGRAMS; p++)
        for (int e = 0; e < EDITIONS; e++) {
            struct bench_paired ratio = gain(mpi, p, e);
            if (!all[mpi][p][e][TWO].seconds.count)
                continue;
            pleat_page_cell(page, "%s", programs[p].name);
            pleat_page_cell(page, "%s", programs[p].iterations[LARGE] ? edition_names[e] : "");
            eval_cell_series(page, &all[mpi][p][e][ONE].seconds);
            pleat_page_cell(page, "%d", ranks_of(p, TWO));
            eval_cell_series(page, &all[mpi][p][e][TWO].seconds);
            eval_cell(page, &ratio);
            pleat_page_cell(page, "%s", is_oversubscribed(p) ? "oversubscribed" : "");
        }
}

/* What two processors bring, where the paper has curves up to as many as it has. */
static int draw_gains(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    const char *names[PROGRAMS];
    double x[PROGRAMS], y[EDITIONS][PROGRAMS];
    struct pleat_plot_series series[EDITIONS];
    size_t count = 0;
    char name[TEXT], caption[256];
    for (int p = 0; p < PROGRAMS; p++) {
        if (is_oversubscribed(p) || !all[mpi][p][SMALL][TWO].seconds.count)
            continue;
        names[count] = programs[p].name;
        x[count] = (double)count;
        for (int e = 0; e < EDITIONS; e++)
            y[e][count] = all[mpi][p][e][TWO].seconds.count ? gain(mpi, p, e).median : (double)NAN;
        count++;
    }
    for (int e = 0; e < EDITIONS; e++)
        series[e] = (struct pleat_plot_series){edition_names[e], x, y[e], count};
    const struct pleat_plot panel = {.title = eval_mpi_title(mpi),
                                     .y_label = "time on 1 processor over that on 2",
                                     .style = PLEAT_PLOT_BARS,
                                     .series = series,
                                     .series_count = EDITIONS,
                                     .x_names = names};
    snprintf(name, sizeof(name), "figure-3-11-3-12-%s", trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption),
             "Figures 3.11 and 3.12 anew with %s, at two processors, which is where curves of this "
             "machine end: speed-up of the small and the large edition (medians)",
             eval_mpi_title(mpi));
    return pleat_page_figure(&eval->page, name, caption, &panel, 1, 1, err);
}

/* ---- the paper's statements; these criteria were written before the rounds ---- */

/* Of the programs of table 3.1 that have a processor for each rank here. */
static bool is_compared(int program)
{
    return programs[program].paper[ALL] && !is_oversubscribed(program);
}

static const struct bench_series *share_of(enum trial_mpi mpi, int program, int share)
{
    return &all[mpi][program][SMALL][TWO].shares[share];
}

/* Of each round: the share of one program over the least, or the most, of the others. */
static struct bench_paired against_others(enum trial_mpi mpi, int program, bool most)
{
    struct bench_series others = {0};
    int rounds = share_of(mpi, program, ALL)->count;
    for (int round = 0; round < rounds; round++) {
        double best = most ? 0 : INFINITY;
        for (int p = 0; p < PROGRAMS; p++) {
            const struct bench_series *share = share_of(mpi, p, ALL);
            if (p == program || !is_compared(p) || share->count <= round)
                continue;
            best = most ? fmax(best, share->values[round]) : fmin(best, share->values[round]);
        }
        bench_add(&others, best);
    }
    return bench_paired(share_of(mpi, program, ALL), &others);
}

static void tell_order(struct eval *eval, enum trial_mpi mpi)
{
    struct bench_paired ep = against_others(mpi, EP, false), lu = against_others(mpi, LU, true);
    eval_tell_ratio(eval, mpi, "EP is less of its time in MPI than the others (6 %, 30 % and more)",
                    "table 3.1", eval_below(&ep), "ep over the least of the others", &ep);
    eval_tell_ratio(eval, mpi,
                    "LU is more of its time in MPI than the others (51 %, 47 % and less)",
                    "table 3.1", eval_not(eval_below(&lu)), "lu over the most of the others", &lu);
}

/* Half of FT's time in MPI is collective; MG, CG, LU and Sweep3D are mostly point to point. */
static void tell_kinds(struct eval *eval, enum trial_mpi mpi)
{
    static const int mostly[] = {MG, CG, SWEEP, LU};
    struct bench_paired ft =
        bench_paired(share_of(mpi, FT, COLLECTIVE), share_of(mpi, FT, POINT_TO_POINT));
    bool none = bench_quantile(share_of(mpi, FT, POINT_TO_POINT), 1) <= 0;
    eval_tell(eval, "FT is as long in collective operations as in others (15 %, 15 %)", "table 3.1",
              none ? EVAL_NO : eval_similar(&ft), "%s: %.1f %% and %.1f %%", eval_mpi_title(mpi),
              100 * bench_median(share_of(mpi, FT, COLLECTIVE)),
              100 * bench_median(share_of(mpi, FT, POINT_TO_POINT)));
    for (size_t i = 0; i < sizeof(mostly) / sizeof(mostly[0]); i++) {
        int p = mostly[i];
        char statement[128];
        if (!share_of(mpi, p, ALL)->count)
            continue;
        struct bench_paired ratio =
            bench_paired(share_of(mpi, p, COLLECTIVE), share_of(mpi, p, POINT_TO_POINT));
        snprintf(statement, sizeof(statement), "%s is mostly in operations point to point",
                 programs[p].name);
        eval_tell_ratio(eval, mpi, statement, "table 3.1", eval_below(&ratio),
                        "collective over point to point", &ratio);
    }
}

/* The mean over the programs of what two processors bring to the large edition over what they
 * bring to the small one. */
static void tell_speedup(struct eval *eval, enum trial_mpi mpi)
{
    struct bench_paired ratios[PROGRAMS];
    int count = 0;
    for (int p = 0; p < PROGRAMS; p++) {
        struct bench_paired small = gain(mpi, p, SMALL), large = gain(mpi, p, LARGE);
        if (!is_oversubscribed(p) && large.ratios.count)
            ratios[count++] = bench_paired(&small.ratios, &large.ratios);
    }
    if (!count)
        return;
    struct bench_paired mean = eval_mean(ratios, count);
    eval_tell_ratio(eval, mpi, "Long programs have a better speed-up than short ones",
                    "3.6.1.2, figure 3.12", eval_below(&mean),
                    "on 2 processors, small over large, mean over programs", &mean);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    int rc = 0;
    pleat_page_heading(page, "Time in MPI (table 3.1), and speed-up (figures 3.11 and 3.12)");
    pleat_page_paragraph(
        page,
        "Each program is of the class of one of the paper's (`apps/README.md`), and alone on 2 "
        "processors. Its ranks are unfolded, one for each processor, but for bt and sp, which take "
        "4 (\"oversubscribed\": no statement rests on them). The time in MPI is that of the ranks' "
        "calls, measured by a library between them and MPI (`bench/fold/mpi_time.c`), over all of "
        "their time between MPI_Init and MPI_Finalize: median over rounds, least and most. The "
        "paper calls a program long whose sequential time is above 30 minutes, and short below 10; "
        "here the programs have two sizes, and are stopped after about a second on one processor. "
        "Statements about table 3.1 are of the small size.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; !rc && mpi < TRIAL_MPIS; mpi++) {
        if (!wanted[mpi])
            continue;
        pleat_page_subheading(page, eval_mpi_title(mpi));
        add_shares(page, mpi);
        rc = draw_gains(eval, mpi, err);
        add_times(page, mpi);
        tell_order(eval, mpi);
        tell_kinds(eval, mpi);
        tell_speedup(eval, mpi);
    }
    return rc;
}

const struct eval_part eval_classes = {"times", plan, runs, do_round, report, NULL};

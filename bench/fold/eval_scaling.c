/* eval_scaling.c - how long two malleable programs take on how many processors (Buisson et al.
 * 2007, VI-A and figure 6). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "machine.h"
#include "progress.h"

#define SIZES 8 /* at most */
#define QUICK_SIZES 3
#define LIMIT_S 300.0
#define TEXT 64

enum { FT, GADGET, PROGRAMS };
/* How the programs compute. PRETENDED: most of the computing is sleeping, which needs no CPU,
 * divided by the ranks. */
enum { REAL, PRETENDED, KINDS };

static const struct program {
    const char *name, *stands_for;
    int most;         /* the largest size in the paper's workloads */
    int sizes[SIZES]; /* of ranks; 0: no more */
    struct {
        int n, iterations, work_ms;
    } kinds[KINDS];
} programs[PROGRAMS] = {
    {"fourier", "FT", 32, {1, 2, 4, 8, 16}, {{64, 40, 0}, {32, 20, 100}}},
    {"nbody", "GADGET 2", 46, {1, 2, 3, 4, 6, 8, 12, 16}, {{4000, 20, 0}, {1000, 20, 100}}},
};
static const char *const kind_names[KINDS] = {"real", "pretended"};

static struct bench_series seconds[TRIAL_MPIS][PROGRAMS][KINDS][SIZES];
static bool quick;
static double times;
static bool wanted[TRIAL_MPIS];

static int count_sizes(int program)
{
    int count = 0;
    while (count < (quick ? QUICK_SIZES : SIZES) && programs[program].sizes[count])
        count++;
    return count;
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
            count += KINDS * count_sizes(p);
    return count;
}

/* ---- a run ---- */

/* The time that the program says its iterations took. */
static double seconds_of(const struct trial_result *result, const char *what)
{
    const char *verdict = strstr(result->output, "RESULT ok");
    const char *at = verdict ? strstr(verdict, "seconds=") : NULL;
    double value = at ? strtod(at + strlen("seconds="), NULL) : 0;
    if (result->outcome == TRIAL_TIMED_OUT)
        trial_give_up(what, "it took too long");
    if (!(value > 0))
        trial_give_up(what, "it does not say how long it took");
    return value;
}

static void run(struct eval *eval, enum trial_mpi mpi, int program, int kind, int size)
{
    const struct program *p = &programs[program];
    char n[TEXT], iterations[TEXT], work[TEXT], what[TEXT];
    int repeated = (int)fmax(1, round(p->kinds[kind].iterations * times));
    snprintf(n, sizeof(n), "%d", p->kinds[kind].n);
    snprintf(iterations, sizeof(iterations), "%d", repeated);
    snprintf(work, sizeof(work), "%d", p->kinds[kind].work_ms);
    snprintf(what, sizeof(what), "%s, %d ranks, %s", trial_mpi_name(mpi), p->sizes[size],
             kind_names[kind]);
    const char *const options[] = {"--n", n, "--iterations", iterations, "--work", work, NULL};
    const struct trial_setup setup = {.mpi = mpi,
                                      .way = TRIAL_DEFAULT,
                                      .processes = p->sizes[size],
                                      .cpus = machine_cpus(CASE_PROCESSORS_MAX),
                                      .program = p->name,
                                      .options = options,
                                      .untimed = true,
                                      .limit_s = LIMIT_S};
    struct trial_result result;
    progress_step(p->name, what);
    bench_add(&eval->others, trial_run(&setup, &result));
    bench_add(&seconds[mpi][program][kind][size], seconds_of(&result, what) / repeated);
    trial_release(&result);
}

static void do_round(struct eval *eval, int round)
{
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int i = 0; wanted[mpi] && i < SIZES; i++)
            for (int p = 0; p < PROGRAMS; p++)
                for (int k = 0; k < KINDS; k++)
                    if (i < count_sizes(p))
                        run(eval, mpi, p, k, (i + round) % count_sizes(p));
}

/* ---- what came of it ---- */

/* NULL: was not run. */
static const struct bench_series *on(enum trial_mpi mpi, int program, int kind, int ranks)
{
    for (int i = 0; i < count_sizes(program); i++)
        if (programs[program].sizes[i] == ranks)
            return &seconds[mpi][program][kind][i];
    return NULL;
}

/* The time on so many processors over that on so many others. */
static struct bench_paired over(enum trial_mpi mpi, int program, int kind, int ranks, int others)
{
    const struct bench_series *a = on(mpi, program, kind, ranks);
    const struct bench_series *b = on(mpi, program, kind, others);
    return a && b ? bench_paired(a, b) : (struct bench_paired){.median = 0};
}

static void add_table(struct pleat_page *page, enum trial_mpi mpi)
{
    pleat_page_table(page, "program|<computing|ranks|time of an iteration, ms|over 2 ranks|<");
    for (int p = 0; p < PROGRAMS; p++)
        for (int k = 0; k < KINDS; k++)
            for (int i = 0; i < count_sizes(p); i++) {
                const struct bench_series *series = &seconds[mpi][p][k][i];
                int ranks = programs[p].sizes[i];
                struct bench_paired ratio = over(mpi, p, k, ranks, 2);
                pleat_page_cell(page, "%s", programs[p].name);
                pleat_page_cell(page, "%s", kind_names[k]);
                pleat_page_cell(page, "%d", ranks);
                pleat_page_cell(page, "%.1f [%.1f .. %.1f]", 1e3 * bench_median(series),
                                1e3 * bench_quantile(series, 0), 1e3 * bench_quantile(series, 1));
                eval_cell(page, &ratio);
                if (ranks > CASE_PROCESSORS_MAX)
                    pleat_page_cell(page, "oversubscribed: %d ranks on %d processors", ranks,
                                    CASE_PROCESSORS_MAX);
                else
                    pleat_page_cell(page, "%s", "");
            }
}

struct curve {
    double x[SIZES], y[SIZES], low[SIZES], high[SIZES];
    struct pleat_plot_series series;
    struct pleat_plot_band band;
};

static struct pleat_plot panel_of(struct curve *curve, enum trial_mpi mpi, int program, int kind,
                                  char title[TEXT])
{
    int count = count_sizes(program);
    for (int i = 0; i < count; i++) {
        const struct bench_series *series = &seconds[mpi][program][kind][i];
        struct bench_paired median = bench_paired_of(series);
        bool known = isfinite(median.upper);
        curve->x[i] = programs[program].sizes[i];
        curve->y[i] = 1e3 * median.median;
        curve->low[i] = known ? 1e3 * median.lower : curve->y[i];
        curve->high[i] = known ? 1e3 * median.upper : curve->y[i];
    }
    curve->series = (struct pleat_plot_series){NULL, curve->x, curve->y, (size_t)count};
    curve->band = (struct pleat_plot_band){curve->low, curve->high};
    snprintf(title, TEXT, "%s, %s", programs[program].name, kind_names[kind]);
    return (struct pleat_plot){.title = title,
                               .x_label = "ranks",
                               .y_label = "time of an iteration, ms",
                               .series = &curve->series,
                               .bands = &curve->band,
                               .series_count = 1,
                               .number = (size_t)program};
}

static int draw(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    struct curve curves[PROGRAMS * KINDS] = {{.x = {0}}};
    struct pleat_plot panels[PROGRAMS * KINDS];
    char titles[PROGRAMS * KINDS][TEXT], name[TEXT], caption[256];
    for (int p = 0; p < PROGRAMS; p++)
        for (int k = 0; k < KINDS; k++)
            panels[p * KINDS + k] =
                panel_of(&curves[p * KINDS + k], mpi, p, k, titles[p * KINDS + k]);
    snprintf(name, sizeof(name), "figure-6-%s", trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption),
             "Figure 6 anew with %s: execution time by the number of ranks. More than %d "
             "share %d processors.",
             eval_mpi_title(mpi), CASE_PROCESSORS_MAX, CASE_PROCESSORS_MAX);
    return pleat_page_figure(&eval->page, name, caption, panels, sizeof(panels) / sizeof(panels[0]),
                             KINDS, err);
}

/* ---- the paper's statements; these criteria were written before the rounds ---- */

/* What the second processor brings to one program over what it brings to the other. */
static struct bench_paired compare_gains(enum trial_mpi mpi)
{
    struct bench_paired gadget = over(mpi, GADGET, REAL, 2, 1);
    struct bench_paired ft = over(mpi, FT, REAL, 2, 1);
    return bench_paired(&gadget.ratios, &ft.ratios);
}

static void tell(struct eval *eval, enum trial_mpi mpi)
{
    struct bench_paired gain = compare_gains(mpi);
    eval_tell_ratio(eval, mpi,
                    "More processors bring more to GADGET 2 (10 minutes on two, 4 at best) than to "
                    "FT (2 and 1)",
                    "VI-A, figure 6", eval_below(&gain),
                    "real, 2 over 1 processors, nbody's over fourier's", &gain);
    for (int p = 0; p < PROGRAMS; p++) {
        struct bench_paired ratio = over(mpi, p, PRETENDED, 8, 16);
        char statement[128], what[TEXT];
        snprintf(statement, sizeof(statement),
                 "The largest size of %s is not its fastest (%d there, 16 here)",
                 programs[p].stands_for, programs[p].most);
        snprintf(what, sizeof(what), "%s, pretended, 8 over 16 ranks", programs[p].name);
        eval_tell_ratio(eval, mpi, statement, "VI-C, figure 6", eval_below(&ratio), what, &ratio);
    }
}

static void add_method(struct pleat_page *page)
{
    pleat_page_heading(page, "How it was done");
    pleat_page_paragraph(
        page,
        "The two programs of the paper are NAS FT and GADGET 2. Here they are `fourier` and "
        "`nbody` (`apps/README.md`), which are of the same classes, and malleable with libpleat; "
        "each run has one size from its beginning to its end, and checks its result. Measured is "
        "the time of the iterations, without start and end, which the program tells itself, "
        "divided by their number. Figure 6 begins with 2 processors; its curves are lost in our "
        "copy, its ends are in the text: 2 minutes on two processors and 1 at best for FT, 10 and "
        "4 for GADGET 2.");
    pleat_page_item(page,
                    "real: `fourier --n %d`, `nbody --n %d`. There are %d processors. With "
                    "more ranks each has a part of one, so nothing can become faster; the rows "
                    "show what too many ranks cost, and no statement rests on them.",
                    programs[FT].kinds[REAL].n, programs[GADGET].kinds[REAL].n,
                    CASE_PROCESSORS_MAX);
    pleat_page_item(page,
                    "pretended: `fourier --n %d --work %d`, `nbody --n %d --work %d`. The ranks "
                    "sleep for %d ms of an iteration, divided by their number, as if each had a "
                    "processor to itself; all else is done: messages, and what each rank computes "
                    "for itself or for all. How much is pretended was set before the first round, "
                    "and not changed after it; where the curve turns depends on it.",
                    programs[FT].kinds[PRETENDED].n, programs[FT].kinds[PRETENDED].work_ms,
                    programs[GADGET].kinds[PRETENDED].n, programs[GADGET].kinds[PRETENDED].work_ms,
                    programs[FT].kinds[PRETENDED].work_ms);
    pleat_page_paragraph(page,
                         "The criteria were written before the rounds, after a few single "
                         "runs that showed how long one takes: with MPICH on 4 to 16 ranks, with "
                         "Open MPI on 1 and 2.");
    pleat_page_heading(page, "What may not be concluded");
    pleat_page_item(page, "How the paper's programs scale: these are others, on one machine, "
                          "whose ranks share memory instead of a network.");
    pleat_page_item(page,
                    "Where they are fastest: above %d processors most of the computing is "
                    "pretended, and the rest is slowed down by sharing %d processors, so the "
                    "curves turn earlier than they would.",
                    CASE_PROCESSORS_MAX, CASE_PROCESSORS_MAX);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    int rc = 0;
    add_method(&eval->page);
    for (enum trial_mpi mpi = TRIAL_OPENMPI; !rc && mpi < TRIAL_MPIS; mpi++) {
        if (!wanted[mpi])
            continue;
        pleat_page_heading(&eval->page, eval_mpi_title(mpi));
        rc = draw(eval, mpi, err);
        add_table(&eval->page, mpi);
        tell(eval, mpi);
    }
    return rc;
}

const struct eval_part eval_scaling = {"scaling", plan, runs, do_round, report, NULL};

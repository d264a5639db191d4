/* eval_arrivals.c - jobs that arrive over time, at a daemon that gives each processors to itself or
 * shares them out in time (Utrera 2010, 4.6.2: figures 4.16 to 4.20). */
#include <math.h>
#include <stdio.h>

#include "arrivals.h"
#include "eval.h"
#include "eval_keep.h"

#define LEVELS 3
#define UTILIZATIONS 2
#define USUAL 1        /* of the levels: the imbalanced workloads have this one alone */
#define BUSY 1         /* of the utilizations */
#define LIKE_SWEEP3D 0 /* in the workload of low communication */
#define EP 1
#define BARS (LEVELS * UTILIZATIONS)

static const int levels[LEVELS] = {2, 4, 6};
static const double utilizations[UTILIZATIONS] = {0.2, 0.6};

/* What the paper states of SCS against CS. Figure 4.18 is about a cell that the others have. */
static const struct stated {
    const char *statement, *where;
    int kind, level, utilization;
    bool similar;
    bool other; /* CS is better */
} stated[] = {{"Of high communication, balanced: SCS is better than CS at MPL 4, by about 20 %",
               "figure 4.16", LOAD_HIGH, USUAL, BUSY, false, false},
              {"Of low communication, balanced: they are similar at MPL 2 (within 10 %)",
               "figure 4.17", LOAD_LOW, 0, BUSY, true, false},
              {"Of high communication, imbalanced: SCS is better than CS", "figure 4.19",
               LOAD_HIGH_IMBALANCED, USUAL, BUSY, false, false},
              {"Of low communication: they are similar at low utilization (within 10 %)",
               "figure 4.20", LOAD_LOW_IMBALANCED, USUAL, 0, true, false},
              {"Of low communication, balanced: CS is better at high utilization", "figure 4.20",
               LOAD_LOW, USUAL, BUSY, false, true}};
#define STATED (sizeof(stated) / sizeof(*stated))

/* Starting is what a job takes that has nearly nothing to do. */
#define NOTHING 1e-6

static struct {
    double service_s, start_s; /* of one job, all, and what of that is starting; 0: not measured */
    bool wanted[UTILIZATIONS];
    struct arrivals at[UTILIZATIONS];
} cells[TRIAL_MPIS][LOAD_KINDS][LEVELS];
static const struct load_set *set;

static bool is_balanced(int kind)
{
    return kind == LOAD_HIGH || kind == LOAD_LOW;
}

static bool is_wanted(const struct eval *eval, int kind, int level, int utilization)
{
    bool wanted = !eval->stated;
    if (eval->quick)
        return kind == LOAD_LOW && level == USUAL && utilization == BUSY;
    for (size_t i = 0; i < STATED && !wanted; i++)
        wanted = stated[i].kind == kind && stated[i].level == level &&
                 stated[i].utilization == utilization;
    return wanted && (is_balanced(kind) || level == USUAL);
}

static void plan(struct eval *eval)
{
    set = &load_sets[eval->about->set];
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int k = 0; k < LOAD_KINDS; k++)
            for (int l = 0; l < LEVELS; l++)
                for (int u = 0; u < UTILIZATIONS; u++) {
                    cells[mpi][k][l].wanted[u] = eval_wants(eval, mpi) && is_wanted(eval, k, l, u);
                    struct arrivals *arrivals = &cells[mpi][k][l].at[u];
                    *arrivals = (struct arrivals){.mpi = mpi,
                                                  .mix = &set->kinds[k],
                                                  .processes = levels[l],
                                                  .times = eval->times,
                                                  .utilization = utilizations[u]};
                    snprintf(arrivals->name, sizeof(arrivals->name), "%s %s, MPL %d, %.0f %%",
                             trial_mpi_name(mpi), set->kinds[k].name, levels[l],
                             100 * utilizations[u]);
                }
}

static int runs(void)
{
    int count = 0;
    for (int m = 0; m < TRIAL_MPIS; m++)
        for (int k = 0; k < LOAD_KINDS; k++)
            for (int l = 0; l < LEVELS; l++)
                for (int u = 0; u < UTILIZATIONS; u++)
                    count += cells[m][k][l].wanted[u] * ARRIVALS_WAYS;
    return count;
}

static void do_round(struct eval *eval, int round)
{
    for (int m = 0; m < TRIAL_MPIS; m++)
        for (int k = 0; k < LOAD_KINDS; k++)
            for (int l = 0; l < LEVELS; l++)
                for (int u = 0; u < UTILIZATIONS; u++) {
                    struct arrivals *arrivals = &cells[m][k][l].at[u];
                    if (!cells[m][k][l].wanted[u])
                        continue;
                    if (cells[m][k][l].service_s <= 0) {
                        struct arrivals idle = *arrivals;
                        idle.times = NOTHING;
                        cells[m][k][l].start_s = arrivals_service_s(&idle);
                        cells[m][k][l].service_s = arrivals_service_s(arrivals);
                    }
                    uint64_t seed = (uint64_t)(1 + round * 100 + k * 10 + l);
                    arrivals_round(arrivals, cells[m][k][l].service_s, round, seed);
                    bench_add(&eval->others, bench_median(&arrivals->others));
                }
}

static void keep_ways(struct arrivals *arrivals, struct eval_keeper *keeper)
{
    static const char *const names[] = {"of 1", "of 2", "of 3", "of 4"};
    _Static_assert(LOAD_PROGRAMS == 4, "a name for each program");
    for (int w = 0; w < ARRIVALS_WAYS; w++) {
        struct arrivals_result *result = &arrivals->results[w];
        eval_keep_within(keeper, "%s, %s", arrivals->name, arrivals_ways[w].name);
        eval_keep_series(keeper, "response", &result->response);
        eval_keep_count(keeper, "late", &result->late);
        for (int p = 0; p < load_mix_programs(arrivals->mix); p++)
            eval_keep_series(keeper, names[p], &result->of[p]);
    }
}

static void keep(struct eval_keeper *keeper)
{
    for (int m = 0; m < TRIAL_MPIS; m++)
        for (int k = 0; k < LOAD_KINDS; k++)
            for (int l = 0; l < LEVELS; l++) {
                eval_keep_within(keeper, "%s %s, MPL %d", trial_mpi_name((enum trial_mpi)m),
                                 set->kinds[k].name, levels[l]);
                eval_keep_number(keeper, "one job, s", &cells[m][k][l].service_s);
                eval_keep_number(keeper, "its start, s", &cells[m][k][l].start_s);
                for (int u = 0; u < UTILIZATIONS; u++)
                    if (cells[m][k][l].wanted[u])
                        keep_ways(&cells[m][k][l].at[u], keeper);
            }
}

/* ---- what came of it ---- */

static struct bench_paired over(const struct arrivals *arrivals, int way, int other)
{
    const struct arrivals_result *a = &arrivals->results[way], *b = &arrivals->results[other];
    if (a->late || b->late)
        return (struct bench_paired){.median = 0};
    return bench_paired(&a->response, &b->response);
}

static struct bench_paired program_over(const struct arrivals *arrivals, int program, int way,
                                        int other)
{
    const struct arrivals_result *a = &arrivals->results[way], *b = &arrivals->results[other];
    if (a->late || b->late)
        return (struct bench_paired){.median = 0};
    return bench_paired(&a->of[program], &b->of[program]);
}

static void add_ratios(struct pleat_page *page, enum trial_mpi mpi)
{
    static const int pairs[][2] = {
        {ARRIVALS_SCS, ARRIVALS_FCFS},      {ARRIVALS_CS, ARRIVALS_FCFS},
        {ARRIVALS_CS_BLOCK, ARRIVALS_FCFS}, {ARRIVALS_CS_YIELD, ARRIVALS_FCFS},
        {ARRIVALS_SCS, ARRIVALS_CS},        {ARRIVALS_SCS, ARRIVALS_CS_BLOCK},
        {ARRIVALS_SCS, ARRIVALS_CS_YIELD}};
    pleat_page_table(
        page, "workload|MPL|utilization|one job, s|its start, s|FCFS, s|SCS over FCFS|CS BI+RR "
              "over FCFS|CS block over FCFS|CS yield over FCFS|SCS over CS BI+RR|SCS "
              "over CS block|SCS over CS yield");
    for (int k = 0; k < LOAD_KINDS; k++)
        for (int l = 0; l < LEVELS; l++)
            for (int u = 0; u < UTILIZATIONS; u++) {
                const struct arrivals *arrivals = &cells[mpi][k][l].at[u];
                if (!arrivals->results[ARRIVALS_FCFS].response.count)
                    continue;
                pleat_page_cell(page, "%s", set->kinds[k].name);
                pleat_page_cell(page, "%d", levels[l]);
                pleat_page_cell(page, "%.0f %%", 100 * utilizations[u]);
                pleat_page_cell(page, "%.2f", cells[mpi][k][l].service_s);
                pleat_page_cell(page, "%.2f", cells[mpi][k][l].start_s);
                eval_cell_series(page, &arrivals->results[ARRIVALS_FCFS].response);
                for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
                    struct bench_paired ratio = over(arrivals, pairs[i][0], pairs[i][1]);
                    eval_cell(page, &ratio);
                }
            }
}

static void add_programs(struct pleat_page *page, enum trial_mpi mpi)
{
    const char *const *names = set->kinds[LOAD_LOW].programs;
    pleat_page_paragraph(page,
                         "Response times of the jobs of the workload \"%s\" apart, seconds (figure "
                         "4.18):",
                         set->kinds[LOAD_LOW].name);
    pleat_page_table(page, "program|MPL|utilization|FCFS|SCS|CS BI+RR|CS block|CS yield");
    for (int p = LIKE_SWEEP3D; p <= EP; p++)
        for (int l = 0; l < LEVELS; l++)
            for (int u = 0; u < UTILIZATIONS; u++) {
                const struct arrivals *arrivals = &cells[mpi][LOAD_LOW][l].at[u];
                if (!arrivals->results[ARRIVALS_FCFS].response.count)
                    continue;
                pleat_page_cell(page, "%s", names[p]);
                pleat_page_cell(page, "%d", levels[l]);
                pleat_page_cell(page, "%.0f %%", 100 * utilizations[u]);
                for (int w = 0; w < ARRIVALS_WAYS; w++)
                    eval_cell_series(page, &arrivals->results[w].of[p]);
            }
}

/* ---- figures ---- */

struct bars {
    double x[BARS], y[ARRIVALS_WAYS][BARS];
    struct pleat_plot_series series[ARRIVALS_WAYS];
    const char *names[BARS];
    char text[BARS][48];
    size_t count;
};

/* One bar for each way but FCFS; program: -1 all of them. */
static void add_bar(struct bars *bars, const struct arrivals *arrivals, int program,
                    bool normalized, const char *name)
{
    const struct arrivals_result *fcfs = &arrivals->results[ARRIVALS_FCFS];
    size_t at = bars->count++;
    snprintf(bars->text[at], sizeof(bars->text[at]), "%s", name);
    bars->names[at] = bars->text[at];
    for (int w = ARRIVALS_SCS; w < ARRIVALS_WAYS; w++) {
        const struct arrivals_result *result = &arrivals->results[w];
        const struct bench_series *of = program < 0 ? &result->response : &result->of[program];
        struct bench_paired ratio = bench_paired(of, &fcfs->response);
        bars->x[at] = (double)at;
        bars->y[w][at] = result->late || !of->count ? NAN
                         : normalized               ? ratio.median
                                                    : bench_median(of);
    }
}

static struct pleat_plot panel_of(struct bars *bars, const char *title, const char *y_label)
{
    size_t count = 0;
    for (int w = ARRIVALS_SCS; w < ARRIVALS_WAYS; w++)
        bars->series[count++] =
            (struct pleat_plot_series){arrivals_ways[w].name, bars->x, bars->y[w], bars->count};
    return (struct pleat_plot){.title = title,
                               .y_label = y_label,
                               .style = PLEAT_PLOT_BARS,
                               .series = bars->series,
                               .series_count = count,
                               .x_names = bars->names};
}

static void fill_levels(struct bars *bars, enum trial_mpi mpi, int kind, int program)
{
    for (int l = 0; l < LEVELS; l++)
        for (int u = 0; u < UTILIZATIONS; u++) {
            char name[48];
            snprintf(name, sizeof(name), "%d: %.0f %%", levels[l], 100 * utilizations[u]);
            add_bar(bars, &cells[mpi][kind][l].at[u], program, program < 0, name);
        }
}

static void fill_balances(struct bars *bars, enum trial_mpi mpi, int balanced, int imbalanced)
{
    for (int u = UTILIZATIONS - 1; u >= 0; u--) {
        char name[48];
        snprintf(name, sizeof(name), "%.0f %%, imbalanced", 100 * utilizations[u]);
        add_bar(bars, &cells[mpi][imbalanced][USUAL].at[u], -1, false, name);
        snprintf(name, sizeof(name), "%.0f %%, balanced", 100 * utilizations[u]);
        add_bar(bars, &cells[mpi][balanced][USUAL].at[u], -1, false, name);
    }
}

/* A row of two panels. */
static int draw(struct eval *eval, enum trial_mpi mpi, const char *figure, const char *caption,
                struct pleat_plot left, struct pleat_plot right, struct pleat_error *err)
{
    const struct pleat_plot panels[] = {left, right};
    char name[64], text[256];
    snprintf(name, sizeof(name), "figure-%s-%s", figure, trial_mpi_name(mpi));
    snprintf(text, sizeof(text), caption, eval_mpi_title(mpi));
    return pleat_page_figure(&eval->page, name, text, panels, 2, 2, err);
}

static int draw_all(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    static const char ratio[] = "response time over FCFS", seconds[] = "response time, s";
    struct bars bars[6] = {{.count = 0}};
    fill_levels(&bars[0], mpi, LOAD_HIGH, -1);
    fill_levels(&bars[1], mpi, LOAD_LOW, -1);
    fill_levels(&bars[2], mpi, LOAD_LOW, EP);
    fill_levels(&bars[3], mpi, LOAD_LOW, LIKE_SWEEP3D);
    fill_balances(&bars[4], mpi, LOAD_HIGH, LOAD_HIGH_IMBALANCED);
    fill_balances(&bars[5], mpi, LOAD_LOW, LOAD_LOW_IMBALANCED);
    int rc = draw(eval, mpi, "4-16-4-17",
                  "Figures 4.16 and 4.17 anew with %s: mean response time of a job, by MPL and "
                  "utilization",
                  panel_of(&bars[0], "high communication, balanced", ratio),
                  panel_of(&bars[1], "low communication, balanced", ratio), err);
    if (!rc)
        rc = draw(eval, mpi, "4-18",
                  "Figure 4.18 anew with %s: jobs of the workload of low communication, by MPL and "
                  "utilization",
                  panel_of(&bars[2], "ep", seconds),
                  panel_of(&bars[3], set->kinds[LOAD_LOW].programs[LIKE_SWEEP3D], seconds), err);
    if (!rc)
        rc = draw(eval, mpi, "4-19-4-20",
                  "Figures 4.19 and 4.20 anew with %s: balanced and imbalanced jobs at MPL 4",
                  panel_of(&bars[4], "high communication", seconds),
                  panel_of(&bars[5], "low communication", seconds), err);
    return rc;
}

/* ---- the paper's statements ---- */

static void tell_against(struct eval *eval, enum trial_mpi mpi, int cs)
{
    for (size_t i = 0; i < STATED; i++) {
        const struct stated *row = &stated[i];
        const struct arrivals *arrivals = &cells[mpi][row->kind][row->level].at[row->utilization];
        struct bench_paired ratio =
            row->other ? over(arrivals, cs, ARRIVALS_SCS) : over(arrivals, ARRIVALS_SCS, cs);
        char what[80];
        snprintf(what, sizeof(what), "MPL %d, %.0f %%: %s over %s", levels[row->level],
                 100 * utilizations[row->utilization],
                 arrivals_ways[row->other ? cs : ARRIVALS_SCS].name,
                 arrivals_ways[row->other ? ARRIVALS_SCS : cs].name);
        eval_tell_ratio(eval, mpi, row->statement, row->where,
                        row->similar ? eval_similar(&ratio) : eval_below(&ratio), what, &ratio);
    }
    const struct arrivals *low = &cells[mpi][LOAD_LOW][USUAL].at[BUSY];
    struct bench_paired like = program_over(low, LIKE_SWEEP3D, ARRIVALS_SCS, cs);
    struct bench_paired ep = program_over(low, EP, cs, ARRIVALS_SCS);
    char what[80], statement[128];
    snprintf(what, sizeof(what), "MPL 4, 60 %%: SCS over %s", arrivals_ways[cs].name);
    snprintf(statement, sizeof(statement),
             "Beside ep a program that communicates (sweep3D, here %s) is faster under SCS",
             set->kinds[LOAD_LOW].programs[LIKE_SWEEP3D]);
    eval_tell_ratio(eval, mpi, statement, "figure 4.18", eval_below(&like), what, &like);
    snprintf(what, sizeof(what), "MPL 4, 60 %%: %s over SCS", arrivals_ways[cs].name);
    eval_tell_ratio(eval, mpi, "Beside it ep is faster under CS", "figure 4.18", eval_below(&ep),
                    what, &ep);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    pleat_page_heading(page, "How it was done");
    pleat_page_paragraph(
        page,
        "The scheduler itself runs the jobs: a `pleatd` of its own for each workload and way, six "
        "jobs given to it by `pleat mix`. They arrive by a Poisson process. Utilization is the "
        "share "
        "of both processors that they would use under first come, first served. The gaps between "
        "arrivals are drawn anew for each round, are the same for all ways, and are stretched so "
        "that all six together are as long as on average. Jobs have 2, 4 and 6 processes (the next "
        "smaller number where a program takes only squares or powers of 2, bt 4 at least). As two "
        "jobs at a time share 2 processors, the MPL is the number of processes of a job.");
    pleat_page_paragraph(
        page,
        "Programs are each of the class of one of the paper's (`apps/README.md`). The work "
        "of a job is %.3g times that of their small edition for half a second of one "
        "processor. How much of that is starting the tables say: how long one job takes "
        "with both processors to itself, and how long one that has nearly nothing to do.",
        eval->times);
    if (eval->stated)
        pleat_page_paragraph(page, "Only those workloads, MPLs and utilizations were run that "
                                   "the paper's statements are about (`--stated`): the others "
                                   "have no bars.");
    pleat_page_item(page, "FCFS: one job at a time, on both processors.");
    pleat_page_item(page, "SCS: each job has its processors to itself, both, or one while another "
                          "one is there; partitions change while jobs run (equipartition).");
    pleat_page_item(page,
                    "CS: two jobs at a time, both on both processors, in local queues. BI+RR: a "
                    "process that waits hands its processor on, round robin over the processes of "
                    "both jobs, as the paper's manager did (`--fold share=time`); one that does "
                    "not wait for 100 ms gets company of the next, where the paper's ran on. "
                    "Beside it, where whom the processor runs next is the kernel's choice: a "
                    "process that waits sleeps until a message may be there (block), or yields.");
    pleat_page_paragraph(page, "Response time: from a job's arrival to its end, starting of its "
                               "processes included; the mean of the six jobs.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!eval_wants(eval, mpi))
            continue;
        pleat_page_heading(page, eval_mpi_title(mpi));
        int rc = draw_all(eval, mpi, err);
        if (rc)
            return rc;
        add_ratios(page, mpi);
        add_programs(page, mpi);
        tell_against(eval, mpi, ARRIVALS_CS);
        tell_against(eval, mpi, ARRIVALS_CS_BLOCK);
        tell_against(eval, mpi, ARRIVALS_CS_YIELD);
    }
    return 0;
}

const struct eval_part eval_arrivals = {"arrivals", plan, runs, do_round, report, keep};

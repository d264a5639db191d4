/* eval_policies.c - the policies of table 4.4 (Utrera 2010): a job shares processors with itself,
 * or jobs share them with one another, all there at the beginning (4.6.1: figure 4.15, tables 4.6
 * and 4.7). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "eval_keep.h"
#include "loads.h"

#define MIXES LOAD_MIXES
#define MIX_PROCESSES 8
#define ROWS (LOAD_ROWS_LAST - LOAD_ROWS_FIRST + 1)
#define PAIRS 4

/* SCS and CS that differ in nothing else. */
static const struct {
    const char *name;
    enum load_ways scs, cs;
} pairs[PAIRS] = {{"SB+Msg", LOAD_SCS_SB_MSG, LOAD_CS_SB_MSG},
                  {"BI+Msg", LOAD_SCS_BI_MSG, LOAD_CS_BI_MSG},
                  {"SB+RR", LOAD_SCS_SB_RR, LOAD_CS_SB_RR},
                  {"BI+RR", LOAD_SCS_BI_RR, LOAD_CS_BI_RR}};

static const struct load_set *set;
static struct load of_mix[TRIAL_MPIS][MIXES];

/* In a quick run w1 alone, on the page of the programs like the paper's by every row. */
static bool is_wanted(const struct eval *eval, int way)
{
    return !eval->quick || way == LOAD_FCFS || way == LOAD_CS_BI_RR || way == LOAD_SCS_BI_RR ||
           (eval->about->set == LOAD_CLASSES && way >= LOAD_ROWS_FIRST && way <= LOAD_ROWS_LAST);
}

static void plan(struct eval *eval)
{
    set = &load_sets[eval->about->set];
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int m = 0; m < MIXES && eval_wants(eval, mpi); m++) {
            if (eval->quick && m)
                continue;
            of_mix[mpi][m] = load_of(mpi, &set->mixes[m], MIX_PROCESSES, eval->times);
            for (int w = 0; w < LOAD_WAYS; w++)
                of_mix[mpi][m].wanted[w] = is_wanted(eval, w);
        }
}

static int runs(void)
{
    int count = 0;
    for (int i = 0; i < TRIAL_MPIS * MIXES; i++)
        count += load_runs(&(&of_mix[0][0])[i]);
    return count;
}

static void do_round(struct eval *eval, int round)
{
    for (int i = 0; i < TRIAL_MPIS * MIXES; i++) {
        struct load *load = &(&of_mix[0][0])[i];
        load_round(load, round);
        if (load->others.count)
            bench_add(&eval->others, bench_median(&load->others));
    }
}

static void keep(struct eval_keeper *keeper)
{
    for (int i = 0; i < TRIAL_MPIS * MIXES; i++)
        load_keep(&(&of_mix[0][0])[i], keeper);
}

/* ---- tables and figure ---- */

static void add_settings(struct eval *eval)
{
    struct pleat_page *page = &eval->page;
    pleat_page_paragraph(page, "The rows of table 4.4, and what they are here (`--fold`, "
                               "[user guide](../../user-guide.md#how-its-processes-take-turns)):");
    pleat_page_table(page, "row|<here|<settings");
    for (int w = 0; w < LOAD_WAYS; w++) {
        if (!load_ways[w].row)
            continue;
        pleat_page_cell(page, "%s", load_ways[w].row);
        pleat_page_cell(page, "%s", load_ways[w].name);
        pleat_page_cell(page, "`%s`", load_ways[w].settings);
    }
}

static bool was_run(enum trial_mpi mpi, int way)
{
    return of_mix[mpi][0].results[way].response.count > 0;
}

static int draw_mixes(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    static const char *const names[MIXES] = {"w1", "w2", "w3", "w4"};
    double x[MIXES], y[LOAD_WAYS][MIXES];
    struct pleat_plot_series series[ROWS];
    size_t count = 0;
    char name[64], caption[256];
    for (int w = LOAD_ROWS_FIRST; w <= LOAD_ROWS_LAST; w++) {
        if (!was_run(mpi, w))
            continue;
        for (int m = 0; m < MIXES; m++) {
            const struct bench_series *times = &of_mix[mpi][m].results[w].response;
            x[m] = m;
            y[w][m] = times->count ? bench_median(times) : NAN;
        }
        series[count++] = (struct pleat_plot_series){load_ways[w].name, x, y[w], MIXES};
    }
    struct pleat_plot panel = {.title = eval_mpi_title(mpi),
                               .y_label = "response time, s",
                               .style = PLEAT_PLOT_BARS,
                               .series = series,
                               .series_count = count,
                               .x_names = names};
    snprintf(name, sizeof(name), "figure-4-15-%s", trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption),
             "Figure 4.15 anew with %s: response times of workloads of six jobs of %d processes",
             eval_mpi_title(mpi), MIX_PROCESSES);
    return pleat_page_figure(&eval->page, name, caption, &panel, 1, 1, err);
}

static void add_responses(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_table(page, "policy|w1, s|w2, s|w3, s|w4, s");
    for (int w = 0; w < LOAD_WAYS; w++) {
        if (!was_run(mpi, w))
            continue;
        pleat_page_cell(page, "%s", load_ways[w].name);
        for (int m = 0; m < MIXES; m++)
            eval_cell_series(page, &of_mix[mpi][m].results[w].response);
    }
}

/* How much of the response time under FCFS the jobs' own times are: the rest is starting and ending
 * them. */
static struct bench_paired own_share(const struct load *load)
{
    const struct load_result *fcfs = &load->results[LOAD_FCFS];
    struct bench_series own = {.count = 0};
    for (int round = 0; round < fcfs->response.count; round++) {
        double sum = 0;
        for (int job = 0; job < LOAD_JOBS; job++)
            sum += fcfs->means[job % load->program_count].values[round];
        bench_add(&own, sum);
    }
    return bench_paired(&own, &fcfs->response);
}

static void add_own_shares(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    pleat_page_paragraph(page, "How much of the response time under FCFS is the jobs' own, from "
                               "MPI_Init to MPI_Finalize; the rest is starting and ending them:");
    pleat_page_table(page, "|w1|w2|w3|w4");
    pleat_page_cell(page, "own time over response time");
    for (int m = 0; m < MIXES; m++) {
        struct bench_paired share = own_share(&of_mix[mpi][m]);
        eval_cell(page, &share);
    }
}

/* Table 4.6: all jobs of a program in all workloads that have it. */
static double spread_of(enum trial_mpi mpi, const char *program, int way)
{
    double sum = 0;
    int count = 0;
    for (int m = 0; m < MIXES; m++)
        for (int p = 0; p < of_mix[mpi][m].program_count; p++) {
            const struct bench_series *times = &of_mix[mpi][m].results[way].times[p];
            if (strcmp(of_mix[mpi][m].programs[p]->name, program) != 0 || times->count < 2)
                continue;
            sum += bench_variation(times);
            count++;
        }
    return count ? sum / count : NAN;
}

static void add_spreads(struct eval *eval, enum trial_mpi mpi)
{
    struct pleat_page *page = &eval->page;
    char titles[256];
    int length = snprintf(titles, sizeof(titles), "policy");
    for (size_t p = 0; p < LOAD_MIX_PROGRAMS; p++)
        length +=
            snprintf(titles + length, sizeof(titles) - (size_t)length, "|%s", set->programs[p]);
    pleat_page_table(page, titles);
    for (int w = 0; w < LOAD_WAYS; w++) {
        if (!was_run(mpi, w))
            continue;
        pleat_page_cell(page, "%s", load_ways[w].name);
        for (size_t p = 0; p < LOAD_MIX_PROGRAMS; p++) {
            double spread = spread_of(mpi, set->programs[p], w);
            if (isfinite(spread))
                pleat_page_cell(page, "%.1f %%", 100 * spread);
            else
                pleat_page_cell(page, "-");
        }
    }
}

/* Table 4.7: in the workload of mixed communication, over FCFS. */
static void add_fairness(struct eval *eval, enum trial_mpi mpi)
{
    const struct load *load = &of_mix[mpi][MIXES - 1];
    struct pleat_page *page = &eval->page;
    char titles[256];
    int length = snprintf(titles, sizeof(titles), "policy");
    for (int p = 0; p < load->program_count; p++)
        length += snprintf(titles + length, sizeof(titles) - (size_t)length, "|%s",
                           load->programs[p]->name);
    pleat_page_table(page, titles);
    for (int w = LOAD_SCS; w < LOAD_WAYS; w++) {
        if (!load->results[w].response.count)
            continue;
        pleat_page_cell(page, "%s", load_ways[w].name);
        for (int p = 0; p < load->program_count; p++) {
            struct bench_paired ratio = load_time(load, p, w, LOAD_FCFS);
            eval_cell(page, &ratio);
        }
    }
}

/* ---- the paper's statements ---- */

/* The mean over w1 to w4 of one policy's response times over another's. */
static struct bench_paired over(enum trial_mpi mpi, enum load_ways way, enum load_ways other)
{
    struct bench_paired ratios[MIXES];
    int count = 0;
    for (int m = 0; m < MIXES; m++) {
        ratios[count] = load_response(&of_mix[mpi][m], way, other);
        count += ratios[count].ratios.count > 0;
    }
    return eval_mean(ratios, count);
}

static void tell_faster(struct eval *eval, enum trial_mpi mpi, const char *statement,
                        enum load_ways way, enum load_ways other)
{
    char what[96];
    struct bench_paired mean = over(mpi, way, other);
    snprintf(what, sizeof(what), "mean of w1 to w4, %s over %s", load_ways[way].name,
             load_ways[other].name);
    if (mean.ratios.count)
        eval_tell_ratio(eval, mpi, statement, "4.6.1, figure 4.15", eval_below(&mean), what, &mean);
}

static void tell_responses(struct eval *eval, enum trial_mpi mpi)
{
    static const char better[] =
        "Response times are shorter under SCS than under CS with the same technique";
    static const char worst[] =
        "Periodic boost and the system's scheduler are the worst of all: CS is better";
    static const char robin[] = "Round robin is better than the number of unconsumed messages";
    for (int i = 0; i < PAIRS; i++)
        tell_faster(eval, mpi, better, pairs[i].scs, pairs[i].cs);
    tell_faster(eval, mpi, worst, LOAD_CS_BI_RR, LOAD_BOOST);
    tell_faster(eval, mpi, worst, LOAD_CS_BI_RR, LOAD_KERNEL);
    tell_faster(eval, mpi, robin, LOAD_SCS_BI_RR, LOAD_SCS_BI_MSG);
    tell_faster(eval, mpi, robin, LOAD_CS_BI_RR, LOAD_CS_BI_MSG);
    tell_faster(eval, mpi, "Blocking immediately is better than spin blocking", LOAD_SCS_BI_RR,
                LOAD_SCS_SB_RR);
    tell_faster(eval, mpi,
                "(Not the paper's: what Pleat does without being told is better than CS)", LOAD_SCS,
                LOAD_CS_BI_RR);
}

static void tell_spread(struct eval *eval, enum trial_mpi mpi, int pair)
{
    int lower = 0, compared = 0;
    char text[EVAL_TEXT] = "";
    for (size_t p = 0; p < LOAD_MIX_PROGRAMS; p++) {
        double scs = spread_of(mpi, set->programs[p], pairs[pair].scs);
        double cs = spread_of(mpi, set->programs[p], pairs[pair].cs);
        if (!isfinite(scs) || !isfinite(cs))
            continue;
        size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, "%s%s %.0f and %.0f %%",
                 compared ? ", " : "", set->programs[p], 100 * scs, 100 * cs);
        lower += scs < cs;
        compared++;
    }
    if (compared)
        eval_tell(eval, "Times spread less under SCS than under CS, for each program",
                  "4.6.1, table 4.6",
                  lower == compared ? EVAL_YES
                  : lower == 0      ? EVAL_NO
                                    : EVAL_UNCLEAR,
                  "%s, %s under SCS and CS: %s", eval_mpi_title(mpi), pairs[pair].name, text);
}

static void tell_fairness(struct eval *eval, enum trial_mpi mpi, int pair)
{
    const struct load *load = &of_mix[mpi][MIXES - 1];
    char statement[128], what[64];
    if (!load->program_count)
        return;
    struct bench_paired like_mg = load_time(load, 0, pairs[pair].scs, pairs[pair].cs);
    struct bench_paired ep =
        load_time(load, load->program_count - 1, pairs[pair].cs, pairs[pair].scs);
    snprintf(statement, sizeof(statement),
             "In w4 the program that communicates (mg, here %s) is faster under SCS",
             load->programs[0]->name);
    snprintf(what, sizeof(what), "%s, SCS over CS", pairs[pair].name);
    eval_tell_ratio(eval, mpi, statement, "4.6.1, table 4.7", eval_below(&like_mg), what, &like_mg);
    snprintf(what, sizeof(what), "%s, CS over SCS", pairs[pair].name);
    eval_tell_ratio(eval, mpi, "In w4 ep is faster under CS: it hardly ever gives a processor away",
                    "4.6.1, table 4.7", eval_below(&ep), what, &ep);
}

static int report_mixes(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    pleat_page_subheading(page, eval_mpi_title(mpi));
    int rc = draw_mixes(eval, mpi, err);
    if (rc)
        return rc;
    pleat_page_paragraph(page, "Response time of a workload: from its first job's start to its "
                               "last one's end, starting of processes included.");
    add_responses(eval, mpi);
    add_own_shares(eval, mpi);
    pleat_page_paragraph(page, "Spread of the times of a program's jobs, standard deviation over "
                               "mean, averaged over the workloads that have it (table 4.6):");
    add_spreads(eval, mpi);
    pleat_page_paragraph(page, "Mean time of a job in w4 over that under FCFS (table 4.7):");
    add_fairness(eval, mpi);
    tell_responses(eval, mpi);
    for (int i = 0; i < PAIRS; i++)
        if (pairs[i].scs == LOAD_SCS_SB_RR || pairs[i].scs == LOAD_SCS_BI_RR)
            tell_spread(eval, mpi, i);
    for (int i = 0; i < PAIRS; i++)
        tell_fairness(eval, mpi, i);
    return 0;
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    pleat_page_heading(page, "A job with itself, or jobs with one another (table 4.4, figure 4.15, "
                             "tables 4.6 and 4.7)");
    pleat_page_paragraph(
        page,
        "Workloads of six jobs of %d processes, all there at the beginning: %s. FCFS: one job at a "
        "time has both processors. SCS: two at a time, each a processor of its own. CS, periodic "
        "boost and Linux: two at a time share both processors. A process that gives its processor "
        "away hands it to the next one of all processes that stand there, of whichever job: round "
        "robin (RR), or to the one with most unconsumed messages (Msg); at once when it waits "
        "(BI), or after polling for 50 us (SB). A process that does not wait for 100 ms gets "
        "company "
        "of the next one, and the kernel shares the processor between them; the paper's ran on.",
        MIX_PROCESSES, set->told);
    add_settings(eval);
    pleat_page_paragraph(
        page,
        "Periodic boost: a process gives its processor away after 10 ms, too (the paper names no "
        "length), and the process with most unconsumed messages is next, which in the paper has "
        "the "
        "highest priority. The table has spin blocking, so a process that waits polls for 50 us; "
        "the "
        "text says that it polls until its time slice is over. That (`spin=10ms`) is not run: the "
        "only try, on a busy machine and with a hundredth of the work, was given up after two "
        "minutes. IRIX was not at hand: that row is "
        "Linux, with processes that yield when they wait, on either processor. CS own: as their "
        "MPI waits (yielding), and CS block: sleeping until a message may be there; whom the "
        "processor runs next is then the kernel's choice. Without folding MPICH's waiting "
        "processes do not give way at all, so \"own\" is not run with it.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        int rc = eval_wants(eval, mpi) ? report_mixes(eval, mpi, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

const struct eval_part eval_policies = {"policies", plan, runs, do_round, report, keep};

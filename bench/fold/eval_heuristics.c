/* eval_heuristics.c - which process to run next from a global queue (Utrera 2010, 4.4.2, figure
 * 4.9): times as parts of those with local queues, at several multiprogramming levels. */
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "eval_keep.h"
#include "machine.h"

#define LEVELS 3
#define PROGRAMS 6
#define WAYS 6
#define ROUND_ROBIN 1
#define SENDER 3
#define DEFAULT 5
#define LIKE_FT 2 /* index of alltoall */
#define LIKE_EP 4 /* of ep */
#define IMBALANCED 5

static const int levels[LEVELS] = {2, 4, 6};
static const char *const programs[PROGRAMS] = {
    "ring", "halo", "alltoall", "send.50x1.spread", "ep", "send.50x6.spread"};
static const struct {
    const char *name, *settings;
} ways[WAYS] = {
    {"local", "wait=immediate,next=round-robin,queue=local"},
    {"round robin", "wait=immediate,next=round-robin,queue=global"},
    {"unconsumed", "wait=immediate,next=unconsumed,queue=global"},
    {"sender", "wait=immediate,next=sender,queue=global"},
    {"affinity", "wait=immediate,next=affinity,queue=global"},
    {"default", "wait=immediate,queue=global"},
};

static struct contest contests[TRIAL_MPIS][LEVELS][PROGRAMS];

static void plan_one(struct contest *contest, enum trial_mpi mpi, int level, int program,
                     const struct eval *eval)
{
    const struct case_program *which = case_find(programs[program]);
    int processes = levels[level] * CASE_PROCESSORS_MAX;
    struct trial_setup setup = {.mpi = mpi,
                                .way = TRIAL_FOLDED,
                                .processes = processes,
                                .cpus = machine_cpus(CASE_PROCESSORS_MAX),
                                .program = which->program,
                                .options = case_options(which, processes, eval->times)};
    contest->program = which;
    snprintf(contest->name, sizeof(contest->name), "heuristics %s %s, MPL %d", trial_mpi_name(mpi),
             which->name, levels[level]);
    for (int w = 0; w < WAYS; w++) {
        setup.settings = ways[w].settings;
        contest_add(contest, ways[w].name, &setup);
    }
}

static void plan(struct eval *eval)
{
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int l = 0; l < LEVELS && eval_wants(eval, mpi); l++)
            for (int p = 0; p < PROGRAMS; p++)
                if (!eval->quick || (l == 0 && p == 0))
                    plan_one(&contests[mpi][l][p], mpi, l, p, eval);
}

static int runs(void)
{
    int count = 0;
    for (int i = 0; i < TRIAL_MPIS * LEVELS * PROGRAMS; i++)
        count += (&contests[0][0][0])[i].count;
    return count;
}

static void do_round(struct eval *eval, int round)
{
    for (int i = 0; i < TRIAL_MPIS * LEVELS * PROGRAMS; i++) {
        struct contest *contest = &(&contests[0][0][0])[i];
        contest_round(contest, round);
        if (contest->count)
            bench_add(&eval->others, bench_median(&contest->others));
    }
}

static void keep(struct eval_keeper *keeper)
{
    for (int i = 0; i < TRIAL_MPIS * LEVELS * PROGRAMS; i++)
        eval_keep_contest(keeper, &(&contests[0][0][0])[i]);
}

/* ---- what came of it ---- */

static struct bench_paired switches_of(const struct contest *contest, int above, int below)
{
    return bench_paired(&contest->contenders[above].switches, &contest->contenders[below].switches);
}

static int draw(struct eval *eval, enum trial_mpi mpi, struct pleat_error *err)
{
    double x[PROGRAMS], y[LEVELS][WAYS][PROGRAMS];
    struct pleat_plot_series series[LEVELS][WAYS];
    struct pleat_plot panels[LEVELS];
    char titles[LEVELS][32], name[64], caption[256];
    for (int l = 0; l < LEVELS; l++) {
        for (int w = 1; w < WAYS; w++) {
            for (int p = 0; p < PROGRAMS; p++) {
                x[p] = p;
                y[l][w][p] = contest_ratio(&contests[mpi][l][p], w, 0).median;
            }
            series[l][w] = (struct pleat_plot_series){ways[w].name, x, y[l][w], PROGRAMS};
        }
        snprintf(titles[l], sizeof(titles[l]), "MPL %d", levels[l]);
        panels[l] = (struct pleat_plot){.title = titles[l],
                                        .y_label = "time over that with local queues",
                                        .style = PLEAT_PLOT_BARS,
                                        .series = series[l] + 1,
                                        .series_count = WAYS - 1,
                                        .x_names = programs};
    }
    snprintf(name, sizeof(name), "figure-4-9-%s", trial_mpi_name(mpi));
    snprintf(caption, sizeof(caption),
             "Figure 4.9 anew with %s: heuristics in the global queue, elapsed time over that with "
             "local queues (medians)",
             eval_mpi_title(mpi));
    return pleat_page_figure(&eval->page, name, caption, panels, LEVELS, 1, err);
}

static void add_table(struct eval *eval, enum trial_mpi mpi)
{
    pleat_page_table(&eval->page,
                     "program|MPL|local, s|round robin|unconsumed|sender|affinity|default|"
                     "switches, sender over round robin");
    for (int p = 0; p < PROGRAMS; p++)
        for (int l = 0; l < LEVELS; l++) {
            const struct contest *contest = &contests[mpi][l][p];
            if (!contest->count)
                continue;
            pleat_page_cell(&eval->page, "%s", contest->program->name);
            pleat_page_cell(&eval->page, "%d", levels[l]);
            eval_cell_series(&eval->page, &contest->contenders[0].own_elapsed);
            for (int w = 1; w < WAYS; w++) {
                struct bench_paired ratio = contest_ratio(contest, w, 0);
                eval_cell(&eval->page, &ratio);
            }
            struct bench_paired switches = switches_of(contest, SENDER, ROUND_ROBIN);
            eval_cell(&eval->page, &switches);
        }
}

/* The mean over programs (from, to) of MPL `level` of one way over another. */
static struct bench_paired mean_of(enum trial_mpi mpi, int level, int from, int to, int above,
                                   int below)
{
    struct bench_paired ratios[PROGRAMS];
    int count = 0;
    for (int p = from; p < to; p++) {
        ratios[count] = contest_ratio(&contests[mpi][level][p], above, below);
        count += ratios[count].ratios.count > 0;
    }
    return eval_mean(ratios, count);
}

static void tell_ratio(struct eval *eval, enum trial_mpi mpi, const char *statement,
                       struct bench_paired ratio, const char *what)
{
    eval_tell_ratio(eval, mpi, statement, "4.4.2, figure 4.9", eval_below(&ratio), what, &ratio);
}

static void tell_similar(struct eval *eval, enum trial_mpi mpi, int program, const char *statement)
{
    struct bench_paired ratio = contest_ratio(&contests[mpi][1][program], SENDER, 0);
    eval_tell_ratio(eval, mpi, statement, "4.4.2", eval_similar(&ratio), "sender over local",
                    &ratio);
}

static void tell_level(struct eval *eval, enum trial_mpi mpi)
{
    struct bench_paired means[LEVELS];
    enum eval_answer answer = EVAL_YES;
    for (int l = 0; l < LEVELS; l++)
        means[l] = mean_of(mpi, l, 0, PROGRAMS, SENDER, 0);
    for (int l = 0; l < LEVELS; l += 2) {
        struct bench_paired better = bench_paired(&means[1].ratios, &means[l].ratios);
        enum eval_answer one = eval_below(&better);
        answer = one == EVAL_NO || answer == EVAL_NO ? EVAL_NO : one == EVAL_YES ? answer : one;
    }
    eval_tell(eval, "The global queue does best at MPL 4", "4.4.2", answer,
              "%s: sender over local %.2f, %.2f, %.2f at MPL 2, 4, 6", eval_mpi_title(mpi),
              means[0].median, means[1].median, means[2].median);
}

/* Each of the others against round robin, and sender against the others. */
static void tell_order(struct eval *eval, enum trial_mpi mpi)
{
    for (int w = ROUND_ROBIN + 1; w < DEFAULT; w++) {
        char statement[128];
        snprintf(statement, sizeof(statement), "Of the heuristics round robin is worse than %s",
                 ways[w].name);
        tell_ratio(eval, mpi, statement, mean_of(mpi, 1, 0, PROGRAMS, w, ROUND_ROBIN),
                   "MPL 4, mean over programs");
        if (w == SENDER)
            continue;
        snprintf(statement, sizeof(statement), "Sender is better than %s", ways[w].name);
        tell_ratio(eval, mpi, statement, mean_of(mpi, 1, 0, PROGRAMS, SENDER, w),
                   "MPL 4, mean over programs");
    }
}

static void tell(struct eval *eval, enum trial_mpi mpi)
{
    struct bench_paired switches[PROGRAMS];
    tell_ratio(eval, mpi, "Balanced programs are faster with local queues than with a global one",
               mean_of(mpi, 1, 0, IMBALANCED, 0, SENDER),
               "MPL 4, mean of five programs, local over sender");
    tell_ratio(eval, mpi, "Imbalanced programs are faster with a global queue",
               contest_ratio(&contests[mpi][1][IMBALANCED], SENDER, 0),
               "MPL 4, send.50x6, sender over local");
    tell_order(eval, mpi);
    for (int p = 0; p < PROGRAMS; p++)
        switches[p] = switches_of(&contests[mpi][1][p], SENDER, ROUND_ROBIN);
    tell_ratio(eval, mpi, "Sender has fewer context switches than round robin",
               eval_mean(switches, PROGRAMS), "MPL 4, mean over programs");
    tell_similar(eval, mpi, LIKE_FT,
                 "ft (here alltoall) is about as fast with both kinds of queue (within 10 %)");
    tell_similar(eval, mpi, LIKE_EP, "So is ep");
    tell_level(eval, mpi);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    pleat_page_heading(&eval->page, "Whom to run next (figure 4.9)");
    pleat_page_paragraph(
        &eval->page,
        "Each program alone on 2 processors, with 4, 8 and 12 processes (MPL 2, 4, 6) that "
        "together always do the same. A process that waits hands its processor on at once; with "
        "local queues to who ran least recently, with the global one to whom the heuristic names. "
        "Pleat's default is not the paper's: of those that were told of a message it takes one "
        "that ran on this processor, else the sender, else the one with most messages; of the "
        "others who waited longest, where having run elsewhere counts 50 us. "
        "Elapsed time between MPI_Init and MPI_Finalize over that with local queues.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!eval_wants(eval, mpi))
            continue;
        pleat_page_subheading(&eval->page, eval_mpi_title(mpi));
        int rc = draw(eval, mpi, err);
        if (rc)
            return rc;
        tell(eval, mpi);
        add_table(eval, mpi);
    }
    return 0;
}

const struct eval_part eval_heuristics = {"heuristics", plan, runs, do_round, report, keep};

/* eval_queues.c - local queues, the global one, and the idleness by which the detector decides
 * (Utrera 2010, 4.4.4 and 4.4.5, table 4.3). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "eval_keep.h"
#include "machine.h"

#define PROGRAMS_MAX 16
#define THRESHOLD 0.1 /* of idleness: above it the paper's detector keeps the global queue */

/* Contenders, as case_queues adds them; and the detector from the other queue. Utrera (2010, 4.4.3)
 * begins with a global one with every MPI, Pleat under Open MPI with local ones
 * (src/runner/members.c). */
enum { LOCAL, GLOBAL, CHOSEN, OTHERWISE };
static const char *const otherwise[TRIAL_MPIS] = {
    [TRIAL_OPENMPI] = "begin=global", [TRIAL_MPICH] = "begin=local"};

static struct contest contests[TRIAL_MPIS][PROGRAMS_MAX];
static int count;
static const struct case_program *programs[PROGRAMS_MAX];

static void find_programs(void)
{
    count = 0;
    for (int i = 0; i < case_program_count; i++)
        if (!case_programs[i].factor)
            programs[count++] = &case_programs[i];
    for (int i = 0; i < case_imbalanced_count && count < PROGRAMS_MAX; i++)
        programs[count++] = &case_imbalanced[i];
}

static void plan_one(struct contest *contest, enum trial_mpi mpi,
                     const struct case_program *program, double times)
{
    case_queues(contest, mpi, program, times);
    struct trial_setup setup = contest->contenders[CHOSEN].setup;
    setup.settings = otherwise[mpi];
    contest_add(contest, "begun otherwise", &setup);
}

static void plan(struct eval *eval)
{
    find_programs();
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++)
        for (int p = 0; p < count && eval_wants(eval, mpi); p++)
            if (!eval->quick || p == 0)
                plan_one(&contests[mpi][p], mpi, programs[p], eval->times);
}

static int runs(void)
{
    int sum = 0;
    for (int i = 0; i < TRIAL_MPIS * PROGRAMS_MAX; i++)
        sum += (&contests[0][0])[i].count;
    return sum;
}

static void do_round(struct eval *eval, int round)
{
    for (int i = 0; i < TRIAL_MPIS * PROGRAMS_MAX; i++) {
        struct contest *contest = &(&contests[0][0])[i];
        contest_round(contest, round);
        if (contest->count)
            bench_add(&eval->others, bench_median(&contest->others));
    }
}

static void keep(struct eval_keeper *keeper)
{
    for (int i = 0; i < TRIAL_MPIS * PROGRAMS_MAX; i++)
        eval_keep_contest(keeper, &(&contests[0][0])[i]);
}

/* The idleness that the program's own distribution of work causes: 1 - sum / (n max). */
static double idleness_of(const struct case_program *program)
{
    int heavy = (CASE_PROCESSES * program->heavy + 50) / 100;
    int factor = program->factor ? program->factor : 1;
    return 1 - (double)(CASE_PROCESSES - heavy + heavy * factor) / (CASE_PROCESSES * factor);
}

/* What the detector chose over the better of the two. */
static struct bench_paired chosen_over_better(const struct contest *contest)
{
    const struct bench_series *local = &contest->contenders[LOCAL].own_elapsed;
    const struct bench_series *global = &contest->contenders[GLOBAL].own_elapsed;
    bool is_global = bench_median(global) < bench_median(local);
    return contest_ratio(contest, CHOSEN, is_global ? GLOBAL : LOCAL);
}

static struct bench_paired global_over_local(const struct contest *contest)
{
    return contest_ratio(contest, GLOBAL, LOCAL);
}

static void add_row(struct eval *eval, const struct contest *contest)
{
    struct pleat_page *page = &eval->page;
    struct bench_paired ratio = global_over_local(contest);
    const struct bench_series *idleness = &contest->contenders[GLOBAL].idleness;
    pleat_page_cell(page, "%s", contest->program->name);
    eval_cell_series(page, &contest->contenders[LOCAL].own_elapsed);
    eval_cell_series(page, &contest->contenders[GLOBAL].own_elapsed);
    eval_cell(page, &ratio);
    ratio = chosen_over_better(contest);
    eval_cell(page, &ratio);
    pleat_page_cell(page, "%d of %d", contest->contenders[CHOSEN].global,
                    contest->contenders[CHOSEN].elapsed.count);
    ratio = contest_ratio(contest, OTHERWISE, CHOSEN);
    eval_cell(page, &ratio);
    pleat_page_cell(page, "%d of %d", contest->contenders[OTHERWISE].global,
                    contest->contenders[OTHERWISE].elapsed.count);
    pleat_page_cell(page, "%.0f %%", 100 * idleness_of(contest->program));
    if (idleness->count)
        pleat_page_cell(page, "%.0f [%.0f .. %.0f] %%", 100 * bench_median(idleness),
                        100 * bench_quantile(idleness, 0), 100 * bench_quantile(idleness, 1));
    else
        pleat_page_cell(page, "-");
}

/* Whether the measured idleness calls each program balanced or not as its known distribution of
 * work does. */
static void tell_threshold(struct eval *eval, enum trial_mpi mpi)
{
    enum eval_answer answer = EVAL_YES;
    double least = INFINITY, most = 0;
    for (int p = 0; p < count; p++) {
        const struct bench_series *idleness = &contests[mpi][p].contenders[GLOBAL].idleness;
        if (!idleness->count)
            return;
        double measured = bench_median(idleness);
        bool imbalanced = idleness_of(programs[p]) > THRESHOLD;
        enum eval_answer above = eval_above(idleness, THRESHOLD);
        answer = eval_and(answer, imbalanced ? above : eval_not(above));
        if (imbalanced)
            least = fmin(least, measured);
        else
            most = fmax(most, measured);
    }
    eval_tell(eval, "An idleness of 10 % tells balanced programs from imbalanced ones",
              "4.4.4, table 4.3", answer,
              "%s: balanced %.0f %% at most, imbalanced %.0f %% at least", eval_mpi_title(mpi),
              100 * most, 100 * least);
}

static bool is_mostly_global(const struct contender *contender)
{
    return 2 * contender->global > contender->elapsed.count;
}

/* Which conclusions survive if the detector begins with the other queue: its verdicts, and with
 * them all of table 4.3. */
static void tell_beginning(struct eval *eval, enum trial_mpi mpi)
{
    int other = 0, compared = 0;
    for (int p = 0; p < count; p++) {
        const struct contender *contenders = contests[mpi][p].contenders;
        if (!contests[mpi][p].count || !contenders[OTHERWISE].elapsed.count)
            continue;
        compared++;
        other += is_mostly_global(&contenders[CHOSEN]) != is_mostly_global(&contenders[OTHERWISE]);
    }
    if (compared)
        eval_tell(eval, "What the detector chooses does not depend on the queue it begins with",
                  "4.4.3", other ? EVAL_NO : EVAL_YES,
                  "%s: in most rounds the same for %d of %d programs, with %s", eval_mpi_title(mpi),
                  compared - other, compared, otherwise[mpi]);
}

static void tell(struct eval *eval, enum trial_mpi mpi)
{
    for (int p = 0; p < count; p++) {
        struct bench_paired ratio = global_over_local(&contests[mpi][p]);
        char statement[128];
        bool imbalanced = idleness_of(programs[p]) > THRESHOLD;
        enum eval_answer below = eval_below(&ratio);
        snprintf(statement, sizeof(statement), "%s is faster with %s", programs[p]->name,
                 imbalanced ? "a global queue" : "local queues");
        eval_tell_ratio(eval, mpi, statement, "table 4.3", imbalanced ? below : eval_not(below),
                        "global over local", &ratio);
    }
    tell_threshold(eval, mpi);
    tell_beginning(eval, mpi);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    (void)err;
    pleat_page_heading(&eval->page, "Local queues or a global one (table 4.3)");
    pleat_page_paragraph(
        &eval->page,
        "8 processes on 2 processors (MPL 4), with the default heuristics of each kind of queue. "
        "In send.50x6 half of the processes compute six times as much as the others, in send.30x6 "
        "two of eight do; \"spread\": every second one, all of which stand in one of the two local "
        "queues (ranks go round robin), \"first\": the first half, of which each queue has two. "
        "Idleness as in figure 4.3, read as 1 - sum / (n max): as the program is made, and as "
        "measured by the processes themselves. Until the detector has judged, Open MPI's processes "
        "have local queues, and MPICH's, as in the paper, the global one; \"begun otherwise\" is "
        "the detector that begins with the other kind (`begin=global` with Open MPI, `begin=local` "
        "with MPICH). It also wants a gain: "
        "where every local queue has its share of the heavy processes (first) it chooses local "
        "ones, which is not in the paper.");
    for (enum trial_mpi mpi = TRIAL_OPENMPI; mpi < TRIAL_MPIS; mpi++) {
        if (!eval_wants(eval, mpi))
            continue;
        pleat_page_subheading(&eval->page, eval_mpi_title(mpi));
        pleat_page_table(&eval->page,
                         "program|local, s|global, s|global over local|detector over the "
                         "better one|it chose global|begun otherwise over that|it chose "
                         "global|made so|idleness");
        for (int p = 0; p < count; p++)
            if (contests[mpi][p].count)
                add_row(eval, &contests[mpi][p]);
        tell(eval, mpi);
    }
    return 0;
}

const struct eval_part eval_queues = {"queues", plan, runs, do_round, report, keep};

/* eval_virtual.c - long and short jobs under the policies of Utrera 2010, chapters 5 and 6: live,
 * and simulated beside it. */
#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "progress.h"
#include "virtual.h"

#define REPEATS 3 /* of what is measured at the head */

static struct virtual_results results;
static bool app_wanted[VIRTUAL_APPS];
static int repeats;

/* What a quick run has: a workload of each chapter, and the policies that its statements need. */
static bool is_quick_mix(enum virtual_mix mix)
{
    return mix == VIRTUAL_W1 || mix == VIRTUAL_HIGH_100;
}

static bool is_quick_policy(enum virtual_policy policy)
{
    return policy == VIRTUAL_FCFS || policy == VIRTUAL_PSA_IDLE || policy == VIRTUAL_FJT ||
           policy == VIRTUAL_FJT1_MALLEABILITY;
}

static void plan(struct eval *eval)
{
    bool mpich = eval_wants(eval, TRIAL_MPICH);
    results.mpi = mpich ? TRIAL_MPICH : TRIAL_OPENMPI; /* the one that starts sooner */
    repeats = eval->quick ? 1 : REPEATS;
    for (int policy = 0; policy < VIRTUAL_POLICIES; policy++)
        results.policy_wanted[policy] =
            !eval->quick || is_quick_policy((enum virtual_policy)policy);
    for (int mix = 0; mix < VIRTUAL_MIXES; mix++) {
        const struct virtual_load *load = &virtual_loads[mix];
        results.mix_wanted[mix] = !eval->quick || is_quick_mix((enum virtual_mix)mix);
        for (int class_ = 0; results.mix_wanted[mix] && class_ < VIRTUAL_CLASSES; class_++)
            for (int i = 0; i < load->app_count[class_]; i++)
                app_wanted[load->apps[class_][i]] = true;
    }
}

static int runs(void)
{
    int count = 0;
    for (int mix = 0; mix < VIRTUAL_MIXES; mix++)
        for (int policy = 0; policy < VIRTUAL_POLICIES; policy++)
            count += virtual_is_run(&results, (enum virtual_mix)mix, (enum virtual_policy)policy);
    return count;
}

static void keep(struct virtual_cell *cell, int source, const struct virtual_draw *draw,
                 const struct live_outcome *outcomes)
{
    double metrics[VIRTUAL_METRICS];
    virtual_measure_run(draw, &results.feed, outcomes, metrics);
    for (int m = 0; m < VIRTUAL_METRICS; m++)
        bench_add(&cell->of[source][m], metrics[m]);
}

/* Simulates the run again and again with times that are off by a few per cent, each program's by
 * another one: how far values move then, since a job that ends a little sooner or later lets
 * policies decide otherwise. */
static void shake(enum virtual_policy policy, struct virtual_cell *cell,
                  const struct virtual_draw *draw, double seconds[VIRTUAL_APPS][VIRTUAL_PLACES])
{
    static struct live_outcome outcomes[LIVE_JOBS_MAX];
    double shaken[VIRTUAL_APPS][VIRTUAL_PLACES], metrics[VIRTUAL_METRICS];
    struct bench_series values[VIRTUAL_METRICS] = {{.count = 0}};
    struct pleat_random random;
    pleat_random_init(&random, (uint64_t)cell->of[VIRTUAL_LIVE][0].count);
    for (int i = 0; i < VIRTUAL_SHAKES; i++) {
        for (int app = 0; app < VIRTUAL_APPS; app++) {
            double off = VIRTUAL_SHAKE * (2 * pleat_random_unit(&random) - 1);
            for (int place = 0; place < VIRTUAL_PLACES; place++)
                shaken[app][place] = seconds[app][place] * (1 + off);
        }
        virtual_simulate(policy, draw, &results.feed, shaken, outcomes);
        virtual_measure_run(draw, &results.feed, outcomes, metrics);
        for (int m = 0; m < VIRTUAL_METRICS; m++)
            bench_add(&values[m], metrics[m]);
    }
    for (int m = 0; m < VIRTUAL_METRICS; m++) {
        bench_add(&cell->least[m], bench_quantile(&values[m], 0));
        bench_add(&cell->most[m], bench_quantile(&values[m], 1));
    }
}

/* The simulations of a run that was live. */
static void simulate(enum virtual_policy policy, struct virtual_cell *cell,
                     const struct virtual_draw *draw, const struct live_outcome *live)
{
    static struct live_outcome outcomes[LIVE_JOBS_MAX];
    double stretch[VIRTUAL_APPS], stretched[VIRTUAL_APPS][VIRTUAL_PLACES];
    double of_class[VIRTUAL_CLASSES] = {0};
    int counts[VIRTUAL_CLASSES] = {0};
    virtual_stretch(draw, &results.feed, live, stretch);
    for (int app = 0; app < VIRTUAL_APPS; app++)
        for (int place = 0; place < VIRTUAL_PLACES; place++)
            stretched[app][place] = results.feed.alone_s[app][place] * stretch[app];
    for (int i = 0; i < draw->count; i++) {
        int class_ = virtual_programs[draw->jobs[i].app].class_;
        of_class[class_] += stretch[draw->jobs[i].app];
        counts[class_]++;
    }
    for (int class_ = 0; class_ < VIRTUAL_CLASSES; class_++)
        bench_add(&cell->stretch[class_], of_class[class_] / counts[class_]);
    virtual_simulate(policy, draw, &results.feed, results.feed.alone_s, outcomes);
    keep(cell, VIRTUAL_ALONE, draw, outcomes);
    virtual_simulate(policy, draw, &results.feed, results.feed.beside_s, outcomes);
    keep(cell, VIRTUAL_NEIGHBOUR, draw, outcomes);
    virtual_simulate(policy, draw, &results.feed, stretched, outcomes);
    keep(cell, VIRTUAL_STRETCHED, draw, outcomes);
    shake(policy, cell, draw, stretched);
}

/* A workload under all its policies, each time another one first. */
static void run_mix(struct eval *eval, enum virtual_mix mix, int round)
{
    static struct live_outcome outcomes[LIVE_JOBS_MAX];
    struct virtual_draw draw;
    virtual_draw_jobs(&draw, mix, &results.feed, eval->times,
                      (uint64_t)round * 100 + (uint64_t)mix + 1);
    bench_add(&results.offered[mix], virtual_offered(&draw, &results.feed, eval->times));
    results.jobs[mix][VIRTUAL_LONG] = results.jobs[mix][VIRTUAL_SHORT] = 0;
    for (int i = 0; i < draw.count; i++)
        results.jobs[mix][virtual_programs[draw.jobs[i].app].class_]++;
    for (int i = 0; i < VIRTUAL_POLICIES; i++) {
        enum virtual_policy policy = (enum virtual_policy)((i + round) % VIRTUAL_POLICIES);
        if (!virtual_is_run(&results, mix, policy))
            continue;
        progress_step(virtual_loads[mix].name, virtual_rules[policy].name);
        bench_add(&eval->others, virtual_run(mix, policy, &draw, &results.feed, results.mpi,
                                             eval->times, outcomes));
        struct virtual_cell *cell = &results.cells[mix][policy];
        keep(cell, VIRTUAL_LIVE, &draw, outcomes);
        simulate(policy, cell, &draw, outcomes);
    }
}

static void do_round(struct eval *eval, int round)
{
    if (round == 0)
        virtual_measure(&results.feed, results.mpi, app_wanted, eval->times, repeats,
                        &eval->others);
    for (int mix = 0; mix < VIRTUAL_MIXES; mix++)
        if (results.mix_wanted[mix])
            run_mix(eval, (enum virtual_mix)mix, round);
}

/* ---- the page ---- */

static void add_method(struct pleat_page *page, double times)
{
    pleat_page_heading(page, "How it was done");
    pleat_page_paragraph(
        page,
        "The page [virtual-malleability](../virtual-malleability/page.md) simulates the thesis on "
        "its 60 processors. Here its workloads are scaled to %d processors, and run: a `pleatd` of "
        "its own for each workload and policy, to which `pleat mix` gives jobs as they arrive, "
        "each an MPI program that nobody changed (%s; `apps/README.md`), folded. In each round a "
        "workload's jobs arrive at other times, the same under all policies. Beside each value "
        "stands that of a simulation of the same jobs with the same arrivals, under the same "
        "policies, fed with what the programs were measured to take at each size.",
        VIRTUAL_PROCESSORS, eval_mpi_title(results.mpi));
    pleat_page_item(page,
                    "Jobs arrive for %.1f s. As many of each class come as the thesis' shares of "
                    "the machine ask for (tables 5.3 and 6.3; one at least), by the time on one "
                    "processor, at random times; the applications of a class take turns.",
                    virtual_span_s(times));
    pleat_page_item(page,
                    "Long jobs are `bt` and `cg`, in the family of low communication `ep`; short "
                    "ones `bt` and `sweep`, there `ep` and `sweep` (tables 5.2, 6.1, 6.2). They "
                    "have 1 or 2 processes, bt, which takes squares, 1 or 4. So with one process "
                    "on each processor bt has a single one, as it has 49 of 60 in the thesis, and "
                    "leaves a processor idle that others may fill.");
    pleat_page_item(page, "FCFS and EASY start each job with as many processes as fit, and keep "
                          "that. EASY knows a job by its class: the estimate is the same for all "
                          "jobs of a class, as in the thesis (6.4.3).");
    pleat_page_item(page, "PSA is read as 5.2 has it (it keeps processors idle for jobs to come), "
                          "and as 5.4.1 has it (\"of idle ones\"). FJT(4), FOLDING and EGS fold; "
                          "all others have one process on each processor. Windows of backfilling "
                          "are those of 6.4.3, and where it is said of 6.1.");
    pleat_page_item(page, "Slowdown: a job's response over the time that it takes alone on all the "
                          "processors that it can use.");
    pleat_page_paragraph(
        page,
        "Why live and simulated differ by more than 10 %% is looked for in this order. *The "
        "neighbour*: the simulation agrees within 10 %% once it is fed with times that jobs on one "
        "processor take while the other one is busy, measured at the head as well. *Job times*: "
        "it agrees once jobs take as long as these jobs of this run really took at the sizes that "
        "they had (in brackets: over what they take alone; what slows them down while others start "
        "and end is not divided further). *Order*: a job that ends a little sooner or later lets "
        "the policies decide otherwise; in more than half of the rounds the live value is between "
        "those of %d such simulations in which each program's times are off by up to %.0f %%, or "
        "within 10 %% of them (in brackets: medians of their least and their most). Else it is "
        "*not explained*.",
        VIRTUAL_SHAKES, 100 * VIRTUAL_SHAKE);
    pleat_page_paragraph(
        page, "The criteria of the first table were written before the first run of "
              "this page, after the trial mix that the section on FJT's price tells of. "
              "Trial runs on a busy machine, to see that the page works, changed none of "
              "them.");
    pleat_page_heading(page, "What may not be concluded");
    pleat_page_item(page, "How the policies do on many processors: with two of them a partition "
                          "has one or two, so there is hardly anything between folding and not "
                          "folding, and equal parts of a machine are a half.");
    pleat_page_item(page, "How long the thesis' jobs took: these are a thousand times shorter, and "
                          "starting them is a part of that.");
    pleat_page_item(page, "Much from a single workload: a round has one to eight long jobs. A "
                          "statement's interval is over rounds and workloads together, each "
                          "workload of each round a pair of values.");
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    virtual_tell(eval, &results);
    add_method(page, eval->times);
    virtual_write_feed(page, &results);
    pleat_page_heading(page, "Folding by job type (chapter 5)");
    int rc = virtual_draw_figures(page, &results, 5, err);
    if (rc)
        return rc;
    virtual_write_tables(page, &results, 5);
    pleat_page_heading(page, "Folding by job type with backfilling (chapter 6)");
    rc = virtual_draw_figures(page, &results, 6, err);
    if (rc)
        return rc;
    virtual_write_tables(page, &results, 6);
    virtual_write_price(page, &results);
    return 0;
}

const struct eval_part eval_virtual = {"virtual", plan, runs, do_round, report, NULL};

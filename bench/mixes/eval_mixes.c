/* eval_mixes.c - the job mixes of Swaminathan 2004 (4.3): live, and simulated beside it. */
#include <stdio.h>
#include <string.h>

#include "fold/progress.h"
#include "mixes.h"

static struct mixes_results results;

static void plan(struct eval *eval)
{
    bool can = eval_wants(eval, TRIAL_OPENMPI); /* MPICH's ranks that wait take the processor */
    results.times = eval->times;
    for (int mix = 0; mix < MIXES_MIXES; mix++)
        for (int way = 0; way < mixes_mixes[mix].way_count; way++)
            results.cells[mix][way].wanted =
                can && (!eval->quick || (mix == MIXES_FIRST && way == 0));
}

static int runs(void)
{
    int count = 0;
    for (int mix = 0; mix < MIXES_MIXES; mix++)
        for (int way = 0; way < MIXES_WAYS_MAX; way++)
            count += results.cells[mix][way].wanted;
    return count;
}

static void keep(struct mixes_cell *cell, int source, const struct mixes_mix *mix,
                 const struct live_outcome *outcomes)
{
    bench_add(&cell->response_s[source], mixes_response_s(mix, outcomes));
    bench_add(&cell->makespan_s[source], live_makespan_s(outcomes, mix->count));
    if (cell->rounds == 0)
        memcpy(cell->first[source], outcomes, (size_t)mix->count * sizeof(*outcomes));
    for (int j = 0; j < mix->count && source < MIXES_CHANGES; j++)
        bench_add(&cell->job_s[source][j], live_run_s(&outcomes[j]));
}

/* The way in which each job has the size from its start to its end with which it began live. */
static struct mixes_way sized(const struct mixes_way *way, int count,
                              const struct live_outcome *live)
{
    struct mixes_way fixed = *way;
    fixed.malleable = fixed.moldable = false;
    for (int j = 0; j < count; j++)
        fixed.sizes[j] = live[j].pieces[0].processors;
    return fixed;
}

static void run_one(struct eval *eval, int mix, int way)
{
    static struct live_outcome live[MIXES_JOBS], simulated[MIXES_JOBS];
    const struct mixes_mix *about = &mixes_mixes[mix];
    const struct mixes_way *how = &about->ways[way];
    const struct mixes_feed *feed = &results.feed;
    struct mixes_cell *cell = &results.cells[mix][way];
    double times = results.times;
    progress_step(about->name, how->name);
    bench_add(&eval->others, mixes_run(about, how, times, live));
    struct live_changes changes = live_changes(live, about->count, feed->changes);
    double stretch = mixes_stretch(about, feed, times, live);
    bench_add(&cell->grow_s, changes.grow_s);
    bench_add(&cell->more_s, changes.more_s);
    bench_add(&cell->shrink_s, changes.shrink_s);
    bench_add(&cell->free_s, changes.free_s);
    bench_add(&cell->before_s, changes.before_s);
    bench_add(&cell->stretch, stretch);
    keep(cell, MIXES_LIVE, about, live);
    mixes_simulate(about, how, times, feed, feed->changes, 1, simulated);
    keep(cell, MIXES_FED, about, simulated);
    mixes_simulate(about, how, times, feed, changes, 1, simulated);
    keep(cell, MIXES_CHANGES, about, simulated);
    mixes_simulate(about, how, times, feed, changes, stretch, simulated);
    keep(cell, MIXES_STRETCHED, about, simulated);
    if (how->moldable) {
        const struct mixes_way began = sized(how, about->count, live);
        mixes_simulate(about, &began, times, feed, changes, stretch, simulated);
        keep(cell, MIXES_SIZED, about, simulated);
    }
    cell->rounds++;
    if (way == 0)
        mixes_note(&results, mix, live);
}

static void do_round(struct eval *eval, int round)
{
    if (round == 0)
        mixes_measure(&results.feed, eval->times, eval->quick, &eval->others);
    for (int mix = 0; mix < MIXES_MIXES; mix++) {
        int count = mixes_mixes[mix].way_count;
        for (int i = 0; i < count; i++) {
            int way = (i + round) % count;
            if (results.cells[mix][way].wanted)
                run_one(eval, mix, way);
        }
    }
}

/* ---- the page ---- */

static void add_method(struct pleat_page *page)
{
    pleat_page_heading(page, "How it was done");
    pleat_page_paragraph(
        page,
        "The page [resizable](../resizable/page.md) simulates the thesis's job mixes. Here their "
        "jobs really run: products and LU factorizations by ScaLAPACK, Jacobi sweeps, an image "
        "filter, conjugate gradients and a master with workers (`apps/README.md`, Open MPI), under "
        "one `pleatd` that has %d and %d processors. **The machine has two: most of the "
        "computing is pretended.** Ranks sleep as long as they would compute, as if each had a "
        "processor to itself; all else is done: starting, messages, growing and shrinking, moving "
        "the data, checking the result.",
        mixes_mixes[MIXES_FIRST].processors, mixes_mixes[MIXES_SECOND].processors);
    pleat_page_item(page, "Job mix 1: lengths follow from tables 3 and 4, a hundred times as "
                          "fast. Job mix 2: lengths and arrivals are those of the simulated page, "
                          "250 times as fast, as the thesis tells none. A job computes no faster "
                          "on more processors than its sweet spot: that is put in.");
    pleat_page_item(
        page, "`remap`: the policies `remap` and `sweet-spot`, as printed; jobs begin "
              "with the thesis's sizes and take 2, 4, 6, 9, 12, 16, 20 or 25 ranks; new ranks "
              "join the old ones, or leave them (`--on-resize merge`).");
    pleat_page_item(page, "Static: the same jobs, at the same times, with sizes that stay, first "
                          "come, first served. Moldable: the size is chosen when a job starts "
                          "(what is there, from its first size to its sweet spot), with EASY "
                          "backfilling.");
    pleat_page_paragraph(
        page,
        "Beside each value stands that of a simulation of the same jobs, fed with what each "
        "program took at each size, and what growths and shrinks took, at the head of the same "
        "run; and how long before a growth its ranks started, and after a shrink its processors "
        "were not free. "
        "Why both differ by more than 10 %% is looked for in this order. *Changes*: the simulation "
        "agrees within 10 %% once changes of size take as long as they did in this run (in "
        "brackets: a growth by one rank, each rank more, a shrink; ranks that start, and until "
        "processors are free). *Job "
        "times*: it agrees once jobs, too, take as long as they did at the sizes that they had. "
        "*Sizes at the start*: it agrees once moldable jobs, too, begin with the sizes that they "
        "had: these are what is free in that moment, and whether a job comes before or after "
        "another one ends can be a matter of milliseconds. Else it is *not explained*.");
    pleat_page_paragraph(page, "Criteria were written before the first run. Of an event: yes if it "
                               "happened in all rounds, no if in none.");
    pleat_page_heading(page, "What may not be concluded");
    pleat_page_item(page, "What the applications would gain on 36 real processors: what is not "
                          "pretended is slowed down by sharing two, the more so the more ranks "
                          "there are.");
    pleat_page_item(page, "That programs have these sweet spots, or these curves: they are the "
                          "thesis's, or made up.");
    pleat_page_item(page, "How long moving the data takes on a cluster: all ranks share one memory "
                          "here.");
}

static int report(struct eval *eval, struct pleat_error *err)
{
    struct pleat_page *page = &eval->page;
    int rc = 0;
    mixes_tell(eval, &results);
    add_method(page);
    mixes_write_feed(page, &results);
    for (int mix = 0; !rc && mix < MIXES_MIXES; mix++) {
        pleat_page_heading(page, mix == MIXES_FIRST ? "Job mix 1 (figure 9, tables 3 and 4)"
                                                    : "Job mix 2 (figure 10)");
        rc = mixes_figure(page, &results, mix, err);
        mixes_write_tables(page, &results, mix);
    }
    return rc;
}

const struct eval_part eval_mixes = {"mixes", plan, runs, do_round, report, NULL};

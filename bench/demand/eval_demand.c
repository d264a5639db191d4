/* eval_demand.c - the policies for buffers of prepared processes (Liu et al. 2009, 4.2, figures 4
 * and 5): live, and simulated beside it. A round is a sequence of executions, of which later ones
 * know what earlier ones asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "demand/demand.h"
#include "fold/machine.h"
#include "fold/progress.h"

static struct demand_results results;
static struct bench_series delays;

static void plan(struct eval *eval)
{
    /* an iteration here is as long as the agent needs to be told of each (0.3 s) and a little more;
     * the delay is to t_p and to RL's refilling as in the paper: 1000 / 600 */
    static const struct demand_scale usual = {.iterations = 1200,
                                              .objects = 400,
                                              .stride = 5,
                                              .step_s = 0.4,
                                              .claim_s = 1.0,
                                              .review_s = 0.6,
                                              .executions = DEMAND_EXECUTIONS},
                                     quick = {.iterations = 240,
                                              .objects = 150,
                                              .stride = 5,
                                              .step_s = 0.1,
                                              .claim_s = 0.1,
                                              .review_s = 0.1,
                                              .executions = 2};
    results.demand.scale = eval->quick ? quick : usual;
}

static int runs(void)
{
    return results.demand.scale.executions;
}

/* ---- measuring ---- */

static double own_s(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) / 1e6;
}

static void keep(int source, int policy, int execution, const struct demand_outcome *outcome)
{
    if (outcome->requests > 0)
        bench_add(&results.s[source][policy][execution],
                  (double)outcome->satisfied / outcome->requests);
    bench_add(&results.w[source][policy][execution], outcome->waste_s);
    bench_add(&results.elapsed[source][policy][execution], outcome->elapsed_s);
    if (source == DEMAND_LIVE)
        bench_add(&results.requests, outcome->requests);
}

static void do_round(struct eval *eval, int round)
{
    struct demand_outcome outcomes[DEMAND_POLICIES];
    double begun_s = (double)pleat_clock_monotonic_us() / 1e6, busy_s = machine_busy_s(),
           before_s = own_s();
    if (round == 0)
        demand_record(&results.demand);
    demand_open(&results.demand, round);
    for (int execution = 0; execution < results.demand.scale.executions; execution++) {
        char which[24];
        snprintf(which, sizeof(which), "%d", execution + 1);
        progress_step("execution", which);
        demand_execute(&results.demand, round, execution, outcomes, &delays);
        for (int policy = 0; policy < DEMAND_POLICIES; policy++)
            keep(DEMAND_LIVE, policy, execution, &outcomes[policy]);
    }
    demand_close(); /* its processes are this one's children by now, and are counted */
    double others = (machine_busy_s() - busy_s - (own_s() - before_s)) /
                    ((double)pleat_clock_monotonic_us() / 1e6 - begun_s);
    bench_add(&eval->others, fmax(0, others));
    results.rounds = round + 1;
}

static void take_delay(struct demand_delay *delay)
{
    double squares = 0;
    if (delays.count == 0) {
        demand_close();
        trial_give_up("allocations", "no request had to wait, so no delay is known");
    }
    delay->count = delays.count;
    delay->mean_s = demand_mean(&delays);
    for (int i = 0; i < delays.count; i++)
        squares += (delays.values[i] - delay->mean_s) * (delays.values[i] - delay->mean_s);
    delay->deviation_s = delays.count > 1 ? sqrt(squares / (delays.count - 1)) : 0;
}

static void simulate(void)
{
    static struct demand_outcome outcomes[DEMAND_EXECUTIONS];
    for (int round = 0; round < results.rounds; round++)
        for (int policy = 0; policy < DEMAND_POLICIES; policy++)
            for (int source = DEMAND_SIMULATED; source < DEMAND_SOURCES; source++) {
                demand_simulate(&results.demand, policy, round, &results.delay,
                                source == DEMAND_KNOWN, outcomes);
                for (int e = 0; e < results.demand.scale.executions; e++)
                    keep(source, policy, e, &outcomes[e]);
            }
}

double demand_mean(const struct bench_series *series)
{
    double sum = 0;
    for (int i = 0; i < series->count; i++)
        sum += series->values[i];
    return series->count ? sum / series->count : 0;
}

struct bench_series demand_values(const struct bench_series by_execution[DEMAND_EXECUTIONS],
                                  int first, int end)
{
    struct bench_series all = {.count = 0};
    for (int e = first; e < end; e++)
        for (int i = 0; i < by_execution[e].count; i++)
            bench_add(&all, by_execution[e].values[i]);
    return all;
}

/* ---- the page ---- */

static void add_simulated(struct pleat_page *page)
{
    pleat_page_item(page, "**Simulated** are the same steps, speeds, policies and history in the "
                          "core that `pleatd` has, with allocations that take as long as was "
                          "measured, in both orders of a review and a request that is made in the "
                          "same moment.");
    pleat_page_item(
        page,
        "**The order of a review and a request**: PP looks at the buffer when an iteration "
        "begins, and in that moment the application may ask for a process. Whether PP knows "
        "of the request then is a matter of microseconds: of which messages the agent, and "
        "`pleatd`, read at once. If it does (*requests known*), a processor is asked for "
        "the request that waits, and others for those that PP predicts. If it does not, the "
        "request is made just after the decision, and takes what was asked for a predicted "
        "one, since what is on its way serves requests that wait; nothing is asked for in "
        "its place, and the later request finds nothing prepared (under *PP, own* something is "
        "asked for in its place, so that both orders come to the same). So with the same steps, "
        "speeds and history an execution may have one satisfied request more or less; live "
        "ones may be of either kind, and how many are of which depends on the machine and on "
        "what else that does.");
    pleat_page_item(
        page, "**W of `none`** is of processes that are being started for requests that wait. The "
              "simulation takes for that all of the delay but the artificial part; live a part of "
              "it is the way of the request to `pleatd`, and of the notice to the program.");
}

static void add_cautions(struct pleat_page *page)
{
    pleat_page_heading(page, "What may not be concluded");
    pleat_page_item(page, "That PP is better or worse than P for other applications: flow asks for "
                          "the same processes after the same iterations in each execution, and "
                          "asks more often, compared with the delay, than the paper's.");
    pleat_page_item(page, "That executions are independent: later ones know what the earlier ones "
                          "asked for, so an interval over executions of one round is too narrow.");
    pleat_page_item(page, "That S of PP is the same on another machine, or on one that does "
                          "something else meanwhile: the order of a review and a request decides "
                          "about single requests.");
    pleat_page_item(page,
                    "What waiting for a real batch system is like: here each allocation takes "
                    "nearly the same time.");
}

static void add_method(struct pleat_page *page)
{
    const struct demand_scale *scale = &results.demand.scale;
    pleat_page_heading(page, "How it was done");
    pleat_page_paragraph(
        page,
        "The page [application-agent](../application-agent/page.md) simulates the paper's own "
        "application. Here a program on `libpleat-process` really asks the agent of a real "
        "`pleatd` for processes, %d times one after another under each policy, each with a "
        "`pleatd` of its own; all %d policies run at the same time instead of in turns, so that "
        "they meet the same machine. **The site's processors are pretended (%d of them), and so is "
        "computing**: a "
        "program sleeps as long as a step takes. Requests, processes, their starts and ends, and "
        "the decisions are real.",
        scale->executions, DEMAND_POLICIES, DEMAND_PROCESSORS);
    pleat_page_item(page,
                    "**What is asked for** is what `flow` wants (`apps/README.md`): it was run "
                    "alone, with `--iterations %d --objects %d`, and each %dth of its adaptations "
                    "is a step here, %d in all. A step takes %.2f s, in each execution by another "
                    "factor (a standard deviation of 1.0 / 11.2, as the paper's speed). Where "
                    "processes are missing their cells are divided over the others, and it takes "
                    "longer. Surplus processes are stopped, one in a step.",
                    scale->iterations, scale->objects, scale->stride, results.demand.steps,
                    scale->step_s);
    pleat_page_item(page,
                    "**The delay** of an allocation is artificial (`claim_delay_s = %g`). From a "
                    "request until its process was there, where none was prepared, took %.3f s "
                    "(standard deviation %.3f s, of %d allocations under `none`).",
                    scale->claim_s, results.delay.mean_s, results.delay.deviation_s,
                    results.delay.count);
    pleat_page_item(
        page,
        "**Policies**: RL = %d, t_p = %g s, which is to the delay as the paper's 600 to "
        "1000; range = %d iterations. `none` prepares nothing; `combined` is not the "
        "paper's ([what it does](../application-agent/page.md#p-and-pp-combined)). *own*: a "
        "request that fails has an allocation of its own (`buffer_own = 1`), as in the paper "
        "(3.1) and on the simulated page; the others: it takes what is on its way, also what was "
        "asked for a later request.",
        DEMAND_LEVEL, scale->review_s, DEMAND_RANGE);
    pleat_page_item(page, "**S** is the share of requests that a prepared process satisfied at "
                          "once; a request that is not waits, and counts once. **W** is the "
                          "processor time of prepared processes, and of those that were being "
                          "started or ended: both as `pleat show` says them.");
    add_simulated(page);
    pleat_page_paragraph(
        page, "Criteria are those of the simulated page, and were written before the first run. A "
              "statement about every execution holds if it holds in each one of each round; a "
              "ratio is decided by its interval over executions.");
    add_cautions(page);
}

static int report(struct eval *eval, struct pleat_error *err)
{
    take_delay(&results.delay);
    simulate();
    demand_tell(eval, &results);
    add_method(&eval->page);
    pleat_page_heading(&eval->page, "Figures 4 and 5");
    int rc = demand_draw(&eval->page, &results, err);
    if (!rc)
        demand_write_tables(&eval->page, &results);
    return rc;
}

const struct eval_part eval_demand = {"demand", plan, runs, do_round, report, NULL};

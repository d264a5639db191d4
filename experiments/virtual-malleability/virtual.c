/* virtual.c - runs all settings, and writes the page. */
#include "experiments/virtual-malleability/virtual.h"

#include <stdlib.h>

#include "experiments/list.h"

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct vm_results *results = context;
    return vm_run(study, &results->settings[setting], seed, metrics, err);
}

static void introduce(struct pleat_study *study)
{
    struct pleat_page *page = &study->page;
    pleat_page_paragraph(
        page, "The thesis ran MPI programs on 60 processors of an Origin 2000. Here the same mixes "
              "of applications, with the run times that it measured (table 3.2), are simulated on "
              "60 processors without delays, each mix with many seeds; differences are taken seed "
              "by seed, and intervals are of 95 %%. A long job may run folded, with more processes "
              "than processors. The thesis does not say how fast it is then. It is taken here that "
              "its processes stay on their processors, so that the processor with the most "
              "processes decides (their number is the multiprogramming level, MPL), and that each "
              "process more on a processor costs 10 %%.");
    pleat_page_paragraph(
        page, "Where the thesis can be read in two ways both are run. PSA divides the machine "
              "among the waiting jobs, and lets a job wait for its part (5.2), or divides the idle "
              "processors (5.4.1). ASP60 takes at most 60 %% of the machine (5.2), or of the idle "
              "processors (5.4.1). FOLDING never unfolds a job (5.2), or does. FJT starts a long "
              "job folded while short ones run (5.3), or lets it wait (figure 5.5). The window of "
              "a backfilled job ends when all running jobs came after the first waiting one "
              "(6.4.3), or as soon as that one could start (6.1).");
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    struct vm_results results = {0};
    int rc = vm_chapter5_add(&results, study->quick);
    if (!rc)
        rc = vm_chapter6_add(&results, study->quick);
    if (rc) {
        free(results.settings);
        return pleat_error_set(err, rc, "out of memory for the settings");
    }
    struct pleat_sweep sweep = {.what = "workloads under policies",
                                .settings = results.count,
                                .metrics = VM_METRICS,
                                .run = run_one,
                                .context = &results};
    rc = pleat_study_sweep(study, &sweep, &results.numbers, err);
    if (!rc) {
        introduce(study);
        rc = vm_chapter5_write(study, &results, err);
    }
    if (!rc)
        rc = vm_chapter6_write(study, &results, err);
    pleat_numbers_finish(&results.numbers);
    free(results.settings);
    return rc;
}

static const char *const cautions[] = {
    "Which policy is best on real machines: what a further process on a processor costs is "
    "assumed, and that decides (see the sweeps).",
    "Much from a single run: it has one to five long jobs, whose lengths differ by a factor of "
    "ten, so long jobs need many seeds. Where an interval has 0 in it the order of two policies is "
    "open.",
    "That a conclusion is right because it survives in most readings: each reading differs from "
    "what is taken in one thing, not in several.",
    NULL,
};

const struct pleat_experiment pleat_experiment_virtual_malleability = {
    .name = "virtual-malleability",
    .title = "Virtual malleability: folding by job type, and backfilling with it",
    .source = "Utrera 2010, 5 and 6",
    .cautions = cautions,
    .summary = "PSA, ASP60, FOLDING and FJT over w1 to w6; FJT(4), FJT(1) and FCFS with "
               "backfilling at loads of 40 to 100 %",
    .seeds = 200,
    .run = run,
};

/* runners.c - the experiment; the files beside this one have its parts. */
#include "experiments/koala-runners/runners.h"

#include "experiments/list.h"

static int run(struct pleat_study *study, struct pleat_error *err)
{
    pleat_page_heading(&study->page, "What is run");
    pleat_page_paragraph(
        &study->page,
        "First, rigid jobs of one or several components are submitted to the clusters of the DAS-2 "
        "(3.9), with placement `worst-fit` and queue `scan`, as KOALA had them. Then malleable "
        "jobs are run that are made of components (5.6): a job grows by adding a component, and "
        "loses one when that has done its work. Placement is the same there, malleability "
        "`round-robin`, approach `pwa`. The thesis gives sizes, numbers and rates; run times, "
        "delays and the load of local users are not in it. Each part says which values are taken "
        "for them. Tables have means over the seeds; a figure over time, as the thesis has them, "
        "is of one run, with the first seed.");
    int rc = runners_rigid(study, err);
    if (!rc)
        rc = runners_malleable(study, err);
    if (!rc)
        rc = runners_sharing(study, err);
    return rc ? rc : runners_room(study, err);
}

static const char *const cautions[] = {
    "What goes in is no finding: the run times, delays and local users that make the load 59 % and "
    "Leiden the emptiest cluster were chosen for that.",
    "Figures over time are one run, with the first seed, as the thesis has them.",
    NULL,
};

const struct pleat_experiment pleat_experiment_koala_runners = {
    .name = "koala-runners",
    .title = "KOALA's runners: co-allocation, faults, malleable jobs of components",
    .source = "Lammers 2005, 3.9 and 5.6",
    .cautions = cautions,
    .summary = "Jobs of several components over five clusters, with faults; malleable jobs that "
               "grow by components",
    .seeds = 100,
    .run = run,
};

/* resizable.c - the experiment; the files beside this one have its parts. */
#include "experiments/resizable/resizable.h"

#include "experiments/list.h"

static int run(struct pleat_study *study, struct pleat_error *err)
{
    pleat_page_heading(&study->page, "What is run");
    pleat_page_paragraph(
        &study->page,
        "Applications run in equal iterations, measure each, and can change their size after it, "
        "to 2, 4, 6, 9, 12, 16, 20 or 25 processors. The approach is `remap`, the malleability "
        "policy `sweet-spot`: each application grows from size to size as long as its iterations "
        "get shorter, and goes back where they do not; while a job waits, nobody grows, and those "
        "shrink whose iterations get longer by the least. A change of size costs nothing, unless a "
        "cost is given. The thesis says nothing of the number of iterations, of ties, or of what a "
        "change costs in seconds; each part says which values are taken for them.");
    int rc = resizable_spots(study, err);
    if (!rc)
        rc = resizable_mix_1(study, err);
    return rc ? rc : resizable_mix_2(study, err);
}

static const char *const cautions[] = {
    "What goes in is no finding: that 9 is the sweet spot of job 0, how many iterations it has, "
    "and all times of job mix 2, which were made up so that its events happen in their order.",
    "That resizing pays elsewhere: an iteration takes minutes here, and costs of a change are "
    "swept, not measured.",
    NULL,
};

const struct pleat_experiment pleat_experiment_resizable = {
    .name = "resizable",
    .title = "Resizable applications and their sweet spots",
    .source = "Swaminathan 2004, chapter 4",
    .cautions = cautions,
    .summary = "Sweet spots of a matrix product and a factorization, and two job mixes, against "
               "fixed sizes",
    .seeds = 200,
    .run = run,
};

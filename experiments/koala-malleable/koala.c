/* koala.c - what is run, and what of the paper is found. */
#include "experiments/koala-malleable/koala.h"

#include "experiments/list.h"

struct plan {
    const struct koala_unsaid *unsaid;
};

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct plan *plan = context;
    struct koala_trial trial;
    int rc = koala_run(study, (enum approach)(setting / RUNS % APPROACHES), (int)(setting % RUNS),
                       &plan->unsaid[setting / RUNS / APPROACHES], seed, &trial, err);
    if (!rc && koala_measure(&trial, metrics))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    koala_trial_finish(&trial);
    return rc;
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    static const struct koala_unsaid face = {0};
    struct plan plan = {&face};
    struct pleat_numbers numbers;
    struct pleat_sweep sweep = {.what = "face values",
                                .settings = RUNS * APPROACHES,
                                .metrics = METRICS,
                                .run = run_one,
                                .context = &plan};
    int rc = pleat_study_sweep(study, &sweep, &numbers, err);
    for (enum approach a = PRA; !rc && a < APPROACHES; a++) {
        pleat_page_heading(&study->page, a == PRA ? "PRA" : "PWA");
        pleat_page_table(&study->page, "run|average size|maximum size|execution time, s");
        for (int r = 0; r < RUNS; r++) {
            size_t setting = (size_t)a * RUNS + (size_t)r;
            pleat_page_cell(&study->page, "%s", koala_run_name(r, a));
            for (size_t m = 0; m < METRICS; m++)
                if (m == AVERAGE_SIZE || m == MAXIMUM_SIZE || m == EXECUTION)
                    pleat_page_cell_estimate(&study->page,
                                             pleat_numbers_estimate(&numbers, setting, m), 1);
        }
    }
    if (!rc)
        pleat_study_shape(
            study,
            &(struct pleat_shape){
                "Wm has shorter execution times than Wmr (PRA, EGS)", "VII-A, figure 7c", true,
                pleat_estimate_below(pleat_numbers_difference(&numbers, EGS_WM, EGS_WMR, EXECUTION),
                                     0)},
            "%.1f s less", -pleat_numbers_difference(&numbers, EGS_WM, EGS_WMR, EXECUTION).mean);
    if (!rc)
        rc = koala_figure(study, PRA, &face, "figure-7", "Figure 7, at face values", err);
    if (!rc)
        rc = koala_figure(study, PWA, &face, "figure-8", "Figure 8, at face values", err);
    pleat_numbers_finish(&numbers);
    return rc;
}

const struct pleat_experiment pleat_experiment_koala_malleable = {
    .name = "koala-malleable",
    .title = "Malleable jobs on five clusters",
    .source = "Buisson et al. 2007, V to VII",
    .summary = "FPSMA and EGS under PRA and PWA: 300 jobs of two applications on five clusters",
    .seeds = 20,
    .run = run,
};

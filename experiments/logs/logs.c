/* logs.c - which cases are run. */
#include <stdlib.h>
#include <string.h>

#include "experiments/list.h"
#include "experiments/logs/logs.h"

#define WORSE 5

static int add_case(struct logs_cases *cases, size_t row, int share, double worse)
{
    return pleat_array_push(cases, ((struct logs_case){row, share, worse}));
}

/* Without malleable jobs all malleability policies have the same effect: one of them is enough. */
static bool matters(const struct logs_row *row, int share)
{
    return share > 0 || !row->compared || strstr(row->policies, "malleability=egs");
}

/* Rows for which the advice depends on estimates: they are tried with worse ones, too. */
static bool is_tried_with_worse(const struct logs_row *row)
{
    return strstr(row->policies, "pwa-next queue=scan") ||
           (row->compared &&
            (strstr(row->policies, "queue=easy") || strstr(row->policies, "queue=scan") ||
             strstr(row->policies, "queue=conservative order=arrival")) &&
            strstr(row->policies, "malleability=egs"));
}

static int fill_cases(const struct logs_results *results, struct logs_cases *cases)
{
    int rc = 0;
    for (size_t row = 0; row < results->rows->count; row++) {
        const struct logs_row *about = &results->rows->items[row];
        bool single = !about->compared && row != LOGS_OWN;
        for (size_t s = 0; s < results->share_count && !rc; s++)
            if (single ? results->shares[s] == 50 : matters(about, results->shares[s]))
                rc = add_case(cases, row, results->shares[s], 0);
    }
    for (int share = 0; share <= 50; share += 50)
        for (size_t row = 0; row < results->rows->count && !rc; row++)
            if (is_tried_with_worse(&results->rows->items[row]))
                rc = add_case(cases, row, share, WORSE);
    return rc;
}

static int run_one(void *context, const struct pleat_study *study, size_t setting, uint64_t seed,
                   double *metrics, struct pleat_error *err)
{
    const struct logs_results *results = context;
    size_t cases = results->cases->count;
    const struct logs_case *about = &results->cases->items[setting % cases];
    return logs_run(study, &results->workloads->items[setting / cases],
                    &results->rows->items[about->row], about, seed, metrics, err);
}

static int run(struct pleat_study *study, struct pleat_error *err)
{
    static const int all_shares[] = {0, 20, 50, 100}, few_shares[] = {0, 50};
    struct logs_workloads workloads = {0};
    struct logs_rows rows = {0};
    struct logs_cases cases = {0};
    struct logs_results results = {.study = study,
                                   .workloads = &workloads,
                                   .rows = &rows,
                                   .cases = &cases,
                                   .shares = study->quick ? few_shares : all_shares,
                                   .share_count = study->quick ? 2 : 4};
    int rc = logs_workloads_read(study, &workloads, err);
    if (!rc && (logs_rows_fill(&rows) || fill_cases(&results, &cases)))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the combinations");
    const struct pleat_sweep sweep = {.what = "policies and workloads",
                                      .settings = workloads.count * cases.count,
                                      .metrics = METRICS,
                                      .run = run_one,
                                      .context = &results};
    if (!rc)
        rc = pleat_study_sweep(study, &sweep, &results.numbers, err);
    if (!rc) {
        logs_tell_shapes(&results);
        rc = logs_write_page(&results, err);
    }
    pleat_numbers_finish(&results.numbers);
    pleat_array_finish(&cases);
    pleat_array_finish(&rows);
    logs_workloads_finish(&workloads);
    return rc;
}

static const char *const cautions[] = {
    "That a policy that is better on average is better for a log like yours: look at the log that "
    "is nearest to it.",
    "A recorded log is one sample, however many seeds: seeds only draw which of its jobs are "
    "malleable. What its users would have done under another policy is not in it.",
    NULL,
};

const struct pleat_experiment pleat_experiment_logs = {
    .name = "logs",
    .title = "All policies over workload logs",
    .source = "our own; beside it what a study with ElastiSim found (arXiv 2602.17318)",
    .cautions = cautions,
    .summary = "Every policy over recorded and generated workloads with 0 to 100 % malleable jobs",
    .seeds = 6,
    .logs = true,
    .run = run,
};

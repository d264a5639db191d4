/* cases.c - the combinations of policies, and one run with one of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "experiments/logs/logs.h"
#include "workload/convert.h"
#include "workload/generate.h"
#include "workload/statistics.h"

enum { MACHINE = 256 };

/* ---- combinations ---- */

#define MINIMUM "moldability=minimum "

static int add_row(struct logs_rows *rows, bool compared, const char *name, const char *approach,
                   const char *queue, const char *order, const char *malleability)
{
    struct logs_row row = {.compared = compared};
    snprintf(row.policies, sizeof(row.policies),
             MINIMUM "approach=%s queue=%s order=%s malleability=%s", approach, queue, order,
             malleability);
    if (name)
        snprintf(row.name, sizeof(row.name), "%s", name);
    else
        snprintf(row.name, sizeof(row.name), "%s %s, %s", queue, order, malleability);
    return pleat_array_push(rows, row);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static const char *const queues[] = {"easy", "scan", "conservative", "fcfs"};
static const char *const orders[] = {"arrival", "sjf"};
static const char *const malleabilities[] = {"egs", "fpsma", "equipartition"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Adds the reference with one of its policies replaced: by each policy that the combinations leave
 * out. */
static int add_single(struct logs_rows *rows, const struct pleat_policy *policy)
{
    enum pleat_question question = policy->question;
    if ((question == PLEAT_QUEUE && is_one_of(policy->name, queues, COUNT(queues))) ||
        (question == PLEAT_ORDER && is_one_of(policy->name, orders, COUNT(orders))) ||
        (question == PLEAT_MALLEABILITY &&
         is_one_of(policy->name, malleabilities, COUNT(malleabilities))) ||
        policy == pleat_policy_find(PLEAT_APPROACH, "pwa") ||
        policy == pleat_policy_find(PLEAT_MOLDABILITY, "minimum"))
        return 0;
    struct logs_row row = rows->items[LOGS_EASY];
    size_t length = strlen(row.policies);
    row.compared = false; /* of two policies of one kind the later one counts */
    snprintf(row.policies + length, sizeof(row.policies) - length, " %s=%s",
             pleat_question_name(question), policy->name);
    snprintf(row.name, sizeof(row.name), "%s %s", pleat_question_name(question), policy->name);
    return pleat_array_push(rows, row);
}

int logs_rows_fill(struct logs_rows *rows)
{
    int rc = add_row(rows, true, NULL, "pwa", "easy", "arrival", "egs");
    if (!rc)
        rc = add_row(rows, false, "**pwa-next, scan sjf, equipartition**", "pwa-next", "scan",
                     "sjf", "equipartition");
    for (size_t q = 0; q < COUNT(queues) && !rc; q++)
        for (size_t o = 0; o < COUNT(orders) && !rc; o++)
            for (size_t m = 0; m < COUNT(malleabilities) && !rc; m++)
                if (q + o + m > 0)
                    rc = add_row(rows, true, NULL, "pwa", queues[q], orders[o], malleabilities[m]);
    for (size_t i = 0; !rc && pleat_policy_at(i); i++)
        rc = add_single(rows, pleat_policy_at(i));
    return rc;
}

/* ---- a run ---- */

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* Copies an array into an empty one; not 0: out of memory. */
#define COPY(to, from)                                                                             \
    (pleat_array_reserve(to, (from)->count) ||                                                     \
     (copy((to)->items, (from)->items, (from)->count * sizeof((to)->items[0])),                    \
      (to)->count = (from)->count, 0))

/* Makes a workload for one run alone: what conversion changes is not shared. */
static int make_jobs(const struct logs_workload *workload, uint64_t seed,
                     struct pleat_workload *jobs, struct pleat_error *err)
{
    const struct pleat_workload *recorded = &workload->recorded;
    if (workload->jobs > 0) {
        const struct pleat_lublin_model model = {.jobs = workload->jobs,
                                                 .machine = MACHINE,
                                                 .load = workload->load,
                                                 .kind = PLEAT_LUBLIN_TOGETHER,
                                                 .seed = seed};
        if (pleat_workload_init(jobs))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload");
        return pleat_generate_lublin(&model, jobs, err);
    }
    jobs->machine = recorded->machine;
    if (COPY(&jobs->jobs, &recorded->jobs) || COPY(&jobs->apps, &recorded->apps) ||
        COPY(&jobs->table, &recorded->table) || COPY(&jobs->costs, &recorded->costs) ||
        COPY(&jobs->phases, &recorded->phases))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the workload");
    return 0;
}

static void worsen_estimates(struct pleat_workload *jobs, double worse, uint64_t seed)
{
    struct pleat_random random;
    pleat_random_init(&random, seed);
    for (size_t i = 0; i < jobs->jobs.count; i++) {
        struct pleat_workload_job *job = &jobs->jobs.items[i];
        double factor = 1 + (worse - 1) * pleat_random_unit(&random);
        job->estimate_us = llround((double)job->run_us * factor);
    }
}

static int measure(const struct pleat_trial *trial, double *metrics, struct pleat_error *err)
{
    struct pleat_summary waits;
    size_t jobs = trial->workload->jobs.count;
    double *values = calloc(jobs + 1, sizeof(*values));
    if (!values)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    pleat_summarize(values, pleat_trial_values(trial, pleat_trial_wait_s, values), &waits);
    free(values);
    metrics[TURNAROUND] = pleat_trial_mean(trial, pleat_trial_response_s);
    metrics[WAIT] = waits.mean;
    metrics[WAIT_95] = waits.p95;
    metrics[WAIT_MOST] = waits.most;
    metrics[SLOWDOWN] = pleat_trial_mean(trial, pleat_trial_slowdown);
    metrics[UTILIZATION] = pleat_trial_utilization(trial);
    metrics[MAKESPAN] = pleat_trial_makespan_s(trial);
    metrics[RESIZES] = (double)(trial->totals.grows + trial->totals.shrinks) / (double)jobs;
    return 0;
}

int logs_run(const struct pleat_study *study, const struct logs_workload *workload,
             const struct logs_row *row, const struct logs_case *about, uint64_t seed,
             double *metrics, struct pleat_error *err)
{
    struct pleat_workload jobs = {0};
    struct pleat_platform platform = {0};
    struct pleat_trial trial = {0};
    struct pleat_sim_options options = {.platform = &platform, .seed = seed};
    struct pleat_conversion conversion;
    pleat_conversion_default(&conversion);
    int rc = make_jobs(workload, seed, &jobs, err);
    conversion.share = about->share / 100.0;
    conversion.machine = jobs.machine;
    conversion.seed = seed;
    if (!rc)
        rc = pleat_workload_convert(&jobs, &conversion, NULL, err);
    if (!rc && about->worse > 0)
        worsen_estimates(&jobs, about->worse, seed);
    if (!rc && pleat_platform_add(&platform, "machine", jobs.machine))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the machine");
    if (!rc)
        rc = pleat_trial_policies(&options, row->policies, err);
    if (!rc)
        rc = pleat_trial_run(&trial, study, &jobs, &options, false, err);
    if (!rc)
        rc = measure(&trial, metrics, err);
    pleat_trial_finish(&trial);
    pleat_platform_finish(&platform);
    pleat_workload_finish(&jobs);
    return rc;
}

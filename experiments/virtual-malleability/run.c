/* run.c - policies by their names in Utrera 2010, and one run on the machine of the thesis. */
#include <math.h>

#include "experiments/virtual-malleability/virtual.h"
#include "workload/generate.h"

enum { MACHINE = 60, UNLIMITED = 255 };

static const struct {
    const char *name, *policies;
    uint8_t mpl; /* processes on a processor, at most (table 5.1) */
} policies[VM_POLICIES] = {
    [VM_PSA] = {"PSA", "queue=fcfs moldability=psa malleability=none", 1},
    [VM_ASP60] = {"ASP60", "queue=fcfs moldability=asp-max malleability=none", 1},
    [VM_FOLDING] = {"FOLDING", "queue=fcfs moldability=folding malleability=halving", UNLIMITED},
    [VM_FJT] = {"FJT(4)", "queue=fcfs moldability=fjt malleability=partition", 4},
    [VM_PSA_IDLE] = {"PSA of idle processors", "queue=fcfs moldability=psa-idle malleability=none",
                     1},
    [VM_ASP60_IDLE] = {"ASP60 of idle processors",
                       "queue=fcfs moldability=asp-max-idle malleability=none", 1},
    [VM_FOLDING_UNFOLDS] = {"FOLDING that unfolds",
                            "queue=fcfs moldability=folding malleability=folding", UNLIMITED},
    [VM_FJT_FIGURE] = {"FJT(4) as in figure 5.5",
                       "queue=fcfs moldability=fjt-figure malleability=partition", 4},
    [VM_PSA_PRINTED] = {"PSA by the letter", "queue=fcfs moldability=psa-printed malleability=none",
                        1},
    [VM_FJT1_ABORT] = {"FJT(1)+abort", "queue=backfill-abort moldability=fjt-1 malleability=none",
                       1},
    [VM_FJT1_MALLEABILITY] = {"FJT(1)+malleability",
                              "queue=backfill-malleability moldability=fjt-1 "
                              "malleability=partition",
                              4},
    [VM_FJT1_ABORT_DUE] = {"FJT(1)+abort (6.1)",
                           "queue=backfill-abort-due moldability=fjt-1 malleability=none", 1},
    [VM_FJT1_MALLEABILITY_DUE] = {"FJT(1)+malleability (6.1)",
                                  "queue=backfill-malleability-due moldability=fjt-1 "
                                  "malleability=partition",
                                  4},
    [VM_FCFS_ABORT_DUE] = {"FCFS+abort (6.1)",
                           "queue=backfill-abort-due moldability=largest malleability=none", 1},
    [VM_FJT1_ABORT_FURTHER] = {"FJT(1)+abort (on)",
                               "queue=backfill-abort-further moldability=fjt-1 malleability=none",
                               1},
    [VM_FJT1_MALLEABILITY_FURTHER] = {"FJT(1)+malleability (on)",
                                      "queue=backfill-malleability-further moldability=fjt-1 "
                                      "malleability=partition",
                                      4},
    [VM_FCFS_ABORT_FURTHER] = {"FCFS+abort (on)",
                               "queue=backfill-abort-further moldability=largest "
                               "malleability=none",
                               1},
    [VM_FCFS_ABORT] = {"FCFS+abort", "queue=backfill-abort moldability=largest malleability=none",
                       1},
};

const char *vm_policy_name(enum vm_policy policy)
{
    return policies[policy].name;
}

/* Makes the workload of a setting: the same jobs for all policies. */
static int make_workload(const struct vm_setting *setting, uint64_t seed,
                         struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_utrera_model model = {.duration_s = setting->unsaid.duration_s,
                                       .machine = MACHINE,
                                       .load = setting->load,
                                       .mix = setting->mix,
                                       .kind = PLEAT_MALLEABLE,
                                       .mpl_max = UNLIMITED,
                                       .seed = seed};
    int rc = pleat_workload_init(workload);
    if (rc)
        return pleat_error_set(err, rc, "out of memory for the workload");
    rc = pleat_generate_utrera(&model, workload, err);
    for (size_t a = 0; !rc && a < workload->apps.count; a++) {
        struct pleat_app *app = &workload->apps.items[a];
        app->mpl_overhead = setting->unsaid.overhead;
        app->local_queues = !setting->unsaid.global_queue;
        app->cost.fixed_us = llround(setting->unsaid.resize_s * 1e6);
    }
    for (size_t j = 0; !rc && j < workload->jobs.count; j++) {
        struct pleat_workload_job *job = &workload->jobs.items[j];
        if (job->job_class == PLEAT_CLASS_LONG && setting->unsaid.long_minimum > job->minimum)
            job->minimum = setting->unsaid.long_minimum;
    }
    return rc;
}

/* ---- measuring ---- */

static void measure(const struct pleat_trial *trial, double *metrics)
{
    static double (*const of[VM_TIMES])(const struct pleat_trial *, size_t) = {
        pleat_trial_response_s, pleat_trial_wait_s, pleat_trial_run_s};
    double sums[VM_CLASSES][VM_TIMES] = {0}, counts[VM_CLASSES] = {0}, restarts = 0;
    double processors = 0;
    for (size_t j = 0; j < trial->workload->jobs.count; j++) {
        int class_ =
            trial->workload->jobs.items[j].job_class == PLEAT_CLASS_LONG ? VM_LONG : VM_SHORT;
        counts[class_]++;
        restarts += trial->outcomes[j].restarts;
        processors += class_ == VM_LONG ? pleat_trial_average(trial, j) : 0;
        for (int t = 0; t < VM_TIMES; t++)
            /* every job ends: a job that did not would make the mean not a number */
            sums[class_][t] += of[t](trial, j);
    }
    for (int c = 0; c < VM_CLASSES; c++)
        for (int t = 0; t < VM_TIMES; t++)
            metrics[vm_metric(c, t)] = counts[c] > 0 ? sums[c][t] / counts[c] : (double)NAN;
    metrics[VM_JOBS_LONG] = counts[VM_LONG];
    metrics[VM_JOBS_SHORT] = counts[VM_SHORT];
    metrics[VM_UTILIZATION] = pleat_trial_utilization(trial);
    metrics[VM_RESTARTS] = restarts;
    metrics[VM_PROCESSORS] = counts[VM_LONG] > 0 ? processors / counts[VM_LONG] : (double)NAN;
}

int vm_run(const struct pleat_study *study, const struct vm_setting *setting, uint64_t seed,
           double *metrics, struct pleat_error *err)
{
    struct pleat_platform platform = {0};
    struct pleat_workload workload = {0};
    struct pleat_trial trial = {0};
    struct pleat_sim_options options = {.platform = &platform, .seed = seed};
    options.parameters[PLEAT_PARAM_MPL_MAX] = policies[setting->policy].mpl;
    options.parameters[PLEAT_PARAM_PREEMPTIONS] = UNLIMITED; /* the thesis has no limit */
    int rc = pleat_trial_policies(&options, "approach=launcher", err);
    if (!rc)
        rc = pleat_trial_policies(&options, policies[setting->policy].policies, err);
    if (!rc && pleat_platform_add(&platform, "origin", MACHINE))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the platform");
    if (!rc)
        rc = make_workload(setting, seed, &workload, err);
    if (!rc)
        rc = pleat_trial_run(&trial, study, &workload, &options, false, err);
    if (!rc)
        measure(&trial, metrics);
    pleat_trial_finish(&trial);
    pleat_workload_finish(&workload);
    pleat_platform_finish(&platform);
    return rc;
}

#include "experiment/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment.h"
#include "workload/statistics.h"

#define TAU_S 10.0

struct run {
    struct pleat_trial *trial;
    const struct pleat_study *study;
};

static int on_change(void *context, const struct pleat_sim_change *change)
{
    struct run *run = context;
    return pleat_array_push(&run->trial->changes, *change);
}

static int on_progress(void *context, const struct pleat_sim_progress *progress)
{
    const struct run *run = context;
    (void)progress;
    return pleat_study_stops(run->study) ? PLEAT_E_CLOSED : 0;
}

int pleat_trial_run(struct pleat_trial *trial, const struct pleat_study *study,
                    const struct pleat_workload *workload, const struct pleat_sim_options *options,
                    bool changes, struct pleat_error *err)
{
    struct run run = {trial, study};
    struct pleat_sim_options own = *options;
    *trial = (struct pleat_trial){.workload = workload};
    trial->outcomes = calloc(workload->jobs.count + 1, sizeof(*trial->outcomes));
    if (!trial->outcomes)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the results");
    own.context = &run;
    own.on_change = changes ? on_change : NULL;
    own.on_progress = on_progress;
    int rc = pleat_sim_run(workload, &own, trial->outcomes, &trial->totals, err);
    if (rc == PLEAT_E_NOMEM)
        return pleat_error_set(err, rc, "out of memory while simulating");
    return rc;
}

void pleat_trial_finish(struct pleat_trial *trial)
{
    free(trial->outcomes);
    pleat_array_finish(&trial->changes);
    *trial = (struct pleat_trial){0};
}

/* ---- policies ---- */

static int set_policy(struct pleat_sim_options *options, const char *word, size_t length,
                      struct pleat_error *err)
{
    char text[80];
    if (length >= sizeof(text))
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "no policy has so long a name");
    memcpy(text, word, length);
    text[length] = '\0';
    char *name = strchr(text, '=');
    if (!name)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "'%s' is not QUESTION=POLICY", text);
    *name++ = '\0';
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (strcmp(pleat_question_name((enum pleat_question)q), text) != 0)
            continue;
        options->policies[q] = pleat_policy_find((enum pleat_question)q, name);
        return options->policies[q] ? 0
                                    : pleat_error_set(err, PLEAT_E_NOTFOUND,
                                                      "there is no %s policy '%s'", text, name);
    }
    return pleat_error_set(err, PLEAT_E_NOTFOUND, "policies answer no question '%s'", text);
}

int pleat_trial_policies(struct pleat_sim_options *options, const char *names,
                         struct pleat_error *err)
{
    for (names += strspn(names, " "); *names; names += strspn(names, " ")) {
        size_t length = strcspn(names, " ");
        int rc = set_policy(options, names, length, err);
        if (rc)
            return rc;
        names += length;
    }
    return 0;
}

/* ---- jobs ---- */

static bool ended(const struct pleat_trial *trial, size_t job)
{
    uint8_t fate = trial->outcomes[job].fate;
    return fate == PLEAT_SIM_DONE || fate == PLEAT_SIM_KILLED;
}

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

double pleat_trial_wait_s(const struct pleat_trial *trial, size_t job)
{
    const struct pleat_sim_outcome *outcome = &trial->outcomes[job];
    return ended(trial, job) ? seconds(outcome->start_us - outcome->submit_us) : (double)NAN;
}

double pleat_trial_run_s(const struct pleat_trial *trial, size_t job)
{
    const struct pleat_sim_outcome *outcome = &trial->outcomes[job];
    return ended(trial, job) ? seconds(outcome->end_us - outcome->start_us) : (double)NAN;
}

double pleat_trial_response_s(const struct pleat_trial *trial, size_t job)
{
    return pleat_trial_wait_s(trial, job) + pleat_trial_run_s(trial, job);
}

double pleat_trial_slowdown(const struct pleat_trial *trial, size_t job)
{
    return ended(trial, job) ? pleat_bounded_slowdown(pleat_trial_wait_s(trial, job),
                                                      pleat_trial_run_s(trial, job), TAU_S)
                             : (double)NAN;
}

double pleat_trial_average(const struct pleat_trial *trial, size_t job)
{
    return ended(trial, job) ? (double)trial->outcomes[job].average : (double)NAN;
}

/* ---- all of them ---- */

size_t pleat_trial_values(const struct pleat_trial *trial,
                          double (*of)(const struct pleat_trial *, size_t), double *values)
{
    size_t count = 0;
    for (size_t job = 0; job < trial->workload->jobs.count; job++) {
        double value = of(trial, job);
        if (isfinite(value))
            values[count++] = value;
    }
    return count;
}

double pleat_trial_mean(const struct pleat_trial *trial,
                        double (*of)(const struct pleat_trial *, size_t))
{
    double sum = 0;
    size_t count = 0;
    for (size_t job = 0; job < trial->workload->jobs.count; job++) {
        double value = of(trial, job);
        if (!isfinite(value))
            continue;
        sum += value;
        count++;
    }
    return count ? sum / (double)count : (double)NAN;
}

double pleat_trial_utilization(const struct pleat_trial *trial)
{
    double available = trial->totals.capacity_us - trial->totals.background_us;
    return available > 0 ? trial->totals.busy_us / available : 0;
}

double pleat_trial_makespan_s(const struct pleat_trial *trial)
{
    return seconds(trial->totals.end_us - trial->totals.begin_us);
}

void pleat_trial_largest(const struct pleat_trial *trial, int32_t *sizes)
{
    memset(sizes, 0, trial->workload->jobs.count * sizeof(*sizes));
    for (size_t i = 0; i < trial->changes.count; i++) {
        const struct pleat_sim_change *change = &trial->changes.items[i];
        if (change->to > sizes[change->job])
            sizes[change->job] = change->to;
    }
}

int pleat_trial_used(const struct pleat_trial *trial, size_t parts, struct pleat_curve *curve)
{
    struct pleat_edges edges = {0};
    *curve = (struct pleat_curve){0};
    int rc = pleat_array_reserve(&edges, trial->changes.count + 1);
    for (size_t i = 0; !rc && i < trial->changes.count; i++) {
        const struct pleat_sim_change *change = &trial->changes.items[i];
        rc = pleat_array_push(
            &edges, ((struct pleat_edge){change->time_us, (int64_t)change->to - change->from}));
    }
    if (!rc)
        rc = parts ? pleat_curve_means(curve, &edges, parts) : pleat_curve_levels(curve, &edges);
    pleat_array_finish(&edges);
    return rc;
}

int pleat_trial_resizes(const struct pleat_trial *trial, bool grows, bool shrinks,
                        struct pleat_curve *curve)
{
    size_t most = trial->changes.count + 1;
    *curve =
        (struct pleat_curve){.x = calloc(most, sizeof(double)), .y = calloc(most, sizeof(double))};
    if (!curve->x || !curve->y) {
        pleat_curve_finish(curve);
        return PLEAT_E_NOMEM;
    }
    for (size_t i = 0; i < trial->changes.count; i++) {
        const struct pleat_sim_change *change = &trial->changes.items[i];
        if (change->from == 0 || change->to == 0 || !(change->to > change->from ? grows : shrinks))
            continue;
        curve->x[curve->count] = seconds(change->time_us);
        curve->y[curve->count] = (double)(curve->count + 1);
        curve->count++;
    }
    return 0;
}

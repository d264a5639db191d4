/* trial.h - one simulated run, and what experiments measure of it. */
#ifndef PLEAT_EXPERIMENT_TRIAL_H
#define PLEAT_EXPERIMENT_TRIAL_H

#include "experiment/curve.h"
#include "sim/sim.h"

PLEAT_ARRAY(pleat_sim_changes, struct pleat_sim_change);

struct pleat_study;

struct pleat_trial {
    const struct pleat_workload *workload; /* borrowed */
    struct pleat_sim_outcome *outcomes;    /* by job */
    struct pleat_sim_totals totals;
    struct pleat_sim_changes changes; /* as they happened; where they were wanted */
};

/* Simulates; the callbacks of *options are the trial's. Interrupted with the study
 * (PLEAT_E_CLOSED). For any thread. Finish in any case. As pleat_sim_run. */
int pleat_trial_run(struct pleat_trial *trial, const struct pleat_study *study,
                    const struct pleat_workload *workload, const struct pleat_sim_options *options,
                    bool changes, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_trial_finish(struct pleat_trial *trial);

/* Sets policies by their names: "approach=pra queue=scan malleability=egs"; the others stay.
 * PLEAT_E_NOTFOUND: err says which there are not. */
int pleat_trial_policies(struct pleat_sim_options *options, const char *names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- of a job: not a number where it did not end (done or killed at its estimate) ---- */

double pleat_trial_wait_s(const struct pleat_trial *trial, size_t job);
double pleat_trial_run_s(const struct pleat_trial *trial, size_t job);
double pleat_trial_response_s(const struct pleat_trial *trial, size_t job);
/* Bounded by 10 s. */
double pleat_trial_slowdown(const struct pleat_trial *trial, size_t job);
double pleat_trial_average(const struct pleat_trial *trial, size_t job); /* processors */

/* ---- of all ---- */

/* The values of the jobs that have one, in their order; returns how many. */
size_t pleat_trial_values(const struct pleat_trial *trial,
                          double (*of)(const struct pleat_trial *, size_t), double *values);
/* Their mean; not a number where there are none. */
double pleat_trial_mean(const struct pleat_trial *trial,
                        double (*of)(const struct pleat_trial *, size_t));
/* Of what local users leave, from the first submission to the last end. */
double pleat_trial_utilization(const struct pleat_trial *trial);
double pleat_trial_makespan_s(const struct pleat_trial *trial);
/* The largest size of each job (0: it never ran). Needs the changes. */
void pleat_trial_largest(const struct pleat_trial *trial, int32_t *sizes);
/* Processors that jobs have, over time: in the mean over so many equal parts of it, or (0) after
 * each change; and how many resizes of running jobs there were until then (grows, shrinks or both).
 * Need the changes. PLEAT_E_NOMEM. */
int pleat_trial_used(const struct pleat_trial *trial, size_t parts,
                     struct pleat_curve *curve) PLEAT_MUST_CHECK;
int pleat_trial_resizes(const struct pleat_trial *trial, bool grows, bool shrinks,
                        struct pleat_curve *curve) PLEAT_MUST_CHECK;

#endif

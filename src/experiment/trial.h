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
    struct pleat_sim_changes changes; /* in the order of time; only if `changes` was set */
};

/* Simulates a workload. The trial sets the callbacks of *options itself; `changes`: keep all
 * changes of partitions. Ends early with the study (PLEAT_E_CLOSED). Any thread may call it. Finish
 * the trial in any case. Otherwise as pleat_sim_run. */
int pleat_trial_run(struct pleat_trial *trial, const struct pleat_study *study,
                    const struct pleat_workload *workload, const struct pleat_sim_options *options,
                    bool changes, struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_trial_finish(struct pleat_trial *trial);

/* Sets policies by their names: "approach=pra queue=scan malleability=egs"; the others stay.
 * PLEAT_E_NOTFOUND: err says which question or policy is unknown. */
int pleat_trial_policies(struct pleat_sim_options *options, const char *names,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- of a job; not a number if it did not end (done, or killed at its estimate) ---- */

double pleat_trial_wait_s(const struct pleat_trial *trial, size_t job);
double pleat_trial_run_s(const struct pleat_trial *trial, size_t job);
double pleat_trial_response_s(const struct pleat_trial *trial, size_t job);
/* Bounded slowdown (pleat_bounded_slowdown) with a bound of 10 s. */
double pleat_trial_slowdown(const struct pleat_trial *trial, size_t job);
/* processors, on average over its run */
double pleat_trial_average(const struct pleat_trial *trial, size_t job);

/* ---- of all ---- */

/* The values of `of` for the jobs that have one, in the order of the jobs; returns how many. */
size_t pleat_trial_values(const struct pleat_trial *trial,
                          double (*of)(const struct pleat_trial *, size_t), double *values);
/* The mean of these values; not a number if there are none. */
double pleat_trial_mean(const struct pleat_trial *trial,
                        double (*of)(const struct pleat_trial *, size_t));
/* The share of the processor time that local users leave, from the first submission to the last end
 * of a run, in which jobs run. */
double pleat_trial_utilization(const struct pleat_trial *trial);
double pleat_trial_makespan_s(const struct pleat_trial *trial);
/* The largest size of each job; 0: it never ran. Needs the changes. */
void pleat_trial_largest(const struct pleat_trial *trial, int32_t *sizes);
/* Curves over time; both need the changes. PLEAT_E_NOMEM. pleat_trial_used: the processors that
 * jobs have, as the mean of each of `parts` equal parts of the time, or, if parts is 0, after each
 * change. pleat_trial_resizes: how many resizes of running jobs (grows, shrinks or both) there were
 * until then. */
int pleat_trial_used(const struct pleat_trial *trial, size_t parts,
                     struct pleat_curve *curve) PLEAT_MUST_CHECK;
int pleat_trial_resizes(const struct pleat_trial *trial, bool grows, bool shrinks,
                        struct pleat_curve *curve) PLEAT_MUST_CHECK;

#endif

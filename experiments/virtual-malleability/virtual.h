/* virtual.h - the experiments of Utrera 2010, chapters 5 and 6: policies, workloads, one run. */
#ifndef PLEAT_EXPERIMENTS_VIRTUAL_H
#define PLEAT_EXPERIMENTS_VIRTUAL_H

#include "experiment/experiment.h"

enum vm_policy {
    /* chapter 5 */
    VM_PSA,
    VM_ASP60,
    VM_FOLDING,
    VM_FJT, /* chapter 6 calls it FJT (4) */
    /* other readings of these policies */
    VM_PSA_IDLE,
    VM_ASP60_IDLE,
    VM_FOLDING_UNFOLDS,
    VM_FJT_FIGURE,
    VM_PSA_PRINTED,
    /* chapter 6 */
    VM_FJT1_ABORT,
    VM_FJT1_MALLEABILITY,
    VM_FCFS_ABORT,
    VM_FJT1_ABORT_DUE,
    VM_FJT1_MALLEABILITY_DUE,
    VM_FCFS_ABORT_DUE,
    VM_FJT1_ABORT_FURTHER,
    VM_FJT1_MALLEABILITY_FURTHER,
    VM_FCFS_ABORT_FURTHER,
    VM_POLICIES
};
const char *vm_policy_name(enum vm_policy policy);

/* What the thesis leaves unsaid. */
struct vm_unsaid {
    double overhead; /* cost of each further process on a processor: mpl-overhead of workloads */
    int32_t long_minimum; /* the fewest processes that a long job has */
    double duration_s;    /* how long jobs arrive */
    double resize_s;      /* how long a job stands still when its partition changes */
    /* a job's processes share one queue on its processors; else each process stays on its own */
    bool global_queue;
};

struct vm_setting {
    const char *mix;
    double load; /* 0: the load of the mix itself */
    enum vm_policy policy;
    struct vm_unsaid unsaid;
};

enum { VM_LONG, VM_SHORT, VM_CLASSES };
enum { VM_RESPONSE, VM_WAIT, VM_EXECUTION, VM_TIMES };

/* Metrics of a run. First, at vm_metric(class, time), mean times of its jobs in seconds. Then: */
enum {
    VM_JOBS_LONG = VM_CLASSES * VM_TIMES, /* number of jobs of each class */
    VM_JOBS_SHORT,
    VM_UTILIZATION,
    VM_RESTARTS,   /* number of starts of all jobs, without each job's first one */
    VM_PROCESSORS, /* processors of a long job on average over its run, as the mean over them */
    VM_METRICS
};

static inline size_t vm_metric(int class_, int time)
{
    return (size_t)(class_ * VM_TIMES + time);
}

/* Fills metrics[VM_METRICS]; not a number where a run has no job of a class. */
int vm_run(const struct pleat_study *study, const struct vm_setting *setting, uint64_t seed,
           double *metrics, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- the settings that are swept ---- */

enum { VM_MIXES = 6, VM_FAMILIES = 2, VM_LOADS = 4 };
extern const char *const vm_mixes[VM_MIXES];       /* of table 5.3 */
extern const char *const vm_families[VM_FAMILIES]; /* "high", "low": tables 6.1 and 6.2 */
extern const double vm_loads[VM_LOADS];            /* of table 6.3 */

/* The values that are taken for what the thesis leaves unsaid, where they are not swept. */
extern const struct vm_unsaid vm_chapter5, vm_chapter6;

/* The settings of a study, each one once, and their numbers. */
struct vm_results {
    struct vm_setting *settings;
    size_t count, room;
    struct pleat_numbers numbers;
};

/* PLEAT_E_NOMEM. */
int vm_add(struct vm_results *results, struct vm_setting setting) PLEAT_MUST_CHECK;
/* The place of a setting that was added. */
size_t vm_find(const struct vm_results *results, struct vm_setting setting);

static inline struct pleat_estimate vm_estimate(const struct vm_results *results,
                                                struct vm_setting setting, size_t metric)
{
    return pleat_numbers_estimate(&results->numbers, vm_find(results, setting), metric);
}

/* By how much a is below b, as a share of b's mean; the interval is of their differences by seed.
 */
struct pleat_estimate vm_gain(const struct vm_results *results, struct vm_setting a,
                              struct vm_setting b, size_t metric);

static inline struct pleat_estimate vm_percent(struct pleat_estimate estimate)
{
    estimate.mean *= 100;
    estimate.half *= 100;
    return estimate;
}

/* What becomes of a conclusion of the thesis in a reading of it. */
struct vm_verdict {
    bool holds;
    char text[480]; /* what was measured */
};

/* Each chapter adds its settings before the runs, and writes its results after them. */
int vm_chapter5_add(struct vm_results *results, bool quick) PLEAT_MUST_CHECK;
int vm_chapter5_write(struct pleat_study *study, const struct vm_results *results,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
int vm_chapter6_add(struct vm_results *results, bool quick) PLEAT_MUST_CHECK;
int vm_chapter6_write(struct pleat_study *study, const struct vm_results *results,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* What the chapters conclude, as taken and in other readings: settings, the shapes, and the table.
 */
int vm_conclusions5_add(struct vm_results *results) PLEAT_MUST_CHECK;
void vm_conclusions5_tell(struct pleat_study *study, const struct vm_results *results);
void vm_conclusions5_write(struct pleat_study *study, const struct vm_results *results);
int vm_conclusions6_add(struct vm_results *results) PLEAT_MUST_CHECK;
void vm_conclusions6_tell(struct pleat_study *study, const struct vm_results *results);
void vm_conclusions6_write(struct pleat_study *study, const struct vm_results *results);

#endif

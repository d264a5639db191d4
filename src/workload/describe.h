/* describe.h - describes a workload: load, sizes, run times, arrivals. */
#ifndef PLEAT_WORKLOAD_DESCRIBE_H
#define PLEAT_WORKLOAD_DESCRIBE_H

#include "model/workload.h"
#include "workload/statistics.h"

struct pleat_description {
    size_t jobs, rigid, moldable, malleable;
    size_t users;    /* number of different users that are known */
    int32_t machine; /* the workload's machine, else the size of the largest job */
    double span_s;   /* first to last submission */
    double work_s;   /* processor-seconds, at the recorded sizes */
    double load;     /* offered load: work / (machine x span); 0 without a span */
    double serial;   /* shares of jobs: on one processor, */
    double powers;   /* on a power of two above one */
    struct pleat_summary size, run_s, gap_s; /* gap: from one submission to the next */
    struct pleat_summary work_per_job_s;     /* processor-seconds */
    struct pleat_summary accuracy;           /* run time / estimate, of jobs with an estimate */
    size_t estimates;                        /* number of jobs with an estimate */
    size_t hours[24];   /* submissions by hour of the day (UTC, or from time 0) */
    size_t weekdays[7]; /* from Monday; from the day of time 0 where the origin is unknown */
};

/* Returns 0 or PLEAT_E_NOMEM. A workload without jobs gives zeros. */
int pleat_workload_describe(const struct pleat_workload *workload,
                            struct pleat_description *description,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

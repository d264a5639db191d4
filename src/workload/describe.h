/* describe.h - what is in a workload: load, sizes, run times, arrivals. */
#ifndef PLEAT_WORKLOAD_DESCRIBE_H
#define PLEAT_WORKLOAD_DESCRIBE_H

#include "model/workload.h"
#include "workload/statistics.h"

struct pleat_description {
    size_t jobs, rigid, moldable, malleable, users;
    int32_t machine; /* the workload's, else the largest job */
    double span_s;   /* first to last submission */
    double work_s;   /* processor-seconds */
    double load;     /* work / (machine x span); 0 without a span */
    double serial;   /* shares of jobs: on one processor, */
    double powers;   /* on a power of two above one */
    struct pleat_summary size, run_s, gap_s, work_per_job_s, accuracy; /* run time / estimate */
    size_t estimates;                                                  /* jobs that have one */
    size_t hours[24];   /* submissions by hour of the day (UTC, or from time 0) */
    size_t weekdays[7]; /* from Monday; from time 0 where the origin is unknown */
};

int pleat_workload_describe(const struct pleat_workload *workload,
                            struct pleat_description *description,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif

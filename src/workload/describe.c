#include "workload/describe.h"

#include <stdlib.h>

#define US 1e6

/* ---- one number of a job ---- */

typedef double measure_fn(const struct pleat_workload_job *job);

static double size_of(const struct pleat_workload_job *job)
{
    return job->processors;
}

static double run_of(const struct pleat_workload_job *job)
{
    return (double)job->run_us / US;
}

static double work_of(const struct pleat_workload_job *job)
{
    return run_of(job) * job->processors;
}

/* Summarizes a measure over all jobs. values: working space. */
static void summarize(const struct pleat_workload_jobs *jobs, measure_fn *measure, double *values,
                      struct pleat_summary *summary)
{
    for (size_t i = 0; i < jobs->count; i++)
        values[i] = measure(&jobs->items[i]);
    pleat_summarize(values, jobs->count, summary);
}

static void summarize_gaps(const struct pleat_workload_jobs *jobs, double *values,
                           struct pleat_summary *summary)
{
    for (size_t i = 1; i < jobs->count; i++)
        values[i - 1] = (double)(jobs->items[i].submit_us - jobs->items[i - 1].submit_us) / US;
    pleat_summarize(values, jobs->count - 1, summary);
}

static size_t summarize_accuracy(const struct pleat_workload_jobs *jobs, double *values,
                                 struct pleat_summary *summary)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct pleat_workload_job *job = &jobs->items[i];
        if (job->estimate_us > 0)
            values[count++] = (double)job->run_us / (double)job->estimate_us;
    }
    pleat_summarize(values, count, summary);
    return count;
}

/* ---- counts ---- */

static int compare_users(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static size_t count_users(const struct pleat_workload_jobs *jobs, int32_t *users)
{
    size_t known = 0, different = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->items[i].user >= 0)
            users[known++] = jobs->items[i].user;
    }
    qsort(users, known, sizeof(*users), compare_users);
    for (size_t i = 0; i < known; i++)
        different += i == 0 || users[i] != users[i - 1];
    return different;
}

static void count_times(const struct pleat_workload *workload, struct pleat_description *out)
{
    const int64_t hour_us = INT64_C(3600000000), day_us = 24 * hour_us;
    /* 1970 began on a Thursday */
    int64_t first_day = workload->origin_us > 0 ? 3 : 0;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        int64_t at = workload->origin_us + workload->jobs.items[i].submit_us;
        out->hours[at / hour_us % 24]++;
        out->weekdays[(at / day_us + first_day) % 7]++;
    }
}

static void count_jobs(const struct pleat_workload *workload, struct pleat_description *out)
{
    size_t serial = 0, powers = 0;
    int32_t largest = 0;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        out->rigid += job->kind == PLEAT_RIGID;
        out->moldable += job->kind == PLEAT_MOLDABLE;
        out->malleable += job->kind == PLEAT_MALLEABLE;
        serial += job->processors == 1;
        powers += job->processors > 1 && (job->processors & (job->processors - 1)) == 0;
        out->work_s += work_of(job);
        if (job->processors > largest)
            largest = job->processors;
    }
    out->jobs = workload->jobs.count;
    out->serial = (double)serial / (double)out->jobs;
    out->powers = (double)powers / (double)out->jobs;
    out->machine = workload->machine > 0 ? workload->machine : largest;
}

int pleat_workload_describe(const struct pleat_workload *workload,
                            struct pleat_description *description, struct pleat_error *err)
{
    const struct pleat_workload_jobs *jobs = &workload->jobs;
    struct pleat_description out = {.machine = workload->machine};
    if (jobs->count == 0) {
        *description = out;
        return 0;
    }
    double *values = malloc(jobs->count * sizeof(*values));
    int32_t *users = malloc(jobs->count * sizeof(*users));
    if (!values || !users) {
        free(values);
        free(users);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    count_jobs(workload, &out);
    count_times(workload, &out);
    out.users = count_users(jobs, users);
    out.span_s = (double)(jobs->items[jobs->count - 1].submit_us - jobs->items[0].submit_us) / US;
    if (out.span_s > 0)
        out.load = out.work_s / (out.machine * out.span_s);
    summarize(jobs, size_of, values, &out.size);
    summarize(jobs, run_of, values, &out.run_s);
    summarize(jobs, work_of, values, &out.work_per_job_s);
    summarize_gaps(jobs, values, &out.gap_s);
    out.estimates = summarize_accuracy(jobs, values, &out.accuracy);
    free(values);
    free(users);
    *description = out;
    return 0;
}

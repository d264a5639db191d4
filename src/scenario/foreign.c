#include "scenario/foreign.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS_MOST = 20000000 };

int pleat_foreign_step(struct pleat_foreign *foreign)
{
    if (++foreign->steps <= STEPS_MOST)
        return 0;
    return pleat_error_set(foreign->err, PLEAT_E_INVALID,
                           "%s: its jobs are made of more than %d parts: write the repeated parts "
                           "as one",
                           foreign->name, STEPS_MOST);
}

void pleat_foreign_job(struct pleat_workload_job *job)
{
    memset(job, 0, sizeof(*job)); /* also padding, so that the same file gives the same bytes */
    job->site = PLEAT_NONE;
    job->user = -1;
    job->kind = PLEAT_RIGID;
}

static int64_t microseconds(double seconds)
{
    return llround(seconds * 1e6);
}

void pleat_foreign_times(struct pleat_foreign *foreign, struct pleat_workload_job *job,
                         double submit_s, double run_s, double limit_s)
{
    job->submit_us = microseconds(submit_s);
    job->run_us = microseconds(run_s);
    job->estimate_us = limit_s > 0 ? microseconds(limit_s) : 0;
    foreign->limited += job->estimate_us > 0;
}

void pleat_foreign_leave_out(struct pleat_foreign *foreign, size_t index, const char *why)
{
    if (foreign->unknown++ > 0)
        return;
    foreign->first_unknown = index;
    snprintf(foreign->unknown_why, sizeof(foreign->unknown_why), "%s", why);
}

int pleat_foreign_add(struct pleat_foreign *foreign, const struct pleat_member_place *place,
                      struct pleat_workload_job *job)
{
    struct pleat_swf_report *report = &foreign->reading->report;
    struct pleat_workload *workload = foreign->workload;
    struct pleat_error why;
    bool zero = job->run_us == 0;
    report->zero_run_time += zero;
    if (zero && foreign->reading->swf.zero == PLEAT_SWF_ZERO_SKIP) {
        report->no_run_time++;
        return 0;
    }
    if (pleat_workload_check_job(workload, job, &why))
        return pleat_member_wrong(place, "", "%s", why.text);
    if (pleat_array_push(&workload->jobs, *job))
        return pleat_error_set(foreign->err, PLEAT_E_NOMEM, "out of memory");
    report->missing_wait++;
    report->missing_estimate += job->estimate_us == 0;
    report->short_run += job->estimate_us > 0 && job->run_us > job->estimate_us;
    return 0;
}

static void note(struct pleat_string *notes, size_t count, const char *one, const char *many,
                 const char *what)
{
    if (count > 0)
        pleat_string_addf(notes, "%zu %s %s\n", count, count == 1 ? one : many, what);
}

void pleat_foreign_note(const struct pleat_foreign *foreign)
{
    struct pleat_string *notes = &foreign->reading->notes;
    if (foreign->unknown > 0)
        pleat_string_addf(notes, "%zu %s left out (the first is jobs[%zu]): %s\n", foreign->unknown,
                          foreign->unknown == 1 ? "job" : "jobs", foreign->first_unknown,
                          foreign->unknown_why);
    note(notes, foreign->transfers,
         "job has messages or files:", "jobs have messages or files:", "these take no time here");
    note(notes, foreign->limited, "job has a time limit:", "jobs have a time limit:",
         "read as their user's estimate (--kill-at-estimate ends jobs at it)");
    note(notes, foreign->depend, "job waits", "jobs wait",
         "for other jobs in the file: not read, they wait for nobody");
    note(notes, foreign->unnumbered, "job id is", "job ids are",
         "no number, so jobs are numbered from 1 on");
}

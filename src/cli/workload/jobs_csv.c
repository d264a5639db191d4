/* jobs_csv.c - the jobs of a workload as a table for other programs. */
#include <stdio.h>

#include "cli/common/csv_row.h"
#include "cli/workload/workload.h"
#include "figure/replace.h"

/* Adds a time that is 0 where there is none: then the field is empty. */
static void put_if_any(struct pleat_csv_row *row, int64_t us)
{
    if (us > 0)
        pleat_csv_seconds(row, us);
    else
        pleat_csv_text(row, "");
}

static void put_job(FILE *file, const struct pleat_workload_job *job)
{
    struct pleat_csv_row row = {.length = 0};
    pleat_csv_number(&row, job->number);
    pleat_csv_seconds(&row, job->submit_us);
    pleat_csv_seconds(&row, job->run_us);
    put_if_any(&row, job->estimate_us);
    pleat_csv_number(&row, job->processors);
    pleat_csv_text(&row, pleat_kind_name((enum pleat_job_kind)job->kind));
    pleat_csv_number(&row, job->minimum);
    pleat_csv_number(&row, job->maximum);
    pleat_csv_number(&row, job->initial);
    pleat_csv_number(&row, job->app);
    pleat_csv_number(&row, job->user);
    pleat_csv_number(&row, job->priority);
    put_if_any(&row, job->deadline_us);
    pleat_csv_number(&row, job->preceding);
    pleat_csv_seconds(&row, job->think_us);
    pleat_csv_put(file, &row);
}

int pleat_workload_write_csv(const struct pleat_workload *workload, const char *path,
                             struct pleat_error *err)
{
    struct pleat_replacement file;
    int rc = pleat_replacement_open(&file, path, err);
    if (rc)
        return rc;
    fputs("job,submit_s,run_s,estimate_s,processors,kind,minimum,maximum,initial,app,user,priority,"
          "deadline_s,preceding,think_s\n",
          file.file);
    for (size_t i = 0; i < workload->jobs.count; i++)
        put_job(file.file, &workload->jobs.items[i]);
    return pleat_replacement_commit(&file, err);
}

#include "scenario/oddities.h"

#include <stdio.h>

size_t pleat_workload_oddities(const struct pleat_swf_report *report,
                               const struct pleat_swf_options *options, bool all,
                               struct pleat_oddities *oddities)
{
    size_t instant = options->zero == PLEAT_SWF_ZERO_SKIP ? report->zero_run_time : 0;
    const struct {
        size_t count;
        bool changed;
        const char *one, *many, *what;
    } found[] = {
        {report->bursts, true, "line", "lines", "left out: part of a job that another line has"},
        {report->no_submit, true, "job", "jobs", "left out: no submit time"},
        {report->no_size, true, "job", "jobs", "left out: no processors"},
        {report->no_run_time - instant, true, "job", "jobs", "left out: no run time"},
        {instant, true, "job", "jobs", "left out: a run time of 0"},
        {report->zero_run_time - instant, false, "job", "jobs", "with a run time of 0"},
        {report->unsorted, true, "job", "jobs", "out of order: sorted by submission"},
        {report->extra_columns, true, "column", "columns", "after the 18th: not read"},
        {report->missing_wait, false, "job", "jobs", "without a wait"},
        {report->missing_estimate, false, "job", "jobs",
         "without an estimate: the run time stands in"},
        {report->short_run, false, "job", "jobs", "ran longer than estimated"},
        {report->repeated, false, "job", "jobs", "with a number that another one has, too"},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        if (found[i].count > 0 && (all || found[i].changed))
            snprintf(oddities->text[count++], sizeof(oddities->text[0]), "%zu %s %s",
                     found[i].count, found[i].count == 1 ? found[i].one : found[i].many,
                     found[i].what);
    if (report->crlf && all)
        snprintf(oddities->text[count++], sizeof(oddities->text[0]), "lines end with CR LF");
    return count;
}

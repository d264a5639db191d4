/* common.c - reads options and writes files, for all subcommands of `workload`. */
#include <stdio.h>
#include <string.h>

#include "cli/workload/workload.h"
#include "figure/replace.h"

int pleat_workload_usage(const struct pleat_options *options, const struct pleat_error *err)
{
    return pleat_usage(options->command, "%s", err->text);
}

int pleat_parse_zero(const char *what, const char *text, enum pleat_swf_zero *zero,
                     struct pleat_error *err)
{
    static const char *const words[] = {"skip", "keep"};
    size_t index = 0;
    int status = pleat_parse_word(what, text, words, 2, &index, err);
    if (!status)
        *zero = index == 0 ? PLEAT_SWF_ZERO_SKIP : PLEAT_SWF_ZERO_KEEP;
    return status;
}

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

void pleat_workload_comment(const struct pleat_options *options, struct pleat_string *comment)
{
    pleat_string_addf(comment, "pleat %s", options->command->name);
    for (int i = 1; i < options->first; i++)
        if (strcmp(options->argv[i], "--") != 0)
            pleat_string_addf(comment, " %s", options->argv[i]);
}

static int say_what(const struct pleat_workload *workload, const char *path)
{
    struct pleat_description about;
    struct pleat_error err;
    if (pleat_workload_describe(workload, &about, &err))
        return pleat_fail(&err);
    pleat_say("%s: %zu jobs (%zu moldable, %zu malleable), %d processors, offered load %.1f %%",
              strcmp(path, "-") != 0 ? path : "standard output", about.jobs, about.moldable,
              about.malleable, (int)about.machine, about.load * 100);
    return 0;
}

int pleat_workload_save(const struct pleat_workload *workload,
                        const struct pleat_swf_source *source, const char *path,
                        const char *comment)
{
    struct pleat_replacement file;
    struct pleat_error err;
    if (pleat_replacement_open(&file, path, &err))
        return pleat_fail(&err);
    int rc = pleat_swf_write(workload, source, file.file, comment, &err);
    if (rc) {
        pleat_replacement_abandon(&file);
        pleat_error_prefix(&err, rc, "%s", strcmp(path, "-") != 0 ? path : "standard output");
        return pleat_fail(&err);
    }
    if (pleat_replacement_commit(&file, &err))
        return pleat_fail(&err);
    return say_what(workload, path);
}

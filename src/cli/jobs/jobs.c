#include "cli/jobs/jobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"

bool pleat_job_ended(const json_t *job)
{
    return pleat_reply_is(job, "state", "done") || pleat_reply_is(job, "state", "failed") ||
           pleat_reply_is(job, "state", "cancelled");
}

bool pleat_job_is_held(const json_t *job)
{
    const json_t *by;
    size_t i;
    json_array_foreach(pleat_reply_array(job, "held_by"), i, by)
    {
        if (json_is_string(by) && !strcmp(json_string_value(by), "user"))
            return true;
    }
    return false;
}

bool pleat_job_succeeded(const json_t *job)
{
    return pleat_reply_is(job, "state", "done") && pleat_reply_int(job, "exit_code", -1) == 0;
}

int pleat_job_exit_code(const json_t *job)
{
    int signal_number = pleat_reply_small(job, "signal", 0, 127);
    int64_t code = pleat_reply_int(job, "exit_code", -1);
    if (pleat_reply_is(job, "state", "cancelled"))
        return PLEAT_EXIT_INTERRUPTED;
    if (!isfinite(pleat_reply_real(job, "start_s")))
        return pleat_reply_is(job, "reason", "could not be started") &&
                       (code == PLEAT_EXIT_NOT_EXECUTABLE || code == PLEAT_EXIT_NO_PROGRAM)
                   ? (int)code
                   : PLEAT_EXIT_BEFORE_RUN;
    if (signal_number > 0)
        return PLEAT_EXIT_SIGNAL + signal_number;
    if (pleat_reply_is(job, "state", "failed") && code == 0)
        return PLEAT_EXIT_BEFORE_RUN; /* Pleat ended the job, for the reason given */
    return code >= 0 && code <= 255 ? (int)code : PLEAT_EXIT_BEFORE_RUN;
}

void pleat_job_add_ending(const json_t *job, struct pleat_string *out)
{
    const char *reason = pleat_reply_text(job, "reason", "");
    int64_t signal_number = pleat_reply_int(job, "signal", 0);
    int64_t code = pleat_reply_int(job, "exit_code", -1);
    if (!pleat_job_ended(job))
        pleat_string_add(out, "-");
    else if (pleat_reply_is(job, "state", "cancelled"))
        pleat_string_addf(out, "cancelled%s%s", *reason && strcmp(reason, "cancelled") ? ": " : "",
                          *reason && strcmp(reason, "cancelled") ? reason : "");
    else if (pleat_reply_is(job, "state", "failed") && *reason && strcmp(reason, "exited") != 0)
        pleat_string_add(out, reason);
    else if (signal_number > 0 && signal_number < 65) {
        const char *name = sigabbrev_np((int)signal_number);
        pleat_string_addf(out, "signal %d%s%s%s", (int)signal_number, name ? " (SIG" : "",
                          name ? name : "", name ? ")" : "");
    } else
        pleat_string_addf(out, "exit %lld", (long long)code);
}

const char *pleat_job_colour(const json_t *job)
{
    if (pleat_reply_is(job, "state", "running"))
        return "green";
    if (pleat_reply_is(job, "state", "resizing") || pleat_reply_is(job, "state", "claiming"))
        return "cyan";
    if (pleat_reply_is(job, "state", "queued"))
        return "yellow";
    if (pleat_reply_is(job, "state", "failed") ||
        (pleat_reply_is(job, "state", "done") && !pleat_job_succeeded(job)))
        return "red";
    return NULL;
}

/* How many rows from `first` on are waiting tasks of one array, which are shown as one row. */
static size_t tasks_like(const json_t *jobs, size_t first)
{
    const json_t *job = json_array_get(jobs, first), *next;
    int64_t array = pleat_reply_int(json_object_get(job, "array"), "job", 0);
    size_t count = 1;
    while (array && pleat_reply_is(job, "state", "queued") &&
           (next = json_array_get(jobs, first + count)) &&
           pleat_reply_is(next, "state", "queued") &&
           pleat_reply_int(next, "job", 0) == pleat_reply_int(job, "job", 0) + (int64_t)count &&
           pleat_reply_int(json_object_get(next, "array"), "job", 0) == array &&
           json_equal(json_object_get(job, "held_by"), json_object_get(next, "held_by")))
        count++;
    return count;
}

/* Sets the cells of number and name: "17 heat"; of a task "17 heat[3]"; of several tasks "17-19
 * heat[3-5]". */
static void set_name(struct pleat_table *table, const json_t *job, const json_t *last)
{
    long long first = (long long)pleat_reply_int(job, "job", 0);
    long long number = (long long)pleat_reply_int(last, "job", 0);
    long long index = (long long)pleat_reply_int(json_object_get(job, "array"), "index", -1);
    long long end = (long long)pleat_reply_int(json_object_get(last, "array"), "index", -1);
    const char *name = pleat_reply_text(job, "name", "");
    if (number == first)
        pleat_table_setf(table, 0, "%lld", first);
    else
        pleat_table_setf(table, 0, "%lld-%lld", first, number);
    if (index < 0)
        pleat_table_set(table, 1, name);
    else if (index == end)
        pleat_table_setf(table, 1, "%s[%lld]", name, index);
    else
        pleat_table_setf(table, 1, "%s[%lld-%lld]", name, index, end);
}

static void add_row(struct pleat_table *table, const json_t *job, const json_t *last)
{
    int64_t least = pleat_reply_int(job, "min", 0), most = pleat_reply_int(job, "max", 0);
    const json_t *progress = json_object_get(job, "progress");
    int64_t iteration = pleat_reply_int(progress, "iteration", -1);
    const char *remark = pleat_reply_text(job, "text", "");
    struct pleat_string ending = {0};
    pleat_table_row(table);
    set_name(table, job, last);
    pleat_table_set(table, 2, pleat_reply_text(job, "state", ""));
    pleat_table_colour(table, 2, pleat_job_colour(job));
    long long processors = (long long)pleat_reply_int(job, "processors", 0);
    long long processes = (long long)pleat_reply_int(job, "processes", processors);
    if (processes > processors && processors > 0)
        pleat_table_setf(table, 3, "%lld/%lld", processors, processes);
    else
        pleat_table_setf(table, 3, "%lld", processors);
    if (least == most)
        pleat_table_setf(table, 4, "%lld", (long long)least);
    else
        pleat_table_setf(table, 4, "%lld-%lld", (long long)least, (long long)most);
    pleat_table_set_span(table, 5, pleat_reply_real(job, "wait_s"));
    pleat_table_set_span(table, 6, pleat_reply_real(job, "run_s"));
    if (iteration >= 0)
        pleat_table_setf(table, 7, "%lld", (long long)iteration);
    else
        pleat_table_set(table, 7, NULL);
    pleat_job_add_ending(job, &ending);
    if (!pleat_job_ended(job) || *remark)
        pleat_table_set(table, 8, *remark ? remark : pleat_reply_text(job, "reason", ""));
    else
        pleat_table_set(table, 8, ending.text);
    pleat_string_finish(&ending);
}

int pleat_jobs_print(const json_t *jobs)
{
    static const struct pleat_column columns[] = {
        {"JOB", PLEAT_COLUMN_NUMBER},   {"NAME", PLEAT_COLUMN_CUT},
        {"STATE", PLEAT_COLUMN_TEXT},   {"PROCS", PLEAT_COLUMN_NUMBER},
        {"RANGE", PLEAT_COLUMN_NUMBER}, {"WAIT", PLEAT_COLUMN_NUMBER},
        {"RUN", PLEAT_COLUMN_NUMBER},   {"ITERATION", PLEAT_COLUMN_NUMBER},
        {"REMARK", PLEAT_COLUMN_CUT}};
    size_t count;
    if (pleat_settings.json) {
        json_t *object = json_pack("{s:O}", "jobs", jobs);
        int code = pleat_reply_print(object);
        json_decref(object);
        return code;
    }
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < json_array_size(jobs); i += count) {
        count = tasks_like(jobs, i);
        add_row(table, json_array_get(jobs, i), json_array_get(jobs, i + count - 1));
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

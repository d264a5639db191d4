#include <errno.h>
#include <string.h>
#include <time.h>

#include "workload/convert.h"
#include "workload/swf-internal.h"

enum { PIECE = 256 * 1024 }; /* bytes written at a time */

/* ---- header ---- */

/* Adds a header line for each line of text, without characters that would break the header. */
static void add_note(struct pleat_string *out, const char *text)
{
    for (; *text; text += *text == '\n') {
        pleat_string_add(out, "; Note: ");
        for (; *text && *text != '\n'; text++) {
            char c = (unsigned char)*text < ' ' ? ' ' : *text;
            pleat_string_add_bytes(out, &c, 1);
        }
        pleat_string_add(out, "\n");
    }
}

/* Adds a date as `date` writes it: "Fri Oct 01 00:00:03 UTC 1993". */
static void add_date(struct pleat_string *out, const char *key, int64_t us)
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (!gmtime_r(&seconds, &parts))
        return;
    pleat_string_addf(out, "; %s: %s %s %02d %02d:%02d:%02d UTC %d\n", key, days[parts.tm_wday],
                      months[parts.tm_mon], parts.tm_mday, parts.tm_hour, parts.tm_min,
                      parts.tm_sec, parts.tm_year + 1900);
}

/* Adds the header lines that follow from the workload, whatever log it was read from. */
static void add_counts(struct pleat_string *out, const struct pleat_workload *workload)
{
    pleat_string_addf(out,
                      "; MaxJobs: %zu\n; MaxRecords: %zu\n; UnixStartTime: ", workload->jobs.count,
                      workload->jobs.count);
    pleat_decimal_add_seconds(out, workload->origin_us);
    pleat_string_add(out, "\n");
    if (workload->machine > 0)
        pleat_string_addf(out, "; MaxProcs: %d\n", workload->machine);
}

/* Adds the other header lines, where there is no log to take them from. */
static void add_background(struct pleat_string *out, const struct pleat_workload *workload)
{
    const struct pleat_workload_jobs *jobs = &workload->jobs;
    int64_t longest = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->items[i].run_us > longest)
            longest = jobs->items[i].run_us;
    }
    pleat_string_add(out, "; Computer: unknown\n; Installation: unknown\n; Conversion: Pleat\n"
                          "; Preemption: No\n; TimeZoneString: UTC\n");
    if (workload->origin_us > 0 && jobs->count > 0) {
        add_date(out, "StartTime", workload->origin_us);
        add_date(out, "EndTime", workload->origin_us + jobs->items[jobs->count - 1].submit_us);
    }
    if (workload->machine > 0)
        pleat_string_addf(out, "; MaxNodes: %d\n", workload->machine);
    pleat_string_add(out, "; MaxRuntime: ");
    pleat_decimal_add_seconds(out, longest);
    pleat_string_add(out, "\n");
}

/* Whether application 0 is anything but a linear one without options. */
static bool is_special(const struct pleat_workload *workload)
{
    struct pleat_string text = {0};
    pleat_app_format(workload, &workload->apps.items[0], &text);
    bool special = text.failed || strcmp(text.text, "linear") != 0;
    pleat_string_finish(&text);
    return special;
}

static void add_apps(struct pleat_string *out, const struct pleat_workload *workload)
{
    for (size_t i = is_special(workload) ? 0 : 1; i < workload->apps.count; i++) {
        pleat_string_addf(out, "; Pleat-App: %zu ", i);
        pleat_app_format(workload, &workload->apps.items[i], out);
        pleat_string_add(out, "\n");
    }
}

static void add_layout(struct pleat_string *out, const struct pleat_swf_layout *layout)
{
    if (layout->count == 0)
        return;
    pleat_string_add(out, "; Pleat-Note: kind 0 rigid, 1 moldable, 2 malleable; sizes 0 any, 1 "
                          "powers, 2 squares, 3 multiples, 4 grids, 5 those of the application's "
                          "table\n; Pleat-Columns:");
    for (int i = 0; i < layout->count; i++)
        pleat_string_addf(out, " %s", pleat_swf_extra_name(layout->columns[i]));
    pleat_string_add(out, "\n");
}

static void add_header(struct pleat_string *out, const struct pleat_workload *workload,
                       const struct pleat_swf_source *source, const struct pleat_swf_layout *layout,
                       const char *comment)
{
    pleat_string_add(out, "; Version: 2.2\n");
    add_counts(out, workload);
    if (!source)
        add_background(out, workload);
    else if (source->header.length > 0)
        pleat_string_add_bytes(out, source->header.text, source->header.length);
    if (comment)
        add_note(out, comment);
    add_apps(out, workload);
    add_layout(out, layout);
}

/* ---- jobs ---- */

static void add_integer(struct pleat_string *out, int64_t value)
{
    pleat_string_add_bytes(out, " ", 1);
    pleat_decimal_add_integer(out, value);
}

static void add_real(struct pleat_string *out, double value)
{
    pleat_string_add_bytes(out, " ", 1);
    pleat_decimal_add_real(out, value);
}

static void add_seconds(struct pleat_string *out, int64_t us)
{
    pleat_string_add_bytes(out, " ", 1);
    pleat_decimal_add_seconds(out, us);
}

/* Keeps both numbers of processors of the record, unless they give another size than the job's. */
static void add_processors(int32_t processors, struct pleat_swf_record *record)
{
    if ((record->allocated > 0 ? record->allocated : record->requested) != processors)
        record->allocated = record->requested = processors;
}

/* Writes the standard columns: the job's own values, and from the record those that a job does not
 * keep. */
static void add_job(struct pleat_string *out, const struct pleat_workload_job *job,
                    struct pleat_swf_record record)
{
    add_processors(job->processors, &record);
    pleat_decimal_add_integer(out, job->number);
    add_seconds(out, job->submit_us);
    add_real(out, record.wait_s);
    add_seconds(out, job->run_us);
    add_integer(out, record.allocated);
    add_real(out, record.cpu_s);
    add_real(out, record.memory_kb);
    add_integer(out, record.requested);
    if (job->estimate_us > 0)
        add_seconds(out, job->estimate_us);
    else
        add_integer(out, -1);
    add_real(out, record.requested_kb);
    add_integer(out, record.status);
    add_integer(out, job->user);
    add_integer(out, record.group);
    add_integer(out, record.executable);
    add_integer(out, record.queue);
    add_integer(out, record.partition);
    if (job->preceding <= 0 || record.preceding == job->preceding) {
        add_integer(out, record.preceding);
        add_real(out, record.think_s);
    } else {
        add_integer(out, job->preceding);
        add_seconds(out, job->think_us);
    }
}

static void add_extras(struct pleat_string *out, const struct pleat_workload_job *job,
                       const struct pleat_swf_layout *layout)
{
    bool time;
    for (int i = 0; i < layout->count; i++) {
        int64_t value = pleat_swf_extra_get(job, layout->columns[i], &time);
        if (time)
            add_seconds(out, value);
        else
            add_integer(out, value);
    }
    pleat_string_add(out, "\n");
}

static int put(struct pleat_string *out, FILE *file, struct pleat_error *err)
{
    if (out->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (fwrite(out->text, 1, out->length, file) != out->length)
        return pleat_error_sys(err, errno, "cannot write the workload");
    out->length = 0;
    return 0;
}

static int write_jobs(const struct pleat_workload *workload, const struct pleat_swf_source *source,
                      const struct pleat_swf_layout *layout, struct pleat_string *out, FILE *file,
                      struct pleat_error *err)
{
    const struct pleat_swf_record unknown = {.wait_s = -1,
                                             .cpu_s = -1,
                                             .memory_kb = -1,
                                             .requested_kb = -1,
                                             .status = 1,
                                             .group = -1,
                                             .executable = -1,
                                             .queue = -1,
                                             .partition = -1,
                                             .preceding = -1,
                                             .think_s = -1};
    int rc = 0;
    for (size_t i = 0; i < workload->jobs.count && !rc; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        add_job(out, job, source ? source->records.items[i] : unknown);
        add_extras(out, job, layout);
        if (out->length >= PIECE)
            rc = put(out, file, err);
    }
    return rc ? rc : put(out, file, err);
}

int pleat_swf_write(const struct pleat_workload *workload, const struct pleat_swf_source *source,
                    FILE *file, const char *comment, struct pleat_error *err)
{
    struct pleat_string out = {0};
    struct pleat_swf_layout layout;
    int rc = pleat_workload_check(workload, err);
    if (rc)
        return rc;
    if (source && source->records.count != workload->jobs.count)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%zu jobs cannot be written with the columns of %zu others",
                               workload->jobs.count, source->records.count);
    pleat_swf_layout_needed(workload, &layout);
    add_header(&out, workload, source, &layout, comment);
    rc = write_jobs(workload, source, &layout, &out, file, err);
    if (!rc && fflush(file))
        rc = pleat_error_sys(err, errno, "cannot write the workload");
    pleat_string_finish(&out);
    return rc;
}

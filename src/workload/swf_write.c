#include <errno.h>
#include <string.h>
#include <time.h>

#include "workload/convert.h"
#include "workload/swf-internal.h"

enum { PIECE = 256 * 1024 }; /* written at a time */

/* ---- header ---- */

/* A line of its own for each line of text, without what would break the header. */
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

/* As `date` writes it: "Fri Oct 01 00:00:03 UTC 1993". */
static void add_date(struct pleat_string *out, const char *key, int64_t us)
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (!gmtime_r(&seconds, &parts))
        return;
    pleat_string_addf(out, "; %s: %.3s %.3s %02d %02d:%02d:%02d UTC %d\n", key,
                      days + 3 * parts.tm_wday, months + 3 * parts.tm_mon, parts.tm_mday,
                      parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_year + 1900);
}

static void add_times(struct pleat_string *out, const struct pleat_workload *workload)
{
    const struct pleat_workload_jobs *jobs = &workload->jobs;
    int64_t longest = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->items[i].run_us > longest)
            longest = jobs->items[i].run_us;
    }
    pleat_string_add(out, "; UnixStartTime: ");
    pleat_decimal_add_seconds(out, workload->origin_us);
    pleat_string_add(out, "\n; TimeZoneString: UTC\n");
    if (workload->origin_us > 0 && jobs->count > 0) {
        add_date(out, "StartTime", workload->origin_us);
        add_date(out, "EndTime", workload->origin_us + jobs->items[jobs->count - 1].submit_us);
    }
    pleat_string_add(out, "; MaxRuntime: ");
    pleat_decimal_add_seconds(out, longest);
    pleat_string_add(out, "\n");
}

/* Is application 0 another than a linear one without more? */
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

static void add_header(struct pleat_string *out, const struct pleat_workload *workload,
                       const struct pleat_swf_layout *layout, const char *comment)
{
    pleat_string_add(out, "; Version: 2.2\n; Computer: unknown\n; Installation: unknown\n"
                          "; Conversion: Pleat\n");
    pleat_string_addf(out, "; MaxJobs: %zu\n; MaxRecords: %zu\n; Preemption: No\n",
                      workload->jobs.count, workload->jobs.count);
    add_times(out, workload);
    if (workload->machine > 0)
        pleat_string_addf(out, "; MaxNodes: %d\n; MaxProcs: %d\n", workload->machine,
                          workload->machine);
    if (comment)
        add_note(out, comment);
    add_apps(out, workload);
    if (layout->count == 0)
        return;
    add_note(out, "columns from the 19th on are Pleat's; kind: 0 rigid, 1 moldable, 2 malleable;\n"
                  "sizes: 0 any, 1 powers, 2 squares, 3 multiples, 4 grids");
    pleat_string_add(out, "; Pleat-Columns:");
    for (int i = 0; i < layout->count; i++)
        pleat_string_addf(out, " %s", pleat_swf_extra_name(layout->columns[i]));
    pleat_string_add(out, "\n");
}

/* ---- jobs ---- */

static void add_job(struct pleat_string *out, const struct pleat_workload_job *job,
                    const struct pleat_swf_layout *layout)
{
    bool time;
    pleat_string_addf(out, "%lld ", (long long)job->number);
    pleat_decimal_add_seconds(out, job->submit_us);
    pleat_string_add(out, " -1 ");
    pleat_decimal_add_seconds(out, job->run_us);
    pleat_string_addf(out, " %d -1 -1 %d ", job->processors, job->processors);
    if (job->estimate_us > 0)
        pleat_decimal_add_seconds(out, job->estimate_us);
    else
        pleat_string_add(out, "-1");
    pleat_string_addf(out, " -1 1 %d -1 -1 -1 -1 -1 -1", job->user);
    for (int i = 0; i < layout->count; i++) {
        int64_t value = pleat_swf_extra_get(job, layout->columns[i], &time);
        pleat_string_add(out, " ");
        if (time)
            pleat_decimal_add_seconds(out, value);
        else
            pleat_string_addf(out, "%lld", (long long)value);
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

int pleat_swf_write(const struct pleat_workload *workload, FILE *file, const char *comment,
                    struct pleat_error *err)
{
    struct pleat_string out = {0};
    struct pleat_swf_layout layout;
    int rc = pleat_workload_check(workload, err);
    if (rc)
        return rc;
    pleat_swf_layout_needed(workload, &layout);
    add_header(&out, workload, &layout, comment);
    for (size_t i = 0; i < workload->jobs.count && !rc; i++) {
        add_job(&out, &workload->jobs.items[i], &layout);
        if (out.length >= PIECE)
            rc = put(&out, file, err);
    }
    if (!rc)
        rc = put(&out, file, err);
    if (!rc && fflush(file))
        rc = pleat_error_sys(err, errno, "cannot write the workload");
    pleat_string_finish(&out);
    return rc;
}

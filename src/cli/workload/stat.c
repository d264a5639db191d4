/* stat.c - pleat workload stat: describes a log in tables, as JSON, and in figures. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/common/term.h"
#include "cli/workload/workload.h"

struct stat_request {
    const char *path, *svg, *csv;
    struct pleat_reading reading;
};

struct described {
    struct pleat_workload workload;
    struct pleat_swf_report report;
    struct pleat_description about;
    size_t too_large; /* jobs larger than the machine that the header names */
};

/* ---- JSON ---- */

static json_t *summary_json(const struct pleat_summary *summary)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)summary->count,
                     "mean", summary->mean, "deviation", summary->deviation, "least",
                     summary->least, "median", summary->median, "p95", summary->p95, "most",
                     summary->most);
}

static json_t *counts_json(const size_t *counts, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer((json_int_t)counts[i]));
    return array;
}

static json_t *report_json(const struct pleat_swf_report *report, size_t too_large)
{
    const struct {
        const char *name;
        size_t count;
    } counts[] = {{"lines", report->lines},
                  {"headers", report->headers},
                  {"no_run_time", report->no_run_time},
                  {"no_size", report->no_size},
                  {"no_submit", report->no_submit},
                  {"bursts", report->bursts},
                  {"zero_run_time", report->zero_run_time},
                  {"unsorted", report->unsorted},
                  {"missing_wait", report->missing_wait},
                  {"missing_estimate", report->missing_estimate},
                  {"short_run", report->short_run},
                  {"extra_columns", report->extra_columns},
                  {"repeated_numbers", report->repeated},
                  {"too_large", too_large}};
    json_t *json = json_object();
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        json_object_set_new(json, counts[i].name, json_integer((json_int_t)counts[i].count));
    json_object_set_new(json, "crlf", json_boolean(report->crlf));
    return json;
}

/* What a reader has noted, a sentence each. */
static json_t *notes_json(const struct pleat_string *notes)
{
    json_t *array = json_array();
    for (const char *at = notes->text; at && *at;) {
        size_t length = strcspn(at, "\n");
        json_array_append_new(array, json_stringn(at, length));
        at += length + (at[length] != '\0');
    }
    return array;
}

static int print_json(const struct stat_request *request, const struct described *log)
{
    const struct pleat_description *about = &log->about;
    json_t *origin =
        log->workload.origin_us ? json_real((double)log->workload.origin_us / 1e6) : json_null();
    json_t *json = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:f, s:f, s:f, s:f, s:f, s:I}", "file",
        request->path, "jobs", (json_int_t)about->jobs, "rigid", (json_int_t)about->rigid,
        "moldable", (json_int_t)about->moldable, "malleable", (json_int_t)about->malleable, "users",
        (json_int_t)about->users, "machine", (int)about->machine, "origin_s", origin, "span_s",
        about->span_s, "work_s", about->work_s, "load", about->load, "serial", about->serial,
        "powers", about->powers, "estimates", (json_int_t)about->estimates);
    json_object_set_new(json, "size", summary_json(&about->size));
    json_object_set_new(json, "run_s", summary_json(&about->run_s));
    json_object_set_new(json, "gap_s", summary_json(&about->gap_s));
    json_object_set_new(json, "work_per_job_s", summary_json(&about->work_per_job_s));
    json_object_set_new(json, "accuracy", summary_json(&about->accuracy));
    json_object_set_new(json, "hours", counts_json(about->hours, 24));
    json_object_set_new(json, "weekdays", counts_json(about->weekdays, 7));
    json_t *read = report_json(&log->report, log->too_large);
    json_object_set_new(read, "format", json_string(pleat_format_name(request->reading.format)));
    json_object_set_new(read, "notes", notes_json(&request->reading.notes));
    json_object_set_new(json, "read", read);
    int code = pleat_reply_print(json);
    json_decref(json);
    return code;
}

/* ---- tables ---- */

/* Prints a moment by the same clock as the hours of the day. */
static void print_moment(int64_t moment_us)
{
    time_t moment = (time_t)(moment_us / 1000000);
    struct tm when;
    char text[40];
    if (gmtime_r(&moment, &when) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &when))
        printf(", from %s UTC on", text);
}

static void print_head(const struct stat_request *request, const struct described *log)
{
    const struct pleat_description *about = &log->about;
    char buffer[PLEAT_TIME_SIZE];
    struct pleat_term term;
    struct pleat_string name = {0};
    pleat_term_init(&term);
    pleat_term_add(&term, &name, strcmp(request->path, "-") != 0 ? request->path : "standard input",
                   0);
    printf("workload     %s\n", name.text ? name.text : "");
    printf("jobs         %zu (%zu rigid, %zu moldable, %zu malleable)", about->jobs, about->rigid,
           about->moldable, about->malleable);
    if (about->users)
        printf(" of %zu user%s", about->users, about->users == 1 ? "" : "s");
    printf("\nmachine      %d processors%s\n", (int)about->machine,
           log->workload.machine > 0 ? "" : " (its largest job: the header does not say)");
    printf("submitted    within %s", pleat_time_span(about->span_s, buffer));
    if (log->workload.origin_us && log->workload.jobs.count > 0)
        print_moment(log->workload.origin_us + log->workload.jobs.items[0].submit_us);
    printf("\nwork         %.4g processor-hours, offered load %.1f %%\n", about->work_s / 3600,
           about->load * 100);
    printf("sizes        %.1f %% on one processor, %.1f %% on 2, 4, 8, ...\n", about->serial * 100,
           about->powers * 100);
    pleat_string_finish(&name);
}

static void add_row(struct pleat_table *table, const char *name,
                    const struct pleat_summary *summary, bool time)
{
    const double values[] = {summary->mean,   summary->deviation, summary->least,
                             summary->median, summary->p95,       summary->most};
    if (summary->count == 0)
        return;
    pleat_table_row(table);
    pleat_table_set(table, 0, name);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (time)
            pleat_table_set_span(table, i + 1, values[i]);
        else
            pleat_table_setf(table, i + 1, "%.4g", values[i]);
    }
}

static int print_summaries(const struct pleat_description *about)
{
    static const struct pleat_column columns[] = {
        {"OF A JOB", PLEAT_COLUMN_TEXT}, {"MEAN", PLEAT_COLUMN_NUMBER},
        {"SD", PLEAT_COLUMN_NUMBER},     {"LEAST", PLEAT_COLUMN_NUMBER},
        {"MEDIAN", PLEAT_COLUMN_NUMBER}, {"95 %", PLEAT_COLUMN_NUMBER},
        {"MOST", PLEAT_COLUMN_NUMBER}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    add_row(table, "processors", &about->size, false);
    add_row(table, "run time", &about->run_s, true);
    add_row(table, "gap before the next", &about->gap_s, true);
    add_row(table, "processor time", &about->work_per_job_s, true);
    add_row(table, "run time / estimate", &about->accuracy, false);
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static void print_oddities(const struct stat_request *request, const struct described *log)
{
    struct pleat_oddities oddities;
    const char *title = "\nodd          ";
    size_t count = pleat_workload_oddities(&log->report, &request->reading.swf, true, &oddities);
    for (size_t i = 0; i < count; i++, title = "             ")
        printf("%s%s\n", title, oddities.text[i]);
    for (const char *at = request->reading.notes.text; at && *at; title = "             ") {
        size_t length = strcspn(at, "\n");
        printf("%s%.*s\n", title, (int)length, at);
        at += length + (at[length] != '\0');
    }
    if (log->too_large)
        printf("%s%zu job%s larger than the machine: cannot run there\n", title, log->too_large,
               log->too_large == 1 ? "" : "s");
}

/* ---- figures ---- */

/* Prints figures in the terminal. They are an extra: without gnuplot there is a note, and no
 * failure. */
static int print_figures(const struct pleat_plot *panels)
{
    struct pleat_term term;
    struct pleat_string text = {0};
    struct pleat_error err;
    int status = 0;
    pleat_term_init(&term);
    for (size_t i = 0; i < PLEAT_FIGURE_TEXT_COUNT && !status; i++) {
        pleat_string_add(&text, "\n");
        status = pleat_plot_add_text(&panels[i], &term, &text, &err);
    }
    if (!status)
        fputs(text.text, stdout);
    pleat_string_finish(&text);
    if (status == PLEAT_E_NOTFOUND) {
        pleat_say("%s", err.text);
        return 0;
    }
    return status ? pleat_fail(&err) : 0;
}

static int show_figures(const struct stat_request *request, const struct described *log)
{
    struct pleat_term term;
    struct pleat_error err;
    int code = 0;
    pleat_term_init(&term);
    bool text = term.terminal && !pleat_settings.json && log->about.jobs > 0;
    if (!text && !request->svg)
        return 0;
    struct pleat_figures *figures = pleat_figures_create(&log->workload, &log->about);
    if (!figures) {
        pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory for the figures");
        return pleat_fail(&err);
    }
    const struct pleat_plot *panels = pleat_figures_panels(figures);
    if (text)
        code = print_figures(panels);
    if (!code && request->svg && pleat_plot_write(panels, PLEAT_FIGURE_COUNT, request->svg, &err))
        code = pleat_fail(&err);
    pleat_figures_destroy(figures);
    return code;
}

/* ---- all of it ---- */

static int read_stat(struct stat_request *request, struct described *log, struct pleat_error *err)
{
    if (pleat_workload_init(&log->workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int status = pleat_workload_read(request->path, &request->reading, &log->workload, err);
    log->report = request->reading.report;
    if (!status)
        status = pleat_workload_describe(&log->workload, &log->about, err);
    for (size_t i = 0; !status && i < log->workload.jobs.count; i++)
        log->too_large += log->workload.machine > 0 &&
                          log->workload.jobs.items[i].minimum > log->workload.machine;
    return status;
}

static int read_options(struct pleat_options *options, struct stat_request *request)
{
    struct pleat_error err = {0};
    int64_t first = 0;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        int status = 0;
        if (option == 's') {
            request->svg = optarg;
        } else if (option == 'z') {
            status = pleat_parse_zero("--zero-run-times", optarg, &request->reading.swf.zero, &err);
        } else if (option == 'c') {
            request->csv = optarg;
        } else if (option == 'F') {
            status = pleat_format_parse(optarg, &request->reading.format, &err);
        } else if (option == 'f') {
            status = pleat_parse_flops(optarg, &request->reading, &err);
        } else {
            status = pleat_parse_int("--first", optarg, 1, INT64_MAX, &first, &err);
            request->reading.swf.most = status ? 0 : (size_t)first;
        }
        if (status)
            return pleat_workload_usage(options, &err);
    }
    request->path = options->argv[options->first];
    return pleat_options_count(options, 1, 1);
}

static int run_stat(int argc, char **argv)
{
    static const struct option own[] = {{"svg", required_argument, NULL, 's'},
                                        {"csv", required_argument, NULL, 'c'},
                                        {"first", required_argument, NULL, '1'},
                                        {"format", required_argument, NULL, 'F'},
                                        {"flops", required_argument, NULL, 'f'},
                                        {"zero-run-times", required_argument, NULL, 'z'},
                                        {0}};
    struct pleat_options options;
    struct stat_request request = {0};
    struct described log = {0};
    struct pleat_error err;
    pleat_options_init(&options, &pleat_cmd_workload_stat, argc, argv, own, NULL);
    int code = read_options(&options, &request);
    if (code || !request.path)
        return code;
    if (read_stat(&request, &log, &err)) {
        code = pleat_fail_input(&err);
    } else if (request.csv && pleat_workload_write_csv(&log.workload, request.csv, &err)) {
        code = pleat_fail(&err);
    } else if (pleat_settings.json) {
        code = print_json(&request, &log);
    } else {
        print_head(&request, &log);
        putchar('\n');
        code = print_summaries(&log.about);
        if (!code)
            print_oddities(&request, &log);
    }
    if (!code)
        code = show_figures(&request, &log);
    pleat_workload_finish(&log.workload);
    pleat_string_finish(&request.reading.notes);
    return code;
}

const struct pleat_cli_command pleat_cmd_workload_stat = {
    .name = "workload stat",
    .arguments = "[OPTION...] FILE",
    .summary = "Describes a log: load, sizes, run times, arrivals",
    .help = "FILE is in the Standard Workload Format ('-': standard input), or has jobs of "
            "Batsim or\n"
            "ElastiSim. On a terminal there are plots, too, if gnuplot is installed. The "
            "command lists\n"
            "what is odd in the log: jobs left out, fields that are missing.\n"
            "\n"
            "Options:\n"
            "      --svg FILE   write figures: sizes, run times, gaps, submissions by "
            "hour and day,\n"
            "                   load over time\n"
            "      --csv FILE   write the jobs as a table with a header, for other programs\n"
            "      --first N    only the first N jobs\n"
            "      --zero-run-times skip|keep  jobs whose run time is 0 (default: skip)\n"
            "      --format FORMAT  what FILE is: swf, batsim, elastisim (default: auto)\n"
            "      --flops RATE  operations that a processor does in a second, where jobs "
            "count them\n"
            "\n"
            "Exit codes: 0; 1 figures or table cannot be made; 2 usage, or the file is "
            "missing or wrong.\n"
            "\n"
            "Examples:\n"
            "  pleat workload stat log.swf\n"
            "  pleat workload stat --svg log.svg --json log.swf | jq .load\n",
    .json = true,
    .run = run_stat,
};

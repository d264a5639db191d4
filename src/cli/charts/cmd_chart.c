#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "chart/gantt.h"
#include "cli/charts/chart.h"
#include "cli/charts/commands.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/jobs/job_argument.h"
#include "describe/moment.h"

/* A time without jobs of this length separates two charts. */
#define GAP_S 60.0

struct chart {
    const char *svg;
    /* at_s NAN: not given; a duration counts from time 0 of the chart */
    struct pleat_moment from, to;
    bool ascii;
    bool all;
    bool clock;
    json_t *only; /* NULL: not given */
};

int pleat_chart_fetch(struct pleat_client *client, struct pleat_chart_data *data)
{
    *data = (struct pleat_chart_data){.after = data->after};
    int code = pleat_daemon_jobs(client, PLEAT_JOBS_ALL, &data->jobs);
    if (!code)
        code = pleat_daemon_ask(client, "sites", NULL, &data->sites);
    if (!code)
        code = pleat_daemon_events(client, 0, data->after, 0, &data->events);
    if (code)
        pleat_chart_data_finish(data);
    return code;
}

void pleat_chart_data_finish(struct pleat_chart_data *data)
{
    json_decref(data->jobs);
    json_decref(data->sites);
    json_decref(data->events);
    *data = (struct pleat_chart_data){0};
}

int pleat_chart_build(const struct pleat_chart_data *data, const json_t *only,
                      struct pleat_gantt *gantt, struct pleat_error *err)
{
    double now_s = (double)pleat_clock_real_us() / 1e6;
    return pleat_gantt_build(gantt, data->events, data->jobs,
                             pleat_reply_array(data->sites, "sites"), only, now_s, err);
}

int pleat_chart_print(const struct pleat_gantt *gantt, bool ascii)
{
    struct pleat_term term;
    struct pleat_string out = {0};
    pleat_term_init(&term);
    if (ascii)
        term.utf8 = false;
    int height = term.height > 16 ? term.height - 8 : term.height > 0 ? 8 : 64;
    pleat_gantt_add_text(gantt, &term, height, &out);
    int code = PLEAT_EXIT_OK;
    if (out.failed || !out.text) {
        pleat_say("cannot print the chart: out of memory");
        code = PLEAT_EXIT_FAILED;
    } else {
        fputs(out.text, stdout);
    }
    pleat_string_finish(&out);
    return code;
}

/* The jobs since the machine was last without jobs for GAP_S. */
static json_t *last_busy_period(const json_t *jobs)
{
    json_t *numbers = json_array();
    double busy_until = -(double)INFINITY;
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        double submit = pleat_reply_real(job, "submit_s"), end = pleat_reply_real(job, "end_s");
        if (submit - busy_until > GAP_S)
            json_array_clear(numbers);
        json_array_append_new(numbers, json_integer(pleat_reply_int(job, "job", 0)));
        busy_until = fmax(busy_until, isfinite(end) ? end : (double)INFINITY);
    }
    return numbers;
}

static bool is_clock_time(const struct pleat_moment *moment)
{
    return isfinite(moment->at_s) && !moment->is_duration;
}

/* The jobs that existed between two moments, each of which may be open. */
static json_t *living_between(const json_t *jobs, const struct chart *chart)
{
    json_t *numbers = json_array();
    double from_s = is_clock_time(&chart->from) ? chart->from.at_s : -(double)INFINITY;
    double to_s = is_clock_time(&chart->to) ? chart->to.at_s : (double)INFINITY;
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        double submit_s = pleat_reply_real(job, "submit_s");
        double end_s = pleat_reply_real(job, "end_s");
        if (submit_s < to_s && !(isfinite(end_s) && end_s <= from_s))
            json_array_append_new(numbers, json_integer(pleat_reply_int(job, "job", 0)));
    }
    return numbers;
}

/* The jobs to be drawn: a new reference. NULL: all. */
static json_t *chosen(const struct chart *chart, const json_t *jobs)
{
    if (chart->only)
        return json_incref(chart->only);
    if (is_clock_time(&chart->from) || is_clock_time(&chart->to))
        return living_between(jobs, chart);
    return chart->all ? NULL : last_busy_period(jobs);
}

/* Sets one end of the window, in seconds from time 0 of the chart. */
static void set_end(const struct pleat_moment *moment, double origin_s, double *end_s)
{
    if (isfinite(moment->at_s))
        *end_s = moment->is_duration ? moment->at_s : moment->at_s - origin_s;
}

static int check_only(const struct chart *chart, const json_t *jobs)
{
    size_t i, j;
    json_t *number, *job;
    json_array_foreach(chart->only, i, number)
    {
        bool found = false;
        json_array_foreach(jobs, j, job) found =
            found || pleat_reply_int(job, "job", 0) == json_integer_value(number);
        if (!found) {
            pleat_say("there is no job %lld: 'pleat ps --all' lists those there are",
                      (long long)json_integer_value(number));
            return PLEAT_EXIT_NO_JOB;
        }
    }
    return 0;
}

static int show(const struct chart *chart, const struct pleat_chart_data *data)
{
    struct pleat_gantt gantt;
    struct pleat_error err = {0};
    const json_t *jobs = data->jobs;
    int code = check_only(chart, jobs);
    if (code)
        return code;
    json_t *only = chosen(chart, jobs);
    int status = pleat_chart_build(data, only, &gantt, &err);
    json_decref(only);
    if (status)
        return pleat_fail(&err);
    set_end(&chart->from, gantt.origin_s, &gantt.from_s);
    set_end(&chart->to, gantt.origin_s, &gantt.to_s);
    gantt.clock = chart->clock;
    if (gantt.to_s <= gantt.from_s) {
        pleat_say("nothing is left between --from (%g s after time 0) and the end (%g s)",
                  gantt.from_s, gantt.to_s);
        code = PLEAT_EXIT_FAILED;
    } else if (pleat_settings.json) {
        json_t *json = pleat_gantt_json(&gantt);
        code = pleat_reply_print(json);
        json_decref(json);
    } else if (gantt.intervals.count == 0 && !chart->svg) {
        pleat_say("nothing to draw: no job held a processor");
    } else if (!chart->svg) {
        code = pleat_chart_print(&gantt, chart->ascii);
        printf("utilization %.0f %% of %lld processors\n", 100 * pleat_gantt_utilization(&gantt),
               (long long)gantt.rows);
    }
    if (!code && chart->svg && pleat_gantt_write(&gantt, chart->svg, &err))
        code = pleat_fail(&err);
    pleat_gantt_finish(&gantt);
    return code;
}

static int read_options(struct pleat_options *options, struct chart *chart)
{
    struct pleat_error err;
    struct pleat_job_numbers jobs = {0};
    double now_s = (double)pleat_clock_real_us() / 1e6;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        int wrong = 0;
        if (option == PLEAT_OPTION_EXIT)
            return PLEAT_OPTION_EXIT;
        if (option == 's')
            chart->svg = optarg;
        else if (option == 'A')
            chart->ascii = true;
        else if (option == 'c')
            chart->clock = true;
        else if (option == 'a')
            chart->all = true;
        else if (option == 'f')
            wrong = pleat_parse_moment("--from", optarg, now_s, &chart->from, &err);
        else
            wrong = pleat_parse_moment("--to", optarg, now_s, &chart->to, &err);
        if (wrong) {
            options->exit_code = pleat_usage(&pleat_cmd_chart, "%s", err.text);
            return PLEAT_OPTION_EXIT;
        }
    }
    for (int i = options->first; i < options->argc; i++) {
        options->exit_code = pleat_job_arguments(&pleat_cmd_chart, options->argv[i], &jobs);
        if (options->exit_code) {
            pleat_array_finish(&jobs);
            return PLEAT_OPTION_EXIT;
        }
    }
    for (size_t i = 0; i < jobs.count; i++) {
        if (!chart->only)
            chart->only = json_array();
        json_array_append_new(chart->only, json_integer(jobs.items[i]));
    }
    pleat_array_finish(&jobs);
    return 0;
}

static int run_chart(int argc, char **argv)
{
    static const struct option own[] = {{"svg", required_argument, NULL, 's'},
                                        {"ascii", no_argument, NULL, 'A'},
                                        {"all", no_argument, NULL, 'a'},
                                        {"from", required_argument, NULL, 'f'},
                                        {"to", required_argument, NULL, 't'},
                                        {"clock", no_argument, NULL, 'c'},
                                        {0}};
    struct pleat_options options;
    struct chart chart = {.from.at_s = (double)NAN, .to.at_s = (double)NAN};
    struct pleat_client *client;
    struct pleat_chart_data data = {0};
    pleat_options_init(&options, &pleat_cmd_chart, argc, argv, own, "a");
    int code = PLEAT_EXIT_OK;
    if (read_options(&options, &chart) == PLEAT_OPTION_EXIT) {
        json_decref(chart.only);
        return options.exit_code;
    }
    code = pleat_daemon_connect(&client);
    if (!code) {
        code = pleat_chart_fetch(client, &data);
        pleat_client_close(client);
    }
    if (!code)
        code = show(&chart, &data);
    pleat_chart_data_finish(&data);
    json_decref(chart.only);
    return code;
}

const struct pleat_cli_command pleat_cmd_chart = {
    .name = "chart",
    .arguments = "[OPTION...] [JOB...]",
    .summary = "Draws who held which processors when",
    .help = "Without JOB the chart has the jobs since the machine was last without jobs "
            "for a minute.\n"
            "Time 0 is the first submission. With --json: the intervals of which it is "
            "made.\n"
            "\n"
            "Options:\n"
            "      --svg FILE   write a drawing to FILE instead: .svg, .png or .pdf by "
            "its name\n"
            "  -a, --all        all jobs that are known\n"
            "      --from WHEN  draw from WHEN on: a time after time 0 (90s, 15min), or "
            "a moment: 10:30,\n"
            "                   -2h (before now), '2026-11-21 10:00'. With a moment, and "
            "without JOB,\n"
            "                   the jobs are those that lived in that time\n"
            "      --to WHEN    draw up to WHEN (default: the end)\n"
            "      --clock      the axis has the time of day, not the time since time 0\n"
            "      --ascii      ASCII characters only (default: if the locale is not UTF-8)\n"
            "\n"
            "Exit codes: 0; 1 the file cannot be written; 2 usage; 3 no daemon; 4 no "
            "such job.\n"
            "\n"
            "Example:\n"
            "  pleat chart --svg chart.svg\n",
    .json = true,
    .run = run_chart,
};

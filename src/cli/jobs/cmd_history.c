#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/common/word_list.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/format.h"
#include "cli/jobs/history.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/jobs.h"
#include "describe/moment.h"

enum { JOBS_AT_ONCE = 300 };

struct history {
    double from_s, to_s; /* since 1970; 0: no bound */
    const char *name;    /* a pattern, or NULL */
    json_t *states;      /* NULL: all */
    enum pleat_history_by by;
    bool csv;
    const char *format; /* the columns; NULL: the usual ones */
    struct pleat_format columns;
    int64_t job;         /* 0: all */
    const char *program; /* a pattern: what programs have measured, instead of jobs; or NULL */
    bool clear;          /* that is forgotten */
};

static bool is_wanted(const struct history *history, const json_t *job)
{
    return (!history->name || !fnmatch(history->name, pleat_reply_text(job, "name", ""), 0)) &&
           pleat_word_is_chosen(history->states, job, "state");
}

static json_t *params_of(const struct history *history, int64_t after)
{
    json_t *params = json_pack("{s:I, s:i}", "after", (json_int_t)after, "limit", JOBS_AT_ONCE);
    if (history->from_s > 0)
        json_object_set_new(params, "from_s", json_real(history->from_s));
    if (history->to_s > 0)
        json_object_set_new(params, "to_s", json_real(history->to_s));
    if (history->job)
        json_object_set_new(params, "job", json_integer(history->job));
    return params;
}

/* Fetches all entries that are wanted, in order of submission. */
static int fetch(const struct history *history, json_t **jobs)
{
    struct pleat_client *client;
    json_t *all = json_array(), *job;
    int64_t after = 0;
    bool more = true;
    int code = pleat_daemon_connect(&client);
    if (code) {
        json_decref(all);
        return code;
    }
    while (!code && more) {
        json_t *answer = NULL;
        size_t i;
        int64_t last = after;
        code = pleat_daemon_ask(client, "history", params_of(history, after), &answer);
        json_array_foreach(pleat_reply_array(answer, "jobs"), i, job)
        {
            after = pleat_reply_int(job, "job", after);
            if (json_is_object(job) && is_wanted(history, job))
                json_array_append(all, job);
        }
        more = pleat_reply_true(answer, "more") && after > last;
        json_decref(answer);
    }
    pleat_client_close(client);
    if (code)
        json_decref(all);
    else
        *jobs = all;
    return code;
}

static void print_totals(const json_t *totals)
{
    char wait[PLEAT_TIME_SIZE], stood[PLEAT_TIME_SIZE], cpu[PLEAT_TIME_SIZE];
    long long jobs = (long long)pleat_reply_int(totals, "jobs", 0);
    long long resizes = (long long)pleat_reply_int(totals, "resizes", 0);
    double work = pleat_reply_real(totals, "processor_s");
    printf("%lld job%s, %.1f processor-seconds (%.2f h), waited %s, %lld resize%s (stood still for "
           "%s), CPU time %s\n",
           jobs, jobs == 1 ? "" : "s", work, work / 3600,
           pleat_time_span(pleat_reply_real(totals, "wait_s"), wait), resizes,
           resizes == 1 ? "" : "s", pleat_time_span(pleat_reply_real(totals, "resize_s"), stood),
           pleat_time_span(pleat_reply_real(totals, "cpu_s"), cpu));
}

/* Prints one job: what it used at each size, and what each resize cost. */
static int print_one(const json_t *job)
{
    char a[PLEAT_TIME_SIZE], b[PLEAT_TIME_SIZE];
    struct pleat_string ending = {0};
    json_t *one = json_pack("[O]", job), *totals = pleat_history_totals(one);
    json_t *sizes = pleat_history_sizes(job), *resizes = pleat_history_resizes(job);
    pleat_job_add_ending(job, &ending);
    printf("job %lld  ", (long long)pleat_reply_int(job, "job", 0));
    int code = PLEAT_EXIT_OK;
    struct pleat_term term;
    struct pleat_string name = {0};
    pleat_term_init(&term);
    pleat_term_add(&term, &name, pleat_reply_text(job, "name", ""), 0);
    pleat_term_add(&term, &name, "  ", 0);
    pleat_term_add(&term, &name, pleat_reply_text(job, "state", "?"), 0);
    printf("%s, %s\n", name.text ? name.text : "", ending.text ? ending.text : "-");
    printf("submitted %s, waited %s", pleat_time_moment(pleat_reply_real(job, "submit_s"), a),
           pleat_time_span(pleat_reply_real(job, "wait_s"), b));
    printf(", ran %s\n", pleat_time_span(pleat_reply_real(job, "run_s"), a));
    if (json_array_size(sizes) > 0) {
        putchar('\n');
        code = pleat_history_table(sizes, pleat_history_columns(PLEAT_BY_SIZE), false);
    }
    if (!code && json_array_size(resizes) > 0) {
        putchar('\n');
        code = pleat_history_table(resizes, pleat_history_resize_columns, false);
    }
    if (!code) {
        putchar('\n');
        print_totals(totals);
    }
    pleat_string_finish(&name);
    pleat_string_finish(&ending);
    json_decref(one);
    json_decref(totals);
    json_decref(sizes);
    json_decref(resizes);
    return code;
}

static int print_json(const struct history *history, const json_t *jobs, const json_t *rows)
{
    json_t *totals = pleat_history_totals(jobs);
    json_t *object = history->by == PLEAT_BY_JOB
                         ? json_pack("{s:O, s:o}", "jobs", jobs, "totals", totals)
                         : json_pack("{s:s, s:O, s:o}", "by", pleat_history_by_name(history->by),
                                     "groups", rows, "totals", totals);
    int code = pleat_reply_print(object);
    json_decref(object);
    return code;
}

static int print(const struct history *history, const json_t *jobs)
{
    json_t *rows = pleat_history_rows(jobs, history->by);
    const struct pleat_history_column *columns = pleat_history_columns(history->by);
    int code = PLEAT_EXIT_OK;
    if (pleat_settings.json) {
        code = print_json(history, jobs, rows);
    } else if (history->format && (history->csv || json_array_size(rows) > 0)) {
        code = pleat_format_print(&history->columns, rows, history->csv);
    } else if (history->csv) {
        code = pleat_history_csv(rows, columns);
    } else if (history->job && history->by == PLEAT_BY_JOB && json_array_size(jobs) == 1) {
        code = print_one(json_array_get(jobs, 0));
    } else if (json_array_size(jobs) == 0) {
        pleat_say("no job matches");
    } else {
        json_t *totals = pleat_history_totals(jobs);
        code = pleat_history_table(rows, columns, false);
        putchar('\n');
        if (!code)
            print_totals(totals);
        json_decref(totals);
    }
    json_decref(rows);
    return code;
}

static int read_by(const char *text, enum pleat_history_by *by, struct pleat_error *err)
{
    const char *names[PLEAT_BY_COUNT];
    size_t index;
    for (int i = 0; i < PLEAT_BY_COUNT; i++)
        names[i] = pleat_history_by_name((enum pleat_history_by)i);
    int rc = pleat_parse_word("--by", text, names, PLEAT_BY_COUNT, &index, err);
    if (!rc)
        *by = (enum pleat_history_by)index;
    return rc;
}

/* Whether something was said that chooses or prints jobs. */
static bool is_about_jobs(const struct history *history, const struct pleat_options *options)
{
    return history->from_s > 0 || history->to_s > 0 || history->name || history->states ||
           history->by != PLEAT_BY_JOB || history->csv || history->format ||
           options->first < options->argc;
}

static int read_options(struct pleat_options *options, struct history *history)
{
    struct pleat_error err;
    double now_s = (double)pleat_clock_real_us() / 1e6;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        int wrong = 0;
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if (option == 'f')
            wrong = pleat_parse_past("--from", optarg, now_s, &history->from_s, &err);
        else if (option == 't')
            wrong = pleat_parse_past("--to", optarg, now_s, &history->to_s, &err);
        else if (option == 'n')
            history->name = optarg;
        else if (option == 's')
            wrong =
                pleat_parse_words("--state", optarg, pleat_history_states, &history->states, &err);
        else if (option == 'b')
            wrong = read_by(optarg, &history->by, &err);
        else if (option == 'o')
            history->format = optarg;
        else if (option == 'p')
            history->program = optarg;
        else if (option == 'C')
            history->clear = true;
        else
            history->csv = true;
        if (wrong)
            return pleat_usage(&pleat_cmd_history, "%s", err.text);
    }
    int code = pleat_options_count(options, 0, 1);
    if (!code && history->format &&
        pleat_format_read(history->format, pleat_history_columns(history->by), &history->columns,
                          &err))
        code = pleat_usage(&pleat_cmd_history, "%s", err.text);
    if (!code && history->clear && !history->program)
        code = pleat_usage(&pleat_cmd_history, "--clear needs --program");
    if (!code && history->program && is_about_jobs(history, options))
        code = pleat_usage(&pleat_cmd_history, "--program is not about jobs: it goes with --clear "
                                               "and --json alone");
    if (!code && options->first < options->argc)
        code = pleat_job_argument(&pleat_cmd_history, options->argv[options->first], &history->job);
    return code;
}

static int run_history(int argc, char **argv)
{
    static const struct option own[] = {
        {"from", required_argument, NULL, 'f'},   {"to", required_argument, NULL, 't'},
        {"name", required_argument, NULL, 'n'},   {"state", required_argument, NULL, 's'},
        {"by", required_argument, NULL, 'b'},     {"csv", no_argument, NULL, 'c'},
        {"format", required_argument, NULL, 'o'}, {"program", required_argument, NULL, 'p'},
        {"clear", no_argument, NULL, 'C'},        {0}};
    struct pleat_options options;
    struct history history = {.by = PLEAT_BY_JOB};
    json_t *jobs;
    pleat_options_init(&options, &pleat_cmd_history, argc, argv, own, "o:");
    int code = read_options(&options, &history);
    if (!code && options.first > 0 && history.program) {
        code = pleat_history_programs(history.program, history.clear);
    } else if (!code && options.first > 0) { /* otherwise only help was asked for */
        code = fetch(&history, &jobs);
        if (!code) {
            code = print(&history, jobs);
            json_decref(jobs);
        }
    }
    json_decref(history.states);
    return code;
}

const struct pleat_cli_command pleat_cmd_history = {
    .name = "history",
    .arguments = "[OPTION...] [JOB]",
    .summary = "Lists jobs with what they used, by job, size, resize, name or day",
    .help = "All jobs are listed, also those that have not ended. PROCESSORS: the "
            "processor-seconds (or\n"
            "processor-hours) that the job held. STOOD: how long the job stood still in "
            "resizes. CPU:\n"
            "the processor time that its processes used, after its end. MEMORY: what all "
            "its processes\n"
            "had together at their peak; pages that they share count once (--format "
            "max_rss_kb: the\n"
            "resident size of the largest process). With JOB: what the job had at each "
            "size, and what\n"
            "each of its resizes cost.\n"
            "\n"
            "Options:\n"
            "      --from WHEN   jobs that lived after WHEN: 10:30, -2h (or 2h), "
            "'2026-11-21 10:00'\n"
            "      --to WHEN     jobs that lived before WHEN\n"
            "      --name NAME   jobs whose name matches a pattern: 'heat*'\n"
            "      --state LIST  jobs in these states, separated by commas: queued, "
            "claiming, running,\n"
            "                    resizing, finishing, done, failed, cancelled\n"
            "      --by WHAT     sums by job (default), size, resize, name or day (of "
            "submission)\n"
            "      --csv         print comma-separated values, with more columns than "
            "the table\n"
            "  -o, --format LIST  print these columns, as --csv names them: "
            "job,name:20,run_s. A width is\n"
            "                    the largest number of characters of a text\n"
            "      --program NAME  instead of jobs: what runs of programs have measured, by "
            "program (--program\n"
            "                    of pleat submit, else the command line; NAME may be a pattern: "
            "'*') and size\n"
            "      --clear       with --program: forget that\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat history --from 1d --by name\n",
    .json = true,
    .run = run_history,
};

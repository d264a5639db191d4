#include <stdio.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/format.h"
#include "cli/jobs/jobs.h"

/* The names that --format takes: members of a job (docs/protocol.md). */
static const struct pleat_history_column known[] = {
    {"job", "JOB", PLEAT_HISTORY_COUNT},
    {"name", "NAME", PLEAT_HISTORY_TEXT},
    {"state", "STATE", PLEAT_HISTORY_TEXT},
    {"reason", NULL, PLEAT_HISTORY_TEXT},
    {"kind", NULL, PLEAT_HISTORY_TEXT},
    {"runner", NULL, PLEAT_HISTORY_TEXT},
    {"mpi", NULL, PLEAT_HISTORY_TEXT},
    {"site", NULL, PLEAT_HISTORY_TEXT},
    {"priority", NULL, PLEAT_HISTORY_COUNT},
    {"processors", "PROCS", PLEAT_HISTORY_COUNT},
    {"processes", NULL, PLEAT_HISTORY_COUNT},
    {"min", NULL, PLEAT_HISTORY_COUNT},
    {"max", NULL, PLEAT_HISTORY_COUNT},
    {"target", NULL, PLEAT_HISTORY_COUNT},
    {"submit_s", "SUBMITTED", PLEAT_HISTORY_MOMENT},
    {"start_s", "STARTED", PLEAT_HISTORY_MOMENT},
    {"end_s", "ENDED", PLEAT_HISTORY_MOMENT},
    {"promised_s", "STARTS BY", PLEAT_HISTORY_MOMENT},
    {"forecast_s", "EXPECTED", PLEAT_HISTORY_MOMENT},
    {"forecast_why", "NOT KNOWN AS", PLEAT_HISTORY_TEXT},
    {"wait_s", "WAIT", PLEAT_HISTORY_SPAN},
    {"run_s", "RUN", PLEAT_HISTORY_SPAN},
    {"estimate_s", NULL, PLEAT_HISTORY_SPAN},
    {"limit_s", "TIME LIMIT", PLEAT_HISTORY_SPAN},
    {"deadline_s", NULL, PLEAT_HISTORY_MOMENT},
    {"exit_code", NULL, PLEAT_HISTORY_COUNT},
    {"signal", NULL, PLEAT_HISTORY_COUNT},
    {"attempt", NULL, PLEAT_HISTORY_COUNT},
    {"memory_kb", "MEMORY", PLEAT_HISTORY_MEMORY},
    {"max_rss_kb", "LARGEST", PLEAT_HISTORY_MEMORY},
    {"memory_limit_kb", "MEMORY LIMIT", PLEAT_HISTORY_MEMORY},
    {"grown", NULL, PLEAT_HISTORY_COUNT},
    {"shrunk", NULL, PLEAT_HISTORY_COUNT},
    {"cwd", "DIRECTORY", PLEAT_HISTORY_TEXT},
    {"stdout", NULL, PLEAT_HISTORY_TEXT},
    {"stderr", NULL, PLEAT_HISTORY_TEXT},
    {NULL, NULL, PLEAT_HISTORY_TEXT}};

#define STARTS "job,name,min,max,priority,estimate_s,promised_s,forecast_s,forecast_why"

struct listing {
    bool all, start;
    const char *format; /* NULL: the usual columns */
};

/* The waiting jobs: a new array. */
static json_t *waiting_of(const json_t *jobs)
{
    json_t *waiting = json_array(), *job;
    size_t i;
    json_array_foreach(jobs, i, job) if (pleat_reply_is(job, "state", "queued"))
        json_array_append(waiting, job);
    return waiting;
}

/* Adds to each waiting job when it is expected to start, or why that is not known. */
static int add_forecasts(struct pleat_client *client, json_t *jobs)
{
    json_t *answer, *job, *row;
    size_t i, r = 0;
    int code = pleat_daemon_ask(client, "forecast", json_object(), &answer);
    if (code)
        return code;
    const json_t *rows = pleat_reply_array(answer, "forecasts");
    json_t *by_job = json_object();
    char key[24];
    json_array_foreach(rows, r, row)
    {
        snprintf(key, sizeof(key), "%lld", (long long)pleat_reply_int(row, "job", 0));
        json_object_set(by_job, key, row);
    }
    json_array_foreach(jobs, i, job)
    {
        snprintf(key, sizeof(key), "%lld", (long long)pleat_reply_int(job, "job", 0));
        row = json_object_get(by_job, key);
        json_t *start = json_object_get(row, "start_s"), *why = json_object_get(row, "why");
        json_object_set_new(job, "forecast_s", start ? json_incref(start) : json_null());
        json_object_set_new(job, "forecast_why", why ? json_incref(why) : json_null());
    }
    json_decref(by_job);
    json_decref(answer);
    return 0;
}

static int print(const struct listing *listing, const struct pleat_format *format,
                 const json_t *jobs)
{
    if (pleat_settings.json || (json_array_size(jobs) > 0 && !listing->format))
        return pleat_jobs_print(jobs);
    if (json_array_size(jobs) > 0)
        return pleat_format_print(format, jobs, false);
    pleat_say(listing->start ? "no jobs wait"
              : listing->all ? "no jobs"
                             : "no jobs waiting or running ('pleat ps --all' has the others)");
    return PLEAT_EXIT_OK;
}

static int list(const struct listing *listing, const struct pleat_format *format)
{
    struct pleat_client *client;
    json_t *jobs;
    bool brief = !pleat_settings.json && !listing->format;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    code = pleat_daemon_jobs(
        client, (listing->all ? PLEAT_JOBS_ALL : 0) | (brief ? PLEAT_JOBS_BRIEF : 0), &jobs);
    if (code) {
        pleat_client_close(client);
        return code;
    }
    json_t *shown = listing->start ? waiting_of(jobs) : json_incref(jobs);
    if (listing->start && json_array_size(shown) > 0)
        code = add_forecasts(client, shown);
    pleat_client_close(client);
    if (!code)
        code = print(listing, format, shown);
    json_decref(shown);
    json_decref(jobs);
    return code;
}

static int run_ps(int argc, char **argv)
{
    static const struct option own[] = {{"all", no_argument, NULL, 'a'},
                                        {"start", no_argument, NULL, 's'},
                                        {"format", required_argument, NULL, 'o'},
                                        {0}};
    struct pleat_options options;
    struct listing listing = {0};
    struct pleat_format format;
    struct pleat_error err;
    pleat_options_init(&options, &pleat_cmd_ps, argc, argv, own, "ao:");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        listing.all = listing.all || option == 'a';
        listing.start = listing.start || option == 's';
        listing.format = option == 'o' ? optarg : listing.format;
    }
    int code = pleat_options_count(&options, 0, 0);
    if (code)
        return code;
    if (listing.all && listing.start)
        return pleat_usage(&pleat_cmd_ps, "--start is about jobs that wait, --all about all");
    if (listing.start && !listing.format)
        listing.format = STARTS;
    if (listing.format && pleat_format_read(listing.format, known, &format, &err))
        return pleat_usage(&pleat_cmd_ps, "%s", err.text);
    return list(&listing, &format);
}

const struct pleat_cli_command pleat_cmd_ps = {
    .name = "ps",
    .arguments = "[--all] [--start] [--format LIST]",
    .summary = "Lists the jobs that wait or run",
    .help = "PROCS is the number of processors that a job has now (2/8: 2 processors for "
            "the 8\n"
            "processes of a folded job), RANGE the numbers that it may have, ITERATION "
            "how far it is\n"
            "(programs linked with libpleat), REMARK why it waits or how it ended.\n"
            "\n"
            "Options:\n"
            "  -a, --all        also list jobs that have ended\n"
            "      --start      list the jobs that wait, with their starts. STARTS BY: "
            "the latest start\n"
            "                   that the queue policy promised, or the begin of a "
            "reservation. EXPECTED:\n"
            "                   a forecast from the estimates and time limits of all "
            "jobs, not a promise.\n"
            "                   -: not known\n"
            "  -o, --format LIST  print these columns, as --json names them: "
            "job,name:20,state. A width\n"
            "                   is the largest number of characters of a text\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon.\n"
            "\n"
            "Examples:\n"
            "  pleat ps --all\n"
            "  pleat ps --format job,name:12,state,processors,run_s\n",
    .json = true,
    .run = run_ps,
};

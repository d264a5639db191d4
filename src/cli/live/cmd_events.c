#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/common/word_list.h"
#include "cli/jobs/event_text.h"
#include "cli/jobs/job_argument.h"
#include "cli/live/commands.h"
#include "describe/moment.h"

/* Appends a time of day: "07:35:52.123". */
static void add_moment(double seconds, struct pleat_string *out)
{
    int64_t ms = seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * 1000) : 0;
    time_t then = (time_t)(ms / 1000);
    struct tm tm;
    char text[PLEAT_TIME_SIZE] = "-";
    if (ms && localtime_r(&then, &tm))
        strftime(text, sizeof(text), "%H:%M:%S", &tm);
    pleat_string_addf(out, "%s.%03d", text, (int)(ms % 1000));
}

static void print_event(const struct pleat_term *term, const json_t *event)
{
    struct pleat_string text = {0}, line = {0};
    int64_t job = pleat_reply_int(event, "job", 0);
    if (pleat_settings.json) {
        pleat_reply_print_line(event);
        return;
    }
    add_moment(pleat_reply_real(event, "time_s"), &line);
    if (job)
        pleat_string_addf(&line, "  job %-5lld ", (long long)job);
    else
        pleat_string_addf(&line, "  %-9s ", "pleatd");
    pleat_event_add_text(event, &text);
    if (text.text)
        pleat_term_add(term, &line, text.text, 0);
    if (line.text && !line.failed)
        puts(line.text);
    pleat_string_finish(&text);
    pleat_string_finish(&line);
}

/* What the user wants to see, and how far the command is. */
struct events {
    struct pleat_client *client;
    struct pleat_term term;
    int64_t job;   /* 0: all */
    json_t *kinds; /* kinds of events to show; NULL: all */
    double from_s; /* since 1970; 0: from the first event on */
    bool follows;
    bool live; /* earlier events have been shown */
    double patience_s;
    int64_t last; /* number of the last event that came */
};

/* Reports events that were skipped. A slow reader gets what the log still has, and events archived
 * meanwhile are not there. */
static void say_gap(const struct events *events, int64_t seq)
{
    int64_t missing = seq - events->last - 1;
    if (events->live && !events->job && events->last > 0 && missing > 0)
        pleat_say("%lld events are not shown: they were archived before they could be (see "
                  "keep_ended_s)",
                  (long long)missing);
}

static void take(struct events *events, const json_t *event)
{
    int64_t seq = pleat_reply_int(event, "seq", events->last);
    say_gap(events, seq);
    events->last = seq;
    if (pleat_word_is_chosen(events->kinds, event, "kind"))
        print_event(&events->term, event);
}

/* Follows from the last event on, until the daemon ends (returns 0, *err says how) or this program
 * is to end (returns an exit code). */
static int follow(struct events *events, struct pleat_error *err)
{
    const struct pleat_message *message;
    json_t *params = json_pack("{s:I}", "after", (json_int_t)events->last);
    if (events->job)
        json_object_set_new(params, "job", json_integer(events->job));
    if (events->from_s > 0)
        json_object_set_new(params, "from_s", json_real(events->from_s));
    if (pleat_client_call(events->client, "follow", params, NULL, err))
        return 0;
    while (pleat_client_next_notification(events->client, -1, &message, err) == 1) {
        if (!message->method || !message->params || !json_object_get(message->params, "kind"))
            continue;
        take(events, message->params);
        if (fflush(stdout))
            return PLEAT_EXIT_FAILED;
    }
    return 0;
}

static int show(struct events *events)
{
    struct pleat_error err;
    json_t *known, *event;
    size_t i;
    int code = pleat_daemon_events(events->client, events->job, 0, events->from_s, &known);
    if (code)
        return code;
    json_array_foreach(known, i, event) take(events, event);
    json_decref(known);
    if (events->follows && fflush(stdout))
        return PLEAT_EXIT_FAILED;
    events->live = true;
    while (!code && events->follows) {
        code = follow(events, &err);
        if (!code)
            code = pleat_daemon_reconnect(&events->client, events->patience_s, &err);
    }
    return code;
}

static int read_options(struct pleat_options *options, struct events *events)
{
    struct pleat_error err;
    double now_s = (double)pleat_clock_real_us() / 1e6;
    bool retries = false;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        int wrong = 0;
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if (option == 'f')
            events->follows = true;
        else if (option == 'k')
            wrong = pleat_parse_words("--kind", optarg, pleat_event_kinds, &events->kinds, &err);
        else if (option == 's')
            wrong = pleat_parse_past("--since", optarg, now_s, &events->from_s, &err);
        else
            wrong = pleat_parse_duration("--retry", optarg, &events->patience_s, &err);
        retries = retries || option == 'r';
        if (wrong)
            return pleat_usage(&pleat_cmd_events, "%s", err.text);
    }
    if (retries && !events->follows)
        return pleat_usage(&pleat_cmd_events, "--retry goes with --follow: nothing else waits");
    int code = pleat_options_count(options, 0, 1);
    if (!code && options->first < options->argc)
        code = pleat_job_argument(&pleat_cmd_events, options->argv[options->first], &events->job);
    return code;
}

static int run_events(int argc, char **argv)
{
    static const struct option own[] = {{"follow", no_argument, NULL, 'f'},
                                        {"kind", required_argument, NULL, 'k'},
                                        {"since", required_argument, NULL, 's'},
                                        {"retry", required_argument, NULL, 'r'},
                                        {0}};
    struct pleat_options options;
    struct events events = {.patience_s = PLEAT_PATIENCE_S};
    pleat_options_init(&options, &pleat_cmd_events, argc, argv, own, "f");
    int code = read_options(&options, &events);
    bool goes_on = !code && options.first > 0; /* otherwise only help was asked for */
    if (goes_on)
        code = pleat_daemon_connect(&events.client);
    if (goes_on && !code) {
        pleat_term_init(&events.term);
        code = show(&events);
    }
    pleat_client_close(events.client);
    json_decref(events.kinds);
    return code;
}

const struct pleat_cli_command pleat_cmd_events = {
    .name = "events",
    .arguments = "[OPTION...] [JOB]",
    .summary = "Prints what happened, to a job or to all",
    .help = "Each event is a line, oldest first; with --json each line is an object.\n"
            "\n"
            "Options:\n"
            "  -f, --follow     also print what happens from now on, until Ctrl-C; also "
            "over a\n"
            "                   restart of the daemon\n"
            "      --kind LIST  only events of these kinds, separated by commas: state, "
            "size, slots,\n"
            "                   resize, limits, used, memory, checkpoint, hold, release, "
            "signal,\n"
            "                   background, policy, notify, warning, daemon, asked, section\n"
            "      --since WHEN only events from WHEN on: 10:30, -2h (or 2h), "
            "'2026-11-21 10:00'\n"
            "      --retry TIME with --follow: how long to wait for a daemon that has "
            "ended (default:\n"
            "                   1min)\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon, or it did not come back; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat events --follow 17\n",
    .json = true,
    .run = run_events,
};

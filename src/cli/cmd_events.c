#include <stdio.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/event_text.h"
#include "cli/reply.h"
#include "cli/term.h"
#include "cli/timefmt.h"

/* "07:35:52.123" */
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

static int follow(struct pleat_client *client, const struct pleat_term *term, int64_t job,
                  int64_t after)
{
    struct pleat_error err;
    const struct pleat_message *message;
    json_t *params = json_pack("{s:I}", "after", (json_int_t)after);
    if (job)
        json_object_set_new(params, "job", json_integer(job));
    int code = pleat_daemon_ask(client, "follow", params, NULL);
    if (code)
        return code;
    while (pleat_client_next_notification(client, -1, &message, &err) == 1) {
        if (!message->method || !message->params || !json_object_get(message->params, "kind"))
            continue;
        print_event(term, message->params);
        if (fflush(stdout))
            return PLEAT_EXIT_FAILED;
    }
    return pleat_daemon_failed(&err, true);
}

static int show(int64_t job, bool following)
{
    struct pleat_client *client;
    struct pleat_term term;
    json_t *events, *event;
    size_t i;
    int64_t last = 0;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    pleat_term_init(&term);
    code = pleat_daemon_events(client, job, 0, &events);
    if (!code) {
        json_array_foreach(events, i, event)
        {
            print_event(&term, event);
            last = pleat_reply_int(event, "seq", last);
        }
        json_decref(events);
        if (following)
            code = fflush(stdout) ? PLEAT_EXIT_FAILED : follow(client, &term, job, last);
    }
    pleat_client_close(client);
    return code;
}

static int run_events(int argc, char **argv)
{
    static const struct option own[] = {{"follow", no_argument, NULL, 'f'}, {0}};
    struct pleat_options options;
    struct pleat_error err;
    int64_t job = 0;
    bool following = false;
    int option;
    pleat_options_init(&options, &pleat_cmd_events, argc, argv, own, "f");
    while ((option = pleat_options_next(&options)) == 'f')
        following = true;
    if (option == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_options_count(&options, 0, 1);
    if (code)
        return code;
    if (options.first < argc && pleat_parse_job(argv[options.first], &job, &err))
        return pleat_usage(&pleat_cmd_events, "%s", err.text);
    return show(job, following);
}

const struct pleat_command pleat_cmd_events = {
    .name = "events",
    .arguments = "[--follow] [JOB]",
    .summary = "Prints what happened, to a job or to all",
    .help = "One line an event, oldest first; with --json one object a line.\n\n"
            "Options:\n"
            "  -f, --follow     go on with what happens from now on, until Ctrl-C\n\n"
            "Exit codes: 0; 2 usage; 3 no daemon, or it ended; 4 no such job.\n\n"
            "Example:\n"
            "  pleat events --follow 17\n",
    .json = true,
    .run = run_events,
};

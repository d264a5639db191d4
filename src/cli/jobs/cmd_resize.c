/* cmd_resize.c - pleat grow, pleat shrink. */
#include <stdio.h>

#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/job_argument.h"
#include "model/types.h"

struct change {
    const struct pleat_cli_command *command;
    bool grow;
    bool mandatory;
    bool wait;
    int64_t job;
    int64_t by; /* a change of the size; 0: `to` counts */
    int64_t to;
};

static int read_change(struct pleat_options *options, struct change *change)
{
    struct pleat_error err;
    bool have_to = false;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return PLEAT_OPTION_EXIT;
        if (option == 'w')
            change->wait = true;
        else if (option == 'v')
            change->mandatory = false;
        else if (pleat_parse_int("--to", optarg, 0, PLEAT_SIZE_MAX, &change->to, &err))
            goto wrong;
        else
            have_to = true;
    }
    int arguments = have_to ? 1 : 2;
    options->exit_code = pleat_options_count(options, arguments, arguments);
    if (options->exit_code)
        return PLEAT_OPTION_EXIT;
    char **words = options->argv + options->first;
    options->exit_code = pleat_job_argument(options->command, words[0], &change->job);
    if (options->exit_code)
        return PLEAT_OPTION_EXIT;
    if (!have_to &&
        pleat_parse_int("number of processors", words[1], 1, PLEAT_SIZE_MAX, &change->by, &err))
        goto wrong;
    return 0;
wrong:
    options->exit_code = pleat_usage(options->command, "%s", err.text);
    return PLEAT_OPTION_EXIT;
}

static void print_outcome(const struct change *change, const json_t *event)
{
    char span[PLEAT_TIME_SIZE];
    if (pleat_settings.json) {
        pleat_reply_print(event);
        return;
    }
    printf("job %lld: %lld -> %lld processors: %s", (long long)change->job,
           (long long)pleat_reply_int(event, "from", 0), (long long)pleat_reply_int(event, "to", 0),
           pleat_reply_text(event, "outcome", "?"));
    if (json_is_number(json_object_get(event, "total_s")))
        printf(" (%s)", pleat_time_span(pleat_reply_real(event, "total_s"), span));
    putchar('\n');
}

/* Waits until a resize has ended that the user began for the job after event `after`. */
static int wait_for_outcome(struct pleat_client *client, const struct change *change)
{
    struct pleat_error err;
    const struct pleat_message *message;
    int64_t resize = -1;
    while (pleat_client_next_notification(client, -1, &message, &err) == 1) {
        const json_t *event = message->params;
        if (!pleat_reply_is(event, "kind", "resize"))
            continue;
        if (resize < 0 && pleat_reply_is(event, "by", "user"))
            resize = pleat_reply_int(event, "resize", -1);
        if (pleat_reply_int(event, "resize", -2) != resize ||
            !pleat_reply_is(event, "step", "ended"))
            continue;
        print_outcome(change, event);
        int64_t from = pleat_reply_int(event, "from", 0), to = pleat_reply_int(event, "to", 0);
        bool done = pleat_reply_is(event, "outcome", change->grow ? "grown" : "shrunk") ||
                    (pleat_reply_is(event, "outcome", "relaunched") &&
                     (change->grow ? to > from : to < from));
        return done ? PLEAT_EXIT_OK : PLEAT_EXIT_FAILED;
    }
    return pleat_daemon_failed(&err, true);
}

/* The job has this size already. No resize begins, so there is no outcome to wait for. */
static bool is_no_change(const json_t *answer)
{
    int64_t from = pleat_reply_int(answer, "from", -1);
    return from >= 0 && from == pleat_reply_int(answer, "to", -2);
}

/* Follows the job from its last event on, so that no event is missed. */
static int follow_from_now(struct pleat_client *client, int64_t job)
{
    int64_t last;
    int code = pleat_daemon_last_event(client, &last);
    if (code)
        return code;
    json_t *params = json_pack("{s:I, s:I}", "job", (json_int_t)job, "after", (json_int_t)last);
    return pleat_daemon_ask(client, "follow", params, NULL);
}

static int carry_out(const struct change *change)
{
    struct pleat_client *client;
    json_t *answer;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    if (change->wait)
        code = follow_from_now(client, change->job);
    if (!code) {
        json_t *params =
            json_pack("{s:I, s:b}", "job", (json_int_t)change->job, "mandatory", change->mandatory);
        json_object_set_new(params, change->by ? "by" : "processors",
                            json_integer(!change->by    ? change->to
                                         : change->grow ? change->by
                                                        : -change->by));
        code = pleat_daemon_ask(client, "resize", params, &answer);
    }
    if (!code) {
        if (change->wait && !is_no_change(answer))
            code = wait_for_outcome(client, change);
        else if (pleat_settings.json)
            pleat_reply_print(answer);
        else
            printf("job %lld: %lld -> %lld processors asked for\n", (long long)change->job,
                   (long long)pleat_reply_int(answer, "from", 0),
                   (long long)pleat_reply_int(answer, "to", 0));
        json_decref(answer);
    }
    pleat_client_close(client);
    return code;
}

static int run(const struct pleat_cli_command *command, int argc, char **argv, bool grow)
{
    static const struct option own[] = {{"to", required_argument, NULL, 't'},
                                        {"wait", no_argument, NULL, 'w'},
                                        {"voluntary", no_argument, NULL, 'v'},
                                        {0}};
    static const struct option own_grow[] = {
        {"to", required_argument, NULL, 't'}, {"wait", no_argument, NULL, 'w'}, {0}};
    struct pleat_options options;
    struct change change = {.command = command, .grow = grow, .mandatory = !grow};
    pleat_options_init(&options, command, argc, argv, grow ? own_grow : own, "w");
    if (read_change(&options, &change) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    return carry_out(&change);
}

static int run_grow(int argc, char **argv)
{
    return run(&pleat_cmd_grow, argc, argv, true);
}

static int run_shrink(int argc, char **argv)
{
    return run(&pleat_cmd_shrink, argc, argv, false);
}

const struct pleat_cli_command pleat_cmd_grow = {
    .name = "grow",
    .arguments = "[--wait] JOB N | --to N JOB",
    .summary = "Gives a malleable job N more processors",
    .help = "The job grows as far as processors are free and its sizes allow. Growing is "
            "voluntary: a\n"
            "job that was submitted with --asks may accept fewer processors, or none.\n"
            "\n"
            "Options:\n"
            "      --to N       to N processors in all, instead of by N\n"
            "  -w, --wait       wait until it is done, and say how it ended\n"
            "\n"
            "Exit codes: 0 begun (with --wait: grown); 1 refused (with --wait: not "
            "grown); 2 usage;\n"
            "3 no daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat grow --wait 17 2\n",
    .json = true,
    .run = run_grow,
};

const struct pleat_cli_command pleat_cmd_shrink = {
    .name = "shrink",
    .arguments = "[--wait] [--voluntary] JOB N | --to N JOB",
    .summary = "Takes N processors away from a malleable job",
    .help = "The job is never shrunk below its minimum. If it does not carry out a "
            "mandatory shrink in\n"
            "time, it is relaunched at the new size, from its last saved state (without "
            "one, from its\n"
            "beginning). A job that cannot be relaunched is ended.\n"
            "\n"
            "Options:\n"
            "      --to N       to N processors in all, instead of by N\n"
            "      --voluntary  the job may refuse (default: the shrink is mandatory)\n"
            "  -w, --wait       wait until it is done, and say how it ended\n"
            "\n"
            "Exit codes: 0 begun (with --wait: shrunk); 1 refused (with --wait: not "
            "shrunk); 2 usage;\n"
            "3 no daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat shrink --to 2 --wait 17\n",
    .json = true,
    .run = run_shrink,
};

/* cmd_set.c - pleat set: changes what may be changed about a job after its submission. */
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/selection.h"
#include "model/types.h"

enum { SET_MIN = 1, SET_MAX, SET_TIME_LIMIT, SET_PRIORITY, SET_ESTIMATE, SET_DEPENDENCY };

/* What is to be changed, by the method that changes it; NULL: nothing. */
struct changes {
    json_t *limits, *time_limit, *revise, *release;
};

static void finish(struct changes *changes)
{
    json_decref(changes->limits);
    json_decref(changes->time_limit);
    json_decref(changes->revise);
    json_decref(changes->release);
}

static void put(json_t **params, const char *member, json_t *value)
{
    if (!*params)
        *params = json_object();
    json_object_set_new(*params, member, value);
}

static int take_number(const char *what, const char *text, int64_t low, int64_t high,
                       json_t **params, struct pleat_error *err)
{
    int64_t value;
    int status = pleat_parse_int(what, text, low, high, &value, err);
    if (!status)
        put(params, what + 2, json_integer(value));
    return status;
}

static int take_time_limit(struct changes *changes, const char *text, struct pleat_error *err)
{
    double seconds = 0;
    bool none = !strcmp(text, "none");
    int status = none ? 0 : pleat_parse_duration("--time-limit", text, &seconds, err);
    if (!status && seconds <= 0 && !none)
        status =
            pleat_error_set(err, PLEAT_E_INVALID, "--time-limit: it must be above 0, or 'none'");
    if (!status)
        put(&changes->time_limit, "limit_s", json_real(seconds));
    return status;
}

static int take(struct changes *changes, int option, const char *text, struct pleat_error *err)
{
    double seconds = 0;
    int status;
    switch (option) {
    case SET_MIN:
        return take_number("--min", text, 0, PLEAT_SIZE_MAX, &changes->limits, err);
    case SET_MAX:
        return take_number("--max", text, 0, PLEAT_SIZE_MAX, &changes->limits, err);
    case SET_TIME_LIMIT:
        return take_time_limit(changes, text, err);
    case SET_PRIORITY:
        return take_number("--priority", text, INT16_MIN, INT16_MAX, &changes->revise, err);
    case SET_ESTIMATE:
        status = pleat_parse_duration("--estimate", text, &seconds, err);
        if (!status)
            put(&changes->revise, "estimate_s", json_real(seconds));
        return status;
    default:
        if (strcmp(text, "none") != 0)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--dependency: what a job waits for is said when it is "
                                   "submitted; here it can be 'none'");
        put(&changes->release, "needs", json_true());
        return 0;
    }
}

static int check(const struct pleat_cli_command *command, const struct changes *changes)
{
    const json_t *least = json_object_get(changes->limits, "min");
    const json_t *most = json_object_get(changes->limits, "max");
    if (least && most && json_integer_value(least) > json_integer_value(most))
        return pleat_usage(command, "--min %lld is above --max %lld",
                           (long long)json_integer_value(least),
                           (long long)json_integer_value(most));
    if (changes->limits || changes->time_limit || changes->revise || changes->release)
        return 0;
    return pleat_usage(command, "what to change? Give --min, --max, --time-limit, --priority, "
                                "--estimate, --dependency none, or several");
}

static int ask(const struct pleat_selection *selection, const struct changes *changes)
{
    const struct {
        const char *method;
        const json_t *params;
    } each[] = {{"limits", changes->time_limit},
                {"limits", changes->limits},
                {"revise", changes->revise},
                {"release", changes->release}};
    struct pleat_client *client;
    struct pleat_job_numbers jobs = {0};
    int code = pleat_daemon_connect(&client), one;
    if (code)
        return code;
    code = pleat_selection_jobs(selection, client, PLEAT_SELECTS_LIVING, &jobs);
    bool found = !code;
    for (size_t i = 0; found && i < sizeof(each) / sizeof(each[0]); i++) {
        if (!each[i].params || code == PLEAT_EXIT_NO_DAEMON)
            continue;
        one = pleat_selection_ask(selection, client, &jobs, each[i].method, each[i].params,
                                  "changed");
        code = one ? one : code;
    }
    pleat_array_finish(&jobs);
    pleat_client_close(client);
    return code;
}

/* `limits` is the old name of this command, from when it changed only limits. */
static int run(const struct pleat_cli_command *command, int argc, char **argv)
{
    static const struct option own[] = {{"min", required_argument, NULL, SET_MIN},
                                        {"max", required_argument, NULL, SET_MAX},
                                        {"time-limit", required_argument, NULL, SET_TIME_LIMIT},
                                        {"priority", required_argument, NULL, SET_PRIORITY},
                                        {"estimate", required_argument, NULL, SET_ESTIMATE},
                                        {"dependency", required_argument, NULL, SET_DEPENDENCY},
                                        {0}};
    struct pleat_selection selection = {.command = command};
    struct pleat_options options;
    struct changes changes = {0};
    struct pleat_error err;
    int code = 0, option;
    pleat_options_init(&options, command, argc, argv, own, NULL);
    while (!code && (option = pleat_options_next(&options)) > 0)
        if (take(&changes, option, optarg, &err))
            code = pleat_usage(command, "%s", err.text);
    if (!code && option == PLEAT_OPTION_EXIT) {
        finish(&changes);
        return options.exit_code;
    }
    selection.words = argv + options.first;
    selection.count = argc - options.first;
    if (!code && selection.count == 0)
        code = pleat_usage(command, "which jobs? Numbers, or ranges such as 3-7");
    if (!code)
        code = pleat_selection_check(&selection);
    if (!code)
        code = check(command, &changes);
    if (!code)
        code = ask(&selection, &changes);
    finish(&changes);
    return code;
}

static int run_set(int argc, char **argv)
{
    return run(&pleat_cmd_set, argc, argv);
}

static int run_limits(int argc, char **argv)
{
    return run(&pleat_cmd_limits, argc, argv);
}

#define SET_HELP                                                                                   \
    "JOB is a number, or a range such as 3-7. A running job is grown or shrunk "                   \
    "until it is\n"                                                                                \
    "within its new limits.\n"                                                                     \
    "\n"                                                                                           \
    "Options:\n"                                                                                   \
    "      --min N      at least N processors (default: unchanged)\n"                              \
    "      --max N      at most N processors (default: unchanged)\n"                               \
    "      --time-limit T  the job is ended when T (1h30m) has passed since its "                  \
    "start; 'none':\n"                                                                             \
    "                   no limit\n"                                                                \
    "      --priority N  of a waiting job: jobs with higher numbers go first, if "                 \
    "the order looks\n"                                                                            \
    "                   at priorities\n"                                                           \
    "      --estimate T  of a waiting job: how long it will probably run\n"                        \
    "      --dependency none  the job does not wait for other jobs any more\n"                     \
    "\n"                                                                                           \
    "Exit codes: 0; 1 refused; 2 usage; 3 no daemon; 4 no such job, or none is "                   \
    "selected.\n"                                                                                  \
    "\n"

const struct pleat_cli_command pleat_cmd_set = {
    .name = "set",
    .arguments = "JOB... [--min N] [--max N] [--time-limit T] [--priority N] [--estimate T]",
    .summary = "Changes a job: its limits, priority, estimate",
    .help = SET_HELP "Example:\n"
                     "  pleat set 17 --max 4 --priority 10\n",
    .run = run_set,
};

const struct pleat_cli_command pleat_cmd_limits = {
    .name = "limits",
    .arguments = "JOB... [--min N] [--max N] [--time-limit T] [--priority N] [--estimate T]",
    .summary = "The older name of 'pleat set'",
    .help = SET_HELP "Example:\n"
                     "  pleat limits 17 --max 4\n",
    .run = run_limits,
};

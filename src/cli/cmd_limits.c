#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/daemon.h"
#include "model/types.h"

static int take_time_limit(json_t *params, const char *text, struct pleat_error *err)
{
    double seconds = 0;
    int status =
        strcmp(text, "none") != 0 ? pleat_parse_duration("--time-limit", text, &seconds, err) : 0;
    if (!status && seconds <= 0 && strcmp(text, "none") != 0)
        status =
            pleat_error_set(err, PLEAT_E_INVALID, "--time-limit: it must be above 0, or 'none'");
    if (!status)
        json_object_set_new(params, "limit_s", json_real(seconds));
    return status;
}

static int read_options(struct pleat_options *options, json_t *params)
{
    struct pleat_error err;
    int64_t value;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return PLEAT_OPTION_EXIT;
        if (option == 't') {
            if (take_time_limit(params, optarg, &err)) {
                options->exit_code = pleat_usage(&pleat_cmd_limits, "%s", err.text);
                return PLEAT_OPTION_EXIT;
            }
            continue;
        }
        const char *name = option == 'm' ? "--min" : "--max";
        if (pleat_parse_int(name, optarg, 0, PLEAT_SIZE_MAX, &value, &err)) {
            options->exit_code = pleat_usage(&pleat_cmd_limits, "%s", err.text);
            return PLEAT_OPTION_EXIT;
        }
        json_object_set_new(params, name + 2, json_integer(value));
    }
    return 0;
}

static int change(struct pleat_options *options, json_t *params)
{
    struct pleat_error err;
    int64_t job;
    if (pleat_options_count(options, 1, 1))
        return PLEAT_EXIT_USAGE;
    if (pleat_parse_job(options->argv[options->first], &job, &err))
        return pleat_usage(&pleat_cmd_limits, "%s", err.text);
    const json_t *least = json_object_get(params, "min"), *most = json_object_get(params, "max");
    json_t *limit = json_object_get(params, "limit_s");
    if (!least && !most && !limit)
        return pleat_usage(&pleat_cmd_limits,
                           "what to change? Give --min, --max, --time-limit, or several");
    if (least && most && json_integer_value(least) > json_integer_value(most))
        return pleat_usage(&pleat_cmd_limits, "--min %lld is above --max %lld",
                           (long long)json_integer_value(least),
                           (long long)json_integer_value(most));
    json_object_set_new(params, "job", json_integer(job));
    if (!limit)
        return pleat_daemon_ask_once("limits", json_incref(params), NULL);
    json_t *time_only = json_pack("{s:I, s:O}", "job", (json_int_t)job, "limit_s", limit);
    int code = pleat_daemon_ask_once("limits", time_only, NULL);
    json_object_del(params, "limit_s");
    return code || (!least && !most) ? code
                                     : pleat_daemon_ask_once("limits", json_incref(params), NULL);
}

static int run_limits(int argc, char **argv)
{
    static const struct option own[] = {{"min", required_argument, NULL, 'm'},
                                        {"max", required_argument, NULL, 'M'},
                                        {"time-limit", required_argument, NULL, 't'},
                                        {0}};
    struct pleat_options options;
    json_t *params = json_object();
    int code;
    pleat_options_init(&options, &pleat_cmd_limits, argc, argv, own, NULL);
    if (read_options(&options, params) == PLEAT_OPTION_EXIT)
        code = options.exit_code;
    else
        code = change(&options, params);
    json_decref(params);
    return code;
}

const struct pleat_command pleat_cmd_limits = {
    .name = "limits",
    .arguments = "JOB [--min N] [--max N] [--time-limit T]",
    .summary = "Changes how few and how many processors a job may have, and how long",
    .help = "A running job outside its new limits is grown or shrunk into them.\n\n"
            "Options:\n"
            "      --min N      at least N processors (default: as it was)\n"
            "      --max N      at most N processors (default: as it was)\n"
            "      --time-limit T  it is ended when it has run so long (1h30m), counted from its\n"
            "                   start, or 'none' for no limit\n\n"
            "Exit codes: 0; 1 refused; 2 usage; 3 no daemon; 4 no such job.\n\n"
            "Example:\n"
            "  pleat limits 17 --max 4\n",
    .run = run_limits,
};

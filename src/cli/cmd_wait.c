#include <stdio.h>

#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/jobs.h"
#include "cli/reply.h"

/* Appends the jobs of an answer to `jobs`; returns 0, or PLEAT_EXIT_FAILED if one did not succeed.
 */
static int take(json_t *jobs, const json_t *answer)
{
    int code = 0;
    size_t i;
    json_t *job;
    json_array_foreach(pleat_reply_array(answer, "jobs"), i, job)
    {
        json_array_append(jobs, job);
        if (!pleat_job_succeeded(job))
            code = PLEAT_EXIT_FAILED;
    }
    return code;
}

static int wait_for(struct pleat_client *client, json_t *params, json_t *jobs, int *outcome)
{
    json_t *answer;
    int code = pleat_daemon_ask(client, "wait", params, &answer);
    if (code)
        return code;
    if (take(jobs, answer))
        *outcome = PLEAT_EXIT_FAILED;
    json_decref(answer);
    return 0;
}

static int run_wait(int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_error err;
    struct pleat_client *client;
    int64_t job;
    if (pleat_options_plain(&options, &pleat_cmd_wait, argc, argv, 0, -1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    for (int i = options.first; i < argc; i++)
        if (pleat_parse_job(argv[i], &job, &err))
            return pleat_usage(&pleat_cmd_wait, "%s", err.text);
    int code = pleat_daemon_connect(&client), outcome = PLEAT_EXIT_OK;
    if (code)
        return code;
    json_t *jobs = json_array();
    if (options.first == argc)
        code = wait_for(client, NULL, jobs, &outcome);
    for (int i = options.first; i < argc && !code; i++) {
        if (!pleat_parse_job(argv[i], &job, &err))
            code = wait_for(client, json_pack("{s:I}", "job", (json_int_t)job), jobs, &outcome);
    }
    if (!code && (json_array_size(jobs) > 0 || pleat_settings.json))
        code = pleat_jobs_print(jobs);
    json_decref(jobs);
    pleat_client_close(client);
    return code ? code : outcome;
}

const struct pleat_command pleat_cmd_wait = {
    .name = "wait",
    .arguments = "[JOB...]",
    .summary = "Waits until jobs have ended (without JOB: all that wait or run)",
    .help =
        "Then lists them as 'pleat ps' does. Ctrl-C ends the waiting, not the jobs.\n\n"
        "Exit codes: 0 all exited with 0; 1 one did not; 3 no daemon, or the connection broke;\n"
        "4 no such job.\n\n"
        "Example:\n"
        "  pleat wait 17 18 && echo both are fine\n",
    .json = true,
    .run = run_wait,
};

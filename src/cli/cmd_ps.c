#include <stdio.h>

#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/jobs.h"

static int run_ps(int argc, char **argv)
{
    static const struct option own[] = {{"all", no_argument, NULL, 'a'}, {0}};
    struct pleat_options options;
    bool all = false;
    int option;
    struct pleat_client *client;
    json_t *jobs;
    pleat_options_init(&options, &pleat_cmd_ps, argc, argv, own, "a");
    while ((option = pleat_options_next(&options)) == 'a')
        all = true;
    if (option == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_options_count(&options, 0, 0);
    if (code)
        return code;
    code = pleat_daemon_connect(&client);
    if (code)
        return code;
    code = pleat_daemon_jobs(
        client, (all ? PLEAT_JOBS_ALL : 0) | (pleat_settings.json ? 0 : PLEAT_JOBS_BRIEF), &jobs);
    pleat_client_close(client);
    if (code)
        return code;
    if (json_array_size(jobs) > 0 || pleat_settings.json)
        code = pleat_jobs_print(jobs);
    else
        pleat_say(all ? "no jobs" : "no jobs waiting or running ('pleat ps --all' has the others)");
    json_decref(jobs);
    return code;
}

const struct pleat_command pleat_cmd_ps = {
    .name = "ps",
    .arguments = "[--all]",
    .summary = "Lists the jobs that wait or run",
    .help =
        "PROCS is how many processors a job has now (2/8: 2, with 8 processes, folded), RANGE how\n"
        "many it may have, ITERATION how far it is (programs linked with libpleat), REMARK why it\n"
        "waits or how it ended.\n\n"
        "Options:\n"
        "  -a, --all        those that have ended, too\n\n"
        "Exit codes: 0; 3 no daemon.\n\n"
        "Example:\n"
        "  pleat ps --all\n",
    .json = true,
    .run = run_ps,
};

#include <stdio.h>

#include "cli/commands.h"
#include "cli/daemon.h"

static int run_cancel(int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_error err;
    struct pleat_client *client;
    int64_t job;
    if (pleat_options_plain(&options, &pleat_cmd_cancel, argc, argv, 1, -1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    for (int i = options.first; i < argc; i++)
        if (pleat_parse_job(argv[i], &job, &err))
            return pleat_usage(&pleat_cmd_cancel, "%s", err.text);
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    for (int i = options.first; i < argc && code != PLEAT_EXIT_NO_DAEMON; i++) {
        if (pleat_parse_job(argv[i], &job, &err))
            continue; /* was checked above */
        int one =
            pleat_daemon_ask(client, "cancel", json_pack("{s:I}", "job", (json_int_t)job), NULL);
        code = one ? one : code;
    }
    pleat_client_close(client);
    return code;
}

const struct pleat_command pleat_cmd_cancel = {
    .name = "cancel",
    .arguments = "JOB...",
    .summary = "Ends jobs, waiting or running",
    .help =
        "Returns at once; 'pleat wait' tells when a job is gone. Its processes get SIGTERM, and\n"
        "after a grace SIGKILL. The jobs that can be cancelled are, also where another cannot.\n\n"
        "Exit codes: 0; 1 refused (it has ended already); 2 usage; 3 no daemon; 4 no such job.\n\n"
        "Example:\n"
        "  pleat cancel 17 18\n",
    .run = run_cancel,
};

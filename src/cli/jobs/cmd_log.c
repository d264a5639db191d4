#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/daemon.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/output.h"

static int run_log(int argc, char **argv)
{
    static const struct option own[] = {{"stderr", no_argument, NULL, 'e'},
                                        {"follow", no_argument, NULL, 'f'},
                                        {"retry", required_argument, NULL, 'r'},
                                        {0}};
    struct pleat_options options;
    struct pleat_error err;
    struct pleat_client *client;
    bool follow = false, retries = false;
    double patience_s = PLEAT_PATIENCE_S;
    const char *stream = "stdout";
    int64_t job;
    pleat_options_init(&options, &pleat_cmd_log, argc, argv, own, "ef");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (option == 'e')
            stream = "stderr";
        else if (option == 'f')
            follow = true;
        else if (pleat_parse_duration("--retry", optarg, &patience_s, &err))
            return pleat_usage(&pleat_cmd_log, "%s", err.text);
        else
            retries = true;
    }
    if (retries && !follow)
        return pleat_usage(&pleat_cmd_log, "--retry goes with --follow: nothing else waits");
    int code = pleat_options_count(&options, 1, 1);
    if (!code)
        code = pleat_job_argument(&pleat_cmd_log, argv[options.first], &job);
    if (!code)
        code = pleat_daemon_connect(&client);
    if (code)
        return code;
    struct pleat_output output = {.client = client, .job = job, .stream = stream, .follow = follow};
    int status = pleat_output_copy(&output, STDOUT_FILENO, &err);
    while (status < 0 && follow && !code) {
        code = pleat_daemon_reconnect(&client, patience_s, &err);
        output.client = client;
        if (!code)
            status = pleat_output_copy(&output, STDOUT_FILENO, &err);
    }
    if (status == PLEAT_OUTPUT_UNWRITABLE) {
        pleat_say("cannot write to standard output: %s", strerror(output.write_errno));
        code = PLEAT_EXIT_FAILED;
    } else if (status == PLEAT_OUTPUT_UNREADABLE) {
        pleat_say("%s", err.text);
        code = PLEAT_EXIT_FAILED;
    } else if (status < 0 && !code) {
        code = pleat_daemon_failed(&err, true);
    }
    pleat_client_close(client);
    return code;
}

const struct pleat_cli_command pleat_cmd_log = {
    .name = "log",
    .arguments = "[OPTION...] JOB",
    .summary = "Prints what a job wrote",
    .help = "Options:\n"
            "  -e, --stderr     print what the job wrote to its standard error, not "
            "standard output\n"
            "  -f, --follow     go on until the job has ended; also over a restart of "
            "the daemon\n"
            "      --retry TIME with --follow: how long to wait for a daemon that has "
            "ended (default:\n"
            "                   1min)\n"
            "\n"
            "Exit codes: 0; 1 the output could not be read or printed; 2 usage; 3 no "
            "daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat log --follow 17\n",
    .run = run_log,
};

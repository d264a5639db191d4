#include <stdio.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/submit.h"
#include "describe/submission_help.h"

static int next_option(void *arg, struct pleat_error *err)
{
    return pleat_options_next_quiet(arg, err);
}

int pleat_submit_read(const struct pleat_cli_command *command, int argc, char **argv,
                      struct pleat_submission_place place, struct pleat_submit_options *submission,
                      int *exit_code)
{
    char usage[200];
    struct pleat_error err = {0};
    struct pleat_string notes = {0};
    struct pleat_options options;
    struct option own[PLEAT_SUBMISSION_OPTIONS];
    pleat_submission_list_options(own);
    pleat_options_init(&options, command, argc, argv, own, PLEAT_SUBMISSION_SHORTS);
    snprintf(usage, sizeof(usage), "pleat %s %s", command->name, command->arguments);
    place.reader = &options.reader;
    place.next = next_option;
    place.arg = &options;
    place.usage = usage;
    int status = pleat_submission_read(submission, &place, &notes, &err);
    *exit_code = options.exit_code;
    if (status < 0)
        *exit_code = pleat_usage(command, "%s", err.text);
    else
        pleat_submit_say_notes(notes.text);
    pleat_string_finish(&notes);
    if (status)
        pleat_submission_finish(submission);
    return status != 0;
}

void pleat_submit_say_notes(const char *notes)
{
    for (const char *line = notes; line && *line; line += strcspn(line, "\n") + 1)
        pleat_say("%.*s", (int)strcspn(line, "\n"), line);
}

void pleat_submit_say_warnings(const json_t *answer)
{
    size_t i;
    json_t *warning;
    json_array_foreach(pleat_reply_array(answer, "warnings"), i,
                       warning) if (json_is_string(warning))
        pleat_say("%s", json_string_value(warning));
}

static int submit(const struct pleat_submit_options *submission)
{
    struct pleat_error err = {0};
    struct pleat_string notes = {0};
    struct pleat_client *client;
    json_t *spec, *answer = NULL;
    int status = pleat_submission_spec(submission, &spec, &notes, &err);
    if (status == PLEAT_E_INVALID) {
        pleat_string_finish(&notes);
        return pleat_usage(&pleat_cmd_submit, "%s", err.text);
    }
    pleat_submit_say_notes(notes.text);
    pleat_string_finish(&notes);
    if (status)
        return pleat_fail(&err);
    int code = pleat_daemon_connect(&client);
    if (code) {
        json_decref(spec);
        return code;
    }
    status = pleat_daemon_submit(&client, spec, &answer, &err);
    pleat_client_close(client);
    if (status)
        return pleat_daemon_failed(&err, false);
    pleat_submit_say_warnings(answer);
    if (pleat_settings.json)
        code = pleat_reply_print(answer);
    else
        printf("%lld\n", (long long)pleat_reply_int(answer, "job", 0));
    json_decref(answer);
    return code;
}

static int run_submit(int argc, char **argv)
{
    struct pleat_submit_options submission;
    int code = PLEAT_EXIT_OK;
    struct pleat_submission_place place = {.reads_input = true, .arrays = true};
    if (pleat_submit_read(&pleat_cmd_submit, argc, argv, place, &submission, &code))
        return code;
    code = submit(&submission);
    pleat_submission_finish(&submission);
    return code;
}

const struct pleat_cli_command pleat_cmd_submit = {
    .name = "submit",
    .arguments = "[OPTION...] [--] PROGRAM|SCRIPT [ARGUMENT...]",
    .summary = "Submits a job and prints its number",
    .help = "The job gets the environment of this moment. A program named by a path is "
            "looked up from\n"
            "the current directory, any other in PATH. The text of a batch script (it "
            "begins with #!)\n"
            "is copied now; lines '#PLEAT OPTION...' at its head are options, too. "
            "Without PROGRAM the\n"
            "script is read from standard input: pleat submit < job.sh.\n"
            "\n"
            "Options (those of 'pleat run' and of job mixes, too):\n" PLEAT_SUBMISSION_HELP "\n"
            "Exit codes: 0; 1 refused, or no such program; 2 usage; 3 no daemon.\n\n"
            "Examples:\n"
            "  pleat submit --min 2 --max 8 -- build/apps/heat\n"
            "  pleat submit --time-limit 2h --output heat-%j.txt job.sh\n",
    .json = true,
    .program = true,
    .run = run_submit,
};

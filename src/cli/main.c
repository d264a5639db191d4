/* main.c - pleat: one program with a table of subcommands. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/charts/commands.h"
#include "cli/commands.h"
#include "cli/doctor/commands.h"
#include "cli/instance/commands.h"
#include "cli/jobs/commands.h"
#include "cli/live/commands.h"
#include "cli/mix/commands.h"
#include "cli/sim/commands.h"
#include "cli/workload/commands.h"

static const struct pleat_cli_command *const commands[] = {
    &pleat_cmd_run,     &pleat_cmd_submit,   &pleat_cmd_launch,     &pleat_cmd_mix,
    &pleat_cmd_ps,      &pleat_cmd_show,     &pleat_cmd_why,        &pleat_cmd_top,
    &pleat_cmd_wait,    &pleat_cmd_cancel,   &pleat_cmd_checkpoint, &pleat_cmd_grow,
    &pleat_cmd_shrink,  &pleat_cmd_set,      &pleat_cmd_limits,     &pleat_cmd_hold,
    &pleat_cmd_release, &pleat_cmd_requeue,  &pleat_cmd_log,        &pleat_cmd_events,
    &pleat_cmd_chart,   &pleat_cmd_history,  &pleat_cmd_clean,      &pleat_cmd_sites,
    &pleat_cmd_site,    &pleat_cmd_policies, &pleat_cmd_info,       &pleat_cmd_doctor,
    &pleat_cmd_stop,    &pleat_cmd_sim,      &pleat_cmd_experiment, &pleat_cmd_workload,
    &pleat_cmd_help,    &pleat_cmd_version,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

const struct pleat_cli_command *pleat_command_at(size_t i)
{
    return i < COMMAND_COUNT ? commands[i] : NULL;
}

const struct pleat_cli_command *pleat_command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    const char *near = pleat_nearest(name, names, COMMAND_COUNT);
    if (near)
        return pleat_usage(NULL, "there is no command '%s'; did you mean '%s'?", name, near);
    return pleat_usage(NULL, "there is no command '%s'", name);
}

/* Takes the options in front of the command, which are common to all commands. Returns the
 * command's index in argv; or 0 where nothing more is to be done (*code is set). */
static int take_leading_options(int argc, char **argv, int *code)
{
    static const struct option version[] = {{"version", no_argument, NULL, 'V'}, {0}};
    struct pleat_options options;
    pleat_options_init(&options, &pleat_cmd_help, argc, argv, version, "V");
    options.reader.in_front = true;
    int option;
    struct pleat_error err = {0};
    while ((option = pleat_options_next_quiet(&options, &err)) == 'V') {
        *code = pleat_cmd_version.run(1, (char *[]){(char *)"version", NULL});
        return 0;
    }
    if (err.code) {
        *code = pleat_usage(NULL, "%s", err.text);
        return 0;
    }
    if (option == PLEAT_OPTION_EXIT) {
        *code = options.exit_code;
        return 0;
    }
    if (options.first >= argc) {
        *code = pleat_usage(NULL, "a command is missing");
        return 0;
    }
    return options.first;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* not LC_NUMERIC: numbers must be as JSON and SVG want them */
    setlocale(LC_TIME, "");
    /* a reader that closes its end of the pipe ends the program, silently */
    signal(SIGPIPE, SIG_DFL);
    int code = PLEAT_EXIT_OK;
    int at = take_leading_options(argc, argv, &code);
    if (at > 0) {
        const struct pleat_cli_command *command = pleat_command_find(argv[at]);
        code = command ? command->run(argc - at, argv + at) : unknown_command(argv[at]);
    }
    return pleat_finish_output(code);
}

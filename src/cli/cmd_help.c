#include <stdio.h>

#include "cli/commands.h"
#include "cli/common/cli.h"
#include "cli/completion.h"

static void print_commands(void)
{
    printf("Usage: pleat [--dir DIR] [--no-color] COMMAND [OPTION...] [ARGUMENT...]\n\n"
           "Runs parallel jobs that change size while they run.\n\nCommands:\n");
    for (size_t i = 0; pleat_command_at(i); i++)
        printf("  %-9s %s\n", pleat_command_at(i)->name, pleat_command_at(i)->summary);
    printf("\n'pleat help COMMAND' says more about one. A daemon (pleatd) is started where none "
           "runs.\n");
}

static int run_help(int argc, char **argv)
{
    /* read by shells, and so not in the help */
    static const struct option own[] = {{"completion", required_argument, NULL, 'c'},
                                        {"complete-jobs", no_argument, NULL, 'j'},
                                        {0}};
    struct pleat_options options;
    struct pleat_error err;
    pleat_options_init(&options, &pleat_cmd_help, argc, argv, own, NULL);
    switch (pleat_options_next(&options)) {
    case PLEAT_OPTION_EXIT:
        return options.exit_code;
    case 'c':
        return pleat_completion_print(optarg, &err) ? pleat_usage(&pleat_cmd_help, "%s", err.text)
                                                    : PLEAT_EXIT_OK;
    case 'j':
        pleat_completion_jobs();
        return PLEAT_EXIT_OK;
    default:
        break;
    }
    if (options.first == argc) {
        pleat_command_help(&pleat_cmd_help);
        return PLEAT_EXIT_OK;
    }
    const char *name = argv[options.first];
    const struct pleat_cli_command *command = pleat_command_find(name);
    if (!command)
        return pleat_usage(NULL, "there is no command '%s'", name);
    for (int i = options.first + 1; i < argc; i++) {
        const struct pleat_cli_command *part = pleat_command_part(command, argv[i]);
        if (!part)
            return pleat_usage(NULL, "there is no command '%s %s'", command->name, argv[i]);
        command = part;
    }
    pleat_command_help(command);
    return PLEAT_EXIT_OK;
}

const struct pleat_cli_command pleat_cmd_help = {
    .name = "help",
    .arguments = "[COMMAND [SUBCOMMAND...]]",
    .summary = "Explains a command",
    .help = "Exit codes: 0; 2 there is no such command.\n",
    .run = run_help,
    .print_help = print_commands,
};

static int run_version(int argc, char **argv)
{
    struct pleat_options options;
    if (pleat_options_plain(&options, &pleat_cmd_version, argc, argv, 0, 0) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    printf("pleat %s\n", PLEAT_VERSION);
    return PLEAT_EXIT_OK;
}

const struct pleat_cli_command pleat_cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "Prints the version of pleat",
    .help = "The daemon's version is shown by 'pleat info'. Exit code: 0.\n",
    .run = run_version,
};

#include "cli/jobs/commands.h"
#include "cli/jobs/selection.h"

static int run_cancel(int argc, char **argv)
{
    static const struct option own[] = {PLEAT_SELECTION_OPTIONS, {0}};
    struct pleat_selection selection = {.command = &pleat_cmd_cancel};
    struct pleat_options options;
    struct pleat_error err;
    pleat_options_init(&options, &pleat_cmd_cancel, argc, argv, own, NULL);
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (pleat_selection_take(&selection, option, optarg, &err))
            return pleat_usage(&pleat_cmd_cancel, "%s", err.text);
    }
    selection.words = argv + options.first;
    selection.count = argc - options.first;
    return pleat_selection_change(&selection, PLEAT_SELECTS_LIVING, "cancel", NULL, "cancelled");
}

const struct pleat_cli_command pleat_cmd_cancel = {
    .name = "cancel",
    .arguments = "[JOB...] [--name PATTERN] [--state STATE] [--all]",
    .summary = "Ends jobs, waiting or running",
    .help =
        "JOB is a number, or a range of numbers such as 3-7. The processes of the "
        "jobs get SIGTERM,\n"
        "and after a grace SIGKILL. The command does not wait for the end; 'pleat "
        "wait' does. If\n"
        "one job is refused, the others are cancelled all the same.\n"
        "\n"
        "Options:\n" PLEAT_SELECTION_HELP "\n"
        "Exit codes: 0; 1 refused (it has ended already); 2 usage; 3 no daemon; 4 no such job, or\n"
        "none is selected.\n\n"
        "Examples:\n"
        "  pleat cancel 3-7 12\n"
        "  pleat cancel --name 'heat*' --state waiting\n",
    .run = run_cancel,
};

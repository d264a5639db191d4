#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/completion.h"

void pleat_command_help(const struct pleat_command *command)
{
    if (command == &pleat_cmd_help) {
        printf("Usage: pleat [--dir DIR] [--no-color] COMMAND [OPTION...] [ARGUMENT...]\n\n"
               "Runs parallel jobs that change size while they run.\n\nCommands:\n");
        for (size_t i = 0; pleat_command_at(i); i++)
            printf("  %-9s %s\n", pleat_command_at(i)->name, pleat_command_at(i)->summary);
        printf(
            "\n'pleat help COMMAND' says more about one. A daemon (pleatd) is started where none "
            "runs.\n");
        return;
    }
    printf("Usage: pleat %s %s\n\n%s.\n\n", command->name, command->arguments, command->summary);
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        printf("  pleat %-26s %s\n", command->parts[i]->name, command->parts[i]->summary);
    printf("%s%s", command->parts ? "\n" : "", command->help);
    printf("\nOptions of all commands:\n"
           "      --dir DIR    use the instance of Pleat that lives in DIR (default: $PLEAT_DIR,\n"
           "                   else the user's own)\n"
           "      --no-color   no colour (as with NO_COLOR set, or where stdout is no terminal)\n");
    if (command->json)
        printf("      --json       print JSON, with the names that docs/commands.md lists\n");
    printf("  -h, --help       print this\n");
}

/* Edit distance (insert, delete, replace), for short words. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[n];
}

const char *pleat_nearest(const char *word, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(word), best_distance = length <= 3 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, known[i]);
        if (length >= 2 && !strncmp(word, known[i], length))
            d = 1;
        if (d < best_distance) {
            best_distance = d;
            best = known[i];
        }
    }
    return best;
}

static int run_help(int argc, char **argv)
{
    /* for shells, not for people: they are not in the help */
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
    const struct pleat_command *command = pleat_command_find(name);
    if (!command)
        return pleat_usage(NULL, "there is no command '%s'", name);
    for (int i = options.first + 1; i < argc; i++) {
        const struct pleat_command *part = pleat_command_part(command, argv[i]);
        if (!part)
            return pleat_usage(NULL, "there is no command '%s %s'", command->name, argv[i]);
        command = part;
    }
    pleat_command_help(command);
    return PLEAT_EXIT_OK;
}

const struct pleat_command pleat_cmd_help = {
    .name = "help",
    .arguments = "[COMMAND [SUBCOMMAND...]]",
    .summary = "Explains a command",
    .help = "Exit codes: 0; 2 there is no such command.\n",
    .run = run_help,
};

static int run_version(int argc, char **argv)
{
    struct pleat_options options;
    if (pleat_options_plain(&options, &pleat_cmd_version, argc, argv, 0, 0) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    printf("pleat %s\n", PLEAT_VERSION);
    return PLEAT_EXIT_OK;
}

const struct pleat_command pleat_cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "Prints the version of pleat",
    .help = "The daemon's version is shown by 'pleat info'. Exit code: 0.\n",
    .run = run_version,
};

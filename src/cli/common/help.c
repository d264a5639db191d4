/* help.c - what a command says about itself. */
#include <stdio.h>

#include "cli/common/cli.h"

void pleat_command_help(const struct pleat_cli_command *command)
{
    if (command->print_help) {
        command->print_help();
        return;
    }
    printf("Usage: pleat %s%s%s\n\n%s.\n\n", command->name, *command->arguments ? " " : "",
           command->arguments, command->summary);
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        printf("  pleat %-26s %s\n", command->parts[i]->name, command->parts[i]->summary);
    printf("%s%s", command->parts ? "\n" : "", command->help);
    printf("\n"
           "Options of all commands:\n"
           "      --dir DIR    use the instance of Pleat that lives in DIR (default: "
           "$PLEAT_DIR,\n"
           "                   else the user's own)\n"
           "      --no-color   no colour (as with NO_COLOR set, or if stdout is not a "
           "terminal)\n");
    if (command->json)
        printf("      --json       print JSON, with the names that docs/commands.md lists\n");
    printf("  -h, --help       print this\n");
}

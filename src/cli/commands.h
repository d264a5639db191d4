/* commands.h - the table of subcommands (main.c). Each command is a file cmd_NAME.c in its folder.
 */
#ifndef PLEAT_CLI_COMMANDS_H
#define PLEAT_CLI_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_help, pleat_cmd_version;

/* The command called `name`, or NULL. */
const struct pleat_cli_command *pleat_command_find(const char *name);
/* The i-th command, or NULL after the last. */
const struct pleat_cli_command *pleat_command_at(size_t i);

#endif

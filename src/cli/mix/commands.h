/* commands.h - the subcommands that run job mixes. */
#ifndef PLEAT_CLI_MIX_COMMANDS_H
#define PLEAT_CLI_MIX_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_mix;

#endif

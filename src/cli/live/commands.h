/* commands.h - the subcommands that watch what happens. */
#ifndef PLEAT_CLI_LIVE_COMMANDS_H
#define PLEAT_CLI_LIVE_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_events, pleat_cmd_top;

#endif

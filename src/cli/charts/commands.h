/* commands.h - the subcommands that draw what happened. */
#ifndef PLEAT_CLI_CHARTS_COMMANDS_H
#define PLEAT_CLI_CHARTS_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_chart;

#endif

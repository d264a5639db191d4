/* commands.h - the subcommands that simulate. */
#ifndef PLEAT_CLI_SIM_COMMANDS_H
#define PLEAT_CLI_SIM_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_experiment, pleat_cmd_sim;

#endif

/* commands.h - the subcommands that are about workloads. */
#ifndef PLEAT_CLI_WORKLOAD_COMMANDS_H
#define PLEAT_CLI_WORKLOAD_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_workload;

#endif

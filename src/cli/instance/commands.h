/* commands.h - the subcommands about pleatd itself and what it has. */
#ifndef PLEAT_CLI_INSTANCE_COMMANDS_H
#define PLEAT_CLI_INSTANCE_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_clean, pleat_cmd_info, pleat_cmd_policies,
    pleat_cmd_site, pleat_cmd_site_add, pleat_cmd_site_drain, pleat_cmd_site_remove,
    pleat_cmd_site_resume, pleat_cmd_sites, pleat_cmd_stop;

#endif

/* commands.h - the subcommands that submit, look at and steer jobs. */
#ifndef PLEAT_CLI_JOBS_COMMANDS_H
#define PLEAT_CLI_JOBS_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_cancel, pleat_cmd_checkpoint, pleat_cmd_history,
    pleat_cmd_hold, pleat_cmd_release, pleat_cmd_requeue, pleat_cmd_launch, pleat_cmd_log,
    pleat_cmd_ps, pleat_cmd_grow, pleat_cmd_shrink, pleat_cmd_run, pleat_cmd_set, pleat_cmd_limits,
    pleat_cmd_show, pleat_cmd_submit, pleat_cmd_wait, pleat_cmd_why;

#endif

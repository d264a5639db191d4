/* commands.h - the table of subcommands (main.c), each of them in its own file cmd_NAME.c. */
#ifndef PLEAT_CLI_COMMANDS_H
#define PLEAT_CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct pleat_command pleat_cmd_run, pleat_cmd_submit, pleat_cmd_mix;
extern const struct pleat_command pleat_cmd_ps, pleat_cmd_show, pleat_cmd_wait, pleat_cmd_cancel;
extern const struct pleat_command pleat_cmd_grow, pleat_cmd_shrink, pleat_cmd_limits;
extern const struct pleat_command pleat_cmd_launch;
extern const struct pleat_command pleat_cmd_hold, pleat_cmd_release, pleat_cmd_requeue,
    pleat_cmd_set;
extern const struct pleat_command pleat_cmd_log, pleat_cmd_events, pleat_cmd_chart;
extern const struct pleat_command pleat_cmd_why, pleat_cmd_top, pleat_cmd_history, pleat_cmd_clean;
extern const struct pleat_command pleat_cmd_workload;
extern const struct pleat_command pleat_cmd_sites, pleat_cmd_policies, pleat_cmd_info;
extern const struct pleat_command pleat_cmd_sim, pleat_cmd_experiment;
extern const struct pleat_command pleat_cmd_stop, pleat_cmd_help, pleat_cmd_version;

/* The command called `name`, or NULL. */
const struct pleat_command *pleat_command_find(const char *name);
/* The i-th command, or NULL after the last. */
const struct pleat_command *pleat_command_at(size_t i);

#endif

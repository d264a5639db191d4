/* commands.h - pleat doctor. */
#ifndef PLEAT_CLI_DOCTOR_COMMANDS_H
#define PLEAT_CLI_DOCTOR_COMMANDS_H

#include "cli/common/cli.h"

extern const struct pleat_cli_command pleat_cmd_doctor;

#endif

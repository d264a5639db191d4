/* completion_options.h - the options of a command, read from its help text; for completion.c. */
#ifndef PLEAT_CLI_COMPLETION_OPTIONS_H
#define PLEAT_CLI_COMPLETION_OPTIONS_H

#include <stdbool.h>

#include "base/array.h"
#include "cli/common/cli.h"

struct pleat_help_option {
    char name[40]; /* "--follow", "-f" */
    char about[200];
    bool has_value;
};

PLEAT_ARRAY(pleat_help_options, struct pleat_help_option);

/* Appends the options in the command's own help and those common to all. The caller calls
 * pleat_array_finish. */
void pleat_help_options_read(const struct pleat_cli_command *command,
                             struct pleat_help_options *options);

/* What the arguments of a command name. */
enum pleat_completes { PLEAT_COMPLETES_FILES, PLEAT_COMPLETES_JOBS, PLEAT_COMPLETES_NOTHING };
enum pleat_completes pleat_completes(const struct pleat_cli_command *command);
/* Appends the words that an option's value may be, separated by blanks. False: they are not known.
 */
bool pleat_help_option_words(const struct pleat_cli_command *command, const char *option,
                             struct pleat_string *words);

#endif

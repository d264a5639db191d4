/* completion.h - completion scripts for shells, made from the table of commands, their help texts
 * and the table of policies: so completion has exactly what is documented. */
#ifndef PLEAT_CLI_COMPLETION_H
#define PLEAT_CLI_COMPLETION_H

#include "base/error.h"

/* Prints the script for "bash", "zsh" or "fish" to stdout. PLEAT_E_INVALID: another shell. */
int pleat_completion_print(const char *shell, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Prints a line for each job that has not ended: its number, a tab, its name and state. Starts no
 * daemon, and prints nothing where none runs. */
void pleat_completion_jobs(void);

#endif

/* submit.h - what `submit` and `run` share. */
#ifndef PLEAT_CLI_JOBS_SUBMIT_H
#define PLEAT_CLI_JOBS_SUBMIT_H

#include "cli/common/cli.h"
#include "describe/submission.h"

/* Reads the command line; `place` says which options are allowed there. Returns 0; or 1: leave with
 * *exit_code, the reason was reported. After 0 the submission must be finished. */
int pleat_submit_read(const struct pleat_cli_command *command, int argc, char **argv,
                      struct pleat_submission_place place, struct pleat_submit_options *submission,
                      int *exit_code);
/* Prints each line of the notes of pleat_submission_spec (NULL: none). */
void pleat_submit_say_notes(const char *notes);
/* Prints the warnings in the daemon's answer to a submission. */
void pleat_submit_say_warnings(const json_t *answer);

#endif

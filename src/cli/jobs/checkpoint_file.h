/* checkpoint_file.h - shows and checks the file of a checkpoint; no daemon is asked. */
#ifndef PLEAT_CLI_JOBS_CHECKPOINT_FILE_H
#define PLEAT_CLI_JOBS_CHECKPOINT_FILE_H

#include <stdbool.h>

/* Prints what is in it; verify: also reads all of it, and compares the checksums. Returns an exit
 * code, having reported what is wrong. */
int pleat_checkpoint_file_show(const char *path, bool verify);

#endif

/* input.h - passes standard input on to a job, by way of a FIFO that only its user can open.
 *
 * What the job's first process has not read yet is there for the one that takes its place, where
 * the job is relaunched. The end of the input is passed on when all before it has been read.
 */
#ifndef PLEAT_CLI_JOBS_INPUT_H
#define PLEAT_CLI_JOBS_INPUT_H

#include <pthread.h>

#include "base/paths.h"

struct pleat_input {
    char path[300]; /* of the FIFO; "": there is nothing to pass on */
    int fifo;       /* both of its ends, so that it does not seem to end before a job reads it */
    int opened;     /* inotify: that somebody has opened it */
};

/* Makes the FIFO, in Pleat's directory, which must be there. Standard input that is closed or
 * /dev/null needs none. PLEAT_E_SYSTEM. */
int pleat_input_begin(struct pleat_input *input, const struct pleat_paths *paths,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Copies from now on, in a thread that ends with the program. A terminal is read from only while
 * the program is in its foreground. */
void pleat_input_start(struct pleat_input *input);
/* Removes the FIFO. */
void pleat_input_end(struct pleat_input *input);

#endif

/* input.h - passes standard input on to a job, through a FIFO that only its user can open, and from
 * there, where the job is on another node, through pleatd.
 *
 * Where the job is relaunched, its new first process gets the input that the old one has not read
 * yet. The end of the input is passed on when all input before it has been read.
 */
#ifndef PLEAT_CLI_JOBS_INPUT_H
#define PLEAT_CLI_JOBS_INPUT_H

#include <pthread.h>
#include <stdint.h>

#include "base/paths.h"

struct pleat_standard_input {
    char path[300]; /* of the FIFO; "": no input to pass on */
    int fifo; /* open for reading and writing, so that a job does not see an end before it reads */
    int opened; /* inotify: a process has opened the FIFO */
};

/* Makes the FIFO in Pleat's directory, which must exist. No FIFO is made where standard input is
 * closed or /dev/null. PLEAT_E_SYSTEM. */
int pleat_standard_input_begin(struct pleat_standard_input *input, const struct pleat_paths *paths,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
/* Begins to copy, in a thread that ends with the program. A terminal is only read while the program
 * is in its foreground. */
void pleat_standard_input_start(struct pleat_standard_input *input);
/* Begins to hand over what is in the FIFO to pleatd, whenever a run of the job takes it from there:
 * one on a node that does not have this FIFO. In a thread likewise, with a connection of its own;
 * a piece is handed over again if pleatd was lost meanwhile. */
void pleat_standard_input_send(const struct pleat_standard_input *input, int64_t job);
/* Removes the FIFO. */
void pleat_standard_input_end(struct pleat_standard_input *input);

#endif

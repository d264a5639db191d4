/* output.h - copying what a job writes. */
#ifndef PLEAT_CLI_JOBS_OUTPUT_H
#define PLEAT_CLI_JOBS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

/* The file descriptor took no more (output->write_errno says why). Not an error of Pleat's. */
#define PLEAT_OUTPUT_UNWRITABLE 3
/* The file that the user named for it cannot be read: its file system does not answer. Said in
 * *err. */
#define PLEAT_OUTPUT_UNREADABLE 4

struct pleat_output {
    struct pleat_client *client; /* borrowed */
    int64_t job;
    const char *stream; /* "stdout" or "stderr" */
    bool follow;        /* until the job has ended and all of it was copied */
    int64_t offset;     /* how far it is; a copy that was interrupted can be continued */
    int write_errno;
    /* as pleat_client_set_interrupt, for the waits that are not the client's; may be NULL */
    const volatile sig_atomic_t *interrupted;
};

/* Copies to fd (SIGPIPE must be ignored if EPIPE is to come back). Blocks. What Pleat's own files
 * have comes from pleatd; a file that the user named is read here. Where that does not answer for
 * some seconds this is said once, and followed on; given up when the job is over, or at once
 * without `follow`. 0 when all is copied, PLEAT_OUTPUT_UNWRITABLE, PLEAT_OUTPUT_UNREADABLE,
 * PLEAT_INTERRUPTED, or as pleat_client_call. */
int pleat_output_copy(struct pleat_output *output, int fd,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* As above, to a function that takes all of it and returns 0, or an errno (then
 * PLEAT_OUTPUT_UNWRITABLE). */
int pleat_output_take(struct pleat_output *output,
                      int (*sink)(void *arg, const char *bytes, size_t count), void *arg,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes all of it, waiting where fd does not block. 0 or an errno. */
int pleat_output_write(int fd, const char *bytes, size_t count);

#endif

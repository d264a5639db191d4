/* output.h - copies what a job writes. */
#ifndef PLEAT_CLI_JOBS_OUTPUT_H
#define PLEAT_CLI_JOBS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "client/client.h"

/* The file descriptor took no more (output->write_errno says why). It is not an error of Pleat's.
 */
#define PLEAT_OUTPUT_UNWRITABLE 3
/* The file that the user named for the output cannot be read, since its file system does not
 * answer. *err says so. */
#define PLEAT_OUTPUT_UNREADABLE 4

struct pleat_output {
    struct pleat_client *client; /* borrowed */
    int64_t job;
    const char *stream; /* "stdout" or "stderr" */
    bool follow;        /* copy on until the job has ended and all its output was copied */
    int64_t offset;     /* bytes copied; an interrupted copy can be continued there */
    int write_errno;
    /* as in pleat_client_set_interrupt, for waits that are not the client's; NULL: none */
    const atomic_int *interrupted;
};

/* Copies to fd; blocks. (For EPIPE to be returned, SIGPIPE must be ignored.) The content of Pleat's
 * own files comes from pleatd; a file that the user named is read here. Where its file system does
 * not answer for some seconds, this is said once. With `follow` the copy then waits on until the
 * job has ended; without, it is given up at once. Returns 0 when all is copied,
 * PLEAT_OUTPUT_UNWRITABLE, PLEAT_OUTPUT_UNREADABLE, PLEAT_INTERRUPTED, or as pleat_client_call. */
int pleat_output_copy(struct pleat_output *output, int fd,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* As pleat_output_copy, to a function that takes all bytes and returns 0, or an errno: that gives
 * PLEAT_OUTPUT_UNWRITABLE. */
int pleat_output_take(struct pleat_output *output,
                      int (*sink)(void *arg, const char *bytes, size_t count), void *arg,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Writes all bytes, and waits where fd does not block. Returns 0 or an errno. */
int pleat_output_write(int fd, const char *bytes, size_t count);

#endif

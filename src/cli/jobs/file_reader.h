/* file_reader.h - reads a file of the user's whose file system may never answer.
 *
 * A process of its own opens and reads the file. It may hang in the kernel, where even SIGKILL does
 * not end it. The asking program can report that, be interrupted, and end all the same.
 */
#ifndef PLEAT_CLI_JOBS_FILE_READER_H
#define PLEAT_CLI_JOBS_FILE_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "wire/message.h"

struct pleat_file_reader {
    pid_t process; /* 0: none */
    int to, from;  /* pipes to and from the process */
    bool asked;    /* the process has not answered yet */
};

/* Starts the process; `path` is absolute. PLEAT_E_SYSTEM. */
int pleat_file_reader_open(struct pleat_file_reader *reader, const char *path,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Appends up to 64 KiB from `offset` on to *bytes. Appends nothing where the file has no more, does
 * not exist, or is not a regular file (a terminal, a pipe). Waits at most limit_ms, then returns
 * PLEAT_E_TIMEOUT; the next call, which must have the same offset, waits on. PLEAT_INTERRUPTED:
 * *interrupted (NULL: never) is not 0. PLEAT_E_SYSTEM: the process is gone. PLEAT_E_NOMEM. */
int pleat_file_reader_read(struct pleat_file_reader *reader, int64_t offset, int limit_ms,
                           const atomic_int *interrupted, struct pleat_string *bytes,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a reader that is not open. Does not wait for a process that hangs. */
void pleat_file_reader_close(struct pleat_file_reader *reader);

#endif

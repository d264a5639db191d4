#include "cli/jobs/output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/jobs/file_reader.h"

int pleat_output_write(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written >= 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (errno == EAGAIN) {
            struct pollfd polled = {.fd = fd, .events = POLLOUT};
            if (poll(&polled, 1, -1) < 0 && errno != EINTR)
                return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* A copy that is under way. */
struct copy {
    struct pleat_output *output;
    int (*sink)(void *arg, const char *bytes, size_t count);
    void *arg;
    struct pleat_string bytes;
    struct pleat_file_reader reader;
    bool read_all; /* all that the file had was read: no more is expected soon */
    bool said;
};

enum { SILENT_MS = 5000 }; /* longest time without an answer of the file system */

static int write_piece(struct copy *copy, int64_t next)
{
    struct pleat_output *output = copy->output;
    output->offset = next;
    if (copy->bytes.length == 0)
        return 0;
    output->write_errno = copy->sink(copy->arg, copy->bytes.text, copy->bytes.length);
    return output->write_errno ? PLEAT_OUTPUT_UNWRITABLE : 0;
}

/* Copies a piece of the file that the user named. As copy_piece. */
static int copy_file(struct copy *copy, const char *path, bool over, struct pleat_error *err)
{
    struct pleat_output *output = copy->output;
    struct pleat_error why;
    int status = 0;
    if (!copy->reader.process)
        status = pleat_file_reader_open(&copy->reader, path, err);
    if (status)
        return status;
    status = pleat_file_reader_read(&copy->reader, output->offset, SILENT_MS, output->interrupted,
                                    &copy->bytes, &why);
    if (status == PLEAT_E_TIMEOUT && output->follow && !over) {
        if (!copy->said)
            pleat_say("%s: %s: its file system hangs, or is slow; waiting for it (Ctrl-C ends)",
                      path, why.text);
        copy->said = copy->read_all = true;
        return 1;
    }
    if (status == PLEAT_INTERRUPTED)
        return status;
    if (status) {
        pleat_error_set(err, status, "cannot read %s, where job %lld writes: %s%s", path,
                        (long long)output->job, why.text,
                        status == PLEAT_E_TIMEOUT ? ": its file system hangs, or is slow" : "");
        return PLEAT_OUTPUT_UNREADABLE;
    }
    copy->read_all = copy->bytes.length == 0;
    if (copy->read_all)
        return output->follow && !over;
    status = write_piece(copy, output->offset + (int64_t)copy->bytes.length);
    return status ? status : 1;
}

static int wrong_answer(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "pleatd sent output from the wrong place");
}

/* Copies one piece. 1: there may be more; 0: that was all; else as pleat_output_copy. */
static int copy_piece(struct copy *copy, struct pleat_error *err)
{
    struct pleat_output *output = copy->output;
    json_t *answer = NULL;
    json_t *params = json_pack("{s:I, s:s, s:I, s:b, s:b, s:b}", "job", (json_int_t)output->job,
                               "stream", output->stream, "offset", (json_int_t)output->offset,
                               "follow", output->follow, "paths", 1, "read", copy->read_all);
    copy->bytes.length = 0;
    int status =
        pleat_client_call_bytes(output->client, "output", params, &answer, &copy->bytes, err);
    if (status)
        return status;
    int64_t next = pleat_reply_int(answer, "offset", output->offset + (int64_t)copy->bytes.length);
    bool end = pleat_reply_true(answer, "end");
    const char *path = pleat_reply_text(answer, "path", NULL);
    if (copy->bytes.failed)
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the output of job %lld",
                                 (long long)output->job);
    else if (path)
        status = copy_file(copy, path, pleat_reply_true(answer, "over"), err);
    else if (next < output->offset)
        status = wrong_answer(err);
    else if ((status = write_piece(copy, next)) == 0)
        status = !end && (output->follow || copy->bytes.length > 0);
    json_decref(answer);
    return status;
}

int pleat_output_take(struct pleat_output *output,
                      int (*sink)(void *arg, const char *bytes, size_t count), void *arg,
                      struct pleat_error *err)
{
    struct copy copy = {.output = output, .sink = sink, .arg = arg};
    int status;
    while ((status = copy_piece(&copy, err)) == 1)
        ;
    pleat_file_reader_close(&copy.reader);
    pleat_string_finish(&copy.bytes);
    return status;
}

static int to_descriptor(void *arg, const char *bytes, size_t count)
{
    const int *fd = arg;
    return pleat_output_write(*fd, bytes, count);
}

int pleat_output_copy(struct pleat_output *output, int fd, struct pleat_error *err)
{
    return pleat_output_take(output, to_descriptor, &fd, err);
}

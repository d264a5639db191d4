#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "cli/reply.h"

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

/* One piece: 1 there may be more, 0 that was all, or as pleat_output_copy. */
static int copy_piece(struct pleat_output *output, int fd, struct pleat_string *bytes,
                      struct pleat_error *err)
{
    json_t *answer = NULL;
    json_t *params =
        json_pack("{s:I, s:s, s:I, s:b}", "job", (json_int_t)output->job, "stream", output->stream,
                  "offset", (json_int_t)output->offset, "follow", output->follow);
    bytes->length = 0;
    int status = pleat_client_call_bytes(output->client, "output", params, &answer, bytes, err);
    if (status)
        return status;
    int64_t next = pleat_reply_int(answer, "offset", output->offset + (int64_t)bytes->length);
    bool end = pleat_reply_true(answer, "end");
    json_decref(answer);
    if (bytes->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the output of job %lld",
                               (long long)output->job);
    if (next < output->offset)
        return pleat_error_set(err, PLEAT_E_PROTOCOL, "pleatd sent output from the wrong place");
    output->offset = next;
    output->write_errno = pleat_output_write(fd, bytes->text, bytes->length);
    if (output->write_errno)
        return PLEAT_OUTPUT_UNWRITABLE;
    return !end && (output->follow || bytes->length > 0);
}

int pleat_output_copy(struct pleat_output *output, int fd, struct pleat_error *err)
{
    struct pleat_string bytes = {0};
    int status;
    while ((status = copy_piece(output, fd, &bytes, err)) == 1)
        ;
    pleat_string_finish(&bytes);
    return status;
}

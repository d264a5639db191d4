#include "adapter/lines.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct written {
    uv_write_t request;
    char *text;
};

static void (*at_end)(void);

void pleat_adapter_at_end(void (*end)(void))
{
    at_end = end;
}

/* An operation may be under way in its thread: it is not waited for. */
static _Noreturn void leave(int code)
{
    if (at_end)
        at_end();
    fflush(NULL);
    _exit(code);
}

static void on_written(uv_write_t *request, int status)
{
    struct written *written = request->data;
    free(written->text);
    free(written);
    if (status < 0)
        leave(1);
}

/* Takes the text over. */
static void put(struct pleat_adapter_lines *lines, int failure, struct pleat_string *text)
{
    if (failure || text->failed) {
        pleat_string_finish(text);
        if (failure == PLEAT_E_NOMEM)
            leave(1);
        return;
    }
    struct written *written = calloc(1, sizeof(*written));
    if (!written)
        leave(1);
    written->text = text->text;
    written->request.data = written;
    uv_buf_t buffer = uv_buf_init(text->text, (unsigned)text->length);
    if (uv_write(&written->request, (uv_stream_t *)&lines->out, &buffer, 1, on_written) ||
        uv_stream_get_write_queue_size((uv_stream_t *)&lines->out) > PLEAT_ADAPTER_UNREAD_MAX) {
        fprintf(stderr, "%s: nobody reads what it says\n", lines->program);
        leave(1);
    }
}

void pleat_adapter_refuse(struct pleat_adapter_lines *lines, int64_t id,
                          const struct pleat_error *error)
{
    struct pleat_string text = {0};
    put(lines, pleat_write_failure(&text, id, error), &text);
}

void pleat_adapter_answer(struct pleat_adapter_lines *lines, int64_t id, json_t *result)
{
    struct pleat_string text = {0};
    int failure = pleat_write_result(&text, id, result);
    if (failure == PLEAT_E_TOOBIG) {
        struct pleat_error error;
        pleat_error_set(&error, PLEAT_E_TOOBIG,
                        "the answer is longer than a line may be (%d bytes)", PLEAT_WIRE_LINE_MAX);
        pleat_adapter_refuse(lines, id, &error);
    }
    put(lines, failure, &text);
}

void pleat_adapter_notify(struct pleat_adapter_lines *lines, const char *method, json_t *params)
{
    struct pleat_string text = {0};
    put(lines, pleat_write_notification(&text, method, params), &text);
}

void pleat_adapter_greet(struct pleat_adapter_lines *lines, const char *role, json_t *extra)
{
    struct pleat_string text = {0};
    put(lines, pleat_write_hello(&text, role, extra), &text);
}

void pleat_adapter_give_up(struct pleat_adapter_lines *lines, const struct pleat_error *error)
{
    struct pleat_string text = {0};
    fprintf(stderr, "%s: %s\n", lines->program, error->text);
    if (!pleat_write_failure(&text, 0, error)) {
        uv_buf_t buffer = uv_buf_init(text.text, (unsigned)text.length);
        (void)uv_try_write((uv_stream_t *)&lines->out, &buffer, 1);
    }
    leave(1);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    (void)size;
    struct pleat_adapter_lines *lines = handle->data;
    *buffer = uv_buf_init(lines->buffer, sizeof(lines->buffer));
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct pleat_adapter_lines *lines = stream->data;
    struct pleat_message message;
    struct pleat_error err;
    if (count == 0)
        return;
    if (count < 0)
        leave(count == UV_EOF ? 0 : 1);
    int got = pleat_reader_feed(lines->reader, buffer->base, (size_t)count, &err);
    while (!got && (got = pleat_reader_next(lines->reader, &message, &err)) > 0) {
        lines->message(lines->arg, &message);
        pleat_message_finish(&message);
        got = 0;
    }
    if (got < 0)
        pleat_adapter_give_up(lines, &err);
}

static int open_pipe(uv_loop_t *loop, uv_pipe_t *pipe, int fd, struct pleat_error *err)
{
    if (uv_guess_handle(fd) != UV_NAMED_PIPE)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "standard %s is no pipe: pleatd starts this program, and speaks with it",
            fd == 0 ? "input" : "output");
    int failure = uv_pipe_init(loop, pipe, 0);
    failure = failure ? failure : uv_pipe_open(pipe, fd);
    if (failure)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "standard %s: %s", fd == 0 ? "input" : "output",
                               uv_strerror(failure));
    return 0;
}

static void on_told(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    leave(0);
}

int pleat_adapter_lines_open(struct pleat_adapter_lines *lines, uv_loop_t *loop,
                             struct pleat_error *err)
{
    int failure = pleat_reader_create(&lines->reader);
    if (failure)
        return pleat_error_set(err, failure, "out of memory");
    failure = open_pipe(loop, &lines->in, 0, err);
    failure = failure ? failure : open_pipe(loop, &lines->out, 1, err);
    if (failure)
        return failure;
    lines->in.data = lines;
    failure = uv_signal_init(loop, &lines->told);
    failure = failure ? failure : uv_signal_start(&lines->told, on_told, SIGTERM);
    uv_unref((uv_handle_t *)&lines->told);
    if (failure)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "SIGTERM: %s", uv_strerror(failure));
    failure = uv_read_start((uv_stream_t *)&lines->in, on_room, on_read);
    return failure
               ? pleat_error_set(err, PLEAT_E_SYSTEM, "standard input: %s", uv_strerror(failure))
               : 0;
}

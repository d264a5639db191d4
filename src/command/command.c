#include "command/command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "command/search.h"

/* A command whose process has ended may have left its output open in other processes:
 * OUTPUT_LATE_MS is how long that output is waited for. END_MS: how long helpers have, all
 * together, at the driver's end. */
enum { OUTPUT_LATE_MS = 1000, SAID_MAX = 67108864, END_MS = 300 };

static const char *const through[] = {"setpriv", "--pdeathsig", "KILL", "--"};
enum { THROUGH = sizeof(through) / sizeof(through[0]) };

/* A command, or a helper (which has callbacks). */
struct pleat_helper {
    struct pleat_helper *previous, *next;
    struct pleat_commands *all;
    void *fn_arg;
    uint64_t token;
    pleat_command_done *done;                /* of a command */
    struct pleat_helper_callbacks callbacks; /* of a helper; `line` NULL: it is a command */
    uv_process_t process;
    uv_timer_t limit;
    uv_pipe_t in, out, err;
    uv_write_t input;
    char *input_text;
    struct pleat_string output, errors; /* of a helper: what is no whole line yet */
    size_t output_max;
    struct pleat_command_result result;
    int handles;  /* open, or closing */
    int streams;  /* of its output, not yet at their end */
    bool alive;   /* its process runs */
    bool dropped; /* nothing is called any more */
};

struct pleat_commands {
    uv_loop_t *loop;
    struct pleat_helper *first;
    bool ended;
};

int pleat_commands_create(uv_loop_t *loop, struct pleat_commands **commands)
{
    *commands = calloc(1, sizeof(**commands));
    if (!*commands)
        return PLEAT_E_NOMEM;
    (*commands)->loop = loop;
    return 0;
}

void pleat_commands_destroy(struct pleat_commands *commands)
{
    free(commands);
}

/* ---- its end ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct pleat_helper *child = handle->data;
    if (--child->handles > 0)
        return;
    if (child->previous)
        child->previous->next = child->next;
    else
        child->all->first = child->next;
    if (child->next)
        child->next->previous = child->previous;
    pleat_string_finish(&child->output);
    pleat_string_finish(&child->errors);
    free(child->input_text);
    free(child);
}

static void close_one(void *handle)
{
    uv_handle_t *one = handle;
    if (one->type != UV_UNKNOWN_HANDLE && !uv_is_closing(one))
        uv_close(one, on_handle_closed);
}

/* All but the process, which is waited for as long as it lives. */
static void close_handles(struct pleat_helper *child)
{
    close_one(&child->in);
    close_one(&child->out);
    close_one(&child->err);
    close_one(&child->limit);
    if (!child->alive)
        close_one(&child->process);
}

static void finish(struct pleat_helper *child)
{
    if (child->dropped)
        return;
    child->dropped = true; /* that was the last callback */
    if (child->output.failed || child->errors.failed)
        abort();
    child->result.output = child->output.text ? child->output.text : "";
    child->result.output_length = child->output.length;
    child->result.errors = child->errors.text ? child->errors.text : "";
    if (child->callbacks.ended)
        child->callbacks.ended(child->fn_arg, &child->result);
    else
        child->done(child->fn_arg, child->token, &child->result);
    close_handles(child);
}

static void on_late(uv_timer_t *timer)
{
    finish(timer->data);
}

static void on_process_exit(uv_process_t *process, int64_t status, int signal)
{
    struct pleat_helper *child = process->data;
    child->alive = false;
    if (child->result.end != PLEAT_COMMAND_TIMED_OUT) {
        child->result.end = signal ? PLEAT_COMMAND_KILLED : PLEAT_COMMAND_EXITED;
        child->result.code = signal ? signal : (int)status;
    }
    if (child->dropped)
        close_one(process);
    else if (child->streams == 0)
        finish(child);
    else
        uv_timer_start(&child->limit, on_late, OUTPUT_LATE_MS, 0);
}

static void end_child(struct pleat_helper *child)
{
    if (child->alive && kill(-child->process.pid, SIGKILL))
        (void)kill(child->process.pid, SIGKILL); /* it has no session of its own yet */
}

static void on_limit(uv_timer_t *timer)
{
    struct pleat_helper *child = timer->data;
    child->result.end = PLEAT_COMMAND_TIMED_OUT;
    end_child(child);
}

static void drop(struct pleat_helper *child)
{
    if (child->dropped)
        return;
    child->dropped = true;
    end_child(child);
    close_handles(child);
}

void pleat_commands_drop(struct pleat_commands *commands, const void *fn_arg)
{
    for (struct pleat_helper *child = commands->first; child; child = child->next)
        if (child->fn_arg == fn_arg)
            drop(child);
}

/* Has it ended? It stays to be waited for, by the loop. */
static bool is_over(const struct pleat_helper *child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
           info.si_pid != 0;
}

/* Helpers may have something to put in order, which takes them a moment. */
static void let_end(struct pleat_commands *commands)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (struct pleat_helper *child = commands->first; child; child = child->next)
        if (child->alive && !child->dropped && child->callbacks.line)
            (void)kill(child->process.pid, SIGTERM);
    for (int ms = 0; ms < END_MS; ms++) {
        bool waits = false;
        for (struct pleat_helper *child = commands->first; child; child = child->next)
            waits |= child->alive && !child->dropped && child->callbacks.line && !is_over(child);
        if (!waits)
            return;
        nanosleep(&pause, NULL);
    }
}

void pleat_commands_end(struct pleat_commands *commands)
{
    if (!commands)
        return;
    commands->ended = true;
    let_end(commands);
    for (struct pleat_helper *child = commands->first; child; child = child->next)
        drop(child);
}

/* ---- output of a child ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    (void)handle;
    room->base = malloc(suggested);
    room->len = room->base ? suggested : 0;
}

static void stream_over(struct pleat_helper *child, uv_stream_t *stream)
{
    (void)uv_read_stop(stream);
    child->streams--;
    if (child->streams == 0 && !child->alive)
        finish(child);
}

/* Adds what fits. */
static void keep(struct pleat_helper *child, struct pleat_string *to, size_t most,
                 const char *bytes, size_t count)
{
    size_t room = most - to->length;
    if (count > room && to == &child->output)
        child->result.truncated = true;
    pleat_string_add_bytes(to, bytes, count < room ? count : room);
}

static void say_lines(struct pleat_helper *child, const char *bytes, size_t count)
{
    struct pleat_string *line = &child->output;
    while (count > 0 && !child->dropped) {
        const char *end = memchr(bytes, '\n', count);
        size_t length = end ? (size_t)(end - bytes) : count;
        keep(child, line, PLEAT_HELPER_LINE_MAX, bytes, length);
        if (line->failed)
            abort();
        if (child->result.truncated) { /* no helper writes so long a line */
            end_child(child);
            return;
        }
        if (end) {
            child->callbacks.line(child->fn_arg, line->text ? line->text : "", line->length);
            line->length = 0;
            if (line->text)
                line->text[0] = '\0';
            length++;
        }
        bytes += length;
        count -= length;
    }
}

static void on_output(uv_stream_t *stream, ssize_t count, const uv_buf_t *room)
{
    struct pleat_helper *child = stream->data;
    if (count == UV_ENOBUFS)
        abort();
    if (count > 0 && !child->dropped) {
        if (stream == (uv_stream_t *)&child->err)
            keep(child, &child->errors, PLEAT_COMMAND_ERRORS_MAX, room->base, (size_t)count);
        else if (child->callbacks.line)
            say_lines(child, room->base, (size_t)count);
        else
            keep(child, &child->output, child->output_max, room->base, (size_t)count);
    }
    free(room->base);
    if (count < 0 && !child->dropped)
        stream_over(child, stream);
}

/* ---- input of a child ---- */

static void on_input(uv_write_t *write, int status)
{
    (void)status; /* it may have ended without reading all of it */
    struct pleat_helper *child = write->data;
    close_one(&child->in);
}

static void begin_input(struct pleat_helper *child, const struct pleat_command *command)
{
    if (!command->input || command->input_length == 0) {
        close_one(&child->in);
        return;
    }
    child->input_text = malloc(command->input_length);
    if (!child->input_text)
        abort();
    memcpy(child->input_text, command->input, command->input_length);
    uv_buf_t text = uv_buf_init(child->input_text, (unsigned)command->input_length);
    child->input.data = child;
    if (uv_write(&child->input, (uv_stream_t *)&child->in, &text, 1, on_input))
        close_one(&child->in);
}

struct saying {
    uv_write_t write;
    char text[];
};

static void on_said(uv_write_t *write, int status)
{
    (void)status; /* its end is told by itself */
    free(write->data);
}

int pleat_helper_say(struct pleat_helper *helper, const char *line)
{
    size_t length = strlen(line);
    if (!helper->alive || helper->dropped || uv_is_closing((uv_handle_t *)&helper->in))
        return PLEAT_E_STATE;
    if (uv_stream_get_write_queue_size((uv_stream_t *)&helper->in) + length > SAID_MAX)
        return PLEAT_E_BUSY;
    struct saying *saying = malloc(sizeof(*saying) + length + 1);
    if (!saying)
        abort();
    memcpy(saying->text, line, length);
    saying->text[length] = '\n';
    saying->write.data = saying;
    uv_buf_t text = uv_buf_init(saying->text, (unsigned)length + 1);
    if (uv_write(&saying->write, (uv_stream_t *)&helper->in, &text, 1, on_said)) {
        free(saying);
        return PLEAT_E_STATE;
    }
    return 0;
}

/* ---- its beginning ---- */

static int spawn(struct pleat_helper *child, const struct pleat_command *command)
{
    size_t words = 0;
    while (command->argv[words])
        words++;
    char **args = calloc(THROUGH + words + 1, sizeof(*args));
    if (!args)
        abort();
    for (size_t i = 0; i < THROUGH; i++)
        args[i] = (char *)(uintptr_t)through[i];
    for (size_t i = 0; i < words; i++)
        args[THROUGH + i] = (char *)(uintptr_t)command->argv[i];
    bool helps = child->callbacks.line != NULL;
    uv_stdio_container_t io[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&child->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&child->out},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&child->err}};
    if (helps)
        io[2] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = 2};
    uv_process_options_t options = {.exit_cb = on_process_exit,
                                    .file = args[0],
                                    .args = args,
                                    .env = pleat_environment_with(command->environment),
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = io};
    int rc = uv_spawn(child->all->loop, &child->process, &options);
    free(options.env);
    free(args);
    return rc;
}

static void add_handle(struct pleat_helper *child, void *handle)
{
    ((uv_handle_t *)handle)->data = child;
    child->handles++;
}

static struct pleat_helper *child_new(struct pleat_commands *commands, void *fn_arg)
{
    struct pleat_helper *child = calloc(1, sizeof(*child));
    if (!child)
        abort();
    child->all = commands;
    child->fn_arg = fn_arg;
    child->next = commands->first;
    if (child->next)
        child->next->previous = child;
    commands->first = child;
    uv_timer_init(commands->loop, &child->limit);
    uv_pipe_init(commands->loop, &child->in, 0);
    uv_pipe_init(commands->loop, &child->out, 0);
    uv_pipe_init(commands->loop, &child->err, 0);
    add_handle(child, &child->limit);
    add_handle(child, &child->in);
    add_handle(child, &child->out);
    add_handle(child, &child->err);
    return child;
}

/* The command cannot be started: reported from the loop, as all else is. */
static void fail(struct pleat_helper *child, const char *why)
{
    pleat_string_add(&child->errors, why);
    child->result.end = PLEAT_COMMAND_NOT_STARTED;
    uv_timer_start(&child->limit, on_late, 0, 0);
}

static void begin(struct pleat_helper *child, const struct pleat_command *command)
{
    struct pleat_error err = {0};
    if (child->all->ended) {
        drop(child);
        return;
    }
    if (pleat_program_check(command->argv[0], &err) || pleat_program_check(through[0], &err)) {
        fail(child, err.text);
        return;
    }
    int rc = spawn(child, command);
    add_handle(child, &child->process); /* a handle that failed has to be closed, too */
    if (rc) {
        fail(child, uv_strerror(rc));
        return;
    }
    child->alive = true;
    child->streams = 1;
    (void)uv_read_start((uv_stream_t *)&child->out, on_room, on_output);
    if (child->callbacks.line)
        return;
    child->streams = 2;
    (void)uv_read_start((uv_stream_t *)&child->err, on_room, on_output);
    begin_input(child, command);
    int64_t limit_us =
        command->limit_us > 0 ? command->limit_us : (int64_t)PLEAT_COMMAND_LIMIT_S * 1000000;
    uv_timer_start(&child->limit, on_limit, (uint64_t)(limit_us + 999) / 1000, 0);
}

void pleat_commands_run(struct pleat_commands *commands, const struct pleat_command *command,
                        pleat_command_done *done, void *fn_arg, uint64_t token)
{
    struct pleat_helper *child = child_new(commands, fn_arg);
    child->done = done;
    child->token = token;
    child->output_max = command->output_max ? command->output_max : PLEAT_COMMAND_OUTPUT_MAX;
    begin(child, command);
}

struct pleat_helper *pleat_commands_help(struct pleat_commands *commands,
                                         const struct pleat_command *command,
                                         const struct pleat_helper_callbacks *callbacks,
                                         void *fn_arg)
{
    struct pleat_helper *child = child_new(commands, fn_arg);
    child->callbacks = *callbacks;
    begin(child, command);
    return child;
}

#include "agent/inflow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/notify.h"
#include "agent/outflow.h"
#include "agent/screen.h"

struct pleat_inflow {
    uv_poll_t poll;
    struct pleat_run *run; /* NULL: destroyed */
    int pipe[2];           /* the writing end, when the input has ended, is the reading one */
    bool ended;            /* so that the run sees the end of its input */
    char *piece;           /* the piece that is being written; NULL: none is */
    size_t count, written;
    int64_t taken; /* bytes of all pieces before that one */
    bool ends;     /* no more comes after it */
};

static void tell(const struct pleat_inflow *flow)
{
    pleat_agent_notify(flow->run->agent, "input_taken",
                       json_pack("{s:I, s:I, s:b}", "run", (json_int_t)flow->run->id, "offset",
                                 (json_int_t)flow->taken, "end", flow->ended));
}

static void on_writable(uv_poll_t *poll, int status, int events);

/* Ends the input. The descriptor keeps its number, by which the loop knows it, until the run is
 * over: the loop would forget whatever else got that number meanwhile, such as another run's
 * output. */
static void end_input(struct pleat_inflow *flow)
{
    if (flow->ended)
        return;
    if (flow->run->screen) {
        pleat_outflow_cut(flow->run);
        pleat_screen_destroy(flow->run);
    }
    (void)dup3(flow->pipe[0], flow->pipe[1], O_CLOEXEC); /* both are open: it succeeds */
    flow->ended = true;
}

void pleat_inflow_hang_up(struct pleat_run *run)
{
    struct pleat_inflow *flow = run->inflow;
    if (!flow || !run->screen)
        return;
    (void)uv_poll_stop(&flow->poll);
    flow->taken += (int64_t)flow->count; /* nobody reads it: nothing more is to be sent */
    free(flow->piece);
    flow->piece = NULL;
    flow->count = flow->written = 0;
    end_input(flow);
}

/* Writes what the pipe takes; tells when all of the piece is written. */
static void go_on(struct pleat_inflow *flow)
{
    while (flow->piece && flow->written < flow->count) {
        ssize_t count =
            write(flow->pipe[1], flow->piece + flow->written, flow->count - flow->written);
        if (count < 0) {
            (void)uv_poll_start(&flow->poll, UV_WRITABLE, on_writable);
            return;
        }
        flow->written += (size_t)count;
    }
    (void)uv_poll_stop(&flow->poll);
    flow->taken += (int64_t)flow->count;
    free(flow->piece);
    flow->piece = NULL;
    flow->count = flow->written = 0;
    if (flow->ends && !flow->ended)
        end_input(flow);
    tell(flow);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct pleat_inflow *flow = poll->data;
    (void)status;
    (void)events;
    if (flow->run)
        go_on(flow);
}

int pleat_inflow_take(struct pleat_run *run, const json_t *params, const char *bytes, size_t count,
                      struct pleat_error *err)
{
    struct pleat_inflow *flow = run->inflow;
    int64_t offset = 0;
    bool end = false;
    int rc = pleat_get_int(params, "offset", true, 0, INT64_MAX / 2, &offset, err);
    if (!rc)
        rc = pleat_get_bool(params, "end", false, &end, err);
    if (rc)
        return rc;
    if (!flow)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " takes no input", run->id);
    if (offset > flow->taken)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "run %" PRIu64 " has taken %" PRId64 " bytes of input, not %" PRId64,
                               run->id, flow->taken, offset);
    int64_t known = flow->taken - offset;
    if (flow->piece && offset == flow->taken)
        return 0; /* the piece has come again: it is told when it is written */
    if (flow->piece)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "run %" PRIu64 " has not read the last piece of input", run->id);
    if (!flow->ended && (int64_t)count > known) {
        flow->count = count - (size_t)known;
        flow->piece = malloc(flow->count);
        if (!flow->piece) {
            flow->count = 0;
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for input of run %" PRIu64,
                                   run->id);
        }
        memcpy(flow->piece, bytes + known, flow->count);
    }
    flow->ends = flow->ends || end;
    go_on(flow);
    return 0;
}

/* A terminal is written to in the place of a pipe, which has no reading end here. 0 or an errno. */
static int open_screen(const struct pleat_run *run, struct pleat_inflow *flow)
{
    flow->pipe[1] = pleat_screen_open(run);
    if (flow->pipe[1] < 0)
        return errno;
    flow->pipe[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int code = flow->pipe[0] < 0 ? errno : 0;
    if (code)
        close(flow->pipe[1]);
    return code;
}

int pleat_inflow_create(struct pleat_run *run, struct pleat_error *err)
{
    char text[64];
    struct pleat_agent *agent = run->agent;
    struct pleat_inflow *flow = calloc(1, sizeof(*flow));
    if (!flow)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int code = run->screen ? open_screen(run, flow) : pipe2(flow->pipe, O_CLOEXEC) ? errno : 0;
    if (code) {
        free(flow);
        return pleat_error_sys(err, code, "no pipe for the input of run %" PRIu64, run->id);
    }
    (void)fcntl(flow->pipe[1], F_SETFL, O_NONBLOCK);
    int rc = uv_poll_init(&agent->loop, &flow->poll, flow->pipe[1]);
    if (rc < 0) {
        close(flow->pipe[0]);
        close(flow->pipe[1]);
        free(flow);
        return pleat_error_sys(err, -rc, "cannot watch the input of run %" PRIu64, run->id);
    }
    flow->poll.data = flow;
    flow->run = run;
    run->inflow = flow;
    if (run->screen)
        return 0;
    /* the new process opens its files itself (process.h) */
    snprintf(text, sizeof(text), "%s/%d/fd/%d", agent->proc, (int)agent->pid, flow->pipe[0]);
    free(run->stdin_path);
    run->stdin_path = strdup(text);
    return run->stdin_path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void pleat_inflow_destroy(struct pleat_run *run)
{
    struct pleat_inflow *flow = run->inflow;
    if (!flow)
        return;
    run->inflow = NULL;
    flow->run = NULL;
    free(flow->piece);
    uv_close((uv_handle_t *)&flow->poll, on_closed);
    close(flow->pipe[0]);
    close(flow->pipe[1]);
}

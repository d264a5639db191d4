#include "agent/outflow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/screen.h"

enum { STREAMS = 2, CHUNK = 65536 };
/* Nothing is told while this many bytes wait for the daemon to read them. */
#define BACKLOG_MAX 1048576

struct stream {
    uv_poll_t poll;
    struct pleat_outflow *flow;
    int pipe[2]; /* -1: closed */
    bool polls;
    bool over;  /* nothing more comes: no process has the terminal, or it was hung up */
    char *ring; /* byte n of the stream is at n modulo PLEAT_OUTFLOW_MOST; NULL: none yet */
    int64_t heard, sent, end; /* numbers of bytes: heard <= sent <= end */
};

struct pleat_outflow {
    struct pleat_run *run; /* NULL: destroyed */
    int handles;
    bool paused;
    struct stream streams[STREAMS];
};

/* ---- reading ---- */

static size_t room(const struct stream *stream)
{
    return PLEAT_OUTFLOW_MOST - (size_t)(stream->end - stream->heard);
}

/* Reads what is in the pipe, as far as there is room in one piece. False: nothing is there, or
 * there is no room. */
static bool take(struct stream *stream)
{
    if (stream->pipe[0] < 0 || stream->over || room(stream) == 0)
        return false;
    if (!stream->ring)
        stream->ring = malloc(PLEAT_OUTFLOW_MOST);
    if (!stream->ring)
        return false; /* tried again with the next byte */
    size_t at = (size_t)(stream->end % PLEAT_OUTFLOW_MOST);
    size_t most = PLEAT_OUTFLOW_MOST - at;
    ssize_t count =
        read(stream->pipe[0], stream->ring + at, most < room(stream) ? most : room(stream));
    /* of a terminal, once all that was written is read */
    stream->over = count < 0 && errno == EIO;
    if (count <= 0)
        return false;
    stream->end += count;
    return true;
}

static void stop(struct stream *stream)
{
    if (stream->polls)
        (void)uv_poll_stop(&stream->poll);
    stream->polls = false;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct stream *stream = poll->data;
    (void)status;
    (void)events;
    if (!take(stream))
        stop(stream); /* pleat_outflow_pump begins again */
}

/* ---- telling ---- */

static bool may_tell(const struct pleat_outflow *flow)
{
    const struct pleat_agent *agent = flow->run->agent;
    return !flow->paused && agent->connection && agent->reporting &&
           pleat_connection_backlog(agent->connection) < BACKLOG_MAX;
}

/* Tells at most a chunk. False: there is nothing to tell, or no memory. */
static bool tell(struct stream *stream)
{
    const struct pleat_run *run = stream->flow->run;
    struct pleat_string out = {0};
    size_t at = (size_t)(stream->sent % PLEAT_OUTFLOW_MOST);
    size_t count = (size_t)(stream->end - stream->sent);
    count = count < PLEAT_OUTFLOW_MOST - at ? count : PLEAT_OUTFLOW_MOST - at;
    count = count < CHUNK ? count : CHUNK;
    if (count == 0)
        return false;
    json_t *params =
        json_pack("{s:I, s:i, s:I}", "run", (json_int_t)run->id, "stream",
                  stream == &stream->flow->streams[0] ? 1 : 2, "offset", (json_int_t)stream->sent);
    if (params && run->part_number)
        json_object_set_new(params, "part", json_integer((json_int_t)run->part_number));
    if (!params || pleat_write_notification_bytes(&out, run->part_number ? "part_output" : "output",
                                                  params, stream->ring + at, count)) {
        pleat_log("no memory to tell what run %" PRIu64 " writes", run->id);
        pleat_string_finish(&out);
        return false;
    }
    stream->sent += (int64_t)count;
    pleat_agent_send(run->agent, &out);
    return true;
}

void pleat_outflow_pump(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_outflow *flow = agent->runs.items[i]->outflow;
        for (int s = 0; flow && s < STREAMS; s++) {
            struct stream *stream = &flow->streams[s];
            while (may_tell(flow) && tell(stream))
                ;
            if (!stream->polls && stream->pipe[0] >= 0 && !stream->over && room(stream) > 0)
                stream->polls = !uv_poll_start(&stream->poll, UV_READABLE, on_readable);
        }
    }
}

void pleat_outflow_pause(struct pleat_run *run)
{
    if (run->outflow)
        run->outflow->paused = true;
}

bool pleat_outflow_holds(struct pleat_run *run)
{
    bool holds = false;
    for (int i = 0; run->outflow && i < STREAMS; i++) {
        struct stream *stream = &run->outflow->streams[i];
        while (take(stream))
            ;
        holds = holds || stream->end > stream->heard;
    }
    return holds;
}

int pleat_outflow_heard(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t number = 0, part = 0, offset = 0;
    int rc = pleat_get_int(params, "part", false, 0, UINT32_MAX, &part, err);
    if (!rc)
        rc = pleat_get_int(params, "stream", true, 1, STREAMS, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", true, 0, INT64_MAX, &offset, err);
    if (rc || !run->outflow || part != run->part_number)
        return rc;
    struct stream *stream = &run->outflow->streams[number - 1];
    if (offset > stream->end)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "run %" PRIu64 " has not written %" PRId64 " bytes to stream %d",
                               run->id, offset, (int)number);
    if (offset > stream->heard)
        stream->heard = offset;
    if (stream->sent < stream->heard)
        stream->sent = stream->heard;
    return 0;
}

int pleat_outflow_go(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    bool go = false;
    int rc = pleat_get_bool(params, "go", true, &go, err);
    if (rc || !run->outflow)
        return rc;
    run->outflow->paused = !go;
    for (int i = 0; go && i < STREAMS; i++)
        run->outflow->streams[i].sent = run->outflow->streams[i].heard;
    return 0;
}

void pleat_outflow_cut(struct pleat_run *run)
{
    struct stream *stream = run->outflow ? &run->outflow->streams[0] : NULL;
    if (!stream || stream->pipe[0] < 0)
        return;
    stop(stream);
    stream->over = true;
    stream->heard = stream->sent = stream->end;
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* the loop knows it by its number; without another one the terminal stays as long as the run */
    if (none < 0)
        return;
    (void)dup3(none, stream->pipe[0], O_CLOEXEC);
    close(none);
}

/* ---- making ---- */

static void on_closed(uv_handle_t *handle)
{
    struct pleat_outflow *flow = ((struct stream *)handle->data)->flow;
    if (--flow->handles == 0)
        free(flow);
}

static int open_stream(struct pleat_run *run, struct stream *stream, char **path,
                       struct pleat_error *err)
{
    struct pleat_agent *agent = run->agent;
    char text[64];
    if (run->screen ? (stream->pipe[0] = pleat_screen_open(run)) < 0
                    : pipe2(stream->pipe, O_CLOEXEC) || fcntl(stream->pipe[0], F_SETFL, O_NONBLOCK))
        return pleat_error_sys(err, errno, "no pipe for what run %" PRIu64 " writes", run->id);
    int rc = uv_poll_init(&agent->loop, &stream->poll, stream->pipe[0]);
    if (rc < 0)
        return pleat_error_sys(err, -rc, "cannot watch what run %" PRIu64 " writes", run->id);
    stream->poll.data = stream;
    stream->flow->handles++;
    if (run->screen)
        return 0;
    /* the new process opens its files itself (process.h) */
    snprintf(text, sizeof(text), "%s/%d/fd/%d", agent->proc, (int)agent->pid, stream->pipe[1]);
    free(*path);
    *path = strdup(text);
    return *path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

int pleat_outflow_create(struct pleat_run *run, struct pleat_error *err)
{
    struct pleat_outflow *flow = calloc(1, sizeof(*flow));
    if (!flow)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    flow->run = run;
    for (int i = 0; i < STREAMS; i++) {
        flow->streams[i].flow = flow;
        flow->streams[i].pipe[0] = flow->streams[i].pipe[1] = -1;
    }
    run->outflow = flow;
    int rc = open_stream(run, &flow->streams[0], &run->stdout_path, err);
    return rc || run->screen ? rc : open_stream(run, &flow->streams[1], &run->stderr_path, err);
}

void pleat_outflow_destroy(struct pleat_run *run)
{
    struct pleat_outflow *flow = run->outflow;
    if (!flow)
        return;
    run->outflow = NULL;
    flow->run = NULL;
    int handles = flow->handles;
    for (int i = 0; i < STREAMS; i++) {
        struct stream *stream = &flow->streams[i];
        stop(stream);
        if (stream->poll.data)
            uv_close((uv_handle_t *)&stream->poll, on_closed);
        for (int end = 0; end < 2; end++)
            if (stream->pipe[end] >= 0)
                close(stream->pipe[end]);
        free(stream->ring);
        stream->ring = NULL;
    }
    if (!handles)
        free(flow);
}

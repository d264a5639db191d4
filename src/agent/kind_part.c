/* kind_part.c - the kind of runs that are a part of one that another node's agent leads: what its
 * MPI launcher has started on this node. What it writes goes to the launcher, through the daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/kind.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/part_mailbox.h"

enum { STREAMS = 2, CHUNK = 16384 };
/* Nothing is read from a part while the daemon has that much to read. */
#define BACKLOG_MAX 1048576

struct stream {
    uv_poll_t poll;
    struct pleat_part_output *output;
    int pipe[2]; /* -1: closed */
    bool polls;
};

struct pleat_part_output {
    struct pleat_run *run; /* NULL: destroyed */
    int handles;
    struct stream streams[STREAMS];
};

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->part > 0;
}

/* Whether what a part writes can be told now: else it waits in the pipe, and with it who writes. */
static bool is_heard(const struct pleat_agent *agent)
{
    return agent->connection && agent->reporting &&
           pleat_connection_backlog(agent->connection) < BACKLOG_MAX;
}

/* Tells what is in the pipe, at most a chunk. False: nothing is there. */
static bool tell(struct stream *stream)
{
    char text[CHUNK + 1];
    const struct pleat_run *run = stream->output->run;
    ssize_t count = read(stream->pipe[0], text, CHUNK);
    if (count <= 0)
        return false;
    for (ssize_t i = 0; i < count; i++) /* the wire carries no NUL in a string */
        text[i] = text[i] ? text[i] : '?';
    text[count] = '\0';
    pleat_agent_notify(run->agent, "part_output",
                       json_pack("{s:I, s:I, s:i, s:o}", "run", (json_int_t)run->id, "part",
                                 (json_int_t)run->part_number, "stream",
                                 stream == &stream->output->streams[0] ? 1 : 2, "text",
                                 pleat_json_text(text)));
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
    if (!is_heard(stream->output->run->agent) || !tell(stream))
        stop(stream); /* `arm` begins again */
}

static void on_closed(uv_handle_t *handle)
{
    struct pleat_part_output *output = ((struct stream *)handle->data)->output;
    if (--output->handles == 0)
        free(output);
}

static void close_all(struct pleat_part_output *output)
{
    for (int i = 0; i < STREAMS; i++)
        for (int end = 0; end < 2; end++)
            if (output->streams[i].pipe[end] >= 0) {
                close(output->streams[i].pipe[end]);
                output->streams[i].pipe[end] = -1;
            }
}

static int open_stream(struct pleat_run *run, struct stream *stream, char **path,
                       struct pleat_error *err)
{
    struct pleat_agent *agent = run->agent;
    char text[64];
    if (pipe2(stream->pipe, O_CLOEXEC) || fcntl(stream->pipe[0], F_SETFL, O_NONBLOCK))
        return pleat_error_sys(err, errno, "no pipe for what run %" PRIu64 " writes", run->id);
    int rc = uv_poll_init(&agent->loop, &stream->poll, stream->pipe[0]);
    if (rc < 0)
        return pleat_error_sys(err, -rc, "cannot watch what run %" PRIu64 " writes", run->id);
    stream->poll.data = stream;
    stream->output->handles++;
    /* the new process opens its files itself (process.h) */
    snprintf(text, sizeof(text), "%s/%d/fd/%d", agent->proc, (int)agent->pid, stream->pipe[1]);
    free(*path);
    *path = strdup(text);
    return *path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    struct pleat_part_output *output = calloc(1, sizeof(*output));
    if (!output)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    output->run = run;
    for (int i = 0; i < STREAMS; i++) {
        output->streams[i].output = output;
        output->streams[i].pipe[0] = output->streams[i].pipe[1] = -1;
    }
    run->part_number = request->part;
    run->part_output = output;
    int rc = request->mailbox_ranks ? pleat_part_mailbox_create(run, request, err) : 0;
    if (!rc)
        rc = open_stream(run, &output->streams[0], &run->stdout_path, err);
    return rc ? rc : open_stream(run, &output->streams[1], &run->stderr_path, err);
}

static void destroy_output(struct pleat_run *run)
{
    struct pleat_part_output *output = run->part_output;
    if (!output)
        return;
    run->part_output = NULL;
    output->run = NULL;
    int handles = output->handles;
    for (int i = 0; i < STREAMS; i++) {
        stop(&output->streams[i]);
        if (output->streams[i].poll.data)
            uv_close((uv_handle_t *)&output->streams[i].poll, on_closed);
    }
    close_all(output);
    if (!handles)
        free(output);
}

static void destroy(struct pleat_run *run)
{
    destroy_output(run);
    pleat_part_mailbox_destroy(run);
}

/* All that it wrote is told before its end is. */
static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    if (!run->part_output)
        return;
    for (int i = 0; i < STREAMS; i++)
        while (is_heard(run->agent) && tell(&run->part_output->streams[i]))
            ;
    destroy_output(run); /* the state is kept for the next part of the run on this node */
}

static int describe(const struct pleat_run *run, json_t *text)
{
    int bad = json_object_set_new(text, "part", json_integer((json_int_t)run->part_number));
    return bad | pleat_part_mailbox_describe(run, text);
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    pleat_part_mailbox_add_variables(run, own);
}

static void arm(struct pleat_agent *agent)
{
    for (size_t i = 0; is_heard(agent) && i < agent->runs.count; i++) {
        struct pleat_part_output *output = agent->runs.items[i]->part_output;
        for (int s = 0; output && s < STREAMS; s++) {
            struct stream *stream = &output->streams[s];
            if (!stream->polls && stream->pipe[0] >= 0)
                stream->polls = !uv_poll_start(&stream->poll, UV_READABLE, on_readable);
        }
    }
}

const struct pleat_run_kind pleat_kind_part = {
    .name = "part",
    .is_wanted = is_wanted,
    .create = create,
    .destroy = destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_kind_no_report,
    .describe = describe,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = arm,
    .greeted = pleat_kind_no_timers,
};

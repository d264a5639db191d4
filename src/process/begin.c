/* begin.c - the beginning and the end of a process's part in its run. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/processes.h"
#include "process/agent.h"
#include "process/loop.h"
#include "process/reach.h"
#include "process/secret.h"
#include "process/stream.h"
#include "process/transport.h"

#define WINDOW_MESSAGES 1024
#define WINDOW_BYTES ((size_t)16 << 20)
#define FINISH_MS 10000
#define ANSWER_MS 10000
#define REACH_MS 10000 /* to connect with process 0, of one at another site */

/* The process that has begun; 0: none. A child of fork may begin by itself, if it was started as a
 * process of its own. */
static pid_t begun;

bool pleat_processes_ours(const struct pleat_processes *all)
{
    return all && all->pid == getpid();
}

int pleat_processes_usable(const struct pleat_processes *all, struct pleat_error *err)
{
    if (!all)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the processes are NULL: call pleat_processes_begin first");
    if (!pleat_processes_ours(all))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "this is a child of the process that called "
                               "pleat_processes_begin: only that one can use it");
    return 0;
}

static uint8_t logarithm(size_t value)
{
    uint8_t log = 0;
    while (value >>= 1)
        log++;
    return log;
}

static int take_settings(struct pleat_processes *all, const struct pleat_process_settings *settings,
                         struct pleat_error *err)
{
    struct pleat_process_settings *own = &all->settings;
    if (settings)
        *own = *settings;
    if (!own->window_messages)
        own->window_messages = WINDOW_MESSAGES;
    if (!own->window_bytes)
        own->window_bytes = WINDOW_BYTES;
    if (!own->finish_ms)
        own->finish_ms = FINISH_MS;
    if (!own->answer_ms)
        own->answer_ms = ANSWER_MS;
    if (own->window_messages > 1048576 || own->window_bytes > INT32_MAX || own->finish_ms < 0 ||
        own->answer_ms < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the settings of pleat_processes_begin: a window has 1 to 1048576 "
                               "messages and 1 to 2147483647 bytes, and times are not negative");
    all->window_messages_log = logarithm(own->window_messages);
    all->window_bytes_log = logarithm(own->window_bytes);
    return 0;
}

/* This process's number, from its environment. */
static int read_self(struct pleat_processes *all, const char *text, struct pleat_error *err)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 0 || number > INT32_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "PLEAT_PROCESS is '%.40s', which is no number of a process: start "
                               "the program by 'pleat run --evolving'",
                               text);
    const char *path = getenv("PLEAT_PROCESS_SOCKET");
    if (!path)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "PLEAT_PROCESS_SOCKET is not set in this process of a run: start "
                               "the program by 'pleat run --evolving'");
    all->self = (int32_t)number;
    all->agent.path = strdup(path);
    return all->agent.path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static int make_stream(struct pleat_processes *all, struct pleat_error *err)
{
    while (!all->stream)
        if (getrandom(&all->stream, sizeof(all->stream), 0) != sizeof(all->stream) &&
            errno != EINTR)
            return pleat_error_sys(err, errno, "cannot get random numbers");
    return 0;
}

/* Frees everything; threads have ended. */
static void release(struct pleat_processes *all)
{
    pleat_agent_close(all);
    pleat_transport_close(all);
    while (all->came.first) {
        struct pleat_came *came = all->came.first;
        pleat_came_remove(&all->came, came);
        zmq_msg_close(&came->content);
        free(came);
    }
    pleat_peers_finish(&all->peers);
    pleat_array_finish(&all->notices);
    pleat_loop_close(all);
    pthread_cond_destroy(&all->left);
    pthread_mutex_destroy(&all->lock);
    explicit_bzero(all->secret, sizeof(all->secret));
    free(all);
    begun = 0;
}

static struct pleat_processes *make(void)
{
    struct pleat_processes *all = calloc(1, sizeof(*all));
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->left, NULL);
    all->pid = getpid();
    all->parent = -1;
    all->due = INT64_MAX;
    all->epoll = all->wake = all->ready_fd = all->agent.fd = -1;
    all->agent.asked.number = -1;
    all->iteration = -1;
    all->take = pleat_stream_take;
    return all;
}

static int begin_alone(struct pleat_processes *all, struct pleat_error *err)
{
    struct pleat_peer *own = pleat_peers_get(&all->peers, 0);
    if (!own)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    all->alone = true;
    all->maximum = 1;
    own->state = PLEAT_PROCESS_RUNNING;
    return pleat_loop_open(all, err);
}

static int open_all(struct pleat_processes *all, struct pleat_error *err)
{
    int rc = pleat_loop_open(all, err);
    if (!rc)
        rc = make_stream(all, err);
    if (!rc)
        rc = pleat_secret_keys(all->secret, all->public, err);
    if (!rc)
        rc = pleat_transport_open(all, err);
    if (!rc && getenv(PLEAT_PROCESS_REACH_ENV)) /* its agent ends it if it cannot */
        (void)pleat_reach_try(getenv(PLEAT_PROCESS_REACH_ENV), REACH_MS, all->unreachable,
                              sizeof(all->unreachable));
    if (!rc)
        rc = pleat_agent_connect(all, err);
    return rc ? rc : pleat_loop_start(all, err);
}

static int says_nonsense(const struct pleat_processes *all, struct pleat_error *err)
{
    const struct pleat_agent_side *agent = &all->agent;
    return pleat_error_set(err, agent->broken, "%s",
                           agent->broken_text[0] ? agent->broken_text
                                                 : "the agent has taken this process for another");
}

/* Waits until the agent has let this process in, and handed it over. Returns what begin returns. */
static int wait_for_turn(struct pleat_processes *all, struct pleat_error *err)
{
    const struct pleat_agent_side *agent = &all->agent;
    int64_t until = pleat_loop_until(all->settings.answer_ms);
    pleat_loop_work(all);
    while (!agent->ever || (agent->prepared && !all->leaving)) {
        if (agent->broken)
            return says_nonsense(all, err);
        if (agent->fd < 0 && agent->ever && until == INT64_MAX)
            until = pleat_loop_until(all->settings.answer_ms); /* it may come back */
        if (agent->ever && agent->welcomed)
            until = INT64_MAX;
        if (!pleat_loop_wait(all, until))
            return pleat_error_set(err, agent->ever ? PLEAT_E_CLOSED : PLEAT_E_TIMEOUT,
                                   "the agent of this run at %.200s %s", agent->path,
                                   agent->ever ? "is gone" : "does not answer");
    }
    if (all->leaving && agent->prepared)
        return PLEAT_PROCESS_LEAVE;
    return all->parent >= 0 ? PLEAT_PROCESS_JOINED : PLEAT_PROCESS_STARTED;
}

static int begin(struct pleat_processes *all, const struct pleat_process_settings *settings,
                 struct pleat_error *err)
{
    const char *number = getenv("PLEAT_PROCESS");
    int rc = take_settings(all, settings, err);
    if (rc)
        return rc;
    if (!number) {
        rc = begin_alone(all, err);
        return rc ? rc : PLEAT_PROCESS_STARTED;
    }
    rc = read_self(all, number, err);
    if (!rc)
        rc = open_all(all, err);
    if (rc)
        return rc;
    pleat_loop_enter(all);
    rc = wait_for_turn(all, err);
    pleat_loop_leave(all);
    return rc;
}

int pleat_processes_begin(struct pleat_processes **processes,
                          const struct pleat_process_settings *settings, struct pleat_error *err)
{
    *processes = NULL;
    if (err)
        err->code = 0;
    if (begun == getpid())
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_processes_begin was called already: a process begins once");
    struct pleat_processes *all = make();
    if (!all)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    begun = getpid();
    int rc = begin(all, settings, err);
    if (rc < 0) {
        pleat_loop_stop(all);
        release(all);
        return rc;
    }
    *processes = all;
    return rc;
}

/* Messages that others have not received. */
static int64_t on_the_way(const struct pleat_processes *all)
{
    int64_t count = 0;
    for (size_t i = 0; i < all->peers.count; i++) {
        const struct pleat_peer *peer = all->peers.items[i];
        if (peer->state != PLEAT_PROCESS_GONE && peer->id != all->self)
            count += (int64_t)(peer->out.numbered - peer->out.received);
    }
    return count;
}

int pleat_processes_finish(struct pleat_processes *processes, struct pleat_error *err)
{
    int rc = 0;
    if (!processes)
        return 0;
    if ((rc = pleat_processes_usable(processes, err)))
        return rc;
    pleat_loop_enter(processes);
    int64_t until = pleat_loop_until(processes->settings.finish_ms), left;
    while ((left = on_the_way(processes)) && pleat_loop_wait(processes, until))
        ;
    if (left)
        rc = pleat_error_set(err, PLEAT_E_TIMEOUT,
                             "%lld messages of process %d were not received within %d ms; they are "
                             "lost",
                             (long long)left, processes->self, processes->settings.finish_ms);
    pleat_loop_leave(processes);
    pleat_loop_stop(processes);
    if (!processes->alone) {
        /* the others learn what has come here, and was taken, before they learn of the end */
        processes->due = 0;
        for (size_t i = 0; i < processes->peers.count; i++)
            if (processes->peers.items[i]->in.ack_due)
                processes->peers.items[i]->in.ack_due = 1;
        pleat_stream_due(processes, pleat_clock_monotonic_us());
    }
    release(processes);
    return rc;
}

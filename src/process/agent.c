#include "process/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/socket.h"
#include "process/directory.h"
#include "process/told.h"

#define AGAIN_US 250000
#define LINE_MOST 65536 /* bytes of a line that the agent takes */
#define BYE_MS 1000

static void again_at(struct pleat_processes *all, int64_t when)
{
    all->agent.again_due = when;
    if (when < all->due)
        all->due = when;
}

static void disconnect(struct pleat_processes *all)
{
    struct pleat_agent_side *agent = &all->agent;
    if (agent->fd >= 0)
        close(agent->fd);
    agent->fd = -1;
    agent->welcomed = false;
    agent->in.length = agent->out.length = agent->out_done = 0;
    again_at(all, pleat_clock_monotonic_us() + AGAIN_US);
}

/* Writes what it can. False: the agent is gone. */
static bool write_out(struct pleat_processes *all)
{
    struct pleat_agent_side *agent = &all->agent;
    while (agent->out_done < agent->out.length) {
        ssize_t wrote = send(agent->fd, agent->out.text + agent->out_done,
                             agent->out.length - agent->out_done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN;
        agent->out_done += (size_t)wrote;
    }
    agent->out.length = agent->out_done = 0;
    return true;
}

static int append(struct pleat_processes *all, const char *text, size_t length)
{
    struct pleat_string *out = &all->agent.out;
    if (all->agent.fd < 0)
        return 0;
    pleat_string_add_bytes(out, text, length);
    if (out->failed) {
        out->failed = 0;
        return PLEAT_E_NOMEM;
    }
    if (!write_out(all))
        disconnect(all);
    return 0;
}

/* The text of a line; the caller frees it. */
static char *text_of(json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    return text;
}

int pleat_agent_say(struct pleat_processes *all, json_t *line)
{
    char *text = text_of(line);
    if (!text)
        return PLEAT_E_NOMEM;
    size_t length = strlen(text);
    int rc = length + 1 > LINE_MOST ? PLEAT_E_TOOBIG : 0;
    if (!rc) {
        text[length] = '\n'; /* in the place of the NUL */
        rc = append(all, text, length + 1);
    }
    free(text);
    return rc;
}

int pleat_agent_ask(struct pleat_processes *all, json_t *line, int64_t number)
{
    struct pleat_asked *asked = &all->agent.asked;
    if (number < 0)
        number = ++all->agent.last_number;
    if (!line || json_object_set_new(line, "number", json_integer(number))) {
        json_decref(line);
        return PLEAT_E_NOMEM;
    }
    char *text = text_of(line);
    if (!text)
        return PLEAT_E_NOMEM;
    asked->line.length = 0;
    pleat_string_add(&asked->line, text);
    pleat_string_add(&asked->line, "\n");
    free(text);
    if (asked->line.failed) {
        asked->line.failed = 0;
        return PLEAT_E_NOMEM;
    }
    if (asked->line.length > LINE_MOST)
        return PLEAT_E_TOOBIG;
    asked->number = number;
    asked->answered = asked->refused = asked->ready = false;
    asked->process = -1;
    asked->text[0] = '\0';
    int rc = all->agent.welcomed ? append(all, asked->line.text, asked->line.length) : 0;
    if (rc)
        asked->number = -1;
    return rc;
}

/* Takes back an addition, whether its process waits, starts or is there by then: no processor is
 * kept for nobody. */
static int take_back(struct pleat_processes *all, int64_t number)
{
    return pleat_agent_say(all, json_pack("{s:s, s:I, s:b}", "do", "cancel", "number",
                                          (json_int_t)number, "there", 1));
}

void pleat_agent_forget(struct pleat_processes *all, bool add)
{
    struct pleat_asked *asked = &all->agent.asked;
    const int64_t number = asked->number;
    asked->number = -1;
    if (!add || asked->answered)
        return;
    /* until the agent has said that it is done: the connection may break before that is heard */
    (void)pleat_array_push(&all->agent.unwanted, number);
    if (all->agent.welcomed)
        (void)!take_back(all, number);
}

int pleat_agent_connect(struct pleat_processes *all, struct pleat_error *err)
{
    struct pleat_agent_side *agent = &all->agent;
    agent->again_due = 0;
    agent->fd = pleat_socket_connect(agent->path);
    if (agent->fd < 0) {
        int failed = errno;
        again_at(all, pleat_clock_monotonic_us() + AGAIN_US);
        pleat_error_sys(err, failed, "cannot reach the agent of this run at %.200s", agent->path);
        if (err)
            err->code = PLEAT_E_CLOSED;
        return PLEAT_E_CLOSED;
    }
    int flags = fcntl(agent->fd, F_GETFL);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = agent->fd};
    if (flags < 0 || fcntl(agent->fd, F_SETFL, flags | O_NONBLOCK) ||
        epoll_ctl(all->epoll, EPOLL_CTL_ADD, agent->fd, &event)) {
        int failed = errno;
        disconnect(all);
        return pleat_error_sys(err, failed, "cannot watch the connection to the agent");
    }
    int rc = pleat_agent_say(all, json_pack("{s:s, s:i, s:i, s:s, s:s*, s:s*}", "do", "hello",
                                            "process", (int)all->self, "pid", (int)getpid(),
                                            "address", all->address, "local",
                                            all->local[0] ? all->local : NULL, "unreachable",
                                            all->unreachable[0] ? all->unreachable : NULL));
    return rc ? pleat_error_set(err, rc, "out of memory") : 0;
}

/* ---- what the agent says ---- */

/* An answer to a request for which nobody waits any more: "done", that an addition was taken back.
 * That it was added, or refused, is no news: it has been, or will be, taken back. */
static void take_late(struct pleat_processes *all, const struct pleat_told_line *told)
{
    struct pleat_numbers *unwanted = &all->agent.unwanted;
    for (size_t i = 0; told->what == PLEAT_TOLD_DONE && i < unwanted->count; i++)
        if (unwanted->items[i] == told->number) {
            unwanted->items[i] = unwanted->items[--unwanted->count];
            return;
        }
}

static int take_answer(struct pleat_processes *all, const struct pleat_told_line *told)
{
    struct pleat_asked *asked = &all->agent.asked;
    int rc = 0;
    bool added = told->what == PLEAT_TOLD_ADDED;
    if (told->number != asked->number) {
        take_late(all, told);
        return 0;
    }
    if (asked->answered)
        return 0;
    if (added)
        rc = pleat_directory_added(all, told->process, told->number, told->ready);
    asked->answered = true;
    asked->refused = told->what == PLEAT_TOLD_REFUSED;
    asked->process = told->process;
    asked->ready = told->ready;
    if (told->text)
        snprintf(asked->text, sizeof(asked->text), "%s", told->text);
    return rc;
}

static int take_welcome(struct pleat_processes *all, const struct pleat_told_line *told)
{
    struct pleat_agent_side *agent = &all->agent;
    if (told->process != all->self)
        return PLEAT_E_PROTOCOL;
    bool again = agent->ever;
    agent->welcomed = agent->ever = true;
    agent->prepared = told->prepared;
    if (told->parent >= 0)
        all->parent = told->parent;
    if (told->maximum)
        all->maximum = told->maximum;
    struct pleat_peer *own = pleat_peers_get(&all->peers, all->self);
    if (!own)
        return PLEAT_E_NOMEM;
    own->state = PLEAT_PROCESS_RUNNING;
    own->parent = all->parent;
    int rc = pleat_directory_welcome(all, told, again);
    for (size_t i = 0; !rc && i < agent->unwanted.count; i++)
        rc = take_back(all, agent->unwanted.items[i]);
    if (!rc && agent->asked.number >= 0 && !agent->asked.answered)
        rc = append(all, agent->asked.line.text, agent->asked.line.length);
    return rc;
}

static int take_told(struct pleat_processes *all, const struct pleat_told_line *told)
{
    switch (told->what) {
    case PLEAT_TOLD_WELCOME:
        return take_welcome(all, told);
    case PLEAT_TOLD_GO:
        all->agent.prepared = false;
        if (told->parent >= 0)
            all->parent = told->parent;
        return 0;
    case PLEAT_TOLD_ADDED:
    case PLEAT_TOLD_REFUSED:
    case PLEAT_TOLD_DONE:
        return take_answer(all, told);
    case PLEAT_TOLD_PROCESS:
        return pleat_directory_told(all, &told->about);
    case PLEAT_TOLD_LEAVE:
        pleat_directory_leave(all);
        return 0;
    case PLEAT_TOLD_OTHER:
        break;
    }
    return 0;
}

/* Takes the whole lines that have come. What cannot be understood ends the connection, and is said
 * by whatever call waits for the agent. */
static int take_lines(struct pleat_processes *all)
{
    struct pleat_agent_side *agent = &all->agent;
    size_t done = 0;
    char *end;
    int rc = 0;
    while (rc == 0 && agent->in.length > done &&
           (end = memchr(agent->in.text + done, '\n', agent->in.length - done))) {
        struct pleat_told_line told;
        struct pleat_error err = {0};
        size_t length = (size_t)(end - (agent->in.text + done));
        rc = pleat_told_read(agent->in.text + done, length, &told, &err);
        if (!rc) {
            rc = take_told(all, &told);
            pleat_told_finish(&told);
        }
        if (rc) {
            agent->broken = rc;
            memcpy(agent->broken_text, err.text, sizeof(agent->broken_text));
        }
        if (agent->fd < 0)
            return rc; /* it went while this was answered: `in` is empty */
        done += length + 1;
    }
    memmove(agent->in.text, agent->in.text + done, agent->in.length - done);
    agent->in.length -= done;
    return rc ? rc : agent->in.length > PLEAT_TOLD_LINE ? PLEAT_E_PROTOCOL : 0;
}

/* Reads what is there. False: the agent is gone, or is to be taken for that. */
static bool read_in(struct pleat_processes *all)
{
    char bytes[16384];
    while (all->agent.fd >= 0) {
        ssize_t got = recv(all->agent.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno == EAGAIN;
        if (got == 0)
            return false;
        pleat_string_add_bytes(&all->agent.in, bytes, (size_t)got);
        if (all->agent.in.failed) {
            all->agent.in.failed = 0;
            return false;
        }
        if (memchr(bytes, '\n', (size_t)got) || all->agent.in.length > PLEAT_TOLD_LINE)
            if (take_lines(all))
                return false;
    }
    return true;
}

void pleat_agent_talk(struct pleat_processes *all, int64_t now)
{
    struct pleat_agent_side *agent = &all->agent;
    if (agent->fd < 0 && agent->again_due && agent->again_due <= now)
        (void)!pleat_agent_connect(all, NULL);
    if (agent->fd >= 0 && (!write_out(all) || !read_in(all)))
        disconnect(all);
    if (agent->again_due && agent->again_due < all->due)
        all->due = agent->again_due;
}

void pleat_agent_close(struct pleat_processes *all)
{
    struct pleat_agent_side *agent = &all->agent;
    if (agent->fd >= 0)
        (void)!pleat_agent_say(all, json_pack("{s:s}", "do", "bye"));
    int64_t until = pleat_clock_monotonic_us() + BYE_MS * INT64_C(1000);
    while (agent->fd >= 0 && agent->out.length && pleat_clock_monotonic_us() < until) {
        struct pollfd wait = {.fd = agent->fd, .events = POLLOUT};
        if (poll(&wait, 1, 50) < 0 && errno != EINTR)
            break;
        if (!write_out(all))
            break;
    }
    if (agent->fd >= 0)
        close(agent->fd);
    agent->fd = -1;
    free(agent->path);
    pleat_string_finish(&agent->in);
    pleat_string_finish(&agent->out);
    pleat_string_finish(&agent->asked.line);
    pleat_array_finish(&agent->unwanted);
}

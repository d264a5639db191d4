#include "daemon/terminals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/clients.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/specs.h"
#include "model/runner_kind.h"
#include "runner/runner.h"

/* So long a terminal is kept for a `pleat run` that does not call, as after an end of pleatd. */
#define ALONE_US (30 * PLEAT_US_PER_S)
#define PTS "/dev/pts/"
/* Agents keep less than this until it was heard (agent/outflow.h). */
#define KEPT_MOST 4194304

struct terminal {
    struct terminal *next;
    int64_t job;
    uint64_t run;                /* the run that has written `pending`; 0: none is known */
    int64_t begin;               /* the number of its first byte */
    struct pleat_string pending; /* written, and not yet said to be shown */
    struct client *keeper;       /* NULL: nobody waits for the job's end */
    int64_t alone_us;            /* since when */
    bool left;                   /* its `pleat run` is gone for good */
    uint64_t hung;               /* this run's terminal was hung up */
    bool sized;                  /* its client has said its size */
    uint16_t rows, columns;
    /* who is told what comes next; `client` NULL: nobody is */
    struct client *client;
    int64_t request;
    struct terminal_seen seen;
};

/* ---- records ---- */

static struct terminal *find(struct daemon *d, int64_t job)
{
    struct terminal *terminal = d->terminals.first;
    while (terminal && terminal->job != job)
        terminal = terminal->next;
    return terminal;
}

/* NULL: no memory. */
static struct terminal *get(struct daemon *d, int64_t job)
{
    struct terminal *terminal = find(d, job);
    if (terminal)
        return terminal;
    terminal = calloc(1, sizeof(*terminal));
    if (!terminal)
        return NULL;
    terminal->job = job;
    terminal->alone_us = pleat_clock_monotonic_us();
    terminal->next = d->terminals.first;
    d->terminals.first = terminal;
    return terminal;
}

/* Another run has the terminal: what an earlier one has written is not missed by anybody, since its
 * end was told after that had been shown. */
static void change(struct terminal *terminal, uint64_t run, int64_t begin)
{
    terminal->run = run;
    terminal->begin = begin;
    terminal->pending.length = 0;
}

/* The run that a job has. 0: none, or it is about to be started: until then keys are for `pleat
 * run` itself. */
static uint64_t run_of(struct daemon *d, const struct job *job)
{
    if (!job || job->ended)
        return 0;
    const struct pleat_component *c = job_component(d, job);
    bool has =
        c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING || c->state == PLEAT_FINISHING;
    return has ? c->run : 0;
}

static void tell(struct daemon *d, const struct job *job, const char *method, json_t *params)
{
    struct pleat_error err = {0};
    const struct pleat_component *c = job_component(d, job);
    if (!params || c->site == PLEAT_NONE)
        json_decref(params);
    else if (agent_send(d, c->site, c->lead_node, method, params, &err))
        daemon_log("job %lld: its terminal: the agent of node %u cannot be told '%s': %s",
                   (long long)job->id, c->lead_node, method, err.text);
}

static void tell_heard(struct daemon *d, const struct job *job, uint64_t run, int64_t offset)
{
    tell(d, job, "output_heard",
         json_pack("{s:I, s:i, s:I}", "run", (json_int_t)run, "stream", 1, "offset",
                   (json_int_t)offset));
}

/* ---- starting ---- */

bool terminals_are_far(struct daemon *d, int64_t job, uint32_t site, uint32_t node)
{
    char here[256] = "";
    const char *there;
    if (!job_spec(d, job)->terminal)
        return false;
    if (agent_is_apart(d, site, node))
        return true;
    there = agent_stands_on(d, site, node);
    return there && !gethostname(here, sizeof(here) - 1) && strcmp(here, there) != 0;
}

/* The size of the terminal that `pleat run` has, which keeps it as that of its user's. A terminal
 * that is not there any more has any size. */
static void read_size(const char *path, struct pleat_run_order *order)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    /* nothing else is opened: its file system might not answer */
    const char *number = strncmp(path, PTS, strlen(PTS)) ? "" : path + strlen(PTS);
    bool known = *number && number[strspn(number, "0123456789")] == '\0';
    int fd = known ? open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)ioctl(fd, TIOCGWINSZ, &size);
        close(fd);
    }
    order->rows = size.ws_row;
    order->columns = size.ws_col;
}

int terminals_order(struct daemon *d, const struct job *job, struct pleat_run_order *order,
                    struct pleat_error *err)
{
    const struct pleat_spec *spec = order->spec;
    const struct terminal *terminal = find(d, job->id);
    if (!terminals_are_far(d, job->id, order->site, order->node))
        return 0;
    const char *there = agent_stands_on(d, order->site, order->node);
    there = there ? there : "of that node";
    if (!spec->terminal_sent)
        return pleat_error_set(
            err, PLEAT_E_UNSUPPORTED,
            "it would run on the host %.200s, and its 'pleat run --pty' is of an "
            "older version, which passes no terminal on to another host: submit "
            "it again",
            there);
    if (pleat_runner_starts(spec->runner) & PLEAT_STARTS_EVOLVING)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "it would run on the host %.200s: a program that asks for processes "
                               "(--evolving) has a terminal only on the host where 'pleat run "
                               "--pty' was called",
                               there);
    if (terminal && terminal->left)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "its 'pleat run --pty' is gone, so it has no terminal on the host "
                               "%.200s",
                               there);
    order->terminal_far = true;
    read_size(spec->terminal, order);
    return 0;
}

/* ---- showing ---- */

static void answer(struct terminal *terminal, json_t *result, const char *bytes, size_t count)
{
    struct pleat_string out = {0};
    struct client *client = terminal->client;
    terminal->client = NULL;
    if (!result || !count)
        client_reply(client, terminal->request, result);
    else if (pleat_write_result_bytes(&out, terminal->request, result, bytes, count))
        daemon_log("job %lld: what its terminal shows could not be sent", (long long)terminal->job);
    else
        client_send(client, &out);
    client_drop(client);
}

/* Answers who waits, if there is anything to say. */
static void settle(struct daemon *d, struct terminal *terminal)
{
    const struct job *job = job_find(d, terminal->job);
    const struct terminal_seen *seen = &terminal->seen;
    uint64_t run = run_of(d, job);
    if (!terminal->client)
        return;
    if (run && run != terminal->run) {
        const struct pleat_component *c = job_component(d, job);
        if (terminals_are_far(d, job->id, c->site, c->lead_node))
            change(terminal, run, 0);
    }
    if (seen->run && seen->run == terminal->run && terminal->pending.length)
        answer(terminal,
               json_pack("{s:I, s:I}", "run", (json_int_t)terminal->run, "offset",
                         (json_int_t)terminal->begin),
               terminal->pending.text, terminal->pending.length);
    else if (!job || job->ended)
        answer(terminal, json_pack("{s:b}", "over", 1), NULL, 0);
    else if (run && run == terminal->run && run != seen->run)
        answer(
            terminal,
            json_pack("{s:I, s:I}", "run", (json_int_t)run, "offset", (json_int_t)terminal->begin),
            NULL, 0);
    else if (seen->run && run != seen->run)
        answer(terminal, json_pack("{s:i}", "run", 0), NULL, 0);
}

/* All before that byte was shown: nobody has to keep it. */
static void take_seen(struct daemon *d, struct terminal *terminal, const struct terminal_seen *seen)
{
    const struct job *job = job_find(d, terminal->job);
    if (!terminal->run && seen->run && seen->run == run_of(d, job))
        change(terminal, seen->run, 0); /* an earlier pleatd has sent that */
    if (seen->run != terminal->run || seen->offset <= terminal->begin)
        return;
    struct pleat_string *pending = &terminal->pending;
    size_t gone = (size_t)(seen->offset - terminal->begin);
    pending->length = gone < pending->length ? pending->length - gone : 0;
    if (pending->length)
        memmove(pending->text, pending->text + gone, pending->length);
    terminal->begin = seen->offset;
    if (job && !job->ended)
        tell_heard(d, job, terminal->run, terminal->begin);
}

void terminals_show(struct client *client, int64_t request, const struct terminal_seen *seen)
{
    struct daemon *d = client->daemon;
    struct pleat_error err = {0};
    struct terminal *terminal = get(d, seen->job);
    if (!terminal) {
        pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
        client_fail(client, request, &err);
        return;
    }
    if (terminal->client) {
        struct client *before = terminal->client;
        terminal->client = NULL;
        pleat_error_set(&err, PLEAT_E_BUSY, "another one shows the terminal of job %lld",
                        (long long)seen->job);
        client_fail(before, terminal->request, &err);
        client_drop(before);
    }
    take_seen(d, terminal, seen);
    terminal->client = client;
    terminal->request = request;
    terminal->seen = *seen;
    client_hold(client);
    settle(d, terminal);
}

void terminals_check(struct daemon *d)
{
    for (struct terminal *terminal = d->terminals.first; terminal; terminal = terminal->next)
        settle(d, terminal);
}

bool terminals_take(struct agent *agent, const struct job *job, uint64_t run, int64_t offset,
                    const char *bytes, size_t count, int *code)
{
    struct daemon *d = agent->daemon;
    *code = 0;
    if (!job_spec(d, job->id)->terminal)
        return false;
    struct terminal *terminal = get(d, job->id);
    if (!terminal) {
        *code = ENOMEM;
        return true;
    }
    if (terminal->run != run)
        change(terminal, run, offset);
    if (!terminal->pending.length && terminal->begin < offset)
        terminal->begin = offset; /* the agent knows that all before it was shown */
    int64_t known = terminal->begin + (int64_t)terminal->pending.length - offset;
    if (terminal->hung == run || offset + (int64_t)count <= terminal->begin) {
        tell_heard(d, job, run, offset + (int64_t)count); /* nobody misses it */
    } else if (known < 0 || terminal->pending.length + count > KEPT_MOST) {
        *code = EPROTO; /* a piece before it is missing: all is told again */
    } else if (known < (int64_t)count) {
        pleat_string_add_bytes(&terminal->pending, bytes + known, count - (size_t)known);
        *code = terminal->pending.failed ? ENOMEM : 0;
        terminal->pending.failed = 0;
    }
    settle(d, terminal);
    return true;
}

/* ---- who is there ---- */

/* Nothing is done for a run that is not there yet, or whose agent is not connected. */
static void hang_up(struct daemon *d, struct terminal *terminal)
{
    const struct job *job = job_find(d, terminal->job);
    uint64_t run = run_of(d, job);
    if (!run || terminal->hung == run)
        return;
    const struct pleat_component *c = job_component(d, job);
    if (!terminals_are_far(d, job->id, c->site, c->lead_node))
        return;
    daemon_log("job %lld: its 'pleat run --pty' is gone: its terminal is hung up",
               (long long)job->id);
    note_make(d, daemon_now_us(d), "warning", job->id,
              note_text("its 'pleat run --pty' is gone: its terminal is hung up, and its processes "
                        "get SIGHUP"));
    terminal->hung = run;
    change(terminal, run, terminal->run == run ? terminal->begin : 0);
    tell(d, job, "hang_up", json_pack("{s:I}", "run", (json_int_t)run));
}

void terminals_keep(struct client *client, int64_t job)
{
    struct terminal *terminal = get(client->daemon, job);
    if (!terminal)
        return;
    terminal->keeper = client;
    terminal->left = false;
}

static void tell_size(struct daemon *d, const struct terminal *terminal)
{
    const struct job *job = job_find(d, terminal->job);
    uint64_t run = run_of(d, job);
    if (!run || terminal->hung == run)
        return; /* its size is read when it is started */
    const struct pleat_component *c = job_component(d, job);
    if (terminals_are_far(d, job->id, c->site, c->lead_node))
        tell(d, job, "window",
             json_pack("{s:I, s:i, s:i}", "run", (json_int_t)run, "rows", (int)terminal->rows,
                       "columns", (int)terminal->columns));
}

void terminals_resize(struct daemon *d, int64_t job, uint16_t rows, uint16_t columns)
{
    struct terminal *terminal = get(d, job);
    if (!terminal)
        return;
    terminal->rows = rows;
    terminal->columns = columns;
    terminal->sized = true;
    tell_size(d, terminal);
}

void terminals_forget(struct client *client)
{
    struct daemon *d = client->daemon;
    for (struct terminal *terminal = d->terminals.first; terminal; terminal = terminal->next) {
        if (terminal->client == client) {
            terminal->client = NULL;
            client_drop(client);
        }
        if (terminal->keeper != client)
            continue;
        terminal->keeper = NULL;
        terminal->alone_us = pleat_clock_monotonic_us();
        if (d->stopping) /* it calls the next pleatd */
            continue;
        terminal->left = true;
        hang_up(d, terminal);
    }
}

void terminals_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    for (size_t i = 0; i < d->runs.count; i++) {
        const struct active_run *active = &d->runs.items[i];
        const struct job *job = job_of_component(d, active->component);
        if (!job || job->ended || agent_of_run(d, active) != agent ||
            !terminals_are_far(d, job->id, agent->site, agent->node))
            continue;
        struct terminal *terminal = get(d, job->id);
        if (terminal && terminal->hung == active->run)
            tell(d, job, "hang_up", json_pack("{s:I}", "run", (json_int_t)active->run));
        else if (terminal && terminal->sized) /* it may not have got that */
            tell_size(d, terminal);
    }
}

/* Whether nobody will ask for it any more. */
static bool is_done(struct daemon *d, const struct terminal *terminal)
{
    const struct job *job = job_find(d, terminal->job);
    return (!job || job->ended) && !terminal->client && !terminal->keeper;
}

static void drop(struct terminal **at)
{
    struct terminal *terminal = *at;
    *at = terminal->next;
    pleat_string_finish(&terminal->pending);
    free(terminal);
}

void terminals_look(struct daemon *d)
{
    int64_t now = pleat_clock_monotonic_us();
    for (struct terminal **at = &d->terminals.first; *at;) {
        struct terminal *terminal = *at;
        if (is_done(d, terminal)) {
            drop(at);
            continue;
        }
        if (terminal->left || (!terminal->keeper && now - terminal->alone_us >= ALONE_US))
            hang_up(d, terminal);
        at = &terminal->next;
    }
}

void terminals_finish(struct daemon *d)
{
    while (d->terminals.first)
        drop(&d->terminals.first);
}

/* evolve_talk.c - connections of the processes of an evolving run. */
#include "agent/evolve.h"

#include <inttypes.h>
#include <string.h>

#include "agent/log.h"
#include "agent/owner.h"
#include "wire/message.h"

#define ADDRESS_MAX 256
#define NONSENSE_TOLD 10 /* so often the log has what a process says that makes no sense */
#define STRANGERS_MAX 64 /* connections that have not said hello; beyond, the oldest is closed */

static void drop_stranger(struct pleat_stranger *stranger)
{
    struct pleat_stranger **at = &stranger->evolve->strangers;
    while (*at && *at != stranger)
        at = &(*at)->next;
    if (*at)
        *at = stranger->next;
    free(stranger);
}

/* Says why a connection is not heard, and closes it. */
static void turn_away(struct pleat_connection *connection, const char *text)
{
    struct pleat_string out = {0};
    json_t *line =
        json_pack("{s:s, s:i, s:o}", "do", "refused", "number", 0, "text", pleat_json_text(text));
    char *words = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (words) {
        pleat_string_addf(&out, "%s\n", words);
        (void)!pleat_connection_send(connection, &out);
    }
    pleat_string_finish(&out);
    free(words);
    json_decref(line);
    pleat_connection_close(connection);
}

/* ---- processes that have said hello ---- */

static void iteration(struct pleat_proc *proc, const json_t *line)
{
    struct pleat_evolve *evolve = proc->evolve;
    int64_t number = 0, mean_us = 0;
    if (pleat_get_int(line, "iteration", true, 0, INT32_MAX, &number, NULL) ||
        pleat_get_int(line, "mean_us", true, 0, INT64_MAX / 8, &mean_us, NULL) ||
        number < evolve->iteration)
        return;
    evolve->iteration = number;
    evolve->iteration_us = mean_us;
}

void pleat_proc_hear(struct pleat_proc *proc, const char *what, const json_t *line)
{
    static const char *const asks[] = {"add", "cancel", "stop", "group", "returning"};
    for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++)
        if (!strcmp(what, asks[i])) {
            pleat_evolve_ask(proc, what, line);
            return;
        }
    if (!strcmp(what, "iteration"))
        iteration(proc, line);
    else if (!strcmp(what, "bye"))
        proc->bye = true;
    /* other words are of later versions */
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    (void)connection;
    pleat_proc_hear(arg, message->method, message->json);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct pleat_proc *proc = arg;
    if (proc->connection == connection)
        proc->connection = NULL;
    if ((error->code == PLEAT_E_PROTOCOL || error->code == PLEAT_E_TOOBIG) &&
        proc->nonsense++ < NONSENSE_TOLD)
        pleat_log("run %" PRIu64 " (job %s): process %" PRIu32 ": %s", proc->evolve->run->id,
                  proc->evolve->run->job, proc->id, error->text);
}

/* ---- connections that have not ---- */

/* Only a process of that process's run may speak for it. */
static bool is_it(const struct pleat_proc *proc, const struct pleat_connection *connection)
{
    struct pleat_run *run = proc->id ? proc->child : proc->evolve->run;
    return run && pleat_run_has_process(run, pleat_connection_peer_pid(connection));
}

const char *pleat_hello_read(const json_t *line, int64_t *process, const char **address,
                             const char **local)
{
    if (pleat_get_int(line, "process", true, 0, UINT32_MAX, process, NULL) ||
        pleat_get_string(line, "address", true, address, NULL) || strlen(*address) > ADDRESS_MAX ||
        (strncmp(*address, "ipc://", 6) != 0 && strncmp(*address, "tcp://", 6) != 0) ||
        pleat_get_string(line, "local", false, local, NULL) ||
        (*local && (strlen(*local) > ADDRESS_MAX || strncmp(*local, "ipc://", 6) != 0)))
        return "a hello has 'process', and an 'address' that begins with ipc:// or tcp://";
    return NULL;
}

static const char *why_not(const struct pleat_evolve *evolve, const json_t *line,
                           const struct pleat_connection *connection, struct pleat_proc **proc,
                           const char **address, const char **local)
{
    int64_t id = -1;
    const char *why = pleat_hello_read(line, &id, address, local);
    if (why)
        return why;
    *proc = pleat_proc_find(evolve, (uint32_t)id);
    if (!*proc || (*proc)->ended || (id > 0 && !pleat_proc_has_child(*proc)))
        return "there is no process of that number";
    return is_it(*proc, connection) ? NULL : "you are not the process of that number";
}

bool pleat_proc_hello(struct pleat_proc *proc, const char *address, const char *local)
{
    char *copy = strdup(address), *near = local ? strdup(local) : NULL;
    if (!copy || (local && !near)) {
        free(copy);
        free(near);
        return false;
    }
    bool moved = proc->address && strcmp(proc->address, copy) != 0;
    free(proc->address);
    free(proc->local);
    proc->address = copy;
    proc->local = near;
    proc->news_at = proc->evolve->news.count; /* its welcome has what was before */
    pleat_proc_registered(proc);
    if (moved && proc->handed)
        pleat_evolve_spread(proc, NULL, 0, 0);
    return true;
}

static void hello(struct pleat_stranger *stranger, const json_t *line)
{
    static const struct pleat_connection_callbacks callbacks = {.message = on_message,
                                                                .closed = on_closed};
    struct pleat_connection *connection = stranger->connection;
    struct pleat_proc *proc = NULL;
    const char *address = NULL, *local = NULL;
    const char *why = why_not(stranger->evolve, line, connection, &proc, &address, &local);
    drop_stranger(stranger);
    if (why || pleat_connection_start(connection, &callbacks, proc)) {
        turn_away(connection, why ? why : "no memory");
        return;
    }
    pleat_connection_close(proc->connection); /* it connects again */
    proc->connection = connection;
    if (pleat_proc_hello(proc, address, local))
        return;
    pleat_connection_close(connection);
    proc->connection = NULL;
}

static void on_first(void *arg, struct pleat_connection *connection,
                     const struct pleat_message *message)
{
    struct pleat_stranger *stranger = arg;
    if (!strcmp(message->method, "hello")) {
        hello(stranger, message->json);
        return;
    }
    drop_stranger(stranger);
    turn_away(connection, "a process says hello first");
}

static void on_lost(void *arg, struct pleat_connection *connection, const struct pleat_error *error)
{
    (void)connection;
    (void)error;
    drop_stranger(arg);
}

static void on_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {.message = on_first,
                                                                .closed = on_lost};
    struct pleat_evolve *evolve = arg;
    struct pleat_stranger *stranger = calloc(1, sizeof(*stranger)), *oldest = evolve->strangers;
    size_t count = 0;
    for (struct pleat_stranger *each = evolve->strangers; each; each = each->next, count++)
        oldest = each;
    if (count >= STRANGERS_MAX) {
        pleat_connection_close(oldest->connection);
        drop_stranger(oldest);
    }
    pleat_connection_lines(connection, PLEAT_EVOLVE_LINE_MAX);
    if (!stranger || pleat_connection_start(connection, &callbacks, stranger)) {
        pleat_connection_close(connection);
        free(stranger);
        return;
    }
    *stranger = (struct pleat_stranger){evolve, connection, evolve->strangers};
    evolve->strangers = stranger;
}

int pleat_evolve_listen(struct pleat_run *run, struct pleat_error *err)
{
    struct pleat_evolve *evolve = run->evolve;
    return pleat_listener_create(&run->agent->loop, evolve->socket, on_accept, evolve,
                                 &evolve->listener, err);
}

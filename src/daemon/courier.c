#include "daemon/courier.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/files.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/runs.h"
#include "daemon/specs.h"

enum { OPEN_REQUEST = 1 };

struct courier *courier_find(struct daemon *d, uint64_t run, bool reads)
{
    struct courier *courier = d->couriers.first;
    while (courier && (courier->run != run || courier->reads != reads))
        courier = courier->next;
    return courier;
}

static struct agent *agent_of(const struct courier *courier)
{
    uint32_t index = run_component(courier->d, courier->run);
    const struct active_run run = {.run = courier->run, .component = index};
    return index == PLEAT_NONE ? NULL : agent_of_run(courier->d, &run);
}

static void tell_agent(const struct courier *courier, const char *method, json_t *params)
{
    struct pleat_error err = {0};
    const struct agent *agent = agent_of(courier);
    if (!agent || !params) {
        json_decref(params);
        return;
    }
    if (agent_send(courier->d, agent->site, agent->node, method, params, &err))
        daemon_log("job %lld: its agent cannot be told '%s': %s", (long long)courier->job, method,
                   err.text);
}

void courier_let_go(const struct courier *courier, bool go)
{
    tell_agent(courier, "output_go",
               json_pack("{s:I, s:b}", "run", (json_int_t)courier->run, "go", go));
}

static void tell_heard(const struct courier *courier, int64_t stream, int64_t offset)
{
    tell_agent(courier, "output_heard",
               json_pack("{s:I, s:I, s:I}", "run", (json_int_t)courier->run, "stream",
                         (json_int_t)stream, "offset", (json_int_t)offset));
}

void courier_say(struct courier *courier, const char *what, const char *why)
{
    if (courier->said)
        return;
    courier->said = true;
    char text[PLEAT_ERROR_TEXT_SIZE + 160];
    snprintf(text, sizeof(text), "%s: %s; this is tried again every second", what, why);
    daemon_log("job %lld: %s", (long long)courier->job, text);
    note_make(courier->d, daemon_now_us(courier->d), "warning", courier->job, note_text(text));
}

/* ---- its end ---- */

/* Whether something that the run wrote is not in its file yet. */
static bool is_behind(const struct courier *courier)
{
    return !courier->reads && (!courier->is_open || courier->heard[0] < courier->sent[0] ||
                               courier->heard[1] < courier->sent[1]);
}

void courier_destroy(struct courier *courier)
{
    struct courier **at = &courier->d->couriers.first;
    while (*at != courier)
        at = &(*at)->next;
    *at = courier->next;
    if (courier->reads)
        inputs_forget_reader(courier->d, courier);
    if (courier->process) {
        courier->process->data = NULL;
        if (!courier->is_open || is_behind(courier) || !courier->connection)
            (void)uv_process_kill(courier->process, SIGKILL); /* it may hang */
    }
    pleat_connection_close(courier->connection);
    free(courier);
}

/* A start that waits for it fails. Both of the run's go. */
static void fail_start(struct courier *courier, const struct pleat_error *why)
{
    struct daemon *d = courier->d;
    struct pleat_effect start = courier->start;
    couriers_opened *opened = courier->opened;
    couriers_forget(d, courier->run);
    opened(d, &start, why);
}

/* The process has ended, or the connection to it. Output comes again, and with it another one;
 * another one that reads is started in a second. */
static void lost(struct courier *courier)
{
    struct pleat_error err;
    pleat_error_set(&err, PLEAT_E_SYSTEM,
                    "the process that was to open its files has ended before it did");
    if (courier->waits) {
        fail_start(courier, &err);
    } else if (courier->reads) {
        inputs_forget_reader(courier->d, courier);
        courier->is_open = courier->is_asked = false;
        courier->retries = true;
    } else {
        struct agent *agent = agent_of(courier);
        if (agent)
            agent->unheard = true;
        courier_destroy(courier);
    }
}

static void on_process_exit(uv_process_t *process, int64_t status, int signal)
{
    struct courier *courier = process->data;
    if (status || signal)
        daemon_log("a courier (pleat-courier) ended with status %lld, signal %d", (long long)status,
                   signal);
    uv_close((uv_handle_t *)process, (uv_close_cb)free);
    if (!courier)
        return;
    courier->process = NULL;
    if (!courier->connection)
        lost(courier);
}

/* ---- its messages ---- */

void courier_send(struct courier *courier, struct pleat_string *out, int rc)
{
    if (!rc)
        rc = pleat_connection_send(courier->connection, out);
    else
        pleat_string_finish(out);
    if (rc) /* the loop calls `closed` */
        daemon_log("job %lld: a courier cannot be told: %s", (long long)courier->job,
                   pleat_error_name(rc));
}

void courier_tell(struct courier *courier, const char *method, json_t *params)
{
    struct pleat_string out = {0};
    courier_send(courier, &out,
                 params ? pleat_write_notification(&out, method, params) : PLEAT_E_NOMEM);
}

static int add_path(struct courier *courier, json_t *params, enum job_file which, const char *name,
                    struct pleat_error *err)
{
    char path[PATH_MAX], own[600], member[32];
    if (!job_file_is_users(courier->d, courier->job, which))
        return 0;
    int rc = job_file_path(courier->d, courier->job, which, path, sizeof(path), err);
    if (rc)
        return rc;
    if (json_object_set_new(params, name, json_string(path)))
        return pleat_error_set(err, PLEAT_E_INVALID, "the path '%s' is not UTF-8", path);
    snprintf(member, sizeof(member), "%s_record", name);
    snprintf(own, sizeof(own), "%s.record", name);
    char record[600];
    job_output_path(courier->d, courier->job, own, record, sizeof(record));
    return json_object_set_new(params, member, json_string(record))
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

void courier_ask_to_open(struct courier *courier)
{
    struct pleat_string out = {0};
    struct pleat_error err = {0};
    json_t *params = json_pack("{s:b, s:i}", "truncate", courier->truncates, "umask",
                               (int)job_spec(courier->d, courier->job)->umask);
    int rc = params ? 0 : pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
    if (!rc && courier->reads)
        rc = add_path(courier, params, JOB_INPUT, "stdin", &err);
    if (!rc && !courier->reads)
        rc = add_path(courier, params, JOB_OUTPUT, "stdout", &err);
    if (!rc && !courier->reads)
        rc = add_path(courier, params, JOB_ERROR, "stderr", &err);
    if (rc) {
        json_decref(params);
        daemon_log("job %lld: %s", (long long)courier->job, err.text);
        if (courier->waits)
            fail_start(courier, &err);
        return;
    }
    courier->is_asked = true;
    courier->retries = false;
    courier_send(courier, &out, pleat_write_request(&out, OPEN_REQUEST, "open", params));
}

static void is_open_now(struct courier *courier)
{
    courier->is_open = true;
    courier->said = false;
    if (courier->reads)
        courier_tell(courier, "go", json_object());
    if (!courier->waits) {
        if (!courier->reads)
            courier_let_go(courier, true);
        return;
    }
    courier->waits = false;
    const struct courier *other = courier_find(courier->d, courier->run, !courier->reads);
    if (!other || !other->waits)
        courier->opened(courier->d, &courier->start, NULL);
}

/* The run has taken its input up to that byte. */
static void go_on_reading(void *arg, int64_t offset)
{
    struct courier *courier = arg;
    if (courier->connection)
        courier_tell(courier, "taken", json_pack("{s:I}", "offset", (json_int_t)offset));
}

static void take_piece(struct courier *courier, const struct pleat_message *message)
{
    struct input_piece piece = {.job = courier->job,
                                .run = courier->run,
                                .bytes = message->bytes,
                                .count = message->bytes_count};
    if (pleat_get_int(message->params, "offset", true, 0, INT64_MAX / 2, &piece.offset, NULL) ||
        pleat_get_bool(message->params, "end", true, &piece.end, NULL))
        return;
    inputs_take_from(courier->d, courier, go_on_reading, &piece);
}

static void take_written(struct courier *courier, const json_t *params)
{
    int64_t stream = 1, offset = 0;
    if (pleat_get_int(params, "stream", true, 1, COURIER_STREAMS, &stream, NULL) ||
        pleat_get_int(params, "offset", true, 0, INT64_MAX, &offset, NULL))
        return;
    courier->heard[stream - 1] = offset;
    courier->said = false;
    tell_heard(courier, stream, offset);
}

static void take_failure(struct courier *courier, const struct pleat_message *message)
{
    const char *text = json_string_value(json_object_get(message->params, "text"));
    if (!strcmp(message->method, "unread")) {
        courier_say(courier, "its input cannot be read", text ? text : "?");
        courier->retries = true;
        return;
    }
    struct agent *agent = agent_of(courier);
    courier_say(courier, "what it writes cannot be written, and waits", text ? text : "?");
    if (agent)
        agent->unheard = true;
    courier_let_go(courier, false);
}

static void take_answer(struct courier *courier, const struct pleat_message *message)
{
    courier->is_asked = false;
    if (message->kind == PLEAT_RESULT) {
        is_open_now(courier);
        return;
    }
    if (courier->waits) {
        fail_start(courier, &message->error);
        return;
    }
    courier_say(courier, "a file of it cannot be used", message->error.text);
    courier->retries = true;
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct courier *courier = arg;
    (void)connection;
    if (message->kind == PLEAT_RESULT || message->kind == PLEAT_FAILURE)
        take_answer(courier, message);
    else if (message->kind != PLEAT_NOTIFICATION)
        return;
    else if (!strcmp(message->method, "read"))
        take_piece(courier, message);
    else if (!strcmp(message->method, "written"))
        take_written(courier, message->params);
    else if (!strcmp(message->method, "unwritten") || !strcmp(message->method, "unread"))
        take_failure(courier, message);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct courier *courier = arg;
    (void)connection;
    (void)error;
    courier->connection = NULL;
    lost(courier);
}

/* ---- its beginning ---- */

int courier_spawn(struct courier *courier, struct pleat_error *err)
{
    char path[600], run[32], name[] = "pleat-courier";
    char *args[] = {name, courier->d->paths.socket, run, courier->reads ? "read" : "write", NULL};
    uv_stdio_container_t io[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD, .data.fd = 2}};
    uv_process_options_t options = {.exit_cb = on_process_exit,
                                    .file = path,
                                    .args = args,
                                    .cwd = "/",
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = io};
    int rc = pleat_paths_beside("pleat-courier", path, sizeof(path), err);
    if (rc)
        return rc;
    snprintf(run, sizeof(run), "%llu", (unsigned long long)courier->run);
    uv_process_t *process = calloc(1, sizeof(*process));
    rc = process ? uv_spawn(&courier->d->loop, process, &options) : UV_ENOMEM;
    if (rc && process)
        uv_close((uv_handle_t *)process, (uv_close_cb)free);
    if (rc)
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot start %s: %s", path, uv_strerror(rc));
    uv_unref((uv_handle_t *)process);
    process->data = courier;
    courier->process = process;
    return 0;
}

/* *courier: one that was started now; NULL after an error. */
int courier_make(struct daemon *d, int64_t job, uint64_t run, bool reads, struct courier **made,
                 struct pleat_error *err)
{
    *made = NULL;
    struct courier *courier = calloc(1, sizeof(*courier));
    if (!courier)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    courier->d = d;
    courier->run = run;
    courier->job = job;
    courier->reads = reads;
    int rc = courier_spawn(courier, err);
    if (rc) {
        free(courier);
        return rc;
    }
    courier->next = d->couriers.first;
    d->couriers.first = courier;
    *made = courier;
    return 0;
}

void couriers_accept(struct daemon *d, struct pleat_connection *connection, const json_t *params)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    int64_t run = 0;
    bool reads = false;
    struct courier *courier = NULL;
    if (!pleat_get_int(params, "run", true, 1, INT64_MAX, &run, NULL) &&
        !pleat_get_bool(params, "reads", true, &reads, NULL))
        courier = courier_find(d, (uint64_t)run, reads);
    if (!courier || courier->connection || !courier->process ||
        uv_process_get_pid(courier->process) != pleat_connection_peer_pid(connection) ||
        pleat_connection_start(connection, &callbacks, courier)) {
        pleat_connection_close(connection);
        return;
    }
    courier->connection = connection;
    courier_ask_to_open(courier);
}

/* Agents wait for that some seconds where a job is being ended. */
static void say_lost(struct courier *courier)
{
    static const char text[] = "its output file took nothing any more: what it wrote last is lost";
    daemon_log("job %lld: %s", (long long)courier->job, text);
    note_make(courier->d, daemon_now_us(courier->d), "warning", courier->job, note_text(text));
}

void couriers_forget(struct daemon *d, uint64_t run)
{
    for (int reads = 0; reads < 2; reads++) {
        struct courier *courier = courier_find(d, run, reads);
        if (courier && is_behind(courier) && !courier->waits)
            say_lost(courier);
        if (courier)
            courier_destroy(courier);
    }
}

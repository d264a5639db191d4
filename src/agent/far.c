#include "agent/far.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/evolve.h"
#include "agent/kind.h"
#include "agent/link.h"
#include "agent/log.h"
#include "agent/networks.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "wire/message.h"

/* A process that leaves so much unread is cut off: it connects again, and gets all of it anew. */
#define UNREAD_MAX 4194304

struct pleat_far {
    struct pleat_run *run;
    uint32_t process;
    char socket[128], secret[128], host[64], reach[256];
    struct pleat_listener *listener;     /* NULL: not any more */
    struct pleat_connection *connection; /* NULL: none */
    struct pleat_connection *stranger;   /* the last one that has not said hello; NULL: none */
    int64_t serial;                      /* of the last connection */
};

/* ---- to the agent that leads ---- */

/* line: borrowed; NULL: the connection has ended. */
static void say(const struct pleat_far *far, json_t *line)
{
    pleat_agent_notify(far->run->agent, "process_said",
                       json_pack("{s:I, s:I, s:I, s:O*}", "run", (json_int_t)far->run->id, "part",
                                 (json_int_t)far->run->part_number, "serial",
                                 (json_int_t)far->serial, "line", line));
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    (void)connection;
    say(arg, message->json);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct pleat_far *far = arg;
    (void)error;
    if (far->connection != connection)
        return;
    far->connection = NULL;
    say(far, NULL);
}

/* ---- connections that have not said hello ---- */

static void on_first(void *arg, struct pleat_connection *connection,
                     const struct pleat_message *message)
{
    static const struct pleat_connection_callbacks callbacks = {.message = on_message,
                                                                .closed = on_closed};
    struct pleat_far *far = arg;
    const char *address = NULL, *local = NULL;
    int64_t process = -1;
    far->stranger = NULL;
    /* only the process may speak for itself */
    if (strcmp(message->method, "hello") != 0 ||
        pleat_hello_read(message->json, &process, &address, &local) || process != far->process ||
        !pleat_run_has_process(far->run, pleat_connection_peer_pid(connection)) ||
        pleat_connection_start(connection, &callbacks, far)) {
        pleat_connection_close(connection);
        return;
    }
    pleat_connection_close(far->connection);
    far->connection = connection;
    far->serial++;
    say(far, message->json);
}

static void on_lost(void *arg, struct pleat_connection *connection, const struct pleat_error *error)
{
    struct pleat_far *far = arg;
    (void)error;
    if (far->stranger == connection)
        far->stranger = NULL;
}

static void on_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {.message = on_first,
                                                                .closed = on_lost};
    struct pleat_far *far = arg;
    pleat_connection_lines(connection, PLEAT_EVOLVE_LINE_MAX);
    if (pleat_connection_start(connection, &callbacks, far)) {
        pleat_connection_close(connection);
        return;
    }
    pleat_connection_close(far->stranger);
    far->stranger = connection;
}

/* ---- its life ---- */

static int write_secret(const struct pleat_far *far, const char *text, struct pleat_error *err)
{
    const size_t length = strlen(text);
    int fd = open(far->secret, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot make %s", far->secret);
    bool bad = write(fd, text, length) != (ssize_t)length || write(fd, "\n", 1) != 1;
    bad = close(fd) || bad;
    return bad ? pleat_error_set(err, PLEAT_E_SYSTEM, "cannot write %s", far->secret) : 0;
}

int pleat_far_create(struct pleat_run *run, const struct pleat_run_request *request,
                     struct pleat_error *err)
{
    run->part_number = request->part;
    struct pleat_far *far = calloc(1, sizeof(*far));
    if (!far)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, run->id);
    far->run = run;
    far->process = request->far->process;
    if (request->far->reach)
        snprintf(far->reach, sizeof(far->reach), "%s", request->far->reach);
    run->far = far;
    int length = snprintf(far->secret, sizeof(far->secret), "%s/secret", run->scratch);
    if (length < 0 || (size_t)length >= sizeof(far->secret))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path %.80s... is too long for a socket",
                               run->scratch);
    snprintf(far->socket, sizeof(far->socket), "%s/agent", run->scratch);
    pleat_networks_own(pleat_link_is_tcp(run->agent) ? run->agent->link.address.host : NULL,
                       far->host, sizeof(far->host));
    int result = write_secret(far, request->far->secret, err);
    return result ? result
                  : pleat_listener_create(&run->agent->loop, far->socket, on_accept, far,
                                          &far->listener, err);
}

void pleat_far_stop(struct pleat_run *run)
{
    struct pleat_far *far = run->far;
    if (!far)
        return;
    pleat_listener_close(far->listener);
    pleat_connection_close(far->connection);
    pleat_connection_close(far->stranger);
    far->listener = NULL;
    far->connection = far->stranger = NULL;
}

void pleat_far_destroy(struct pleat_run *run)
{
    pleat_far_stop(run);
    free(run->far);
    run->far = NULL;
}

void pleat_far_add_variables(const struct pleat_run *run, struct pleat_string *own)
{
    const struct pleat_far *far = run->far;
    char text[16];
    if (!far)
        return;
    snprintf(text, sizeof(text), "%" PRIu32, far->process);
    pleat_run_add_variable(own, PLEAT_PROCESS_ENV, text);
    pleat_run_add_variable(own, PLEAT_PROCESS_SOCKET_ENV, far->socket);
    pleat_run_add_variable(own, PLEAT_PROCESS_SECRET_ENV, far->secret);
    pleat_run_add_variable(own, PLEAT_PROCESS_HOST_ENV, far->host);
    pleat_run_add_variable(own, PLEAT_PROCESS_DIR_ENV, run->scratch);
    pleat_run_add_variable(own, PLEAT_PROCESS_AWAY_ENV, "1");
    if (*far->reach)
        pleat_run_add_variable(own, PLEAT_PROCESS_REACH_ENV, far->reach);
}

void pleat_far_again(const struct pleat_run *run)
{
    struct pleat_far *far = run->far;
    if (!far)
        return;
    pleat_connection_close(far->connection);
    far->connection = NULL;
}

int pleat_far_list(const struct pleat_run *run, json_t *text)
{
    return json_object_set_new(text, "part", json_integer((json_int_t)run->part_number)) ||
           json_object_set_new(
               text, "process",
               json_pack("{s:I}", "id", (json_int_t)(run->far ? run->far->process : 0)));
}

int pleat_far_told(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    struct pleat_far *far = run->far;
    const char *line = NULL;
    int64_t serial = 0;
    int result = pleat_get_int(params, "serial", true, 0, INT64_MAX, &serial, err);
    if (!result)
        result = pleat_get_string(params, "line", false, &line, err);
    if (result || !far || !far->connection || (serial && serial != far->serial))
        return result;
    struct pleat_string out = {0};
    if (line)
        pleat_string_addf(&out, "%s\n", line);
    if (!line || pleat_connection_backlog(far->connection) > UNREAD_MAX ||
        pleat_connection_send(far->connection, &out)) {
        pleat_string_finish(&out);
        pleat_connection_close(far->connection);
        far->connection = NULL;
        say(far, NULL);
    }
    return 0;
}

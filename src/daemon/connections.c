/* Connections: of clients, which must greet before they ask, and of agents, which are handed on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/agents.h"
#include "daemon/clients.h"
#include "daemon/connections.h"
#include "daemon/couriers.h"
#include "daemon/daemon.h"
#include "daemon/follow.h"
#include "daemon/methods.h"
#include "daemon/parked.h"
#include "wire/connection.h"

enum { CONNECTIONS_MAX = 128 }; /* connections of one process at most */

/* The connection is gone. Answers to the client are dropped from now on. */
static void client_gone(struct client *client)
{
    client->connection = NULL;
    client->follow = (struct follow){0};
    parked_forget(client);
    inputs_forget(client);
    terminals_forget(client);
    method_client_gone(client);
    client_drop(client);
}

static void client_close(struct client *client)
{
    struct pleat_connection *connection = client->connection;
    if (!connection)
        return;
    client_gone(client);
    pleat_connection_close(connection);
}

static void greet(struct client *client, const struct pleat_message *message)
{
    struct pleat_error err = {0};
    const char *role = NULL;
    int rc;
    if (message->kind != PLEAT_NOTIFICATION || strcmp(message->method, "hello"))
        rc = pleat_error_set(&err, PLEAT_E_PROTOCOL, "say hello first");
    else
        rc = pleat_read_hello(message, &role, &err);
    if (!rc && role && strcmp(role, "agent") != 0 && *pleat_connection_identity(client->connection))
        rc = pleat_error_set(&err, PLEAT_E_PERMISSION, "only agents call here");
    if (rc || !role) {
        client_fail(client, 0, &err);
        client_close(client);
        return;
    }
    client->greeted = true;
    bool is_agent = !strcmp(role, "agent");
    if (!is_agent && strcmp(role, "courier") != 0)
        return;
    struct pleat_connection *connection = client->connection;
    struct daemon *d = client->daemon;
    client_gone(client);
    if (is_agent)
        agent_accept(d, connection, message->params);
    else
        couriers_accept(d, connection, message->params);
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct client *client = arg;
    (void)connection;
    if (!client->greeted) {
        greet(client, message);
    } else if (message->kind == PLEAT_REQUEST) {
        client_hold(client);
        method_call(client, message);
        client_drop(client);
    }
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct client *client = arg;
    (void)connection;
    if (error->code == PLEAT_E_PROTOCOL || error->code == PLEAT_E_TOOBIG)
        daemon_log("a client was turned away: %s", error->text);
    client_gone(client);
}

static void on_drained(void *arg, struct pleat_connection *connection)
{
    (void)connection;
    follow_on(arg);
}

/* Bounds the connections of one process, so that a faulty one leaves descriptors for others and for
 * the log. */
static bool has_enough(const struct daemon *d, int process)
{
    int count = 0;
    for (const struct client *client = d->clients; client; client = client->next)
        count += client->connection && client->process == process;
    return count >= CONNECTIONS_MAX;
}

static void turn_away(struct pleat_connection *connection)
{
    struct pleat_error err;
    struct pleat_string out = {0};
    pleat_error_set(&err, PLEAT_E_TOOBIG,
                    "process %d has %d connections to pleatd already: close some",
                    pleat_connection_peer_pid(connection), CONNECTIONS_MAX);
    if (pleat_write_failure(&out, 0, &err) == 0)
        (void)!pleat_connection_send(connection, &out);
    pleat_string_finish(&out);
    pleat_connection_close(connection);
}

void connection_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, on_drained};
    struct daemon *d = arg;
    int process = pleat_connection_peer_pid(connection);
    if (has_enough(d, process)) {
        turn_away(connection);
        return;
    }
    struct client *client = calloc(1, sizeof(*client));
    struct pleat_string out = {0};
    if (!client || pleat_connection_start(connection, &callbacks, client)) {
        free(client);
        pleat_connection_close(connection);
        return;
    }
    client->daemon = d;
    client->connection = connection;
    client->process = process;
    client->references = 1;
    client->next = d->clients;
    d->clients = client;
    json_t *own = json_pack("{s:i, s:s}", "pid", (int)getpid(), "instance", d->instance);
    if (own && *pleat_connection_identity(connection))
        (void)json_object_set_new(own, "orphan_s",
                                  json_real((double)d->config.agent_orphan_us / 1e6));
    if (pleat_write_hello(&out, "daemon", own))
        daemon_log("a greeting could not be written");
    client_send(client, &out);
}

void connections_close(struct daemon *d)
{
    struct client *next;
    for (struct client *client = d->clients; client; client = next) {
        client_hold(client); /* closing must not free it */
        client_close(client);
        next = client->next; /* NOLINT(clang-analyzer-unix.Malloc): held above */
        free(client);        /* NOLINT(clang-analyzer-unix.Malloc) */
    }
    d->clients = NULL;
}

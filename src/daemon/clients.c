/* Answers to clients. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "wire/connection.h"

void client_hold(struct client *client)
{
    client->references++;
}

static void unlink_client(struct client *client)
{
    for (struct client **at = &client->daemon->clients; *at; at = &(*at)->next) {
        if (*at == client) {
            *at = client->next;
            return;
        }
    }
}

void client_drop(struct client *client)
{
    if (--client->references > 0)
        return;
    unlink_client(client);
    free(client);
}

void client_send(struct client *client, struct pleat_string *out)
{
    if (client->answer && !client->answer->length) {
        *client->answer = *out;
        return;
    }
    if (client->connection && !out->failed)
        (void)!pleat_connection_send(client->connection, out); /* an error closes the connection */
    pleat_string_finish(out);
}

void client_fail(struct client *client, int64_t request, const struct pleat_error *error)
{
    struct pleat_string out = {0};
    if (pleat_write_failure(&out, request, error))
        daemon_log("an answer could not be written");
    client_send(client, &out);
}

int client_answer(struct pleat_string *out, int64_t request, json_t *result)
{
    struct pleat_error error;
    int rc = result ? pleat_write_result(out, request, result) : PLEAT_E_NOMEM;
    if (rc == 0)
        return 0;
    if (rc == PLEAT_E_TOOBIG)
        pleat_error_set(&error, rc,
                        "the answer is too long for the protocol: ask for less at a time");
    else
        pleat_error_set(&error, rc, "the answer could not be made: out of memory");
    pleat_string_finish(out);
    return pleat_write_failure(out, request, &error);
}

void client_reply(struct client *client, int64_t request, json_t *result)
{
    struct pleat_string out = {0};
    if (client_answer(&out, request, result))
        daemon_log("an answer could not be written");
    client_send(client, &out);
}

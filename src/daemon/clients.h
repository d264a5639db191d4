/* clients.h - clients, and answers to them */
#ifndef PLEAT_DAEMON_CLIENTS_H
#define PLEAT_DAEMON_CLIENTS_H

#include <jansson.h>

#include "base/error.h"
#include "daemon/follow.h"

struct daemon;
struct pleat_connection;
struct pleat_message;

struct client {
    struct daemon *daemon;
    struct pleat_connection *connection; /* NULL: closed, the record still in use */
    struct client *next;
    bool greeted;
    bool stops; /* it asked pleatd to stop, and waits for that */
    struct follow follow;
    int references; /* the connection, and inputs and replies under way */
    uint64_t asked; /* number of the last turn that had an input of this client; 0: none */
    int process;    /* the client's process id */
    const struct pleat_message *message; /* the request that is being answered; NULL: none is */
    struct pleat_string *answer; /* keeps the next answer instead of sending it; NULL: send */
};

void client_send(struct client *client, struct pleat_string *out);
void client_fail(struct client *client, int64_t request, const struct pleat_error *error);
/* Answers with the result, which is stolen. NULL means out of memory; a request without a result is
 * answered with an empty object. If there can be no result, the client gets the failure. */
void client_reply(struct client *client, int64_t request, json_t *result);
/* Makes the answer as a line, to be sent later. Nonzero: out of memory. */
int client_answer(struct pleat_string *out, int64_t request, json_t *result);
void client_hold(struct client *client);
void client_drop(struct client *client);

#endif

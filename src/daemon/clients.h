/* clients.h - who asks, and gets answers */
#ifndef PLEAT_DAEMON_CLIENTS_H
#define PLEAT_DAEMON_CLIENTS_H

#include <jansson.h>

#include "base/error.h"
#include "daemon/follow.h"

struct daemon;
struct pleat_connection;

struct client {
    struct daemon *daemon;
    struct pleat_connection *connection; /* NULL: gone, kept only for what refers to it */
    struct client *next;
    bool greeted;
    struct follow follow;
    int references;              /* inputs and replies under way */
    uint64_t asked;              /* the last turn that had an input of it; 0: none */
    int process;                 /* who connected */
    struct pleat_string *answer; /* NULL, or where what is to be sent is kept */
};

void client_send(struct client *client, struct pleat_string *out);
void client_fail(struct client *client, int64_t request, const struct pleat_error *error);
void client_reply(struct client *client, int64_t request, json_t *result);
void client_hold(struct client *client);
void client_drop(struct client *client);

#endif

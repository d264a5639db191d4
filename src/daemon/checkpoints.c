#include "daemon/checkpoints.h"

#include <stdlib.h>

#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"

int64_t checkpoint_number(struct daemon *d)
{
    int64_t now = daemon_now_us(d);
    d->checkpoints.last = now > d->checkpoints.last ? now : d->checkpoints.last + 1;
    return d->checkpoints.last;
}

int checkpoint_await(struct client *client, const struct awaited *awaited, struct pleat_error *err)
{
    struct awaited *made = malloc(sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    *made = *awaited;
    made->client = client;
    made->next = client->daemon->checkpoints.first;
    client->daemon->checkpoints.first = made;
    client_hold(client);
    return 0;
}

static void answer(struct awaited *awaited, json_t *result, const struct pleat_error *failure)
{
    if (result)
        client_reply(awaited->client, awaited->request, result);
    else
        client_fail(awaited->client, awaited->request, failure);
    client_drop(awaited->client);
    free(awaited);
}

void checkpoint_settle(struct daemon *d, int64_t checkpoint, json_t *result,
                       const struct pleat_error *failure)
{
    for (struct awaited **at = &d->checkpoints.first; *at; at = &(*at)->next) {
        struct awaited *awaited = *at;
        if (awaited->checkpoint != checkpoint)
            continue;
        *at = awaited->next;
        answer(awaited, result, failure);
        return;
    }
    json_decref(result);
}

struct awaited *checkpoint_take_of(struct client *client)
{
    for (struct awaited **at = &client->daemon->checkpoints.first; *at; at = &(*at)->next) {
        struct awaited *awaited = *at;
        if (awaited->client != client)
            continue;
        *at = awaited->next;
        client_drop(client);
        return awaited;
    }
    return NULL;
}

void checkpoints_check(struct daemon *d)
{
    for (struct awaited **at = &d->checkpoints.first; *at;) {
        struct awaited *awaited = *at;
        const struct job *job = job_find(d, awaited->job);
        struct pleat_error why;
        if (job && !job->ended) {
            at = &awaited->next;
            continue;
        }
        *at = awaited->next;
        pleat_error_set(&why, PLEAT_E_STATE, "the job ended before it was written");
        answer(awaited, NULL, &why);
    }
}

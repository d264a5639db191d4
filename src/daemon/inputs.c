#include "daemon/inputs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "daemon/agent.h"
#include "daemon/agent_link.h"
#include "daemon/clients.h"
#include "daemon/files.h"
#include "daemon/jobs.h"

struct input_wait {
    struct input_wait *next;
    struct client *client; /* who is answered; NULL: `reader` is */
    int64_t request;
    void *reader;
    input_taken *taken;
    struct input_piece piece; /* `bytes` is its own */
    bool sent;                /* to the agent that is connected now */
};

/* Whether it is the input of `pleat run`. */
static bool is_clients(struct daemon *d, int64_t job)
{
    char path[PATH_MAX] = "", own[PATH_MAX];
    if (job_file_path(d, job, JOB_INPUT, path, sizeof(path), NULL))
        return false;
    int length = snprintf(own, sizeof(own), "%s/" PLEAT_INPUT_PREFIX, d->paths.runtime);
    return length > 0 && (size_t)length < sizeof(own) && !strncmp(path, own, (size_t)length);
}

bool inputs_are_of_a_file(struct daemon *d, int64_t job)
{
    return job_file_is_users(d, job, JOB_INPUT) && !is_clients(d, job);
}

bool inputs_are_sent(struct daemon *d, int64_t job, uint32_t site, uint32_t node)
{
    const struct pleat_config_site *known = &d->config.sites[site];
    if (terminals_are_far(d, job, site, node))
        return true;
    if (!known->brings_agents && !known->here.over_tcp)
        return false;
    return is_clients(d, job) || (agent_is_apart(d, site, node) && inputs_are_of_a_file(d, job));
}

/* The run of a job that takes input now; 0: none does. */
static uint64_t run_of(struct daemon *d, const struct job *job)
{
    const struct pleat_component *c = job_component(d, job);
    bool runs = (c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING) && !c->exited;
    return runs && inputs_are_sent(d, job->id, c->site, c->lead_node) ? c->run : 0;
}

static void drop(struct input_wait **at)
{
    struct input_wait *wait = *at;
    *at = wait->next;
    if (wait->client)
        client_drop(wait->client);
    free((void *)(uintptr_t)wait->piece.bytes);
    free(wait);
}

static void send_piece(struct daemon *d, const struct job *job, struct input_wait *wait)
{
    const struct pleat_component *c = job_component(d, job);
    const struct agent *agent = agent_get(d, c->site, c->lead_node);
    const struct input_piece *piece = &wait->piece;
    struct pleat_error err = {0};
    if (wait->sent || (!piece->count && !piece->end) || !agent || !agent->connection ||
        !agent->listed)
        return;
    wait->sent = true;
    if (agent_send_bytes(d, c->site, c->lead_node, "input",
                         json_pack("{s:I, s:I, s:b}", "run", (json_int_t)piece->run, "offset",
                                   (json_int_t)piece->offset, "end", piece->end),
                         piece->bytes, piece->count, &err))
        daemon_log("job %lld: its input cannot be sent: %s", (long long)job->id, err.text);
}

/* True: the request was answered. */
static bool settle(struct daemon *d, struct input_wait *wait)
{
    const struct job *job = job_find(d, wait->piece.job);
    if (!job || job->ended) {
        if (wait->client)
            client_reply(wait->client, wait->request, json_pack("{s:b}", "over", 1));
        return true;
    }
    uint64_t run = run_of(d, job);
    if (run && run != wait->piece.run) {
        if (wait->client)
            client_reply(wait->client, wait->request, json_pack("{s:I}", "run", (json_int_t)run));
        return true;
    }
    if (run)
        send_piece(d, job, wait);
    return false;
}

void inputs_check(struct daemon *d)
{
    for (struct input_wait **at = &d->input_waits.first; *at;) {
        if (settle(d, *at))
            drop(at);
        else
            at = &(*at)->next;
    }
}

/* Keeps a piece. NULL: no memory. */
static struct input_wait *keep(struct daemon *d, const struct input_piece *piece)
{
    struct input_wait *wait = calloc(1, sizeof(*wait));
    char *bytes = wait && piece->count ? malloc(piece->count) : NULL;
    if (!wait || (piece->count && !bytes)) {
        free(wait);
        return NULL;
    }
    if (bytes)
        memcpy(bytes, piece->bytes, piece->count);
    wait->piece = *piece;
    wait->piece.bytes = bytes;
    wait->next = d->input_waits.first;
    d->input_waits.first = wait;
    return wait;
}

void inputs_take(struct client *client, int64_t request, const struct input_piece *piece)
{
    struct pleat_error err;
    struct input_wait *wait = keep(client->daemon, piece);
    if (!wait) {
        pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
        client_fail(client, request, &err);
        return;
    }
    wait->client = client;
    wait->request = request;
    client_hold(client);
    inputs_check(client->daemon);
}

void inputs_take_from(struct daemon *d, void *reader, input_taken *taken,
                      const struct input_piece *piece)
{
    struct input_wait *wait = keep(d, piece);
    if (!wait) {
        daemon_log("job %lld: no memory for its input", (long long)piece->job);
        return;
    }
    wait->reader = reader;
    wait->taken = taken;
    inputs_check(d);
}

void inputs_taken(struct daemon *d, const json_t *params)
{
    uint64_t run = (uint64_t)json_integer_value(json_object_get(params, "run"));
    int64_t offset = json_integer_value(json_object_get(params, "offset"));
    bool end = json_is_true(json_object_get(params, "end"));
    for (struct input_wait **at = &d->input_waits.first; *at;) {
        struct input_wait *wait = *at;
        const struct input_piece *piece = &wait->piece;
        if (piece->run != run || piece->offset + (int64_t)piece->count > offset ||
            (piece->end && !end) || (!piece->count && !piece->end)) {
            at = &wait->next;
            continue;
        }
        if (wait->client)
            client_reply(wait->client, wait->request,
                         json_pack("{s:I, s:b}", "run", (json_int_t)run, "taken", 1));
        else if (!piece->end)
            wait->taken(wait->reader, offset);
        drop(at);
    }
}

void inputs_listed(struct agent *agent)
{
    struct daemon *d = agent->daemon;
    for (struct input_wait *wait = d->input_waits.first; wait; wait = wait->next) {
        const struct job *job = job_find(d, wait->piece.job);
        const struct pleat_component *c = job && !job->ended ? job_component(d, job) : NULL;
        if (c && c->site == agent->site && c->lead_node == agent->node)
            wait->sent = false;
    }
    inputs_check(d);
}

void inputs_forget_reader(struct daemon *d, const void *reader)
{
    for (struct input_wait **at = &d->input_waits.first; *at;) {
        if (!(*at)->client && (*at)->reader == reader)
            drop(at);
        else
            at = &(*at)->next;
    }
}

void inputs_forget(struct client *client)
{
    for (struct input_wait **at = &client->daemon->input_waits.first; *at;) {
        if ((*at)->client == client)
            drop(at);
        else
            at = &(*at)->next;
    }
}

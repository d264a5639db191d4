#include "agent/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/kind.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "base/clock.h"
#include "base/remote.h"

#define BELIEVED_US (3 * PLEAT_US_PER_S) /* what an agent has said of sections, and not again */

enum { STREAMS = 2 };
enum stage { STAGE_NEW, STAGE_WANTED, STAGE_RUNNING, STAGE_ENDED };

/* A call of pleat-remote, which becomes a part when it says what it wants. */
struct part {
    struct part *next;
    struct pleat_run *run;
    struct pleat_connection *connection; /* NULL: it is gone */
    enum stage stage;
    bool leaves;     /* the run has left its node, and says so when the part has ended */
    uint32_t number; /* from 1, in the run; 0: STAGE_NEW */
    uint32_t node;
    int64_t request; /* of pleat-remote, which is answered when the part has ended */
    json_t *wish;    /* what `part_wanted` says; NULL: the daemon need not be told any more */
    struct pleat_part_voice voice;
    /* how many bytes of each stream were given to pleat-remote, and it has handed on */
    int64_t taken[STREAMS], heard[STREAMS];
};

struct node_name {
    char name[64];
    uint32_t node;
};
PLEAT_ARRAY(node_names, struct node_name);

struct pleat_remote {
    struct pleat_listener *listener;
    char path[128];
    struct node_names names;
    const char *here;
    struct part *parts;
    uint32_t last; /* number of the last part */
};

/* ---- parts ---- */

static void part_drop(struct part *part)
{
    struct part **at = &part->run->remote->parts;
    while (*at != part)
        at = &(*at)->next;
    *at = part->next;
    pleat_connection_close(part->connection);
    json_decref(part->wish);
    free(part);
}

static struct part *find_part(const struct pleat_run *run, int64_t number)
{
    struct part *part = run->remote ? run->remote->parts : NULL;
    while (part && (number < 1 || part->number != number))
        part = part->next;
    return part;
}

static const struct node_name *find_name(const struct pleat_remote *remote, const char *name)
{
    for (size_t i = 0; i < remote->names.count; i++)
        if (!strcmp(remote->names.items[i].name, name))
            return &remote->names.items[i];
    return NULL;
}

static void tell_unwanted(const struct part *part)
{
    pleat_agent_notify(part->run->agent, "part_unwanted",
                       json_pack("{s:I, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number));
}

/* What the daemon does not know yet: a part that is wanted, or one that is not any more. */
static void report(const struct part *part)
{
    if (part->stage == STAGE_WANTED)
        pleat_agent_notify(part->run->agent, "part_wanted", json_incref(part->wish));
    if ((part->stage == STAGE_WANTED || part->stage == STAGE_RUNNING) && !part->connection)
        tell_unwanted(part);
}

/* ---- what a part writes ---- */

static void tell_heard(const struct part *part, int stream)
{
    pleat_agent_notify(part->run->agent, "part_heard",
                       json_pack("{s:I, s:I, s:i, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number, "stream", stream, "offset",
                                 (json_int_t)part->heard[stream - 1]));
}

/* Nobody reads what the part writes any more: it need not be kept. */
static void hear_all(struct part *part)
{
    for (int stream = 1; stream <= STREAMS; stream++) {
        if (part->heard[stream - 1] == part->taken[stream - 1])
            continue;
        part->heard[stream - 1] = part->taken[stream - 1];
        tell_heard(part, stream);
    }
}

static void give(struct part *part, int stream, const char *bytes, size_t count)
{
    struct pleat_string out = {0};
    if (!pleat_write_notification_bytes(&out, "output", json_pack("{s:i}", "stream", stream), bytes,
                                        count))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
}

/* pleat-remote has handed on so many more bytes. */
static void hear(struct part *part, const json_t *params)
{
    int64_t stream = 0, offset = 0;
    if (pleat_get_int(params, "stream", true, 1, STREAMS, &stream, NULL) ||
        pleat_get_int(params, "offset", true, 0, INT64_MAX, &offset, NULL) ||
        offset > part->taken[stream - 1] || offset <= part->heard[stream - 1])
        return;
    part->heard[stream - 1] = offset;
    tell_heard(part, (int)stream);
}

/* ---- what pleat-remote says ---- */

static void refuse(struct part *part, int64_t request, const struct pleat_error *why)
{
    struct pleat_string out = {0};
    if (part->connection && !pleat_write_failure(&out, request, why))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
    part_drop(part);
}

static int read_wish(const struct part *part, const json_t *params, struct pleat_error *err,
                     const struct node_name **name, json_t **wish)
{
    const char *host = NULL, *command = NULL, *cwd = NULL;
    const json_t *env = NULL;
    const struct pleat_run *run = part->run;
    int rc = pleat_get_string(params, "name", true, &host, err);
    if (!rc)
        rc = pleat_get_string(params, "command", true, &command, err);
    if (!rc)
        rc = pleat_get_string(params, "cwd", true, &cwd, err);
    if (!rc)
        rc = pleat_param_strings(params, "env", true, &env, err);
    if (rc)
        return rc;
    *name = find_name(run->remote, host);
    if (!*name)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "job %s has no node called '%.60s'", run->job,
                               host);
    *wish = json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:O}", "run", (json_int_t)run->id,
                      "part", (json_int_t)run->remote->last + 1, "node", (json_int_t)(*name)->node,
                      "place", (json_int_t)(*name - run->remote->names.items), "places",
                      (json_int_t)run->remote->names.count, "command", command, "cwd", cwd, "env",
                      (json_t *)(uintptr_t)env);
    return *wish ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static void want(struct part *part, const struct pleat_message *message)
{
    struct pleat_run *run = part->run;
    struct pleat_error err = {0};
    const struct node_name *name = NULL;
    json_t *wish = NULL;
    int rc = 0;
    if (part->stage != STAGE_NEW || strcmp(message->method, "part") != 0)
        rc = pleat_error_set(&err, PLEAT_E_PROTOCOL, "one request 'part' is expected");
    else if (!pleat_run_is_live(run) || run->state == PLEAT_RUN_ENDING || run->killing)
        rc = pleat_error_set(&err, PLEAT_E_STATE, "the job is being ended");
    else
        rc = read_wish(part, message->params, &err, &name, &wish);
    if (rc) {
        refuse(part, message->id, &err);
        return;
    }
    part->number = ++run->remote->last;
    part->node = name->node;
    part->wish = wish;
    part->request = message->id;
    part->stage = STAGE_WANTED;
    report(part);
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct part *part = arg;
    struct pleat_error err;
    const char *role = NULL;
    (void)connection;
    if (message->kind == PLEAT_REQUEST)
        want(part, message);
    else if (message->kind == PLEAT_NOTIFICATION && !strcmp(message->method, "heard"))
        hear(part, message->params);
    else if (pleat_read_hello(message, &role, &err))
        refuse(part, 0, &err);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct part *part = arg;
    (void)connection;
    (void)error;
    part->connection = NULL;
    hear_all(part);
    if (part->stage == STAGE_NEW)
        part_drop(part);
    else if (part->stage != STAGE_ENDED)
        tell_unwanted(part);
}

static void on_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    struct pleat_run *run = arg;
    int pid = pleat_connection_peer_pid(connection);
    struct part *part =
        run->remote && pleat_run_has_process(run, pid) ? calloc(1, sizeof(*part)) : NULL;
    if (!part) {
        pleat_log("run %" PRIu64 " (job %s): process %d is none of it, and is not heard", run->id,
                  run->job, pid);
        pleat_connection_close(connection);
        return;
    }
    part->run = run;
    part->connection = connection;
    part->next = run->remote->parts;
    run->remote->parts = part;
    if (pleat_connection_start(connection, &callbacks, part))
        part_drop(part);
}

/* ---- listening ---- */

static int take_nodes(struct pleat_remote *remote, uint32_t own, const json_t *nodes,
                      struct pleat_error *err)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(nodes, index, entry)
    {
        struct node_name one = {{0}, 0};
        const char *name = NULL;
        int64_t node = 0;
        int rc = pleat_get_string(entry, "name", true, &name, err);
        if (!rc)
            rc = pleat_get_int(entry, "node", true, 0, UINT32_MAX - 1, &node, err);
        if (!rc && (!*name || strlen(name) >= sizeof(one.name)))
            rc = pleat_error_set(err, PLEAT_E_INVALID, "'nodes': the name '%.80s' cannot be used",
                                 name);
        if (rc)
            return rc;
        snprintf(one.name, sizeof(one.name), "%s", name);
        one.node = (uint32_t)node;
        if (pleat_array_push(&remote->names, one))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < remote->names.count; i++)
        if (remote->names.items[i].node == own)
            remote->here = remote->names.items[i].name;
    return remote->here ? 0
                        : pleat_error_set(err, PLEAT_E_INVALID,
                                          "'nodes' does not name node %" PRIu32 ", which leads the "
                                          "run",
                                          own);
}

int pleat_remote_create(struct pleat_run *run, const json_t *nodes, struct pleat_error *err)
{
    if (!run->scratch)
        return pleat_error_set(err, PLEAT_E_INVALID, "'nodes' needs 'scratch'");
    run->remote = calloc(1, sizeof(*run->remote));
    if (!run->remote)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    struct pleat_remote *remote = run->remote;
    int length = snprintf(remote->path, sizeof(remote->path), "%s/remote", run->scratch);
    if (length < 0 || (size_t)length >= sizeof(remote->path))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of a socket in %s is too long",
                               run->scratch);
    int rc = take_nodes(remote, run->agent->options.node, nodes, err);
    return rc ? rc
              : pleat_listener_create(&run->agent->loop, remote->path, on_accept, run,
                                      &remote->listener, err);
}

int pleat_remote_renew(struct pleat_run *run, const json_t *nodes, struct pleat_error *err)
{
    struct pleat_remote *remote = run->remote;
    if (!remote)
        return pleat_remote_create(run, nodes, err);
    for (const struct part *part = remote->parts; part; part = part->next)
        if (part->connection && (part->stage == STAGE_WANTED || part->stage == STAGE_RUNNING))
            tell_unwanted(part); /* its pleat-remote has ended, which may not be known yet */
    pleat_remote_stop(run);
    remote->names.count = 0;
    remote->here = NULL;
    int rc = take_nodes(remote, run->agent->options.node, nodes, err);
    return rc ? rc
              : pleat_listener_create(&run->agent->loop, remote->path, on_accept, run,
                                      &remote->listener, err);
}

/* Of a part that has ended, on a node that the run has left. */
static void leave(struct part *part)
{
    pleat_agent_notify(part->run->agent, "part_left",
                       json_pack("{s:I, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number));
    part_drop(part);
}

void pleat_remote_tidy(struct pleat_run *run)
{
    struct part *next;
    for (struct part *part = run->remote ? run->remote->parts : NULL; part; part = next) {
        next = part->next;
        bool left = true;
        for (size_t i = 0; i < run->remote->names.count; i++)
            left = left && run->remote->names.items[i].node != part->node;
        part->leaves = left;
        if (part->stage != STAGE_ENDED)
            continue; /* what it wrote is still being heard, or it is one of those that run now */
        if (left)
            leave(part);
        else
            part_drop(part);
    }
}

void pleat_remote_stop(struct pleat_run *run)
{
    struct pleat_remote *remote = run->remote;
    if (!remote)
        return;
    pleat_listener_close(remote->listener);
    remote->listener = NULL;
    for (struct part *part = remote->parts; part; part = part->next) {
        pleat_connection_close(part->connection);
        part->connection = NULL;
        hear_all(part);
    }
}

void pleat_remote_destroy(struct pleat_run *run)
{
    pleat_remote_stop(run);
    while (run->remote && run->remote->parts)
        part_drop(run->remote->parts);
    if (run->remote)
        pleat_array_finish(&run->remote->names);
    free(run->remote);
    run->remote = NULL;
}

void pleat_remote_add_variables(const struct pleat_run *run, struct pleat_string *own)
{
    if (!run->remote)
        return;
    pleat_run_add_variable(own, PLEAT_REMOTE_ENV, run->remote->path);
    pleat_run_add_variable(own, PLEAT_REMOTE_HERE_ENV, run->remote->here);
}

/* ---- the daemon ---- */

void pleat_remote_report(const struct pleat_run *run)
{
    for (const struct part *part = run->remote ? run->remote->parts : NULL; part; part = part->next)
        report(part);
}

int pleat_remote_describe(const struct pleat_run *run, json_t *text)
{
    static const char *const stages[] = {[STAGE_NEW] = "new",
                                         [STAGE_WANTED] = "wanted",
                                         [STAGE_RUNNING] = "running",
                                         [STAGE_ENDED] = "ended"};
    json_t *parts = json_array();
    int bad = !parts;
    for (const struct part *part = run->remote ? run->remote->parts : NULL; part && !bad;
         part = part->next)
        if (part->stage != STAGE_NEW)
            bad = json_array_append_new(
                parts, json_pack("{s:I, s:I, s:s}", "part", (json_int_t)part->number, "node",
                                 (json_int_t)part->node, "state", stages[part->stage]));
    if (bad) {
        json_decref(parts);
        return PLEAT_E_NOMEM;
    }
    return json_object_set_new(text, "parts", parts);
}

/* Hands the end of a part to its pleat-remote, which then ends likewise. */
static void answer_end(struct part *part, const json_t *params)
{
    struct pleat_string out = {0};
    json_t *result =
        json_pack("{s:O?, s:O?, s:O?}", "code", json_object_get(params, "code"), "signal",
                  json_object_get(params, "signal"), "text", json_object_get(params, "text"));
    if (part->connection && result && !pleat_write_result(&out, part->request, result))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
    pleat_connection_close(part->connection);
    part->connection = NULL;
}

int pleat_remote_told(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t number = 0;
    bool ended = false;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_bool(params, "ended", true, &ended, err);
    struct part *part = rc ? NULL : find_part(run, number);
    if (!part || part->stage == STAGE_ENDED)
        return rc;
    json_decref(part->wish);
    part->wish = NULL;
    part->stage = ended ? STAGE_ENDED : STAGE_RUNNING;
    if (ended)
        answer_end(part, params);
    if (ended && part->leaves)
        leave(part);
    return 0;
}

struct pleat_part_voice *pleat_remote_next(const struct pleat_run *run,
                                           const struct pleat_part_voice *before)
{
    struct part *part = run->remote ? run->remote->parts : NULL;
    if (before) {
        while (part && &part->voice != before)
            part = part->next;
        part = part ? part->next : NULL;
    }
    while (part && part->stage != STAGE_RUNNING)
        part = part->next;
    if (!part)
        return NULL;
    part->voice.part = part->number;
    part->voice.node = part->node;
    return &part->voice;
}

static bool is_in_section(const struct pleat_part_voice *voice, int64_t now_us)
{
    return voice->not_now > 0 && now_us - voice->heard_us < BELIEVED_US;
}

uint32_t pleat_remote_sections(const struct pleat_run *run, uint64_t *longest_ns)
{
    const int64_t now_us = pleat_clock_monotonic_us();
    uint32_t count = 0;
    *longest_ns = 0;
    for (const struct pleat_part_voice *voice = NULL; (voice = pleat_remote_next(run, voice));) {
        uint64_t ns = (uint64_t)(now_us - voice->since_us) * 1000;
        if (!is_in_section(voice, now_us))
            continue;
        count += voice->not_now;
        *longest_ns = ns > *longest_ns ? ns : *longest_ns;
    }
    return count;
}

static void hear_sections(struct pleat_part_voice *voice, uint32_t not_now)
{
    const int64_t now_us = pleat_clock_monotonic_us();
    if (!is_in_section(voice, now_us))
        voice->since_us = now_us;
    voice->not_now = not_now;
    voice->heard_us = now_us;
}

int pleat_remote_said(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t number = 0, order = 0, k = 0, not_now = 0;
    bool yes = false;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "order", true, 0, UINT32_MAX, &order, err);
    if (!rc)
        rc = pleat_get_int(params, "not_now", false, 0, PLEAT_PARAM_RANKS_MAX, &not_now, err);
    if (!rc)
        rc = pleat_get_bool(params, "yes", true, &yes, err);
    if (!rc)
        rc = pleat_get_int(params, "k", false, 0, INT64_MAX, &k, err);
    struct part *part = rc ? NULL : find_part(run, number);
    if (part)
        hear_sections(&part->voice, (uint32_t)not_now);
    if (!part || part->voice.order >= order)
        return rc;
    part->voice.order = (uint32_t)order;
    part->voice.yes = yes;
    part->voice.k = (uint64_t)k;
    return 0;
}

int pleat_remote_output(struct pleat_run *run, const json_t *params, const char *bytes,
                        size_t count, struct pleat_error *err)
{
    int64_t number = 0, stream = 0, offset = 0;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "stream", true, 1, STREAMS, &stream, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", true, 0, INT64_MAX / 2, &offset, err);
    struct part *part = rc ? NULL : find_part(run, number);
    if (!part)
        return rc;
    int64_t *taken = &part->taken[stream - 1], end = offset + (int64_t)count;
    if (offset <= *taken && end > *taken && part->connection)
        give(part, (int)stream, bytes + (*taken - offset), (size_t)(end - *taken));
    if (offset <= *taken && end > *taken)
        *taken = end;
    if (!part->connection)
        part->heard[stream - 1] = *taken;
    if (part->heard[stream - 1] >= end)
        tell_heard(part, (int)stream); /* also where that was told before: it may not have come */
    return 0;
}

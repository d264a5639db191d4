#include "agent/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/kind.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "agent/remote_parts.h"
#include "base/remote.h"

static const struct pleat_node_name *find_name(const struct pleat_remote_side *side,
                                               const char *name)
{
    for (size_t i = 0; i < side->names.count; i++)
        if (!strcmp(side->names.items[i].name, name))
            return &side->names.items[i];
    return NULL;
}

/* pleat-remote has handed on more bytes of a part's output. */
static void hear(struct pleat_part *part, const json_t *params)
{
    int64_t stream = 0, offset = 0;
    if (pleat_get_int(params, "stream", true, 1, STREAMS, &stream, NULL) ||
        pleat_get_int(params, "offset", true, 0, INT64_MAX, &offset, NULL) ||
        offset > part->taken[stream - 1] || offset <= part->heard[stream - 1])
        return;
    part->heard[stream - 1] = offset;
    pleat_part_tell_heard(part, (int)stream);
}

/* The launcher to which a part belongs; NULL: its processes are being ended. */
static const struct pleat_remote_side *side_of(const struct pleat_part *part)
{
    const struct pleat_remote *remote = part->run->remote;
    return pleat_part_is_now(part)                        ? remote->now
           : part->generation == remote->next->generation ? remote->next
                                                          : NULL;
}

/* ---- what pleat-remote says ---- */

static void refuse(struct pleat_part *part, int64_t request, const struct pleat_error *why)
{
    struct pleat_string out = {0};
    if (part->connection && !pleat_write_failure(&out, request, why))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
    pleat_part_drop(part);
}

static int read_wish(const struct pleat_part *part, const json_t *params, struct pleat_error *err,
                     const struct pleat_node_name **name, json_t **wish)
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
    const struct pleat_remote_side *side = side_of(part);
    *name = find_name(side, host);
    if (!*name)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "job %s has no node called '%.60s'", run->job,
                               host);
    *wish =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:O}", "run", (json_int_t)run->id, "part",
                  (json_int_t)run->remote->last + 1, "node", (json_int_t)(*name)->node, "place",
                  (json_int_t)(*name - side->names.items), "places", (json_int_t)side->names.count,
                  "command", command, "cwd", cwd, "env", (json_t *)(uintptr_t)env);
    if (*wish && pleat_part_is_new(part) && json_object_set_new(*wish, "waits", json_true())) {
        json_decref(*wish);
        *wish = NULL;
    }
    return *wish ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static void want(struct pleat_part *part, const struct pleat_message *message)
{
    struct pleat_run *run = part->run;
    struct pleat_error err = {0};
    const struct pleat_node_name *name = NULL;
    json_t *wish = NULL;
    int rc = 0;
    if (part->stage != STAGE_NEW || strcmp(message->method, "part") != 0)
        rc = pleat_error_set(&err, PLEAT_E_PROTOCOL, "one request 'part' is expected");
    else if (!pleat_run_is_live(run) || run->state == PLEAT_RUN_ENDING || run->killing ||
             !side_of(part))
        rc = pleat_error_set(&err, PLEAT_E_STATE, "the job is being ended");
    else
        rc = read_wish(part, message->params, &err, &name, &wish);
    if (rc || !name) {
        refuse(part, message->id, &err);
        return;
    }
    part->number = ++run->remote->last;
    part->node = name->node;
    part->wish = wish;
    part->request = message->id;
    part->stage = STAGE_WANTED;
    pleat_part_report(part);
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct pleat_part *part = arg;
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
    struct pleat_part *part = arg;
    (void)connection;
    (void)error;
    part->connection = NULL;
    pleat_part_hear_all(part);
    if (part->stage == STAGE_NEW)
        pleat_part_drop(part);
    else if (part->stage != STAGE_ENDED)
        pleat_part_tell_unwanted(part);
}

static void on_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    struct pleat_remote_side *side = arg;
    struct pleat_run *run = side->run;
    int pid = pleat_connection_peer_pid(connection);
    struct pleat_part *part =
        run->remote && pleat_run_has_process(run, pid) ? calloc(1, sizeof(*part)) : NULL;
    if (!part) {
        pleat_log("run %" PRIu64 " (job %s): process %d is none of it, and is not heard", run->id,
                  run->job, pid);
        pleat_connection_close(connection);
        return;
    }
    part->run = run;
    part->generation = side->generation;
    part->connection = connection;
    part->next = run->remote->parts;
    run->remote->parts = part;
    if (pleat_connection_start(connection, &callbacks, part))
        pleat_part_drop(part);
}

/* ---- listening ---- */

static int take_nodes(struct pleat_remote_side *side, uint32_t own, const json_t *nodes,
                      struct pleat_error *err)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(nodes, index, entry)
    {
        struct pleat_node_name one = {{0}, 0};
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
        if (pleat_array_push(&side->names, one))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < side->names.count; i++)
        if (side->names.items[i].node == own)
            side->here = side->names.items[i].name;
    return side->here ? 0
                      : pleat_error_set(err, PLEAT_E_INVALID,
                                        "'nodes' does not name node %" PRIu32 ", which leads the "
                                        "run",
                                        own);
}

static void close_side(struct pleat_remote_side *side)
{
    pleat_listener_close(side->listener);
    side->listener = NULL;
    side->names.count = 0;
    side->here = NULL;
}

/* Listens for the launcher of that generation. nodes: NULL: it is on this node only. */
static int open_side(struct pleat_remote_side *side, uint32_t generation, const json_t *nodes,
                     struct pleat_error *err)
{
    struct pleat_run *run = side->run;
    close_side(side);
    side->generation = generation;
    if (!nodes)
        return 0;
    int length = snprintf(side->path, sizeof(side->path), "%s/remote%s", run->scratch,
                          side == run->remote->sides ? "" : "2");
    if (length < 0 || (size_t)length >= sizeof(side->path))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of a socket in %s is too long",
                               run->scratch);
    int rc = take_nodes(side, run->agent->options.node, nodes, err);
    return rc ? rc
              : pleat_listener_create(&run->agent->loop, side->path, on_accept, side,
                                      &side->listener, err);
}

/* Sets run->remote, which does not listen. */
static int make(struct pleat_run *run, struct pleat_error *err)
{
    if (!run->scratch)
        return pleat_error_set(err, PLEAT_E_INVALID, "'nodes' needs 'scratch'");
    run->remote = calloc(1, sizeof(*run->remote));
    if (!run->remote)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    struct pleat_remote *remote = run->remote;
    remote->last = run->last_part;
    remote->now = &remote->sides[0];
    remote->next = &remote->sides[1];
    remote->now->run = remote->next->run = run;
    remote->now->generation = 1;
    return 0;
}

int pleat_remote_create(struct pleat_run *run, const json_t *nodes, struct pleat_error *err)
{
    int rc = make(run, err);
    return rc || !run->remote ? rc : open_side(run->remote->now, 1, nodes, err);
}

static uint32_t next_generation(const struct pleat_remote *remote)
{
    return (remote->next->generation > remote->now->generation ? remote->next->generation
                                                               : remote->now->generation) +
           1;
}

int pleat_remote_renew(struct pleat_run *run, const json_t *nodes, struct pleat_error *err)
{
    struct pleat_remote *remote = run->remote;
    if (!remote)
        return nodes ? pleat_remote_create(run, nodes, err) : 0;
    for (const struct pleat_part *part = remote->parts; part; part = part->next)
        if (part->connection && (part->stage == STAGE_WANTED || part->stage == STAGE_RUNNING))
            pleat_part_tell_unwanted(
                part); /* the pleat-remote of the old part has ended, which may not be known yet */
    pleat_remote_stop(run);
    return open_side(remote->now, next_generation(remote), nodes, err);
}

/* ---- new processes, while the old ones compute ---- */

int pleat_remote_prepare(struct pleat_run *run, const json_t *nodes, struct pleat_error *err)
{
    int rc = run->remote || !nodes ? 0 : make(run, err);
    return rc || !run->remote
               ? rc
               : open_side(run->remote->next, next_generation(run->remote), nodes, err);
}

static bool has_name(const struct pleat_remote_side *side, uint32_t node)
{
    for (size_t i = 0; i < side->names.count; i++)
        if (side->names.items[i].node == node)
            return true;
    return false;
}

void pleat_remote_hand_over(struct pleat_run *run)
{
    struct pleat_remote *remote = run->remote;
    if (!remote)
        return;
    struct pleat_remote_side *old = remote->now;
    remote->now = remote->next;
    remote->next = old;
    close_side(old);
    for (const struct pleat_part *part = remote->parts; part; part = part->next)
        pleat_part_tell_role(part);
}

void pleat_remote_drop_new(struct pleat_run *run)
{
    struct pleat_remote *remote = run->remote;
    struct pleat_part *next;
    if (!remote)
        return;
    close_side(remote->next);
    for (struct pleat_part *part = remote->parts; part; part = next) {
        next = part->next;
        if (!pleat_part_is_new(part))
            continue;
        if (part->stage == STAGE_ENDED && !has_name(remote->now, part->node))
            pleat_part_leave(part);
        else if (part->stage == STAGE_ENDED || part->stage == STAGE_NEW)
            pleat_part_drop(part);
    }
}

bool pleat_remote_has_others(const struct pleat_run *run)
{
    for (const struct pleat_part *part = run->remote ? run->remote->parts : NULL; part;
         part = part->next)
        if (!pleat_part_is_now(part) &&
            (part->stage == STAGE_WANTED || part->stage == STAGE_RUNNING))
            return true;
    return false;
}

/* ---- its end ---- */

void pleat_remote_tidy(struct pleat_run *run)
{
    struct pleat_part *next;
    for (struct pleat_part *part = run->remote ? run->remote->parts : NULL; part; part = next) {
        next = part->next;
        part->leaves = !has_name(run->remote->now, part->node);
        if (part->stage != STAGE_ENDED)
            continue; /* its output is still being heard, or it is a part that runs now */
        if (part->leaves)
            pleat_part_leave(part);
        else
            pleat_part_drop(part);
    }
}

void pleat_remote_stop(struct pleat_run *run)
{
    struct pleat_remote *remote = run->remote;
    if (!remote)
        return;
    for (size_t i = 0; i < sizeof(remote->sides) / sizeof(*remote->sides); i++) {
        pleat_listener_close(remote->sides[i].listener);
        remote->sides[i].listener = NULL;
    }
    for (struct pleat_part *part = remote->parts; part; part = part->next) {
        pleat_connection_close(part->connection);
        part->connection = NULL;
        pleat_part_hear_all(part);
    }
}

void pleat_remote_destroy(struct pleat_run *run)
{
    pleat_remote_stop(run);
    while (run->remote && run->remote->parts)
        pleat_part_drop(run->remote->parts);
    for (size_t i = 0; run->remote && i < 2; i++)
        pleat_array_finish(&run->remote->sides[i].names);
    free(run->remote);
    run->remote = NULL;
}

void pleat_remote_add_variables(const struct pleat_run *run, bool is_new, struct pleat_string *own)
{
    const struct pleat_remote_side *side = !run->remote ? NULL
                                           : is_new     ? run->remote->next
                                                        : run->remote->now;
    if (!side || !side->listener)
        return;
    pleat_run_add_variable(own, PLEAT_REMOTE_ENV, side->path);
    pleat_run_add_variable(own, PLEAT_REMOTE_HERE_ENV, side->here);
}

/* Agents whose runs are not known any more: those of another instance, whose log is lost, and those
 * of nodes that their site has given up, but that the batch system has not ended.
 *
 * As long as such an agent lives no other one can serve its node. So it is told to end its runs,
 * and then itself.
 */
#include <string.h>

#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "daemon/stranger.h"
#include "wire/connection.h"

struct stranger {
    struct stranger *next;
    struct daemon *daemon;
    struct pleat_connection *connection;
    char site[64];
    uint32_t node;
    bool says; /* writes into the log */
    int64_t next_id, list_id;
};

static void ask(struct stranger *stranger, const char *method, json_t *params)
{
    struct pleat_string out = {0};
    if (pleat_write_request(&out, stranger->next_id++, method, params) ||
        pleat_connection_send(stranger->connection, &out))
        daemon_log("the agent of another instance for node %u cannot be reached", stranger->node);
    pleat_string_finish(&out);
}

static void ask_list(struct stranger *stranger, int64_t after)
{
    stranger->list_id = stranger->next_id;
    ask(stranger, "list", json_pack("{s:I}", "after", (json_int_t)after));
}

static void on_listed(struct stranger *stranger, const json_t *result)
{
    json_int_t run = 0;
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(result, "runs"), index, entry)
    {
        run = json_integer_value(json_object_get(entry, "run"));
        if (stranger->says)
            daemon_log("run %lld, which nobody knows any more, is ended", (long long)run);
        ask(stranger, "kill", json_pack("{s:I, s:f}", "run", run, "grace_s", 1.0));
    }
    if (run > 0 && json_is_true(json_object_get(result, "more")))
        ask_list(stranger, run);
    else
        ask(stranger, "quit", NULL);
}

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct stranger *stranger = arg;
    (void)connection;
    if (message->kind == PLEAT_RESULT && message->id == stranger->list_id)
        on_listed(stranger, message->result);
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct stranger *stranger = arg;
    (void)connection;
    (void)error;
    struct stranger **at = &stranger->daemon->strangers;
    while (*at != stranger)
        at = &(*at)->next;
    *at = stranger->next;
    if (!stranger->daemon->stopping)
        agent_needed(stranger->daemon, stranger->site, stranger->node);
    free(stranger);
}

void stranger_accept(struct daemon *d, struct pleat_connection *connection, const char *site,
                     uint32_t node, bool says)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};
    struct stranger *stranger = calloc(1, sizeof(*stranger));
    if (!stranger) {
        pleat_connection_close(connection);
        return;
    }
    stranger->daemon = d;
    stranger->connection = connection;
    stranger->node = node;
    stranger->says = says;
    stranger->next_id = 1;
    snprintf(stranger->site, sizeof(stranger->site), "%s", site);
    stranger->next = d->strangers;
    d->strangers = stranger;
    if (pleat_connection_start(connection, &callbacks, stranger)) {
        d->strangers = stranger->next;
        pleat_connection_close(connection);
        free(stranger);
        return;
    }
    ask_list(stranger, 0);
}

void strangers_close(struct daemon *d)
{
    while (d->strangers) {
        struct stranger *stranger = d->strangers;
        d->strangers = stranger->next;
        pleat_connection_close(stranger->connection);
        free(stranger);
    }
}

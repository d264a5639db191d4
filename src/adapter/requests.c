#include "adapter/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "adapter/step.h"
#include "wire/reply.h"

enum { NAME_PART_MAX = 100, VALUE_MAX = 255, NODES_MAX = 1 << 24 };

/* ---- what is answered with what the operation gave ---- */

static void answer(struct pleat_adapter_call *call, json_t *result)
{
    if (call->late) {
        json_decref(result);
        return;
    }
    if (call->failure) {
        json_decref(result);
        pleat_adapter_refuse(call->calls->lines, call->id, &call->err);
        return;
    }
    pleat_adapter_answer(call->calls->lines, call->id, result);
}

static void on_given(struct pleat_adapter_call *call)
{
    answer(call, json_incref(call->result));
}

static void carry_out_cluster(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->cluster(&call->result, &call->err);
}

static struct pleat_adapter_call *begin(struct pleat_adapter *adapter,
                                        const struct pleat_message *message,
                                        void (*carry_out)(struct pleat_adapter_call *),
                                        void (*done)(struct pleat_adapter_call *))
{
    struct pleat_adapter_call *call = pleat_adapter_call_create(&adapter->calls, message->id);
    call->arg = adapter;
    call->params = json_incref((json_t *)message->params);
    call->carry_out = carry_out;
    call->done = done;
    return call;
}

static int ask_cluster(struct pleat_adapter *adapter, const struct pleat_message *message,
                       struct pleat_error *err)
{
    (void)err;
    pleat_adapter_call_begin(begin(adapter, message, carry_out_cluster, on_given));
    return 0;
}

static void carry_out_accounts(struct pleat_adapter_call *call)
{
    const char *cluster = pleat_reply_text(call->params, "cluster", "");
    call->failure = call->calls->ops->accounts(cluster, &call->result, &call->err);
}

static int ask_accounts(struct pleat_adapter *adapter, const struct pleat_message *message,
                        struct pleat_error *err)
{
    const char *cluster;
    int failure = pleat_get_string(message->params, "cluster", true, &cluster, err);
    if (failure)
        return failure;
    if (!pleat_adapter_is_word(cluster, VALUE_MAX))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'cluster' is no name");
    if (!adapter->calls.ops->accounts)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "%s tells of no accounts",
                               adapter->calls.system->title);
    pleat_adapter_call_begin(begin(adapter, message, carry_out_accounts, on_given));
    return 0;
}

static int ask_nodes(struct pleat_adapter *adapter, const struct pleat_message *message,
                     struct pleat_error *err)
{
    int64_t from = 0;
    int failure = pleat_get_int(message->params, "from", false, 0, NODES_MAX, &from, err);
    if (!failure)
        pleat_adapter_nodes_ask(&adapter->nodes, message->id, (size_t)from);
    return failure;
}

/* ---- allocate ---- */

/* A text that is a value of an option of the batch system's. */
static int get_value(const json_t *params, const char *name, const char **value,
                     struct pleat_error *err)
{
    int failure = pleat_get_string(params, name, false, value, err);
    if (!failure && *value && !pleat_adapter_is_word(*value, VALUE_MAX))
        return pleat_error_set(err, PLEAT_E_INVALID, "member '%s' is no value of an option", name);
    return failure;
}

/* The beginning of a job's name. */
static int get_name(const json_t *params, const char *member, const char **name,
                    struct pleat_error *err)
{
    int failure = pleat_get_string(params, member, true, name, err);
    size_t length = failure ? 0
                            : strspn(*name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                                            "YZ0123456789._:+-");
    if (!failure && (length == 0 || (*name)[length] || length > NAME_PART_MAX || **name == '-'))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "member '%s' must have 1 to %d letters, digits and ._:+- (not first)", member,
            NAME_PART_MAX);
    return failure;
}

/* The names of nodes, as a list with commas between them; NULL: there are none. */
static int get_nodes(const json_t *params, const char *member, char **list, struct pleat_error *err)
{
    const json_t *names = json_object_get(params, member), *name;
    struct pleat_string text = {0};
    size_t i;
    int failure = 0;
    if (names && !json_is_array(names))
        failure = PLEAT_E_INVALID;
    json_array_foreach(names, i, name)
    {
        const char *word = json_string_value(name);
        if (!word || !pleat_adapter_is_word(word, VALUE_MAX) || strpbrk(word, " ,[]()|&!*?@/")) {
            failure = PLEAT_E_INVALID;
            break;
        }
        pleat_string_addf(&text, "%s%s", text.length ? "," : "", word);
    }
    if (text.failed)
        abort();
    if (failure || text.length > PLEAT_ADAPTER_WITHOUT_MAX) {
        pleat_string_finish(&text);
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "member '%s' must be a list of names of nodes, of %d bytes at most",
                               member, PLEAT_ADAPTER_WITHOUT_MAX);
    }
    *list = text.text;
    return 0;
}

static int get_wish(const json_t *params, const struct pleat_adapter_system *system,
                    struct pleat_adapter_wish *wish, struct pleat_error *err)
{
    int64_t count = 0, nodes = 0, minutes = 0, memory_mb = 0;
    int failure = get_name(params, "name", &wish->name, err);
    failure = failure ? failure : pleat_get_int(params, "count", false, 0, 1000000, &count, err);
    failure = failure ? failure : pleat_get_int(params, "nodes", false, 0, 100000, &nodes, err);
    failure =
        failure ? failure : pleat_get_int(params, "minutes", false, 0, 10000000, &minutes, err);
    failure = failure
                  ? failure
                  : pleat_get_int(params, "memory_mb", false, 0, INT64_C(1) << 40, &memory_mb, err);
    failure = failure ? failure : get_value(params, "near", &wish->near, err);
    failure = failure ? failure : get_value(params, "on", &wish->on, err);
    for (size_t i = 0; system->texts[i]; i++)
        failure = failure ? failure : get_value(params, system->texts[i], &wish->texts[i], err);
    failure = failure ? failure : pleat_get_bool(params, "exclusive", false, &wish->exclusive, err);
    failure = failure ? failure : pleat_get_bool(params, "few", false, &wish->few, err);
    failure = failure ? failure : pleat_get_bool(params, "now", false, &wish->now, err);
    if (failure)
        return failure;
    if (count == 0 && !(wish->exclusive && nodes > 0))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "member 'count' is missing: only whole nodes are asked for without it");
    if (wish->on && (nodes != 1 || wish->near))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "member 'on' goes with one of 'nodes', and not with 'near'");
    wish->count = (uint32_t)count;
    wish->nodes = (uint32_t)nodes;
    wish->minutes = (uint32_t)minutes;
    wish->memory_mb = (uint64_t)memory_mb;
    return 0;
}

static void carry_out_allocate(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->allocate(&call->wish, &call->result, &call->err);
}

static void on_allocated(struct pleat_adapter_call *call)
{
    struct pleat_adapter *adapter = call->arg;
    bool is_there = !call->failure;
    if (is_there && !call->late)
        pleat_adapter_watch_add(&adapter->watch, call->result);
    else if (!call->never && (is_there || call->failure == PLEAT_E_CLOSED))
        /* the request has failed; whether there is a job, or will be, is not known */
        pleat_adapter_watch_unwanted(&adapter->watch, call->name);
    answer(call, json_incref(call->result));
}

static int allocate(struct pleat_adapter *adapter, const struct pleat_message *message,
                    struct pleat_error *err)
{
    struct pleat_adapter_wish wish = {0};
    uint32_t mark;
    char *without = NULL;
    int failure = get_wish(message->params, adapter->calls.system, &wish, err);
    failure = failure ? failure : get_nodes(message->params, "without", &without, err);
    if (failure)
        return failure;
    /* Each attempt has a name of its own: an attempt of unknown outcome can be told from the next
     * one for the same claim. A few random bytes are always available */
    if (getrandom(&mark, sizeof(mark), 0) != sizeof(mark))
        abort();
    struct pleat_adapter_call *call = begin(adapter, message, carry_out_allocate, on_allocated);
    snprintf(call->name, sizeof(call->name), "%s.%08x", wish.name, mark);
    call->wish = wish;
    call->wish.name = call->name;
    call->wish.without = call->without = without;
    pleat_adapter_call_begin(call);
    return 0;
}

/* ---- check ---- */

static void carry_out_check(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->check(&call->wish, &call->err);
}

static void on_checked(struct pleat_adapter_call *call)
{
    answer(call, json_object());
}

static int check(struct pleat_adapter *adapter, const struct pleat_message *message,
                 struct pleat_error *err)
{
    struct pleat_adapter_wish wish = {0};
    int failure = get_wish(message->params, adapter->calls.system, &wish, err);
    if (failure)
        return failure;
    struct pleat_adapter_call *call = begin(adapter, message, carry_out_check, on_checked);
    snprintf(call->name, sizeof(call->name), "%s", wish.name);
    call->wish = wish;
    call->wish.name = call->name;
    pleat_adapter_call_begin(call);
    return 0;
}

/* ---- release ---- */

static void carry_out_release(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->release(call->job, call->name, &call->err);
}

static void on_released(struct pleat_adapter_call *call)
{
    struct pleat_adapter *adapter = call->arg;
    bool is_gone = call->failure == PLEAT_E_NOTFOUND;
    if (!call->failure || is_gone) {
        pleat_adapter_watch_remove(&adapter->watch, call->job);
        pleat_adapter_steps_over(call->job);
        call->failure = 0;
    }
    answer(call, json_pack("{sb}", "was_gone", is_gone));
}

/* The number and the name of a job. */
static int get_job(const json_t *params, uint32_t *job, const char **name, struct pleat_error *err)
{
    int64_t number;
    int failure = pleat_get_int(params, "job", true, 1, PLEAT_ADAPTER_JOB_MAX, &number, err);
    failure = failure ? failure : pleat_get_string(params, "name", true, name, err);
    if (failure)
        return failure;
    if (!pleat_adapter_is_word(*name, PLEAT_ADAPTER_NAME_MAX) || strchr(*name, ','))
        return pleat_error_set(err, PLEAT_E_INVALID, "member 'name' is no name of a job");
    *job = (uint32_t)number;
    return 0;
}

static int release(struct pleat_adapter *adapter, const struct pleat_message *message,
                   struct pleat_error *err)
{
    uint32_t job;
    const char *name;
    int failure = get_job(message->params, &job, &name, err);
    if (failure)
        return failure;
    struct pleat_adapter_call *call = begin(adapter, message, carry_out_release, on_released);
    call->job = job;
    snprintf(call->name, sizeof(call->name), "%s", name);
    pleat_adapter_call_begin(call);
    return 0;
}

/* ---- keep ---- */

static void carry_out_keep(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->keep(call->job, call->name, call->nodes, &call->err);
}

static int keep(struct pleat_adapter *adapter, const struct pleat_message *message,
                struct pleat_error *err)
{
    struct pleat_adapter_call *call;
    uint32_t job;
    const char *name;
    char *nodes = NULL;
    if (!adapter->calls.ops->keep)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED, "%s cannot take back some nodes of a job",
                               adapter->calls.system->title);
    int failure = get_job(message->params, &job, &name, err);
    failure = failure ? failure : get_nodes(message->params, "nodes", &nodes, err);
    if (!failure && !nodes)
        failure = pleat_error_set(err, PLEAT_E_INVALID, "member 'nodes' names no node");
    if (failure)
        return failure;
    call = begin(adapter, message, carry_out_keep, on_checked);
    call->job = job;
    snprintf(call->name, sizeof(call->name), "%s", name);
    call->nodes = nodes;
    pleat_adapter_call_begin(call);
    return 0;
}

/* ---- jobs ---- */

static void carry_out_jobs(struct pleat_adapter_call *call)
{
    call->failure = call->calls->ops->jobs(&call->result, &call->err);
}

static void on_jobs(struct pleat_adapter_call *call)
{
    struct pleat_adapter *adapter = call->arg;
    const char *prefix = pleat_reply_text(call->params, "prefix", "");
    json_t *found = json_array(), *job;
    size_t i;
    json_array_foreach(call->result, i, job)
    {
        if (strncmp(pleat_reply_text(job, "name", ""), prefix, strlen(prefix)) != 0 ||
            pleat_reply_is(job, "state", "ended"))
            continue;
        pleat_adapter_watch_add(&adapter->watch, job);
        json_array_append(found, job);
    }
    answer(call, json_pack("{so}", "jobs", found));
}

static int ask_jobs(struct pleat_adapter *adapter, const struct pleat_message *message,
                    struct pleat_error *err)
{
    const char *prefix;
    int failure = get_name(message->params, "prefix", &prefix, err);
    if (!failure)
        pleat_adapter_call_begin(begin(adapter, message, carry_out_jobs, on_jobs));
    return failure;
}

/* ---- run ---- */

static int run(struct pleat_adapter *adapter, const struct pleat_message *message,
               struct pleat_error *err)
{
    return pleat_adapter_step_start(&adapter->calls, message->id, message->params, err);
}

static const struct {
    const char *name;
    int (*handle)(struct pleat_adapter *adapter, const struct pleat_message *message,
                  struct pleat_error *err);
} methods[] = {
    {"cluster", ask_cluster},   {"nodes", ask_nodes}, {"allocate", allocate}, {"check", check},
    {"release", release},       {"jobs", ask_jobs},   {"run", run},           {"keep", keep},
    {"accounts", ask_accounts},
};

void pleat_adapter_request(void *arg, const struct pleat_message *message)
{
    struct pleat_adapter *adapter = arg;
    struct pleat_error err;
    const char *role;
    if (!adapter->greeted) {
        if (pleat_read_hello(message, &role, &err))
            pleat_adapter_give_up(&adapter->lines, &err);
        adapter->greeted = true;
        return;
    }
    if (message->kind != PLEAT_REQUEST)
        return;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(message->method, methods[i].name) != 0)
            continue;
        if (methods[i].handle(adapter, message, &err))
            pleat_adapter_refuse(&adapter->lines, message->id, &err);
        return;
    }
    pleat_error_set(&err, PLEAT_E_UNSUPPORTED, "there is no method '%.64s'", message->method);
    pleat_adapter_refuse(&adapter->lines, message->id, &err);
}

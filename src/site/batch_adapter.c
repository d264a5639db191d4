#include "site/batch_adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "wire/message.h"

/* The first adapter is started at once. When an adapter has ended the next one is started AGAIN_US
 * later; each one that ends before it has answered anything doubles that time, up to
 * AGAIN_MOST_US. */
#define AGAIN_US INT64_C(500000)
#define AGAIN_MOST_US INT64_C(60000000)

struct request {
    int64_t id;
    pleat_batch_answered *answered;
    uint64_t token;
};

PLEAT_ARRAY(request_list, struct request);

struct pleat_batch_adapter {
    const struct pleat_batch_kind *kind;
    const void *own; /* options of the kind */
    const struct pleat_host *host;
    const struct pleat_batch_adapter_callbacks *callbacks;
    void *arg;
    struct pleat_helper *helper; /* NULL: none */
    struct pleat_reader *reader;
    struct request_list requests, refused; /* refused: requests made while no adapter was there */
    int64_t next_id;
    int failures; /* adapters in a row that ended without an answer */
    bool there, refusing;
};

static void start(struct pleat_batch_adapter *adapter);

/* ---- its end ---- */

static void answer(struct pleat_batch_adapter *adapter, const struct request *request,
                   const json_t *result, const struct pleat_error *wrong)
{
    request->answered(adapter->arg, request->token, result, wrong);
}

/* Takes the list over, since callbacks may make new requests. */
static void answer_closed(struct pleat_batch_adapter *adapter, struct request_list *requests)
{
    struct request_list list = *requests;
    struct pleat_error closed;
    pleat_error_set(&closed, PLEAT_E_CLOSED, "%s has ended", adapter->kind->program);
    *requests = (struct request_list){0};
    for (size_t i = 0; i < list.count; i++)
        answer(adapter, &list.items[i], NULL, &closed);
    pleat_array_finish(&list);
}

static void on_again(void *arg, uint64_t token)
{
    (void)token;
    start(arg);
}

static void over(struct pleat_batch_adapter *adapter, const char *why)
{
    int64_t pause_us = AGAIN_US;
    for (int i = 0; i < adapter->failures && pause_us < AGAIN_MOST_US; i++)
        pause_us *= 2;
    adapter->failures++;
    adapter->helper = NULL;
    adapter->there = false;
    pleat_reader_destroy(adapter->reader);
    adapter->reader = NULL;
    adapter->host->later(adapter->host->arg, pause_us, on_again, adapter, 0);
    answer_closed(adapter, &adapter->requests);
    adapter->callbacks->gone(adapter->arg, why);
}

static void on_ended(void *arg, const struct pleat_command_result *result)
{
    const char *program = ((struct pleat_batch_adapter *)arg)->kind->program;
    char why[600];
    if (result->end == PLEAT_COMMAND_NOT_STARTED)
        snprintf(why, sizeof(why), "%s cannot be started: %.400s", program, result->errors);
    else
        snprintf(why, sizeof(why), "%s has ended (%s %d); what it said is in pleatd's log", program,
                 result->end == PLEAT_COMMAND_KILLED ? "signal" : "exit code", result->code);
    over(arg, why);
}

/* ---- messages from it ---- */

static void on_answer(struct pleat_batch_adapter *adapter, const struct pleat_message *message)
{
    for (size_t i = 0; i < adapter->requests.count; i++) {
        struct request request = adapter->requests.items[i];
        if (request.id != message->id)
            continue;
        adapter->requests.items[i] = adapter->requests.items[--adapter->requests.count];
        adapter->failures = 0;
        if (message->kind == PLEAT_RESULT)
            answer(adapter, &request, message->result, NULL);
        else
            answer(adapter, &request, NULL, &message->error);
        return;
    }
}

static void on_message(struct pleat_batch_adapter *adapter, const struct pleat_message *message)
{
    struct pleat_error err;
    const char *role;
    if (message->kind == PLEAT_RESULT || message->kind == PLEAT_FAILURE) {
        on_answer(adapter, message);
    } else if (message->kind == PLEAT_NOTIFICATION && adapter->there) {
        adapter->callbacks->notice(adapter->arg, message->method, message->params);
    } else if (!adapter->there && !pleat_read_hello(message, &role, &err) &&
               !strcmp(role, adapter->kind->role)) {
        adapter->there = true;
        adapter->callbacks->there(adapter->arg);
    }
}

static void on_line(void *arg, const char *line, size_t length)
{
    struct pleat_batch_adapter *adapter = arg;
    struct pleat_message message;
    struct pleat_error err;
    int got = pleat_reader_feed(adapter->reader, line, length, &err);
    if (!got)
        got = pleat_reader_feed(adapter->reader, "\n", 1, &err);
    while (!got && (got = pleat_reader_next(adapter->reader, &message, &err)) > 0) {
        on_message(adapter, &message);
        pleat_message_finish(&message);
        got = 0;
    }
    if (got < 0) {
        char why[600];
        adapter->host->drop(adapter->host->arg, adapter); /* kills it */
        snprintf(why, sizeof(why), "%s says what makes no sense: %.400s", adapter->kind->program,
                 err.text);
        over(adapter, why);
    }
}

/* ---- messages to it ---- */

/* Sends a line, which is without its newline. False: the adapter takes nothing any more; its end
 * will be told. */
static bool say(struct pleat_batch_adapter *adapter, struct pleat_string *line)
{
    if (line->length && line->text[line->length - 1] == '\n')
        line->text[line->length - 1] = '\0';
    bool said = adapter->host->helper_say(adapter->host->arg, adapter->helper, line->text) == 0;
    pleat_string_finish(line);
    return said;
}

static void on_refused(void *arg, uint64_t token)
{
    struct pleat_batch_adapter *adapter = arg;
    (void)token;
    adapter->refusing = false;
    answer_closed(adapter, &adapter->refused);
}

static void refuse(struct pleat_batch_adapter *adapter, const struct request *request)
{
    if (pleat_array_push(&adapter->refused, *request))
        abort();
    if (!adapter->refusing)
        adapter->host->later(adapter->host->arg, 0, on_refused, adapter, 0);
    adapter->refusing = true;
}

void pleat_batch_adapter_ask(struct pleat_batch_adapter *adapter, const char *method,
                             json_t *params, pleat_batch_answered *answered, uint64_t token)
{
    struct request request = {adapter->next_id++, answered, token};
    struct pleat_string line = {0};
    if (!params || pleat_write_request(&line, request.id, method, params))
        abort();
    if (!adapter->there) {
        pleat_string_finish(&line);
        refuse(adapter, &request);
        return;
    }
    if (pleat_array_push(&adapter->requests, request))
        abort();
    (void)say(adapter, &line); /* if this fails the request is answered at the adapter's end */
}

bool pleat_batch_adapter_is_there(const struct pleat_batch_adapter *adapter)
{
    return adapter->there;
}

/* ---- its beginning ---- */

static void start(struct pleat_batch_adapter *adapter)
{
    static const struct pleat_helper_callbacks callbacks = {on_line, on_ended};
    const struct pleat_batch_kind *kind = adapter->kind;
    const struct pleat_batch_options *options = adapter->own;
    char beside[600];
    const char *argv[PLEAT_BATCH_WORDS] = {options->adapter};
    int count = 1;
    if (!strcmp(options->adapter, "auto"))
        argv[0] = pleat_paths_beside(kind->program, beside, sizeof(beside), NULL) ? kind->program
                                                                                  : beside;
    struct pleat_string hello = {0};
    kind->words(adapter->own, argv, &count);
    const struct pleat_command command = {.argv = argv};
    if (pleat_reader_create(&adapter->reader) || pleat_write_hello(&hello, "daemon", NULL))
        abort();
    adapter->helper =
        adapter->host->helper_start(adapter->host->arg, &command, &callbacks, adapter);
    (void)say(adapter, &hello);
}

static void on_begin(void *arg, uint64_t token)
{
    (void)token;
    start(arg);
}

int pleat_batch_adapter_create(const struct pleat_batch_kind *kind, const void *own,
                               const struct pleat_host *host,
                               const struct pleat_batch_adapter_callbacks *callbacks, void *arg,
                               struct pleat_batch_adapter **out)
{
    struct pleat_batch_adapter *adapter = calloc(1, sizeof(*adapter));
    if (!adapter)
        return PLEAT_E_NOMEM;
    adapter->kind = kind;
    adapter->own = own;
    adapter->host = host;
    adapter->callbacks = callbacks;
    adapter->arg = arg;
    adapter->next_id = 1;
    host->later(host->arg, 0, on_begin, adapter, 0);
    *out = adapter;
    return 0;
}

void pleat_batch_adapter_destroy(struct pleat_batch_adapter *adapter)
{
    if (!adapter)
        return;
    adapter->host->drop(adapter->host->arg, adapter);
    pleat_reader_destroy(adapter->reader);
    pleat_array_finish(&adapter->requests);
    pleat_array_finish(&adapter->refused);
    free(adapter);
}

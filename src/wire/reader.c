#include <stdlib.h>
#include <string.h>

#include "wire/message.h"

/* A larger buffer, grown for a large message, is freed once it is empty. */
#define KEEP_CAPACITY ((size_t)64 * 1024)
#define HELD_MAX ((size_t)PLEAT_WIRE_LINE_MAX + PLEAT_WIRE_BYTES_MAX)

struct pleat_reader {
    char *buffer;
    size_t start;   /* begin of the first message not taken out yet */
    size_t end;     /* end of the bytes fed */
    size_t scanned; /* there is no newline in [start, scanned) */
    size_t capacity;
    /* a message that is not handed over yet, since its attachment is not complete */
    struct pleat_message head;
    bool head_waits;
    size_t line_max; /* bytes of a line, its newline included */
    bool verbs;      /* lines have "do" (pleat_reader_lines) */
    int failed;      /* code of the first failure, after which the stream is unusable; 0: none */
};

void pleat_message_finish(struct pleat_message *message)
{
    json_decref(message->json);
    memset(message, 0, sizeof(*message));
}

int pleat_reader_create(struct pleat_reader **reader)
{
    *reader = calloc(1, sizeof(**reader));
    if (*reader)
        (*reader)->line_max = PLEAT_WIRE_LINE_MAX;
    return *reader ? 0 : PLEAT_E_NOMEM;
}

void pleat_reader_lines(struct pleat_reader *reader, size_t most)
{
    reader->verbs = true;
    reader->line_max = most;
}

void pleat_reader_destroy(struct pleat_reader *reader)
{
    if (!reader)
        return;
    pleat_message_finish(&reader->head);
    free(reader->buffer);
    free(reader);
}

size_t pleat_reader_pending(const struct pleat_reader *reader)
{
    return reader->end - reader->start + (reader->head_waits ? 1 : 0);
}

static int refuse_again(const struct pleat_reader *reader, struct pleat_error *err)
{
    return pleat_error_set(err, reader->failed, "the stream failed before and cannot be read on");
}

static int line_too_long(struct pleat_reader *reader, struct pleat_error *err)
{
    reader->failed = PLEAT_E_TOOBIG;
    return pleat_error_set(err, PLEAT_E_TOOBIG, "a line of more than %zu bytes: not a message",
                           reader->line_max);
}

/* *length: of the first line, without its newline. 1: there is a line; 0: not yet; PLEAT_E_TOOBIG.
 */
static int find_line(struct pleat_reader *reader, size_t *length, struct pleat_error *err)
{
    const char *newline = NULL;
    if (reader->scanned < reader->end)
        newline = memchr(reader->buffer + reader->scanned, '\n', reader->end - reader->scanned);
    size_t line_end = newline ? (size_t)(newline - reader->buffer) : reader->end;
    reader->scanned = line_end;
    /* a line without its newline is one byte shorter than the limit */
    if (line_end - reader->start >= reader->line_max)
        return line_too_long(reader, err);
    *length = line_end - reader->start;
    return newline ? 1 : 0;
}

/* Moves the remaining bytes to the front. What pleat_reader_next lent is invalid after this. */
static void compact(struct pleat_reader *reader)
{
    if (reader->start == 0)
        return;
    size_t left = reader->end - reader->start;
    if (left > 0)
        memmove(reader->buffer, reader->buffer + reader->start, left);
    reader->scanned -= reader->start;
    reader->start = 0;
    reader->end = left;
    if (left == 0 && reader->capacity > KEEP_CAPACITY) {
        free(reader->buffer);
        reader->buffer = NULL;
        reader->capacity = 0;
    }
}

int pleat_reader_feed(struct pleat_reader *reader, const char *bytes, size_t count,
                      struct pleat_error *err)
{
    if (reader->failed)
        return refuse_again(reader, err);
    if (count == 0)
        return 0;
    compact(reader);
    if (reader->end > HELD_MAX) {
        reader->failed = PLEAT_E_TOOBIG;
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "%zu bytes were received and no message was taken out of them",
                               reader->end);
    }
    if (pleat_array_reserve_raw((void **)&reader->buffer, &reader->capacity, reader->end, count,
                                1)) {
        reader->failed = PLEAT_E_NOMEM;
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for %zu received bytes", count);
    }
    memcpy(reader->buffer + reader->end, bytes, count);
    reader->end += count;
    if (reader->head_waits)
        return 0;
    size_t length = 0;
    int found = find_line(reader, &length, err);
    return found < 0 ? found : 0;
}

/* ---- from a line to a message ---- */

static int not_a_message(struct pleat_error *err, const char *why)
{
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "not a message of the protocol: %s", why);
}

static int take_id(struct pleat_message *message, struct pleat_error *err)
{
    const json_t *id = json_object_get(message->json, "id");
    if (!id)
        return not_a_message(err, "neither 'id' nor 'method'");
    int64_t low = message->kind == PLEAT_FAILURE ? 0 : 1;
    if (!json_is_integer(id) || json_integer_value(id) < low)
        return not_a_message(err, "'id' is not an integer from 1 to 2^63 - 1");
    message->id = json_integer_value(id);
    return 0;
}

static int take_call(struct pleat_message *message, const json_t *method, struct pleat_error *err)
{
    if (!json_is_string(method) || json_string_length(method) == 0)
        return not_a_message(err, "'method' is not a name");
    message->method = json_string_value(method);
    message->params = json_object_get(message->json, "params");
    if (message->params && !json_is_object(message->params))
        return not_a_message(err, "'params' is not an object");
    if (!json_object_get(message->json, "id")) {
        message->kind = PLEAT_NOTIFICATION;
        return 0;
    }
    message->kind = PLEAT_REQUEST;
    return take_id(message, err);
}

static int take_failure(struct pleat_message *message, const json_t *error, struct pleat_error *err)
{
    const json_t *code = json_object_get(error, "code");
    const json_t *text = json_object_get(error, "text");
    message->kind = PLEAT_FAILURE;
    if (!json_is_integer(code) || json_integer_value(code) >= 0 ||
        json_integer_value(code) < INT32_MIN || !json_is_string(text))
        return not_a_message(err, "'error' lacks a negative 'code' or a 'text'");
    pleat_error_set(&message->error, (int)json_integer_value(code), "%s", json_string_value(text));
    return take_id(message, err);
}

static int take_bytes_count(struct pleat_message *message, struct pleat_error *err)
{
    const json_t *bytes = json_object_get(message->json, "bytes");
    if (!bytes)
        return 0;
    if (!json_is_integer(bytes) || json_integer_value(bytes) < 0)
        return not_a_message(err, "'bytes' is not a count");
    if (json_integer_value(bytes) > PLEAT_WIRE_BYTES_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "an attachment of %lld bytes; at most %d",
                               (long long)json_integer_value(bytes), PLEAT_WIRE_BYTES_MAX);
    message->bytes_count = (size_t)json_integer_value(bytes);
    message->bytes = ""; /* not NULL: there is one; deliver sets the address */
    return 0;
}

/* A line that is no message of Pleat's programs, but of an application's process. */
static int take_verb(struct pleat_message *message, struct pleat_error *err)
{
    const json_t *verb = json_object_get(message->json, "do");
    if (!json_is_string(verb) || json_string_length(verb) == 0)
        return not_a_message(err, "'do' is not a name");
    message->kind = PLEAT_NOTIFICATION;
    message->method = json_string_value(verb);
    message->params = message->json;
    return 0;
}

static int parse_line(const struct pleat_reader *reader, const char *line, size_t length,
                      struct pleat_message *message, struct pleat_error *err)
{
    json_error_t why;
    message->json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    if (!message->json) {
        if (json_error_code(&why) == json_error_out_of_memory)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a line of %zu bytes",
                                   length);
        return not_a_message(err, why.text);
    }
    if (!json_is_object(message->json))
        return not_a_message(err, "a line that is not a JSON object");
    if (reader->verbs)
        return take_verb(message, err);
    const json_t *method = json_object_get(message->json, "method");
    const json_t *error = json_object_get(message->json, "error");
    const json_t *result = json_object_get(message->json, "result");
    if ((method != NULL) + (error != NULL) + (result != NULL) > 1)
        return not_a_message(err, "more than one of 'method', 'result' and 'error'");
    int failure;
    if (method) {
        failure = take_call(message, method, err);
    } else if (error) {
        failure = take_failure(message, error, err);
    } else if (result) {
        message->kind = PLEAT_RESULT;
        message->result = result;
        failure = take_id(message, err);
    } else {
        return not_a_message(err, "none of 'method', 'result' and 'error'");
    }
    return failure ? failure : take_bytes_count(message, err);
}

/* Hands over the head. Its attachment, if it has one, is complete. */
static int deliver(struct pleat_reader *reader, struct pleat_message *message)
{
    *message = reader->head;
    memset(&reader->head, 0, sizeof(reader->head));
    reader->head_waits = false;
    if (message->bytes) {
        message->bytes = reader->buffer + reader->start;
        reader->start += message->bytes_count;
        reader->scanned = reader->start;
    }
    return 1;
}

int pleat_reader_next(struct pleat_reader *reader, struct pleat_message *message,
                      struct pleat_error *err)
{
    memset(message, 0, sizeof(*message));
    if (reader->failed)
        return refuse_again(reader, err);
    if (!reader->head_waits) {
        size_t length = 0;
        int found = find_line(reader, &length, err);
        if (found <= 0)
            return found;
        int failure =
            parse_line(reader, reader->buffer + reader->start, length, &reader->head, err);
        if (failure) {
            pleat_message_finish(&reader->head);
            reader->failed = failure;
            return failure;
        }
        reader->start += length + 1;
        reader->scanned = reader->start;
        reader->head_waits = true;
    }
    if (reader->head.bytes && reader->end - reader->start < reader->head.bytes_count)
        return 0;
    return deliver(reader, message);
}

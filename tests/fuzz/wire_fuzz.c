#include "wire_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "must.h"
#include "wire/message.h"

unsigned long pleat_fuzz_wire_messages;

/* What is promised of a message, whatever was sent. */
static void check(const struct pleat_message *message)
{
    must(json_is_object(message->json));
    must(message->bytes_count <= PLEAT_WIRE_BYTES_MAX);
    must(message->bytes || message->bytes_count == 0);
    switch (message->kind) {
    case PLEAT_REQUEST:
    case PLEAT_NOTIFICATION:
        must(message->method && message->method[0]);
        must(!message->params || json_is_object(message->params));
        must((message->kind == PLEAT_REQUEST) == (message->id >= 1));
        break;
    case PLEAT_RESULT:
        must(message->result && message->id >= 1);
        break;
    case PLEAT_FAILURE:
        must(message->error.code < 0 && message->id >= 0);
        must(memchr(message->error.text, '\0', sizeof(message->error.text)));
        break;
    }
}

/* Every byte of an attachment is looked at, so that a wrong pointer is found. */
static uint64_t sum(const char *bytes, size_t count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total = total * 31 + (unsigned char)bytes[i];
    return total;
}

/* Uses a message as a program does: members of every type, and the hello. */
static void use(const struct pleat_message *message, struct pleat_string *seen)
{
    const char *text = "";
    int64_t number = 0;
    double real = 0;
    bool flag = false;
    struct pleat_error err = {0};
    if (pleat_read_hello(message, &text, &err) == 0)
        must(message->kind == PLEAT_NOTIFICATION);
    int code = pleat_get_string(message->params, "s", false, &text, &err);
    must(code == 0 || code == PLEAT_E_INVALID);
    code = pleat_get_int(message->params, "n", true, -5, 1000, &number, &err);
    must(code == PLEAT_E_INVALID || (code == 0 && number >= -5 && number <= 1000));
    code = pleat_get_bool(message->params, "b", false, &flag, &err);
    must(code == 0 || code == PLEAT_E_INVALID);
    code = pleat_get_real(message->params, "r", false, &real, &err);
    must(code == 0 || code == PLEAT_E_INVALID);
    char *dump = json_dumps(message->json, JSON_COMPACT);
    must(dump);
    pleat_string_addf(seen, "%d %lld %s %llu\n", (int)message->kind, (long long)message->id, dump,
                      (unsigned long long)sum(message->bytes, message->bytes_count));
    free(dump);
}

/* Writes an answer to a request and reads it back: what we write, we accept. */
static void answer(const struct pleat_message *message)
{
    struct pleat_string out = {0};
    struct pleat_reader *reader = NULL;
    struct pleat_message again;
    if (message->kind != PLEAT_REQUEST)
        return;
    /* it may have got longer by escapes */
    if (pleat_write_result(&out, message->id, json_incref(message->json)) == 0) {
        must(pleat_reader_create(&reader) == 0);
        must(pleat_reader_feed(reader, out.text, out.length, NULL) == 0);
        /* one level deeper than what was read, which may be too deep by now */
        int got = pleat_reader_next(reader, &again, NULL);
        must(got == 1 || got == PLEAT_E_PROTOCOL);
        if (got == 1) {
            must(again.kind == PLEAT_RESULT && again.id == message->id);
            must(json_equal((json_t *)again.result, message->json));
            pleat_message_finish(&again);
        }
        pleat_reader_destroy(reader);
    }
    pleat_string_finish(&out);
}

static int drain(struct pleat_reader *reader, struct pleat_string *seen, int first)
{
    struct pleat_message message;
    struct pleat_error err;
    int got;
    while ((got = pleat_reader_next(reader, &message, &err)) > 0) {
        check(&message);
        use(&message, seen);
        if (first) {
            answer(&message);
            pleat_fuzz_wire_messages++;
        }
        pleat_message_finish(&message);
    }
    must(got == 0 || (got == err.code && strlen(err.text) > 0));
    return got;
}

/* Feeds all bytes in pieces of at most `largest`; 0 or the reader's failure. */
static int read_stream(const char *bytes, size_t size, uint64_t seed, size_t largest,
                       struct pleat_string *seen)
{
    struct pleat_reader *reader;
    struct pleat_random random;
    int status = 0;
    pleat_random_init(&random, seed);
    must(pleat_reader_create(&reader) == 0);
    for (size_t at = 0; at < size && status == 0;) {
        size_t count = 1 + (size_t)pleat_random_below(&random, largest);
        if (count > size - at)
            count = size - at;
        /* a copy of its own, so that reading beyond it is seen */
        char *piece = malloc(count);
        must(piece);
        memcpy(piece, bytes + at, count);
        status = pleat_reader_feed(reader, piece, count, NULL);
        free(piece);
        must(status == 0 || status == PLEAT_E_TOOBIG);
        if (status == 0)
            status = drain(reader, seen, largest >= size);
        must(pleat_reader_pending(reader) <= PLEAT_WIRE_LINE_MAX + PLEAT_WIRE_BYTES_MAX + 1);
        at += count;
    }
    pleat_reader_destroy(reader);
    return status;
}

void pleat_fuzz_wire(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return;
    const char *stream = (const char *)bytes + 1;
    size_t length = size - 1;
    struct pleat_string whole = {0}, parts = {0};
    int one = read_stream(stream, length, 0, length + 1, &whole);
    int other = read_stream(stream, length, bytes[0], 1 + bytes[0] % 64, &parts);
    must(one == other);
    must(whole.length == parts.length);
    must(whole.length == 0 || memcmp(whole.text, parts.text, whole.length) == 0);
    pleat_string_finish(&whole);
    pleat_string_finish(&parts);
}

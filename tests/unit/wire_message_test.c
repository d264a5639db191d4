/* The reader and the writers of src/wire: framing, limits, and what is no message. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "wire/message.h"

static struct pleat_reader *new_reader(void)
{
    struct pleat_reader *reader;
    assert_int_equal(pleat_reader_create(&reader), 0);
    return reader;
}

/* What one message says, in one line, so that streams can be compared as text. */
static void describe(const struct pleat_message *message, struct pleat_string *out)
{
    char *params = message->params ? json_dumps(message->params, JSON_COMPACT) : NULL;
    char *result = message->result ? json_dumps(message->result, JSON_COMPACT) : NULL;
    pleat_string_addf(out, "%d %lld %s %s %s %d:%s [", (int)message->kind, (long long)message->id,
                      message->method ? message->method : "-", params ? params : "-",
                      result ? result : "-", message->error.code, message->error.text);
    if (message->bytes)
        pleat_string_add_bytes(out, message->bytes, message->bytes_count);
    else
        pleat_string_add(out, "none");
    pleat_string_add(out, "]\n");
    free(params);
    free(result);
}

/* strstr would stop at a NUL in an attachment. */
static void assert_said(const struct pleat_string *all, const char *part)
{
    if (!memmem(all->text, all->length, part, strlen(part)))
        fail_msg("'%s' is not in what was read", part);
}

/* Takes out all complete messages; 0 or the reader's failure. */
static int drain(struct pleat_reader *reader, struct pleat_string *out)
{
    struct pleat_message message;
    int got;
    while ((got = pleat_reader_next(reader, &message, NULL)) > 0) {
        describe(&message, out);
        pleat_message_finish(&message);
    }
    return got;
}

/* The code with which the reader answers to these bytes fed at once. */
static int verdict_on(const char *bytes, size_t count, struct pleat_error *err)
{
    struct pleat_reader *reader = new_reader();
    struct pleat_message message;
    int code = pleat_reader_feed(reader, bytes, count, err);
    if (!code)
        code = pleat_reader_next(reader, &message, err);
    if (code > 0)
        pleat_message_finish(&message);
    if (code < 0) {
        /* once failed, always failed */
        assert_true(pleat_reader_feed(reader, "{}\n", 3, NULL) < 0);
        assert_true(pleat_reader_next(reader, &message, NULL) < 0);
    }
    pleat_reader_destroy(reader);
    return code;
}

static int verdict(const char *text)
{
    return verdict_on(text, strlen(text), NULL);
}

static void write_stream(struct pleat_string *out)
{
    static const char attachment[] = "raw\n\0{\"id\":1}\n\xff";
    struct pleat_error error = {.code = PLEAT_E_NOTFOUND, .text = "no job 17: see 'pleat ps'"};
    assert_int_equal(pleat_write_hello(out, "client", NULL), 0);
    assert_int_equal(pleat_write_request(out, 7, "submit", json_pack("{s:i}", "n", 4)), 0);
    assert_int_equal(pleat_write_result_bytes(out, 7, NULL, attachment, sizeof(attachment) - 1), 0);
    assert_int_equal(pleat_write_result_bytes(out, 8, NULL, NULL, 0), 0);
    assert_int_equal(pleat_write_failure(out, 9, &error), 0);
    assert_int_equal(pleat_write_result(out, INT64_MAX, json_pack("{s:s}", "a", "\n\x01\"")), 0);
    assert_int_equal(pleat_write_notification(out, "exited", NULL), 0);
    assert_int_equal(pleat_write_request_bytes(out, 10, "input", NULL, "a\0b\n", 4), 0);
    assert_int_equal(
        pleat_write_notification_bytes(out, "output", json_pack("{s:i}", "stream", 2), "{}\n", 3),
        0);
}

static void test_split_at_every_byte(void **state)
{
    (void)state;
    struct pleat_string stream = {0}, whole = {0};
    write_stream(&stream);
    struct pleat_reader *reader = new_reader();
    assert_int_equal(pleat_reader_feed(reader, stream.text, stream.length, NULL), 0);
    assert_int_equal(drain(reader, &whole), 0);
    assert_int_equal(pleat_reader_pending(reader), 0);
    pleat_reader_destroy(reader);
    assert_said(&whole, "0 7 submit {\"n\":4} - 0: [none]");
    assert_said(&whole, "1 7 - - {} 0: [raw\n");
    assert_said(&whole, "1 8 - - {} 0: []");
    assert_said(&whole, "2 9 - - - -4:no job 17: see 'pleat ps' [none]");
    assert_said(&whole, "1 9223372036854775807 -");
    assert_said(&whole, "0 10 input");
    assert_said(&whole, "3 0 output {\"stream\":2} - 0: [{}\n");

    for (size_t cut = 0; cut <= stream.length; cut++) {
        struct pleat_string parts = {0};
        reader = new_reader();
        assert_int_equal(pleat_reader_feed(reader, stream.text, cut, NULL), 0);
        assert_int_equal(drain(reader, &parts), 0);
        assert_int_equal(pleat_reader_feed(reader, stream.text + cut, stream.length - cut, NULL),
                         0);
        assert_int_equal(drain(reader, &parts), 0);
        assert_int_equal(parts.length, whole.length);
        assert_memory_equal(parts.text, whole.text, whole.length);
        pleat_string_finish(&parts);
        pleat_reader_destroy(reader);
    }
    for (size_t step = 1; step < 20; step++) {
        struct pleat_string parts = {0};
        reader = new_reader();
        for (size_t at = 0; at < stream.length; at += step) {
            size_t count = stream.length - at < step ? stream.length - at : step;
            assert_int_equal(pleat_reader_feed(reader, stream.text + at, count, NULL), 0);
            assert_int_equal(drain(reader, &parts), 0);
        }
        assert_int_equal(parts.length, whole.length);
        assert_memory_equal(parts.text, whole.text, whole.length);
        pleat_string_finish(&parts);
        pleat_reader_destroy(reader);
    }
    pleat_string_finish(&stream);
    pleat_string_finish(&whole);
}

static void test_pending_tells_a_cut_stream(void **state)
{
    (void)state;
    struct pleat_string stream = {0}, out = {0};
    assert_int_equal(pleat_write_result_bytes(&stream, 1, NULL, "abc", 3), 0);
    for (size_t cut = 1; cut < stream.length; cut++) {
        struct pleat_reader *reader = new_reader();
        assert_int_equal(pleat_reader_feed(reader, stream.text, cut, NULL), 0);
        assert_int_equal(drain(reader, &out), 0);
        assert_int_not_equal(pleat_reader_pending(reader), 0);
        pleat_reader_destroy(reader);
    }
    assert_int_equal(out.length, 0);
    pleat_string_finish(&stream);
}

/* A line of exactly `length` bytes, its newline included. */
static char *long_line(size_t length)
{
    static const char head[] = "{\"method\":\"x\",\"params\":{\"a\":\"";
    static const char tail[] = "\"}}\n";
    char *line = malloc(length);
    assert_non_null(line);
    memset(line, 'z', length);
    memcpy(line, head, sizeof(head) - 1);
    memcpy(line + length - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
    return line;
}

static void test_line_limit_is_exact(void **state)
{
    (void)state;
    char *line = long_line(PLEAT_WIRE_LINE_MAX + 1);
    assert_int_equal(verdict_on(line, PLEAT_WIRE_LINE_MAX + 1, NULL), PLEAT_E_TOOBIG);
    /* without its newline it is refused as soon as there is no room left for one */
    assert_int_equal(verdict_on(line, PLEAT_WIRE_LINE_MAX, NULL), PLEAT_E_TOOBIG);
    assert_int_equal(verdict_on(line, PLEAT_WIRE_LINE_MAX - 1, NULL), 0);
    free(line);
    line = long_line(PLEAT_WIRE_LINE_MAX);
    assert_int_equal(verdict_on(line, PLEAT_WIRE_LINE_MAX, NULL), 1);
    free(line);
}

static void test_second_line_too_long(void **state)
{
    (void)state;
    struct pleat_error err;
    struct pleat_message message;
    char *line = long_line(PLEAT_WIRE_LINE_MAX + 1);
    struct pleat_reader *reader = new_reader();
    assert_int_equal(pleat_reader_feed(reader, "{\"method\":\"x\"}\n", 15, NULL), 0);
    assert_int_equal(pleat_reader_feed(reader, line, PLEAT_WIRE_LINE_MAX + 1, NULL), 0);
    assert_int_equal(pleat_reader_next(reader, &message, NULL), 1);
    pleat_message_finish(&message);
    assert_int_equal(pleat_reader_next(reader, &message, &err), PLEAT_E_TOOBIG);
    assert_int_equal(err.code, PLEAT_E_TOOBIG);
    pleat_reader_destroy(reader);
    free(line);
}

/* Feeds 1 GB in chunks; counts what was accepted until the reader refused. */
static size_t feed_gigabyte(const char *chunk, size_t size, struct pleat_error *err)
{
    struct pleat_reader *reader = new_reader();
    size_t accepted = 0;
    int code = 0;
    while (accepted < (size_t)1 << 30 && !(code = pleat_reader_feed(reader, chunk, size, err)))
        accepted += size;
    assert_int_equal(code, PLEAT_E_TOOBIG);
    pleat_reader_destroy(reader);
    return accepted;
}

static void test_gigabyte_of_garbage_stops_at_the_cap(void **state)
{
    (void)state;
    static char chunk[65536];
    struct pleat_error err;
    memset(chunk, 'x', sizeof(chunk));
    assert_true(feed_gigabyte(chunk, sizeof(chunk), &err) < PLEAT_WIRE_LINE_MAX);
    assert_non_null(strstr(err.text, "1048576"));
    /* lines that nobody takes out: bounded all the same */
    memset(chunk, '\n', sizeof(chunk));
    assert_true(feed_gigabyte(chunk, sizeof(chunk), &err) <=
                PLEAT_WIRE_LINE_MAX + PLEAT_WIRE_BYTES_MAX + 2 * sizeof(chunk));
}

static void test_attachment_limit(void **state)
{
    (void)state;
    char line[128];
    struct pleat_string out = {0};
    snprintf(line, sizeof(line), "{\"id\":1,\"result\":{},\"bytes\":%d}\n", PLEAT_WIRE_BYTES_MAX);
    assert_int_equal(verdict(line), 0);
    snprintf(line, sizeof(line), "{\"id\":1,\"result\":{},\"bytes\":%d}\n",
             PLEAT_WIRE_BYTES_MAX + 1);
    assert_int_equal(verdict(line), PLEAT_E_TOOBIG);
    assert_int_equal(verdict("{\"id\":1,\"result\":{},\"bytes\":-1}\n"), PLEAT_E_PROTOCOL);
    assert_int_equal(verdict("{\"id\":1,\"result\":{},\"bytes\":1.5}\n"), PLEAT_E_PROTOCOL);
    assert_int_equal(verdict("{\"id\":1,\"result\":{},\"bytes\":\"3\"}\n"), PLEAT_E_PROTOCOL);

    char *bytes = calloc(1, PLEAT_WIRE_BYTES_MAX + 1);
    assert_int_equal(pleat_write_result_bytes(&out, 1, NULL, bytes, PLEAT_WIRE_BYTES_MAX + 1),
                     PLEAT_E_TOOBIG);
    assert_int_equal(
        pleat_write_notification_bytes(&out, "x", NULL, bytes, PLEAT_WIRE_BYTES_MAX + 1),
        PLEAT_E_TOOBIG);
    assert_int_equal(out.length, 0);
    /* the largest one passes, and so does what follows it */
    assert_int_equal(pleat_write_result_bytes(&out, 1, NULL, bytes, PLEAT_WIRE_BYTES_MAX), 0);
    assert_int_equal(pleat_write_notification(&out, "after", NULL), 0);
    struct pleat_reader *reader = new_reader();
    struct pleat_message message;
    assert_int_equal(pleat_reader_feed(reader, out.text, out.length, NULL), 0);
    assert_int_equal(pleat_reader_next(reader, &message, NULL), 1);
    assert_int_equal(message.bytes_count, PLEAT_WIRE_BYTES_MAX);
    assert_memory_equal(message.bytes, bytes, PLEAT_WIRE_BYTES_MAX);
    pleat_message_finish(&message);
    assert_int_equal(pleat_reader_next(reader, &message, NULL), 1);
    assert_string_equal(message.method, "after");
    pleat_message_finish(&message);
    pleat_reader_destroy(reader);
    pleat_string_finish(&out);
    free(bytes);
}

static void test_what_is_no_message(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\n",
        "hello\n",
        "{}\n",
        "[]\n",
        "[1,2]\n",
        "3\n",
        "null\n",
        "{\"id\":1}\n",
        "{\"method\":\"\"}\n",
        "{\"method\":7}\n",
        "{\"method\":\"x\",\"params\":[]}\n",
        "{\"method\":\"x\",\"params\":null}\n",
        "{\"method\":\"x\"} {\"method\":\"y\"}\n",
        "{\"method\":\"x\",\"method\":\"y\"}\n",
        "{\"method\":\"x\",\"params\":{\"a\":1,\"a\":2}}\n",
        "{\"method\":\"x\",\"result\":{},\"id\":1}\n",
        "{\"id\":1,\"result\":{},\"error\":{\"code\":-1,\"text\":\"\"}}\n",
        "{\"result\":{}}\n",
        "{\"id\":0,\"result\":{}}\n",
        "{\"id\":-1,\"result\":{}}\n",
        "{\"id\":0,\"method\":\"x\"}\n",
        "{\"id\":1.0,\"method\":\"x\"}\n",
        "{\"id\":\"1\",\"method\":\"x\"}\n",
        "{\"id\":null,\"method\":\"x\"}\n",
        "{\"id\":9223372036854775808,\"method\":\"x\"}\n",
        "{\"id\":1e400,\"method\":\"x\"}\n",
        "{\"id\":1,\"error\":\"no\"}\n",
        "{\"id\":1,\"error\":{}}\n",
        "{\"id\":1,\"error\":{\"code\":0,\"text\":\"fine\"}}\n",
        "{\"id\":1,\"error\":{\"code\":-4294967296,\"text\":\"a\"}}\n",
        "{\"id\":1,\"error\":{\"code\":-1}}\n",
        "{\"method\":\"\\u0000\"}\n",
        "{\"method\":\"\\ud800\"}\n",
        "{\"method\":\"\xff\xfe\"}\n",
        "{\"method\":\"\xc0\x80\"}\n",
        "{\"method\":\"\xed\xa0\x80\"}\n",
        "{\"method\":\"\xf4\x90\x80\x80\"}\n",
        "{'method':'x'}\n",
        "{\"method\":\"x\",}\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pleat_error err = {0};
        int code = verdict_on(bad[i], strlen(bad[i]), &err);
        if (code != PLEAT_E_PROTOCOL)
            fail_msg("%s gave %d", bad[i], code);
        assert_int_equal(err.code, PLEAT_E_PROTOCOL);
        assert_true(strlen(err.text) > 10);
    }
    static const char nul[] = "{\"method\":\"a\0b\"}\n";
    assert_int_equal(verdict_on(nul, sizeof(nul) - 1, NULL), PLEAT_E_PROTOCOL);
    static const char between[] = "{\"method\":\0\"a\"}\n";
    assert_int_equal(verdict_on(between, sizeof(between) - 1, NULL), PLEAT_E_PROTOCOL);
}

static void test_what_is_a_message(void **state)
{
    (void)state;
    assert_int_equal(verdict("{\"method\":\"x\"}\n"), 1);
    assert_int_equal(verdict("  {\"method\" : \"x\" , \"unknown\":[1]}\r\n"), 1);
    assert_int_equal(verdict("{\"id\":9223372036854775807,\"method\":\"x\",\"params\":{}}\n"), 1);
    assert_int_equal(verdict("{\"id\":1,\"result\":[]}\n"), 1);
    assert_int_equal(verdict("{\"id\":0,\"error\":{\"code\":-1,\"text\":\"go\"}}\n"), 1);
    assert_int_equal(verdict("{\"method\":\"x\"}"), 0);
}

static void test_deep_nesting_is_refused(void **state)
{
    (void)state;
    size_t depth = 400 * 1000;
    struct pleat_string line = {0};
    pleat_string_add(&line, "{\"method\":\"x\",\"params\":");
    for (size_t i = 0; i < depth; i++)
        pleat_string_add(&line, i % 2 ? "[" : "{\"a\":");
    pleat_string_add(&line, "\n");
    assert_true(line.length > PLEAT_WIRE_LINE_MAX);
    assert_int_equal(verdict_on(line.text, line.length, NULL), PLEAT_E_TOOBIG);
    line.text[PLEAT_WIRE_LINE_MAX - 1] = '\n';
    assert_int_equal(verdict_on(line.text, PLEAT_WIRE_LINE_MAX, NULL), PLEAT_E_PROTOCOL);
    pleat_string_finish(&line);
}

static void test_writers_refuse(void **state)
{
    (void)state;
    struct pleat_string out = {0};
    struct pleat_error fine = {0};
    pleat_string_add(&out, "before");
    assert_int_equal(pleat_write_request(&out, 0, "x", json_object()), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_request(&out, -5, "x", NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_request(&out, 1, "", json_object()), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_request(&out, 1, "\xff", json_object()), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_notification(&out, "x", json_array()), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_result(&out, 0, json_object()), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_result_bytes(&out, 0, json_object(), "a", 1), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_failure(&out, 1, &fine), PLEAT_E_INVALID);
    assert_int_equal(pleat_write_hello(&out, "agent", json_array()), PLEAT_E_INVALID);
    char *huge = malloc(PLEAT_WIRE_LINE_MAX + 1);
    memset(huge, 'a', PLEAT_WIRE_LINE_MAX);
    huge[PLEAT_WIRE_LINE_MAX] = '\0';
    assert_int_equal(pleat_write_notification(&out, "x", json_pack("{s:s}", "a", huge)),
                     PLEAT_E_TOOBIG);
    free(huge);
    assert_string_equal(out.text, "before");
    assert_int_equal(out.length, 6);
    pleat_string_finish(&out);
}

static void test_failure_text_that_is_not_utf8(void **state)
{
    (void)state;
    struct pleat_string out = {0};
    struct pleat_error error = {.code = PLEAT_E_SYSTEM,
                                .text = "caf\xc3\xa9 \xff \xc0\xaf \xed\xa0\x80 \xe2\x82"};
    struct pleat_reader *reader = new_reader();
    struct pleat_message message;
    assert_int_equal(pleat_write_failure(&out, 3, &error), 0);
    assert_int_equal(pleat_reader_feed(reader, out.text, out.length, NULL), 0);
    assert_int_equal(pleat_reader_next(reader, &message, NULL), 1);
    assert_int_equal(message.error.code, PLEAT_E_SYSTEM);
    assert_string_equal(message.error.text, "caf\xc3\xa9 ? ?? ??? ??");
    pleat_message_finish(&message);
    pleat_reader_destroy(reader);
    pleat_string_finish(&out);
}

static int hello_verdict(const char *line, struct pleat_error *err)
{
    struct pleat_reader *reader = new_reader();
    struct pleat_message message;
    const char *role = NULL;
    assert_int_equal(pleat_reader_feed(reader, line, strlen(line), NULL), 0);
    assert_int_equal(pleat_reader_next(reader, &message, NULL), 1);
    int code = pleat_read_hello(&message, &role, err);
    if (code == 0)
        assert_string_equal(role, "agent");
    pleat_message_finish(&message);
    pleat_reader_destroy(reader);
    return code;
}

static void test_hello(void **state)
{
    (void)state;
    struct pleat_error err;
    struct pleat_string out = {0};
    /* extra adds members and cannot replace those of the hello itself */
    assert_int_equal(
        pleat_write_hello(&out, "agent", json_pack("{s:i,s:s}", "node", 3, "role", "daemon")), 0);
    assert_int_equal(hello_verdict(out.text, NULL), 0);
    assert_non_null(strstr(out.text, "\"node\":3"));
    pleat_string_finish(&out);

    assert_int_equal(hello_verdict("{\"method\":\"hello\",\"params\":{\"protocol\":2,\"role\":"
                                   "\"agent\",\"version\":\"9.9\"}}\n",
                                   &err),
                     PLEAT_E_PROTOCOL);
    assert_non_null(strstr(err.text, "9.9"));
    assert_non_null(strstr(err.text, "protocol 2"));
    assert_int_equal(hello_verdict("{\"method\":\"hello\"}\n", &err), PLEAT_E_PROTOCOL);
    assert_int_equal(
        hello_verdict("{\"method\":\"hello\",\"params\":{\"protocol\":\"1\",\"role\":\"a\"}}\n",
                      &err),
        PLEAT_E_PROTOCOL);
    assert_int_equal(hello_verdict("{\"method\":\"bye\",\"params\":{}}\n", &err), PLEAT_E_PROTOCOL);
    assert_int_equal(hello_verdict("{\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1,"
                                   "\"role\":\"agent\"}}\n",
                                   &err),
                     PLEAT_E_PROTOCOL);
    /* a refusal in place of a hello is passed on as it is */
    assert_int_equal(
        hello_verdict("{\"id\":0,\"error\":{\"code\":-10,\"text\":\"not for you\"}}\n", &err),
        PLEAT_E_PERMISSION);
    assert_string_equal(err.text, "not for you");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_at_every_byte),
        cmocka_unit_test(test_pending_tells_a_cut_stream),
        cmocka_unit_test(test_line_limit_is_exact),
        cmocka_unit_test(test_second_line_too_long),
        cmocka_unit_test(test_gigabyte_of_garbage_stops_at_the_cap),
        cmocka_unit_test(test_attachment_limit),
        cmocka_unit_test(test_what_is_no_message),
        cmocka_unit_test(test_what_is_a_message),
        cmocka_unit_test(test_deep_nesting_is_refused),
        cmocka_unit_test(test_writers_refuse),
        cmocka_unit_test(test_failure_text_that_is_not_utf8),
        cmocka_unit_test(test_hello),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What libpleat-process reads, and its lists: no sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pleat-process.h"
#include "process/head.h"
#include "process/peer.h"
#include "process/told.h"

static void a_head_is_read_as_it_was_written(void **state)
{
    (void)state;
    const struct pleat_head head = {.kind = PLEAT_HEAD_DATA,
                                    .window_messages = 10,
                                    .window_bytes = 24,
                                    .from = 0x12345678,
                                    .type = INT32_MAX,
                                    .stream = UINT64_C(0xfedcba9876543210),
                                    .number = UINT64_C(1) << 40,
                                    .ack_stream = 5,
                                    .received = 9,
                                    .taken = 8,
                                    .taken_bytes = UINT64_MAX};
    unsigned char bytes[PLEAT_HEAD_BYTES + 1] = {0};
    struct pleat_head again;
    pleat_head_write(&head, bytes);
    assert_int_equal(pleat_head_read(bytes, sizeof(bytes), &again), 0);
    assert_memory_equal(&head, &again, sizeof(head));
    /* as it is laid out, whatever the machine */
    assert_memory_equal(bytes, "PLT1\x01\0\x0a\x18\x78\x56\x34\x12", 12);
}

/* Whether it is read when it is changed so. */
static int read_changed(struct pleat_head head, size_t size)
{
    unsigned char bytes[PLEAT_HEAD_BYTES + 8] = {0};
    pleat_head_write(&head, bytes);
    return pleat_head_read(bytes, size, &head);
}

static void heads_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const struct pleat_head data = {
        .kind = PLEAT_HEAD_DATA, .type = 1, .stream = 1, .number = 1, .from = 1};
    const struct pleat_head ack = {.kind = PLEAT_HEAD_ACK, .ack_stream = 1, .flags = 3};
    const struct pleat_head ping = {.kind = PLEAT_HEAD_PING, .stream = 1};
    const size_t alone = PLEAT_HEAD_BYTES, more = PLEAT_HEAD_BYTES + 1;
    struct pleat_head head;
    assert_int_equal(read_changed(data, alone), 0);
    assert_int_equal(read_changed(data, more), 0);
    assert_int_equal(read_changed(ack, alone), 0);
    assert_int_equal(read_changed(ping, alone), 0);
#define REFUSED(of, size, change)                                                                  \
    head = of;                                                                                     \
    head.change;                                                                                   \
    assert_int_equal(read_changed(head, size), PLEAT_E_PROTOCOL)
    REFUSED(data, alone - 1, type = 1);
    REFUSED(data, alone, type = -1);
    REFUSED(data, alone, from = -1);
    REFUSED(data, alone, stream = 0);
    REFUSED(data, alone, number = 0);
    REFUSED(data, alone, flags = 1);
    REFUSED(data, alone, taken = 1);
    REFUSED(data, alone, window_bytes = 64);
    REFUSED(data, alone, window_messages = 64);
    REFUSED(data, alone, kind = 0);
    REFUSED(ack, alone, kind = 4);
    REFUSED(ack, alone, flags = 4);
    REFUSED(ack, alone, ack_stream = 0);
    REFUSED(ack, more, flags = 0);
    REFUSED(ping, more, flags = 0);
    REFUSED(ping, alone, flags = 1);
    REFUSED(ping, alone, stream = 0);
    unsigned char bytes[PLEAT_HEAD_BYTES];
    pleat_head_write(&data, bytes);
    bytes[3] = '2';
    assert_int_equal(pleat_head_read(bytes, sizeof(bytes), &head), PLEAT_E_PROTOCOL);
}

static void a_welcome_is_read(void **state)
{
    (void)state;
    static const char line[] =
        "{\"do\":\"welcome\",\"process\":3,\"parent\":0,\"state\":\"prepared\",\"maximum\":8,"
        "\"processes\":[{\"process\":0,\"state\":\"running\",\"address\":\"ipc:///d/0\","
        "\"groups\":[\"walls\"]},{\"process\":5,\"state\":\"gone\",\"reason\":\"died\",\"code\":3,"
        "\"signal\":null,\"parent\":null}]}";
    struct pleat_told_line told;
    struct pleat_told_process about;
    assert_int_equal(pleat_told_read(line, strlen(line), &told, NULL), 0);
    assert_int_equal(told.what, PLEAT_TOLD_WELCOME);
    assert_int_equal(told.process, 3);
    assert_int_equal(told.parent, 0);
    assert_int_equal(told.maximum, 8);
    assert_true(told.prepared);
    assert_true(pleat_told_at(&told, 0, &about));
    assert_string_equal(about.address, "ipc:///d/0");
    assert_int_equal(about.state, PLEAT_PROCESS_RUNNING);
    assert_int_equal(about.parent, -1);
    assert_int_equal(json_array_size(about.groups), 1);
    assert_true(pleat_told_at(&told, 1, &about));
    assert_int_equal(about.state, PLEAT_PROCESS_GONE);
    assert_int_equal(about.reason, PLEAT_PROCESS_DIED);
    assert_int_equal(about.code, 3);
    assert_int_equal(about.signal, 0);
    assert_null(about.address);
    assert_false(pleat_told_at(&told, 2, &about));
    pleat_told_finish(&told);
}

static void lines_that_an_agent_does_not_say_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *wrong;
    } lines[] = {
        {"", "no JSON object"},
        {"[]", "no JSON object (another value)"},
        {"{\"do\":1}", "'do'"},
        {"{\"do\":\"added\",\"number\":1,\"process\":2}", "'ready'"},
        {"{\"do\":\"added\",\"number\":1,\"process\":4294967296,\"ready\":true}", "'process'"},
        {"{\"do\":\"done\",\"number\":-1}", "'number'"},
        {"{\"do\":\"refused\",\"number\":1}", "'text'"},
        {"{\"do\":\"go\",\"parent\":\"x\"}", "'parent'"},
        {"{\"do\":\"process\",\"process\":1,\"state\":\"asleep\"}", "'state'"},
        {"{\"do\":\"process\",\"process\":1,\"state\":\"gone\",\"signal\":900}", "'signal'"},
        {"{\"do\":\"process\",\"process\":1,\"state\":\"running\",\"groups\":[\"a/b\"]}",
         "'groups'"},
        {"{\"do\":\"process\",\"process\":1,\"state\":\"running\",\"address\":\"ipc://\"}",
         "'address'"},
        {"{\"do\":\"process\",\"process\":1,\"state\":\"running\",\"address\":\"tcp://a b\"}",
         "'address'"},
        {"{\"do\":\"welcome\",\"process\":1,\"state\":\"running\",\"processes\":[{}]}",
         "'process'"},
        {"{\"do\":\"leave\",\"do\":\"leave\"}", "no JSON object"}};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct pleat_told_line told;
        struct pleat_error err = {0};
        int rc = pleat_told_read(lines[i].line, strlen(lines[i].line), &told, &err);
        if (rc != PLEAT_E_PROTOCOL || !strstr(err.text, lines[i].wrong))
            fail_msg("%s: %d, %s", lines[i].line, rc, err.text);
    }
}

static void peers_are_found_whatever_the_order(void **state)
{
    (void)state;
    struct pleat_peers peers = {0};
    for (int32_t i = 0; i < 1000; i++)
        assert_non_null(pleat_peers_get(&peers, (i * 7919) % 1000));
    assert_int_equal(peers.count, 1000);
    for (int32_t i = 0; i < 1000; i++)
        assert_int_equal(pleat_peers_find(&peers, i)->id, i);
    assert_null(pleat_peers_find(&peers, 1000));
    assert_ptr_equal(pleat_peers_get(&peers, 500), pleat_peers_find(&peers, 500));
    struct pleat_peer *peer = pleat_peers_get(&peers, INT32_MAX);
    for (int i = 0; i < PLEAT_PEER_GROUPS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "g%d", i);
        assert_int_equal(pleat_peer_join(peer, name), 0);
        assert_int_equal(pleat_peer_join(peer, name), 0);
    }
    assert_int_equal(pleat_peer_join(peer, "more"), PLEAT_E_TOOBIG);
    pleat_peer_leave(peer, "g0");
    assert_false(pleat_peer_in_group(peer, "g0"));
    assert_int_equal(pleat_peer_join(peer, "more"), 0);
    assert_true(pleat_peer_in_group(peer, "g31"));
    pleat_peers_finish(&peers);
}

static void what_is_received_is_forgotten(void **state)
{
    (void)state;
    struct pleat_outward out = {0};
    struct pleat_kept *all[5];
    for (uint64_t i = 0; i < 5; i++) {
        all[i] = pleat_kept_make("x", 1);
        all[i]->number = i + 1;
        *(out.last ? &out.last->next : &out.first) = all[i];
        out.last = all[i];
    }
    out.unsent = all[1];
    pleat_outward_forget(&out, 0);
    assert_ptr_equal(out.first, all[0]);
    pleat_outward_forget(&out, 3);
    assert_ptr_equal(out.first, all[3]);
    assert_ptr_equal(out.unsent, all[3]);
    pleat_outward_forget(&out, 99);
    assert_null(out.first);
    assert_null(out.last);
    assert_null(out.unsent);
}

static void messages_are_taken_from_anywhere(void **state)
{
    (void)state;
    struct pleat_peer one = {0}, two = {0};
    struct pleat_came came[6] = {0};
    struct pleat_came_list all = {0};
    for (int i = 0; i < 6; i++) {
        came[i].from = i % 2 ? &two : &one;
        pleat_came_append(&all, &came[i]);
    }
    pleat_came_remove(&all, &came[2]); /* in the middle */
    pleat_came_remove(&all, &came[0]); /* the first */
    pleat_came_remove(&all, &came[5]); /* the last */
    assert_ptr_equal(all.first, &came[1]);
    assert_ptr_equal(came[1].next, &came[3]);
    assert_ptr_equal(came[3].next, &came[4]);
    assert_ptr_equal(all.last, &came[4]);
    assert_ptr_equal(one.in.waiting.first, &came[4]);
    assert_ptr_equal(one.in.waiting.last, &came[4]);
    assert_ptr_equal(two.in.waiting.first, &came[1]);
    assert_ptr_equal(two.in.waiting.last, &came[3]);
    pleat_came_remove(&all, &came[1]);
    pleat_came_remove(&all, &came[4]);
    pleat_came_remove(&all, &came[3]);
    assert_null(all.first);
    assert_null(all.last);
    assert_null(two.in.waiting.first);
    assert_null(one.in.waiting.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_read_as_it_was_written),
        cmocka_unit_test(heads_that_cannot_be_are_refused),
        cmocka_unit_test(a_welcome_is_read),
        cmocka_unit_test(lines_that_an_agent_does_not_say_are_refused),
        cmocka_unit_test(peers_are_found_whatever_the_order),
        cmocka_unit_test(what_is_received_is_forgotten),
        cmocka_unit_test(messages_are_taken_from_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

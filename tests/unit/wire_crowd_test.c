/* Many callers at one instant, of one host, over real connections: there is room for few who have
 * not proved their identity, so most are turned away, are told by a reset, and call again. */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "wire/connection.h"

#define PATIENCE_US (200 * PLEAT_US_PER_S)

/* As pleatd has it (src/daemon/agent_listen.c), but for the time of a handshake, which is longer
 * than this test. */
enum { CALLERS = 500, LIMIT_MS = 200000, MOST = 128, MOST_OF_HOST = 32 };
/* ... and as agents have it, but sooner: not all call again at the same time. */
enum { PAUSE_MS = 20, PAUSE_MOST_MS = 320 };

struct crowd;

struct caller {
    struct crowd *crowd;
    struct pleat_connection *connection;
    uv_timer_t pause;
    int failures;
    bool is_in, has_wrong_key;
};

struct crowd {
    uv_loop_t loop;
    struct pleat_listener *listener;
    struct pleat_address address;
    struct pleat_connection *accepted[CALLERS];
    struct caller callers[CALLERS];
    int in, refused, wrong;
};

static const unsigned char right_key[PLEAT_WIRE_KEY] = {1, 2, 3};
static const unsigned char wrong_key[PLEAT_WIRE_KEY] = {9};

static bool key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY])
{
    (void)arg;
    (void)identity;
    memcpy(key, right_key, PLEAT_WIRE_KEY);
    return true;
}

/* ---- the server ---- */

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    (void)arg;
    (void)connection;
    (void)message;
}

static void on_gone(void *arg, struct pleat_connection *connection, const struct pleat_error *error)
{
    (void)arg;
    (void)connection;
    fail_msg("who is in is let go: %s", error->text);
}

static void on_accept(void *arg, struct pleat_connection *connection)
{
    static const struct pleat_connection_callbacks callbacks = {on_message, on_gone, NULL};
    struct crowd *crowd = arg;
    struct pleat_string out = {0};
    assert_true(crowd->in < CALLERS);
    crowd->accepted[crowd->in++] = connection;
    assert_int_equal(pleat_connection_start(connection, &callbacks, crowd), 0);
    assert_int_equal(pleat_write_notification(&out, "welcome", NULL), 0);
    assert_int_equal(pleat_connection_send(connection, &out), 0);
}

static void on_refused(void *arg, const struct pleat_error *why)
{
    struct crowd *crowd = arg;
    crowd->refused += why->code == PLEAT_E_TOOBIG;
}

/* ---- the callers ---- */

static void call(struct caller *caller);

static void on_pause_over(uv_timer_t *timer)
{
    call(timer->data);
}

static void on_welcome(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct caller *caller = arg;
    (void)connection;
    assert_string_equal(message->method, "welcome");
    caller->is_in = true;
}

/* Who is turned away cannot take it for a wrong key; who has a wrong key is told so in the end. */
static void on_lost(void *arg, struct pleat_connection *connection, const struct pleat_error *error)
{
    struct caller *caller = arg;
    (void)connection;
    caller->connection = NULL;
    assert_false(caller->is_in);
    if (error->code == PLEAT_E_PERMISSION) {
        assert_true(caller->has_wrong_key);
        caller->crowd->wrong++;
        return;
    }
    assert_int_equal(error->code, PLEAT_E_CLOSED);
    uint64_t pause_ms = PAUSE_MS;
    for (int i = 0; i < caller->failures && pause_ms < PAUSE_MOST_MS; i++)
        pause_ms *= 2;
    caller->failures++;
    pause_ms += (uint64_t)(caller - caller->crowd->callers) * 7 % (pause_ms / 2);
    uv_timer_start(&caller->pause, on_pause_over, pause_ms, 0);
}

static void call(struct caller *caller)
{
    static const struct pleat_connection_callbacks callbacks = {on_welcome, on_lost, NULL};
    struct pleat_error err;
    if (pleat_connection_open_to(&caller->crowd->loop, &caller->crowd->address, "a",
                                 caller->has_wrong_key ? wrong_key : right_key, &callbacks, caller,
                                 &caller->connection, &err))
        fail_msg("%s", err.text);
}

/* ---- all of it ---- */

static void begin(struct crowd *crowd)
{
    const struct pleat_guest_terms terms = {key_of,   on_refused, crowd,
                                            LIMIT_MS, MOST,       MOST_OF_HOST};
    struct pleat_error err;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(uv_loop_init(&crowd->loop), 0);
    if (pleat_listener_create_tcp(&crowd->loop, "127.0.0.1", 0, &terms, on_accept, crowd,
                                  &crowd->listener, &err))
        fail_msg("%s", err.text);
    crowd->address.kind = PLEAT_ADDRESS_TCP;
    strcpy(crowd->address.host, "127.0.0.1");
    crowd->address.port = pleat_listener_port(crowd->listener);
    for (int i = 0; i < CALLERS; i++) {
        struct caller *caller = &crowd->callers[i];
        caller->crowd = crowd;
        assert_int_equal(uv_timer_init(&crowd->loop, &caller->pause), 0);
        caller->pause.data = caller;
    }
}

static void end(struct crowd *crowd)
{
    for (int i = 0; i < CALLERS; i++) {
        pleat_connection_close(crowd->callers[i].connection);
        uv_close((uv_handle_t *)&crowd->callers[i].pause, NULL);
    }
    for (int i = 0; i < crowd->in; i++)
        pleat_connection_close(crowd->accepted[i]);
    pleat_listener_close(crowd->listener);
    uv_run(&crowd->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&crowd->loop), 0);
    free(crowd);
}

static int let_in(const struct crowd *crowd)
{
    int count = 0;
    for (int i = 0; i < CALLERS; i++)
        count += crowd->callers[i].is_in;
    return count;
}

static void all_get_in(int wrong)
{
    int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    assert_non_null(crowd);
    begin(crowd);
    for (int i = 0; i < CALLERS; i++) {
        crowd->callers[i].has_wrong_key = i < wrong;
        call(&crowd->callers[i]);
    }
    while (let_in(crowd) + crowd->wrong < CALLERS) {
        assert_true(pleat_clock_monotonic_us() < limit_us);
        uv_run(&crowd->loop, UV_RUN_ONCE);
    }
    assert_int_equal(crowd->in, CALLERS - wrong);
    assert_int_equal(crowd->wrong, wrong);
    assert_true(crowd->refused > 0);
    end(crowd);
}

static void test_all_get_in(void **state)
{
    (void)state;
    all_get_in(0);
}

static void test_but_those_without_the_key(void **state)
{
    (void)state;
    all_get_in(100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_get_in),
        cmocka_unit_test(test_but_those_without_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

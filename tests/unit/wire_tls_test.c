/* Connections over TCP: who is let in, and who is not. Raw sockets at the other end say what no
 * Pleat would say. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/connection.h"

#define PATIENCE_US (20 * PLEAT_US_PER_S)
#define LIMIT_MS 60000 /* of a handshake: longer than any test */

static const unsigned char key_of_a[PLEAT_WIRE_KEY] = {1, 2, 3};
static const unsigned char other_key[PLEAT_WIRE_KEY] = {9};

static bool key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY])
{
    (void)arg;
    if (strcmp(identity, "a") != 0)
        return false;
    memcpy(key, key_of_a, PLEAT_WIRE_KEY);
    return true;
}

/* ---- the two ends of a handshake, without a socket ---- */

struct ends {
    struct pleat_tls *client, *server;
    struct pleat_string to_client, to_server;
};

static void begin(struct ends *ends, const char *identity, const unsigned char *key)
{
    struct pleat_error err;
    memset(ends, 0, sizeof(*ends));
    if (pleat_tls_client(identity, key, &ends->client, &err) ||
        pleat_tls_server(key_of, NULL, &ends->server, &err))
        fail_msg("%s", err.text);
}

static void finish(struct ends *ends)
{
    pleat_tls_destroy(ends->client);
    pleat_tls_destroy(ends->server);
    pleat_string_finish(&ends->to_client);
    pleat_string_finish(&ends->to_server);
}

/* What `text` has reaches tls, which goes on with its handshake. */
static int hand_over(struct pleat_tls *tls, struct pleat_string *text, struct pleat_string *out,
                     struct pleat_error *err)
{
    if (text->length)
        assert_int_equal(pleat_tls_feed(tls, text->text, text->length, err), 0);
    pleat_string_finish(text);
    return pleat_tls_handshake(tls, out, err);
}

/* Until both are there, or one refuses. Returns what the server came to. */
static int shake_hands(struct ends *ends, struct pleat_error *err)
{
    int client = 0, server = 0;
    for (int turns = 0; turns < 10 && (client == 0 || server == 0); turns++) {
        client = hand_over(ends->client, &ends->to_client, &ends->to_server, err);
        if (client >= 0)
            server = hand_over(ends->server, &ends->to_server, &ends->to_client, err);
        if (client < 0 || server < 0)
            break;
    }
    return server;
}

static void test_same_key(void **state)
{
    struct ends ends;
    struct pleat_error err;
    char text[100];
    size_t count = 0;
    (void)state;
    begin(&ends, "a", key_of_a);
    assert_string_equal(pleat_tls_identity(ends.server), "");
    assert_int_equal(shake_hands(&ends, &err), 1);
    assert_string_equal(pleat_tls_identity(ends.server), "a");
    struct pleat_string sealed = {0};
    assert_int_equal(pleat_tls_write(ends.client, "a secret", 8, &sealed, &err), 0);
    assert_null(memmem(sealed.text, sealed.length, "secret", 6));
    assert_int_equal(pleat_tls_feed(ends.server, sealed.text, sealed.length, &err), 0);
    assert_int_equal(pleat_tls_read(ends.server, text, sizeof(text), &count, &err), 1);
    assert_int_equal(count, 8);
    assert_memory_equal(text, "a secret", 8);
    assert_int_equal(pleat_tls_read(ends.server, text, sizeof(text), &count, &err), 0);
    /* the same bytes again */
    assert_int_equal(pleat_tls_feed(ends.server, sealed.text, sealed.length, &err), 0);
    assert_int_equal(pleat_tls_read(ends.server, text, sizeof(text), &count, &err),
                     PLEAT_E_PROTOCOL);
    pleat_string_finish(&sealed);
    finish(&ends);
}

static void test_changed_on_the_way(void **state)
{
    struct ends ends;
    struct pleat_error err;
    char text[100];
    size_t count = 0;
    (void)state;
    begin(&ends, "a", key_of_a);
    assert_int_equal(shake_hands(&ends, &err), 1);
    struct pleat_string sealed = {0};
    assert_int_equal(pleat_tls_write(ends.client, "kill 1", 6, &sealed, &err), 0);
    sealed.text[sealed.length - 3] ^= 1;
    assert_int_equal(pleat_tls_feed(ends.server, sealed.text, sealed.length, &err), 0);
    assert_int_equal(pleat_tls_read(ends.server, text, sizeof(text), &count, &err),
                     PLEAT_E_PROTOCOL);
    pleat_string_finish(&sealed);
    finish(&ends);
}

/* From outside nobody can tell a wrong key from a name that nobody has. */
static void test_refused_alike(void **state)
{
    struct pleat_error wrong, unknown;
    struct ends ends;
    (void)state;
    begin(&ends, "a", other_key);
    assert_int_equal(shake_hands(&ends, &wrong), PLEAT_E_PERMISSION);
    assert_int_equal(ends.to_client.length, 0);
    assert_string_equal(pleat_tls_identity(ends.server), "");
    finish(&ends);
    begin(&ends, "nobody", key_of_a);
    assert_int_equal(shake_hands(&ends, &unknown), PLEAT_E_PERMISSION);
    assert_int_equal(ends.to_client.length, 0);
    assert_string_equal(wrong.text, unknown.text);
    finish(&ends);
}

static void test_keys_as_text(void **state)
{
    unsigned char key[PLEAT_WIRE_KEY], again[PLEAT_WIRE_KEY];
    char text[2 * PLEAT_WIRE_KEY + 1];
    (void)state;
    for (int i = 0; i < PLEAT_WIRE_KEY; i++)
        key[i] = (unsigned char)(i * 37);
    pleat_wire_key_text(key, text);
    assert_true(pleat_wire_key_parse(text, again));
    assert_memory_equal(key, again, sizeof(key));
    text[5] = 'g';
    assert_false(pleat_wire_key_parse(text, again));
    assert_false(pleat_wire_key_parse("00", again));
    assert_false(pleat_wire_identity_is(""));
    assert_false(pleat_wire_identity_is("a b"));
    assert_false(pleat_wire_identity_is("a\n"));
}

static void test_addresses(void **state)
{
    static const char *const good[] = {"/run/x", "node7:5123", "10.0.0.1:1", "[::1]:65535",
                                       "[fe80::1%eth0]:80"};
    static const char *const bad[] = {"",       "node7",   "node7:0", "node7:65536", "node7:12x",
                                      ":5",     "::1:5",   "[]:5",    "a b:5",       "-x:5",
                                      "a;rm:5", "[a]b:50", "node7:",  "node7:-1"};
    struct pleat_address address;
    struct pleat_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct pleat_string text = {0};
        if (pleat_address_parse(good[i], &address, &err))
            fail_msg("%s", err.text);
        pleat_address_text(&address, &text);
        assert_string_equal(text.text, good[i]);
        pleat_string_finish(&text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (pleat_address_parse(bad[i], &address, &err) == 0)
            fail_msg("'%s' was taken for an address", bad[i]);
}

/* ---- over sockets ---- */

struct seen {
    struct pleat_connection *connection;
    struct pleat_string messages; /* "method;" each */
    size_t bytes;
    int closed;
    struct pleat_error reason;
};

struct fixture {
    uv_loop_t loop;
    struct pleat_listener *listener;
    struct pleat_address address;
    struct seen server[4];
    int accepted, refused;
    struct pleat_error refusal;
};

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct seen *seen = arg;
    (void)connection;
    pleat_string_addf(&seen->messages, "%s;", message->method ? message->method : "=");
    seen->bytes += message->bytes_count;
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct seen *seen = arg;
    assert_ptr_equal(connection, seen->connection);
    seen->closed++;
    seen->reason = *error;
    seen->connection = NULL;
}

static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};

static void on_accept(void *arg, struct pleat_connection *connection)
{
    struct fixture *fixture = arg;
    struct seen *seen = &fixture->server[fixture->accepted++];
    seen->connection = connection;
    assert_string_equal(pleat_connection_identity(connection), "a");
    assert_int_equal(pleat_connection_start(connection, &callbacks, seen), 0);
}

static void on_refused(void *arg, const struct pleat_error *why)
{
    struct fixture *fixture = arg;
    fixture->refused++;
    fixture->refusal = *why;
}

static void listen_with(struct fixture *fixture, int limit_ms, int most, int most_of_host)
{
    struct pleat_guest_terms terms = {key_of, on_refused, fixture, limit_ms, most, most_of_host};
    struct pleat_error err;
    if (pleat_listener_create_tcp(&fixture->loop, "127.0.0.1", 0, &terms, on_accept, fixture,
                                  &fixture->listener, &err))
        fail_msg("%s", err.text);
    fixture->address.kind = PLEAT_ADDRESS_TCP;
    strcpy(fixture->address.host, "localhost");
    fixture->address.port = pleat_listener_port(fixture->listener);
    assert_int_not_equal(fixture->address.port, 0);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 4; i++) {
        pleat_connection_close(fixture->server[i].connection);
        pleat_string_finish(&fixture->server[i].messages);
    }
    pleat_listener_close(fixture->listener);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    free(fixture);
    return 0;
}

static void wake(uv_timer_t *timer)
{
    (void)timer;
}

#define run_until(fixture, condition)                                                              \
    do {                                                                                           \
        int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;                               \
        uv_timer_t beat;                                                                           \
        uv_timer_init(&(fixture)->loop, &beat);                                                    \
        uv_timer_start(&beat, wake, 10, 10);                                                       \
        while (!(condition)) {                                                                     \
            uv_run(&(fixture)->loop, UV_RUN_ONCE);                                                 \
            if (pleat_clock_monotonic_us() > limit_us)                                             \
                fail_msg("never: %s", #condition);                                                 \
        }                                                                                          \
        uv_close((uv_handle_t *)&beat, NULL);                                                      \
        uv_run(&(fixture)->loop, UV_RUN_NOWAIT);                                                   \
    } while (0)

static void open_client(struct fixture *fixture, struct seen *seen, const char *identity,
                        const unsigned char *key)
{
    struct pleat_error err;
    if (pleat_connection_open_to(&fixture->loop, &fixture->address, identity, key, &callbacks, seen,
                                 &seen->connection, &err))
        fail_msg("%s", err.text);
}

static void say(struct pleat_connection *connection, const char *method)
{
    struct pleat_string out = {0};
    assert_int_equal(pleat_write_notification(&out, method, NULL), 0);
    assert_int_equal(pleat_connection_send(connection, &out), 0);
}

static void test_both_ways(void **state)
{
    static char big[PLEAT_WIRE_BYTES_MAX];
    struct fixture *fixture = *state;
    struct seen client = {0};
    struct pleat_string out = {0};
    listen_with(fixture, LIMIT_MS, 4, 4);
    open_client(fixture, &client, "a", key_of_a);
    say(client.connection, "one"); /* before it is connected: kept, in order */
    say(client.connection, "two");
    run_until(fixture, fixture->server[0].messages.length == strlen("one;two;"));
    assert_string_equal(fixture->server[0].messages.text, "one;two;");
    run_until(fixture, pleat_connection_backlog(client.connection) == 0);
    assert_string_equal(pleat_connection_identity(client.connection), "a");
    assert_int_equal(pleat_write_result_bytes(&out, 5, NULL, big, sizeof(big)), 0);
    assert_int_equal(pleat_connection_send(fixture->server[0].connection, &out), 0);
    run_until(fixture, client.messages.length > 0);
    assert_int_equal(client.bytes, sizeof(big));
    /* what was sent before the close arrives; the other end sees an orderly end */
    say(client.connection, "last");
    pleat_connection_close(client.connection);
    run_until(fixture, fixture->server[0].closed);
    assert_string_equal(fixture->server[0].messages.text, "one;two;last;");
    assert_int_equal(fixture->server[0].reason.code, 0);
    assert_int_equal(client.closed, 0);
    assert_int_equal(fixture->refused, 0);
    pleat_string_finish(&client.messages);
}

/* Closed by its owner before it is connected: what was queued is sent all the same. */
static void test_closed_early(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    listen_with(fixture, LIMIT_MS, 4, 4);
    open_client(fixture, &client, "a", key_of_a);
    say(client.connection, "word");
    pleat_connection_close(client.connection);
    run_until(fixture, fixture->server[0].closed);
    assert_string_equal(fixture->server[0].messages.text, "word;");
    assert_int_equal(fixture->server[0].reason.code, 0);
    open_client(fixture, &client, "a", key_of_a);
    pleat_connection_close(client.connection); /* nothing queued: gone at once, also mid-lookup */
    pleat_listener_close(fixture->listener);
    fixture->listener = NULL;
}

static void refuse_client(struct fixture *fixture, const char *identity, const unsigned char *key)
{
    struct seen client = {0};
    int refused = fixture->refused;
    open_client(fixture, &client, identity, key);
    say(client.connection, "hello");
    run_until(fixture, client.closed);
    assert_int_equal(client.reason.code, PLEAT_E_PERMISSION);
    run_until(fixture, fixture->refused == refused + 1);
    assert_int_equal(fixture->refusal.code, PLEAT_E_PERMISSION);
    assert_int_equal(fixture->accepted, 0);
}

static void test_wrong_callers(void **state)
{
    struct fixture *fixture = *state;
    listen_with(fixture, LIMIT_MS, 4, 4);
    refuse_client(fixture, "a", other_key);
    refuse_client(fixture, "nobody", key_of_a);
}

static int call(const struct fixture *fixture)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(fixture->address.port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void put(int fd, const char *bytes, size_t count)
{
    assert_int_equal(send(fd, bytes, count, MSG_NOSIGNAL), (ssize_t)count);
}

/* Says these bytes: is refused without a word. */
static void refuse_bytes(struct fixture *fixture, const char *bytes, size_t count)
{
    int refused = fixture->refused;
    int fd = call(fixture);
    char answer[100];
    put(fd, bytes, count);
    shutdown(fd, SHUT_WR);
    run_until(fixture, fixture->refused == refused + 1);
    ssize_t got = recv(fd, answer, sizeof(answer), 0);
    assert_true(got == 0 || (got < 0 && errno == ECONNRESET));
    close(fd);
    assert_int_equal(fixture->accepted, 0);
}

static void test_wrong_bytes(void **state)
{
    static const char plain[] = "{\"method\":\"hello\",\"params\":{\"protocol\":1,\"version\":"
                                "\"0.1.0\",\"role\":\"agent\"}}\n";
    static const char record[] = "\x16\x03\x01\xff\xff\x01\x00\x40\x00";
    static char zeroes[100000];
    struct fixture *fixture = *state;
    listen_with(fixture, LIMIT_MS, 4, 4);
    refuse_bytes(fixture, plain, strlen(plain));
    refuse_bytes(fixture, "GET / HTTP/1.1\r\n\r\n", 18);
    refuse_bytes(fixture, record, sizeof(record) - 1);
    refuse_bytes(fixture, zeroes, sizeof(zeroes));
    refuse_bytes(fixture, "", 0);
}

/* ---- other kinds of TLS ---- */

static ssize_t collect(gnutls_transport_ptr_t arg, const void *bytes, size_t count)
{
    pleat_string_add_bytes(arg, bytes, count);
    return (ssize_t)count;
}

static ssize_t nothing(gnutls_transport_ptr_t arg, void *buffer, size_t size)
{
    (void)arg;
    (void)buffer;
    (void)size;
    return 0;
}

/* A client of another kind begins: is refused, also with the right key. */
static void refuse_kind(struct fixture *fixture, const char *kind)
{
    gnutls_session_t session;
    gnutls_psk_client_credentials_t key;
    gnutls_certificate_credentials_t none;
    gnutls_datum_t datum = {(unsigned char *)(uintptr_t)key_of_a, PLEAT_WIRE_KEY};
    struct pleat_string hello = {0};
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT), 0);
    assert_int_equal(gnutls_psk_allocate_client_credentials(&key), 0);
    assert_int_equal(gnutls_psk_set_client_credentials(key, "a", &datum, GNUTLS_PSK_KEY_RAW), 0);
    assert_int_equal(gnutls_certificate_allocate_credentials(&none), 0);
    assert_int_equal(gnutls_priority_set_direct(session, kind, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, none);
    gnutls_credentials_set(session, GNUTLS_CRD_PSK, key);
    gnutls_transport_set_ptr(session, &hello);
    gnutls_transport_set_push_function(session, collect);
    gnutls_transport_set_pull_function(session, nothing);
    assert_true(gnutls_handshake(session) < 0);
    assert_true(hello.length > 0);
    refuse_bytes(fixture, hello.text, hello.length);
    gnutls_deinit(session);
    gnutls_psk_free_client_credentials(key);
    gnutls_certificate_free_credentials(none);
    pleat_string_finish(&hello);
}

static void test_other_kinds(void **state)
{
    struct fixture *fixture = *state;
    listen_with(fixture, LIMIT_MS, 4, 4);
    refuse_kind(fixture, "NORMAL"); /* without a key */
    refuse_kind(fixture, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+PSK");
    refuse_kind(fixture, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+ECDHE-PSK");
    refuse_kind(fixture, "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+PSK"); /* no fresh exchange */
}

/* Over a raw socket, with the key: returns when the server has accepted. *sent has all bytes that
 * went there. */
static int shake_hands_over(struct fixture *fixture, struct pleat_tls *tls,
                            struct pleat_string *sent)
{
    int fd = call(fixture), accepted = fixture->accepted;
    char bytes[16384];
    struct pleat_error err;
    struct pleat_string out = {0};
    int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;
    for (int done = 0; fixture->accepted == accepted;) {
        if (!done)
            done = pleat_tls_handshake(tls, &out, &err);
        assert_true(done >= 0);
        if (out.length) {
            put(fd, out.text, out.length);
            pleat_string_add_bytes(sent, out.text, out.length);
        }
        pleat_string_finish(&out);
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
        ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got > 0)
            assert_int_equal(pleat_tls_feed(tls, bytes, (size_t)got, &err), 0);
        assert_true(pleat_clock_monotonic_us() < limit_us);
    }
    return fd;
}

/* All that a client with the right key ever sent, sent again by somebody who listened. */
static void test_replayed(void **state)
{
    static const char hello[] = "{\"method\":\"hello\"}\n";
    struct fixture *fixture = *state;
    struct pleat_tls *tls = NULL;
    struct pleat_string sent = {0}, out = {0};
    struct pleat_error err;
    listen_with(fixture, LIMIT_MS, 4, 4);
    assert_int_equal(pleat_tls_client("a", key_of_a, &tls, &err), 0);
    int fd = shake_hands_over(fixture, tls, &sent);
    assert_int_equal(pleat_tls_write(tls, hello, strlen(hello), &out, &err), 0);
    put(fd, out.text, out.length);
    pleat_string_add_bytes(&sent, out.text, out.length);
    run_until(fixture, fixture->server[0].messages.length == strlen("hello;"));
    close(fd);
    /* it ended without a word that nothing more comes: cut off */
    run_until(fixture, fixture->server[0].closed);
    assert_int_equal(fixture->server[0].reason.code, PLEAT_E_CLOSED);
    int again = call(fixture);
    put(again, sent.text, sent.length);
    shutdown(again, SHUT_WR);
    run_until(fixture, fixture->refused == 1);
    assert_int_equal(fixture->accepted, 1);
    close(again);
    pleat_tls_destroy(tls);
    pleat_string_finish(&sent);
    pleat_string_finish(&out);
}

/* Garbage in the middle of a good connection ends it, and nothing of it is taken for a message. */
static void test_garbage_later(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_tls *tls = NULL;
    struct pleat_string sent = {0};
    struct pleat_error err;
    listen_with(fixture, LIMIT_MS, 4, 4);
    assert_int_equal(pleat_tls_client("a", key_of_a, &tls, &err), 0);
    int fd = shake_hands_over(fixture, tls, &sent);
    put(fd, "{\"method\":\"kill\"}\n", 18);
    run_until(fixture, fixture->server[0].closed);
    assert_int_equal(fixture->server[0].reason.code, PLEAT_E_PROTOCOL);
    assert_int_equal(fixture->server[0].messages.length, 0);
    close(fd);
    pleat_tls_destroy(tls);
    pleat_string_finish(&sent);
}

static void test_slow_caller(void **state)
{
    struct fixture *fixture = *state;
    char answer[10];
    listen_with(fixture, 50, 4, 4);
    int fd = call(fixture);
    put(fd, "\x16\x03", 2);
    run_until(fixture, fixture->refused == 1);
    assert_int_equal(fixture->refusal.code, PLEAT_E_TIMEOUT);
    ssize_t got = recv(fd, answer, sizeof(answer), 0);
    assert_true(got <= 0);
    close(fd);
}

static void test_many_callers(void **state)
{
    enum { CALLERS = 6, MOST = 3 };
    struct fixture *fixture = *state;
    struct seen client = {0};
    int fds[CALLERS];
    listen_with(fixture, LIMIT_MS, 10, MOST);
    for (int i = 0; i < CALLERS; i++)
        fds[i] = call(fixture);
    run_until(fixture, fixture->refused == CALLERS - MOST);
    assert_int_equal(fixture->refusal.code, PLEAT_E_TOOBIG);
    for (int i = 0; i < CALLERS; i++)
        close(fds[i]);
    run_until(fixture, fixture->refused == CALLERS);
    open_client(fixture, &client, "a", key_of_a); /* there is room again */
    run_until(fixture, fixture->accepted == 1);
    pleat_connection_close(client.connection);
}

/* The server must have the key, too: a client says nothing to another one. */
static void test_wrong_server(void **state)
{
    struct fixture *fixture = *state;
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(own);
    struct seen client = {0};
    char heard[4096];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    fixture->address.kind = PLEAT_ADDRESS_TCP;
    strcpy(fixture->address.host, "127.0.0.1");
    fixture->address.port = ntohs(own.sin_port);
    open_client(fixture, &client, "a", key_of_a);
    say(client.connection, "secret");
    int peer = -1;
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    run_until(fixture, (peer = accept(fd, NULL, NULL)) >= 0);
    run_until(fixture, recv(peer, heard, sizeof(heard), MSG_DONTWAIT | MSG_PEEK) > 0);
    put(peer, "{\"method\":\"hello\"}\n", 19);
    run_until(fixture, client.closed);
    assert_int_equal(client.reason.code, PLEAT_E_PERMISSION);
    ssize_t got = recv(peer, heard, sizeof(heard), MSG_DONTWAIT);
    assert_true(got > 0);
    assert_null(memmem(heard, (size_t)got, "secret", 6));
    close(peer);
    close(fd);
    /* nobody there */
    struct seen other = {0};
    open_client(fixture, &other, "a", key_of_a);
    run_until(fixture, other.closed);
    assert_int_equal(other.reason.code, PLEAT_E_CLOSED);
}

static void test_wrong_place(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_guest_terms terms = {key_of, NULL, NULL, LIMIT_MS, 1, 1};
    struct pleat_listener *none = NULL;
    struct pleat_error err;
    assert_int_equal(pleat_listener_create_tcp(&fixture->loop, "no.number.example", 0, &terms,
                                               on_accept, fixture, &none, &err),
                     PLEAT_E_INVALID);
    listen_with(fixture, LIMIT_MS, 4, 4);
    assert_int_equal(pleat_listener_create_tcp(&fixture->loop, "127.0.0.1", fixture->address.port,
                                               &terms, on_accept, fixture, &none, &err),
                     PLEAT_E_SYSTEM);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_key),
        cmocka_unit_test(test_changed_on_the_way),
        cmocka_unit_test(test_refused_alike),
        cmocka_unit_test(test_keys_as_text),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test_setup_teardown(test_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closed_early, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_callers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replayed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_garbage_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_caller, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_callers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_server, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_place, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

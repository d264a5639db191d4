/* The blocking client against a scripted peer in a child process. */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"

#define HELLO                                                                                      \
    "{\"method\":\"hello\",\"params\":{\"protocol\":1,\"role\":\"daemon\",\"version\":\"x\"}}\n"

struct fixture {
    char directory[64];
    struct pleat_paths paths;
    int listening;
    pid_t server;
    struct pleat_client *client;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/pleat-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    setenv("PLEAT_DIR", fixture->directory, 1);
    assert_int_equal(pleat_paths_init(&fixture->paths, NULL), 0);
    memcpy(address.sun_path, fixture->paths.socket, sizeof(fixture->paths.socket));
    fixture->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fixture->listening, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fixture->listening, 8), 0);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    pleat_client_close(fixture->client);
    int status = 0;
    if (fixture->server)
        assert_int_equal(waitpid(fixture->server, &status, 0), fixture->server);
    close(fixture->listening);
    assert_int_equal(unlink(fixture->paths.socket), 0);
    assert_int_equal(rmdir(fixture->directory), 0);
    free(fixture);
    /* the script checks what it gets */
    assert_int_equal(status, 0);
    return 0;
}

/* ---- the scripted peer; runs in the child and leaves with a code ---- */

struct peer {
    int fd;
    struct pleat_reader *reader;
};

static void say(struct peer *peer, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(peer->fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            _exit(10);
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void say_text(struct peer *peer, const char *text)
{
    say(peer, text, strlen(text));
}

/* The next message must be of this method; returns its id. */
static int64_t expect(struct peer *peer, const char *method)
{
    struct pleat_message message;
    char buffer[65536];
    int got;
    while ((got = pleat_reader_next(peer->reader, &message, NULL)) == 0) {
        ssize_t count = recv(peer->fd, buffer, sizeof(buffer), 0);
        if (count <= 0 || pleat_reader_feed(peer->reader, buffer, (size_t)count, NULL))
            _exit(11);
    }
    if (got < 0 || !message.method || strcmp(message.method, method) != 0)
        _exit(12);
    int64_t id = message.id;
    pleat_message_finish(&message);
    return id;
}

static void expect_end(struct peer *peer)
{
    char byte;
    if (recv(peer->fd, &byte, 1, 0) != 0)
        _exit(13);
}

typedef void (*script)(struct peer *peer);

/* Starts the peer; it leaves with 0 if the script runs to its end. */
static void serve(struct fixture *fixture, script run)
{
    fixture->server = fork();
    if (fixture->server != 0)
        return;
    struct peer peer;
    alarm(60);
    peer.fd = accept(fixture->listening, NULL, NULL);
    if (pleat_reader_create(&peer.reader))
        _exit(14);
    run(&peer);
    pleat_reader_destroy(peer.reader);
    close(peer.fd);
    _exit(0);
}

static struct pleat_client *open_client(struct fixture *fixture, script run)
{
    struct pleat_error err;
    serve(fixture, run);
    if (pleat_client_open(&fixture->paths, &fixture->client, &err))
        fail_msg("%s", err.text);
    return fixture->client;
}

/* ---- the tests, each after its script ---- */

static void script_calls(struct peer *peer)
{
    char line[256];
    say_text(peer, HELLO "{\"method\":\"early\"}\n");
    if (expect(peer, "hello") != 0)
        _exit(1);
    int64_t id = expect(peer, "submit");
    say_text(peer, "{\"method\":\"started\",\"params\":{\"job\":1}}\n");
    snprintf(line, sizeof(line), "{\"id\":%lld,\"result\":{\"job\":17}}\n", (long long)id);
    say_text(peer, line);
    id = expect(peer, "wait");
    snprintf(line, sizeof(line), "{\"id\":%lld,\"error\":{\"code\":-4,\"text\":\"no job 3\"}}\n",
             (long long)id);
    say_text(peer, line);
    id = expect(peer, "log");
    snprintf(line, sizeof(line), "{\"id\":%lld,\"result\":{},\"bytes\":6}\na\nb", (long long)id);
    say_text(peer, line);
    say(peer, "\0cd", 3);
    say_text(peer, "{\"method\":\"bytes\",\"bytes\":3}\nxyz{\"method\":\"late\"}\n");
    expect_end(peer);
}

static void expect_notification(struct pleat_client *client, const char *method)
{
    const struct pleat_message *message;
    struct pleat_error err;
    int got = pleat_client_next_notification(client, 20000, &message, &err);
    if (got != 1)
        fail_msg("no '%s': %d", method, got);
    assert_string_equal(message->method, method);
}

static void test_calls(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = open_client(fixture, script_calls);
    struct pleat_error err;
    json_t *result = NULL;
    struct pleat_string bytes = {0};
    const struct pleat_message *message;
    const char *version = NULL;
    assert_int_equal(pleat_get_string(pleat_client_hello(client), "version", true, &version, NULL),
                     0);
    assert_string_equal(version, "x");
    assert_int_equal(pleat_client_call(client, "submit", json_pack("{s:i}", "n", 4), &result, &err),
                     0);
    assert_int_equal(json_integer_value(json_object_get(result, "job")), 17);
    json_decref(result);
    result = NULL;
    assert_int_equal(pleat_client_call(client, "wait", NULL, &result, &err), PLEAT_E_NOTFOUND);
    assert_string_equal(err.text, "no job 3");
    assert_null(result);
    assert_int_equal(pleat_client_call_bytes(client, "log", NULL, NULL, &bytes, &err), 0);
    assert_int_equal(bytes.length, 6);
    assert_memory_equal(bytes.text, "a\nb\0cd", 6);
    pleat_string_finish(&bytes);
    expect_notification(client, "early");
    expect_notification(client, "started");
    assert_int_equal(pleat_client_next_notification(client, 20000, &message, NULL), 1);
    assert_int_equal(message->bytes_count, 3);
    assert_memory_equal(message->bytes, "xyz", 3);
    expect_notification(client, "late");
    assert_int_equal(pleat_client_next_notification(client, 0, &message, NULL), 0);
    assert_int_equal(pleat_client_next_notification(client, 10, &message, NULL), 0);
}

static void script_notify_while_calling(struct peer *peer)
{
    say_text(peer, HELLO);
    expect(peer, "hello");
    expect(peer, "x");
    for (int i = 0; i < 5; i++)
        say_text(peer, "{\"method\":\"tick\"}\n");
    say_text(peer, "{\"id\":1,\"result\":{}}\n");
    expect_end(peer);
}

static void test_notifications_during_a_call(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = open_client(fixture, script_notify_while_calling);
    const struct pleat_message *message;
    assert_int_equal(pleat_client_call(client, "x", NULL, NULL, NULL), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pleat_client_next_notification(client, 0, &message, NULL), 1);
        assert_string_equal(message->method, "tick");
    }
    assert_int_equal(pleat_client_next_notification(client, 0, &message, NULL), 0);
}

/* Sends megabytes before it reads the large request: neither side may wait for the other. */
static void script_both_talk(struct peer *peer)
{
    static char padding[200001];
    struct pleat_string out = {0};
    memset(padding, 'p', sizeof(padding) - 1);
    say_text(peer, HELLO);
    for (int i = 0; i < 40; i++)
        if (pleat_write_notification(&out, "noise", json_pack("{s:s}", "p", padding)))
            _exit(1);
    say(peer, out.text, out.length);
    pleat_string_finish(&out);
    expect(peer, "hello");
    expect(peer, "big");
    say_text(peer, "{\"id\":1,\"result\":{}}\n");
    expect_end(peer);
}

static void test_both_sides_talk(void **state)
{
    static char text[1000001];
    struct fixture *fixture = *state;
    struct pleat_client *client = open_client(fixture, script_both_talk);
    struct pleat_error err;
    memset(text, 't', sizeof(text) - 1);
    if (pleat_client_call(client, "big", json_pack("{s:s}", "text", text), NULL, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 40; i++)
        expect_notification(client, "noise");
    /* beyond the limit: refused here, and the connection is still good */
    char *huge = malloc(PLEAT_WIRE_LINE_MAX + 1);
    memset(huge, 'h', PLEAT_WIRE_LINE_MAX);
    huge[PLEAT_WIRE_LINE_MAX] = '\0';
    assert_int_equal(pleat_client_call(client, "big", json_pack("{s:s}", "text", huge), NULL, &err),
                     PLEAT_E_TOOBIG);
    free(huge);
}

/* What the daemon does wrong, and what the client makes of it. */
static void script_close_at_once(struct peer *peer)
{
    expect(peer, "hello");
}
static void script_other_protocol(struct peer *peer)
{
    say_text(peer, "{\"method\":\"hello\",\"params\":{\"protocol\":9,\"role\":\"daemon\"}}\n");
    expect(peer, "hello");
    expect_end(peer);
}
static void script_other_role(struct peer *peer)
{
    say_text(peer, "{\"method\":\"hello\",\"params\":{\"protocol\":1,\"role\":\"agent\"}}\n");
    expect(peer, "hello");
    expect_end(peer);
}
static void script_garbage(struct peer *peer)
{
    say_text(peer, "SSH-2.0-OpenSSH_9.2\r\n");
    expect(peer, "hello");
    expect_end(peer);
}
static void script_turn_away(struct peer *peer)
{
    say_text(peer, "{\"id\":0,\"error\":{\"code\":-10,\"text\":\"not for you\"}}\n");
}

static void assert_open_fails(struct fixture *fixture, script run, int code)
{
    struct pleat_client *client = NULL;
    struct pleat_error err = {0};
    int status = -1;
    serve(fixture, run);
    assert_int_equal(pleat_client_open(&fixture->paths, &client, &err), code);
    assert_int_equal(err.code, code);
    assert_true(strlen(err.text) > 5);
    assert_null(client);
    assert_int_equal(waitpid(fixture->server, &status, 0), fixture->server);
    fixture->server = 0;
    assert_int_equal(status, 0);
}

static void test_bad_daemons(void **state)
{
    struct fixture *fixture = *state;
    assert_open_fails(fixture, script_close_at_once, PLEAT_E_CLOSED);
    assert_open_fails(fixture, script_other_protocol, PLEAT_E_PROTOCOL);
    assert_open_fails(fixture, script_other_role, PLEAT_E_PROTOCOL);
    assert_open_fails(fixture, script_garbage, PLEAT_E_PROTOCOL);
    assert_open_fails(fixture, script_turn_away, PLEAT_E_PERMISSION);
}

static void script_end_during_call(struct peer *peer)
{
    say_text(peer, HELLO);
    expect(peer, "hello");
    expect(peer, "x");
    say_text(peer, "{\"method\":\"last\"}\n{\"id\":1,\"res");
}

static void test_daemon_ends_during_call(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = open_client(fixture, script_end_during_call);
    struct pleat_error err;
    assert_int_equal(pleat_client_call(client, "x", NULL, NULL, &err), PLEAT_E_CLOSED);
    assert_non_null(strstr(err.text, fixture->paths.socket));
    /* what it said before is not lost */
    expect_notification(client, "last");
    const struct pleat_message *message;
    assert_int_equal(pleat_client_next_notification(client, 1000, &message, &err), PLEAT_E_CLOSED);
    assert_int_equal(pleat_client_call(client, "x", json_object(), NULL, &err), PLEAT_E_CLOSED);
}

static void script_request(struct peer *peer)
{
    say_text(peer, HELLO "{\"id\":1,\"method\":\"do\"}\n");
    expect(peer, "hello");
    expect(peer, "x");
    expect_end(peer);
}

static void test_request_of_the_daemon(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_client *client = open_client(fixture, script_request);
    assert_int_equal(pleat_client_call(client, "x", NULL, NULL, NULL), PLEAT_E_PROTOCOL);
}

/* ---- interruption ---- */

static atomic_int interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void script_signal_then_answer(struct peer *peer)
{
    say_text(peer, HELLO);
    expect(peer, "hello");
    expect(peer, "slow");
    if (kill(getppid(), SIGUSR1))
        _exit(1);
    expect(peer, "next"); /* the client has given up on the first */
    say_text(peer, "{\"id\":1,\"result\":{\"which\":1}}\n{\"id\":2,\"result\":{\"which\":2}}\n");
    expect_end(peer);
}

static void test_interrupted(void **state)
{
    struct fixture *fixture = *state;
    struct sigaction action = {.sa_handler = on_signal}, before;
    const struct pleat_message *message;
    json_t *result = NULL;
    sigaction(SIGUSR1, &action, &before);
    struct pleat_client *client = open_client(fixture, script_signal_then_answer);
    pleat_client_set_interrupt(client, &interrupted);
    interrupted = 0;
    assert_int_equal(pleat_client_call(client, "slow", NULL, NULL, NULL), PLEAT_INTERRUPTED);
    assert_int_equal(interrupted, 1);
    /* set before the wait: not missed */
    assert_int_equal(pleat_client_next_notification(client, -1, &message, NULL), PLEAT_INTERRUPTED);
    interrupted = 0;
    /* the late answer to the first is not taken for one to the second */
    assert_int_equal(pleat_client_call(client, "next", NULL, &result, NULL), 0);
    assert_int_equal(json_integer_value(json_object_get(result, "which")), 2);
    json_decref(result);
    sigaction(SIGUSR1, &before, NULL);
}

static void script_wait_then_answer(struct peer *peer)
{
    say_text(peer, HELLO);
    expect(peer, "hello");
    expect(peer, "slow");
    for (int i = 0; i < 200; i++)
        if (kill(getppid(), SIGUSR1))
            _exit(1);
    say_text(peer, "{\"id\":1,\"result\":{}}\n");
    expect_end(peer);
}

static void test_other_signals_do_not_end_a_call(void **state)
{
    struct fixture *fixture = *state;
    static atomic_int other = 0;
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigaction(SIGUSR1, &action, &before);
    struct pleat_client *client = open_client(fixture, script_wait_then_answer);
    pleat_client_set_interrupt(client, &other);
    interrupted = 0;
    assert_int_equal(pleat_client_call(client, "slow", NULL, NULL, NULL), 0);
    assert_int_equal(interrupted, 1);
    sigaction(SIGUSR1, &before, NULL);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(test_calls),
        with_fixture(test_notifications_during_a_call),
        with_fixture(test_both_sides_talk),
        with_fixture(test_bad_daemons),
        with_fixture(test_daemon_ends_during_call),
        with_fixture(test_request_of_the_daemon),
        with_fixture(test_interrupted),
        with_fixture(test_other_signals_do_not_end_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

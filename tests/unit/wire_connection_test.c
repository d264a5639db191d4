/* Connections and listeners of src/wire on a libuv loop, with raw sockets at the other end. */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/connection.h"

#define PATIENCE_US (20 * PLEAT_US_PER_S)

/* What one end has seen. */
struct seen {
    struct pleat_connection *connection;
    struct pleat_string messages; /* "method;" or "=id;" each */
    size_t bytes;
    int closed;
    struct pleat_error reason;
    int close_on_message;
};

struct fixture {
    uv_loop_t loop;
    char directory[64];
    char path[96];
    struct pleat_listener *listener;
    struct seen server[8];
    int accepted;
    int refuse;
};

static void on_message(void *arg, struct pleat_connection *connection,
                       const struct pleat_message *message)
{
    struct seen *seen = arg;
    assert_ptr_equal(connection, seen->connection);
    if (message->method)
        pleat_string_addf(&seen->messages, "%s;", message->method);
    else
        pleat_string_addf(&seen->messages, "=%lld;", (long long)message->id);
    seen->bytes += message->bytes_count;
    if (seen->close_on_message) {
        seen->connection = NULL;
        pleat_connection_close(connection);
    }
}

static void on_closed(void *arg, struct pleat_connection *connection,
                      const struct pleat_error *error)
{
    struct seen *seen = arg;
    assert_ptr_equal(connection, seen->connection);
    assert_int_equal(seen->closed, 0);
    seen->closed = 1;
    seen->reason = *error;
    seen->connection = NULL;
    pleat_connection_close(connection); /* does nothing here */
}

static const struct pleat_connection_callbacks callbacks = {on_message, on_closed, NULL};

static void on_accept(void *arg, struct pleat_connection *connection)
{
    struct fixture *fixture = arg;
    if (fixture->refuse) {
        fixture->accepted++;
        pleat_connection_close(connection);
        return;
    }
    struct seen *seen = &fixture->server[fixture->accepted++];
    seen->connection = connection;
    assert_int_equal(pleat_connection_start(connection, &callbacks, seen), 0);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    strcpy(fixture->directory, "/tmp/pleat-test-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/s", fixture->directory);
    assert_int_equal(uv_loop_init(&fixture->loop), 0);
    struct pleat_error err;
    if (pleat_listener_create(&fixture->loop, fixture->path, on_accept, fixture, &fixture->listener,
                              &err))
        fail_msg("%s", err.text);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < fixture->accepted && i < 8; i++) {
        pleat_connection_close(fixture->server[i].connection);
        pleat_string_finish(&fixture->server[i].messages);
    }
    pleat_listener_close(fixture->listener);
    uv_run(&fixture->loop, UV_RUN_DEFAULT);
    /* every handle was closed and freed */
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    assert_int_equal(access(fixture->path, F_OK), -1);
    assert_int_equal(rmdir(fixture->directory), 0);
    free(fixture);
    return 0;
}

static void wake(uv_timer_t *timer)
{
    (void)timer;
}

static void timer_gone(uv_handle_t *handle)
{
    *(int *)handle->data = 1;
}

/* Runs the loop until the condition holds; fails after PATIENCE_US. The timer bounds each turn. */
#define run_until(fixture, condition)                                                              \
    do {                                                                                           \
        int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;                               \
        uv_timer_t beat;                                                                           \
        int gone = 0;                                                                              \
        uv_timer_init(&(fixture)->loop, &beat);                                                    \
        beat.data = &gone;                                                                         \
        uv_timer_start(&beat, wake, 10, 10);                                                       \
        while (!(condition)) {                                                                     \
            uv_run(&(fixture)->loop, UV_RUN_ONCE);                                                 \
            if (pleat_clock_monotonic_us() > limit_us)                                             \
                fail_msg("never: %s", #condition);                                                 \
        }                                                                                          \
        uv_close((uv_handle_t *)&beat, timer_gone);                                                \
        while (!gone)                                                                              \
            uv_run(&(fixture)->loop, UV_RUN_NOWAIT);                                               \
    } while (0)

static int raw_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void raw_write(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Reads to the end of the stream, running the loop meanwhile. */
static size_t raw_read_all(struct fixture *fixture, int fd, char *buffer, size_t size)
{
    size_t length = 0;
    int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;
    for (;;) {
        ssize_t got = recv(fd, buffer + length, size - 1 - length, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno == ECONNRESET))
            break;
        if (got > 0) {
            length += (size_t)got;
            continue;
        }
        assert_int_equal(errno, EAGAIN);
        assert_true(pleat_clock_monotonic_us() < limit_us);
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
    buffer[length] = '\0';
    return length;
}

static void send_notification(struct pleat_connection *connection, const char *method)
{
    struct pleat_string out = {0};
    assert_int_equal(pleat_write_notification(&out, method, NULL), 0);
    assert_int_equal(pleat_connection_send(connection, &out), 0);
    assert_null(out.text);
}

static struct pleat_connection *open_client(struct fixture *fixture, struct seen *seen)
{
    struct pleat_error err;
    if (pleat_connection_open(&fixture->loop, fixture->path, &callbacks, seen, &seen->connection,
                              &err))
        fail_msg("%s", err.text);
    return seen->connection;
}

static void test_both_ways(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    open_client(fixture, &client);
    /* before it is connected: kept, in order */
    send_notification(client.connection, "one");
    send_notification(client.connection, "two");
    assert_true(pleat_connection_backlog(client.connection) > 0);
    run_until(fixture, fixture->server[0].messages.length == strlen("one;two;"));
    assert_string_equal(fixture->server[0].messages.text, "one;two;");
    assert_int_equal(pleat_connection_backlog(client.connection), 0);
    assert_int_equal(pleat_connection_peer_pid(client.connection), getpid());
    assert_int_equal(pleat_connection_peer_pid(fixture->server[0].connection), getpid());

    struct pleat_string out = {0};
    static char big[PLEAT_WIRE_BYTES_MAX];
    assert_int_equal(pleat_write_result_bytes(&out, 5, NULL, big, sizeof(big)), 0);
    assert_int_equal(pleat_connection_send(fixture->server[0].connection, &out), 0);
    run_until(fixture, client.messages.length > 0);
    assert_string_equal(client.messages.text, "=5;");
    assert_int_equal(client.bytes, sizeof(big));

    /* what was sent before the close arrives; the other end sees an orderly end */
    send_notification(client.connection, "last");
    pleat_connection_close(client.connection);
    run_until(fixture, fixture->server[0].closed);
    assert_string_equal(fixture->server[0].messages.text, "one;two;last;");
    assert_int_equal(fixture->server[0].reason.code, 0);
    assert_int_equal(client.closed, 0);
    pleat_string_finish(&client.messages);
}

static void test_large_flush_at_close(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    open_client(fixture, &client);
    struct pleat_string out = {0};
    static char big[PLEAT_WIRE_BYTES_MAX];
    assert_int_equal(pleat_write_result_bytes(&out, 5, NULL, big, sizeof(big)), 0);
    assert_int_equal(pleat_write_notification(&out, "end", NULL), 0);
    assert_int_equal(pleat_connection_send(client.connection, &out), 0);
    pleat_connection_close(client.connection); /* not even connected yet */
    run_until(fixture, fixture->server[0].closed);
    assert_string_equal(fixture->server[0].messages.text, "=5;end;");
    assert_int_equal(fixture->server[0].bytes, sizeof(big));
}

static void test_close_does_not_wait_for_a_slow_reader(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->path);
    run_until(fixture, fixture->accepted == 1);
    struct pleat_string out = {0};
    static char big[PLEAT_WIRE_BYTES_MAX];
    assert_int_equal(pleat_write_result_bytes(&out, 5, NULL, big, sizeof(big)), 0);
    assert_int_equal(pleat_connection_send(fixture->server[0].connection, &out), 0);
    pleat_connection_close(fixture->server[0].connection);
    fixture->server[0].connection = NULL;
    pleat_listener_close(fixture->listener);
    fixture->listener = NULL;
    /* nobody reads fd: the loop must still run out of handles, after a second */
    assert_int_equal(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    close(fd);
}

static void test_owner_closes_in_message(void **state)
{
    struct fixture *fixture = *state;
    fixture->server[0].close_on_message = 1;
    int fd = raw_connect(fixture->path);
    raw_write(fd, "{\"method\":\"one\"}\n{\"method\":\"two\"}\nnot even JSON\n");
    char buffer[256];
    assert_int_equal(raw_read_all(fixture, fd, buffer, sizeof(buffer)), 0);
    assert_string_equal(fixture->server[0].messages.text, "one;");
    assert_int_equal(fixture->server[0].closed, 0);
    close(fd);
}

static void test_owner_refuses(void **state)
{
    struct fixture *fixture = *state;
    fixture->refuse = 1;
    char buffer[256];
    int fd = raw_connect(fixture->path);
    assert_int_equal(raw_read_all(fixture, fd, buffer, sizeof(buffer)), 0);
    assert_int_equal(fixture->accepted, 1);
    fixture->accepted = 0;
    close(fd);
}

static void test_garbage(void **state)
{
    struct fixture *fixture = *state;
    char buffer[1024];
    int fd = raw_connect(fixture->path);
    raw_write(fd, "{\"method\":\"fine\"}\nGET / HTTP/1.1\r\n\r\n");
    raw_read_all(fixture, fd, buffer, sizeof(buffer));
    run_until(fixture, fixture->server[0].closed);
    assert_string_equal(fixture->server[0].messages.text, "fine;");
    assert_int_equal(fixture->server[0].reason.code, PLEAT_E_PROTOCOL);
    /* the peer was told why */
    assert_non_null(strstr(buffer, "{\"id\":0,\"error\":{\"code\":-9,"));
    close(fd);
}

static void test_endless_line(void **state)
{
    struct fixture *fixture = *state;
    static char chunk[65536];
    memset(chunk, 'x', sizeof(chunk));
    int fd = raw_connect(fixture->path);
    size_t sent = 0;
    int64_t limit_us = pleat_clock_monotonic_us() + PATIENCE_US;
    while (!fixture->server[0].closed) {
        ssize_t wrote = send(fd, chunk, sizeof(chunk), MSG_NOSIGNAL | MSG_DONTWAIT);
        sent += wrote > 0 ? (size_t)wrote : 0;
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
        assert_true(pleat_clock_monotonic_us() < limit_us);
    }
    assert_int_equal(fixture->server[0].reason.code, PLEAT_E_TOOBIG);
    assert_true(sent < 4 * PLEAT_WIRE_LINE_MAX);
    close(fd);
}

static void test_closed_in_the_middle(void **state)
{
    struct fixture *fixture = *state;
    static const char *const parts[] = {"{\"method\":\"x\"",
                                        "{\"id\":1,\"result\":{},\"bytes\":4}\n",
                                        "{\"id\":1,\"result\":{},\"bytes\":4}\nabc"};
    for (int i = 0; i < 3; i++) {
        int fd = raw_connect(fixture->path);
        raw_write(fd, parts[i]);
        close(fd);
        run_until(fixture, fixture->server[i].closed);
        assert_int_equal(fixture->server[i].reason.code, PLEAT_E_CLOSED);
        assert_non_null(strstr(fixture->server[i].reason.text, "middle"));
        assert_null(fixture->server[i].messages.text);
    }
}

static void test_slow_reader_is_closed(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->path);
    run_until(fixture, fixture->accepted == 1);
    struct seen *seen = &fixture->server[0];
    static char block[1024 * 1024];
    int status = 0;
    size_t sent = 0;
    while (status == 0 && sent < 64 * sizeof(block)) {
        struct pleat_string out = {0};
        assert_int_equal(pleat_write_result_bytes(&out, 1, NULL, block, sizeof(block)), 0);
        assert_true(pleat_connection_backlog(seen->connection) <= PLEAT_CONNECTION_BACKLOG_MAX);
        status = pleat_connection_send(seen->connection, &out);
        assert_null(out.text);
        sent += sizeof(block);
    }
    assert_int_equal(status, PLEAT_E_TOOBIG);
    assert_true(sent >= PLEAT_CONNECTION_BACKLOG_MAX);
    assert_int_equal(seen->closed, 0); /* never from inside a call */
    struct pleat_string more = {0};
    pleat_string_add(&more, "more");
    assert_int_equal(pleat_connection_send(seen->connection, &more), PLEAT_E_CLOSED);
    assert_null(more.text);
    run_until(fixture, seen->closed);
    assert_int_equal(seen->reason.code, PLEAT_E_TOOBIG);
    close(fd);
}

static void test_closed_while_sending(void **state)
{
    struct fixture *fixture = *state;
    int fd = raw_connect(fixture->path);
    run_until(fixture, fixture->accepted == 1);
    struct seen *seen = &fixture->server[0];
    static char block[1024 * 1024];
    struct pleat_string out = {0};
    assert_int_equal(pleat_write_result_bytes(&out, 1, NULL, block, sizeof(block)), 0);
    assert_int_equal(pleat_connection_send(seen->connection, &out), 0);
    close(fd); /* neither SIGPIPE nor a leak */
    run_until(fixture, seen->closed);
    assert_int_equal(seen->reason.code, PLEAT_E_CLOSED);
}

static void test_silent_peer_disturbs_nobody(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    int silent = raw_connect(fixture->path);
    run_until(fixture, fixture->accepted == 1);
    open_client(fixture, &client);
    for (int i = 0; i < 50; i++) {
        send_notification(client.connection, "x");
        run_until(fixture, fixture->server[1].messages.length == (size_t)(i + 1) * 2);
    }
    assert_int_equal(fixture->server[0].closed, 0);
    pleat_connection_close(client.connection);
    run_until(fixture, fixture->server[1].closed);
    close(silent);
    run_until(fixture, fixture->server[0].closed);
    assert_int_equal(fixture->server[0].reason.code, 0);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void test_nobody_listens(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    struct pleat_error err;
    char path[128];
    snprintf(path, sizeof(path), "%s/none", fixture->directory);
    assert_int_equal(
        pleat_connection_open(&fixture->loop, path, &callbacks, &client, &client.connection, &err),
        0);
    send_notification(client.connection, "lost");
    assert_int_equal(client.closed, 0);
    run_until(fixture, client.closed);
    assert_int_equal(client.reason.code, PLEAT_E_CLOSED);
    /* closing one that failed, before it was said: no callback */
    struct seen other = {0};
    assert_int_equal(
        pleat_connection_open(&fixture->loop, path, &callbacks, &other, &other.connection, &err),
        0);
    pleat_connection_close(other.connection);
    other.connection = NULL;

    char deep[256];
    memset(deep, 'a', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(
        pleat_connection_open(&fixture->loop, deep, &callbacks, &other, &other.connection, &err),
        PLEAT_E_TOOBIG);
}

static void test_place_of_the_socket(void **state)
{
    struct fixture *fixture = *state;
    struct pleat_error err;
    struct pleat_listener *second;
    struct stat st;
    char path[128];
    assert_int_equal(stat(fixture->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    /* a second listener replaces the file; closing the first must leave the second's */
    assert_int_equal(
        pleat_listener_create(&fixture->loop, fixture->path, on_accept, fixture, &second, &err), 0);
    pleat_listener_close(fixture->listener);
    fixture->listener = second;
    int fd = raw_connect(fixture->path);
    assert_true(fd >= 0);
    run_until(fixture, fixture->accepted == 1);
    close(fd);
    /* what is not a socket stays */
    snprintf(path, sizeof(path), "%s/file", fixture->directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    struct pleat_listener *none = NULL;
    assert_int_equal(pleat_listener_create(&fixture->loop, path, on_accept, fixture, &none, &err),
                     PLEAT_E_EXISTS);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/no/such", fixture->directory);
    assert_int_equal(pleat_listener_create(&fixture->loop, path, on_accept, fixture, &none, &err),
                     PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, path));
    assert_null(none);
}

static void test_sigpipe(void **state)
{
    struct fixture *fixture = *state;
    struct seen client = {0};
    struct sigaction action, before;
    sigaction(SIGPIPE, NULL, &before);
    /* a process that only connects is protected as well */
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    open_client(fixture, &client);
    sigaction(SIGPIPE, NULL, &action);
    assert_true(action.sa_handler == SIG_IGN);
    pleat_connection_close(client.connection);
    /* a handler of the program's own stays */
    action.sa_handler = ignore_signal;
    sigaction(SIGPIPE, &action, NULL);
    open_client(fixture, &client);
    sigaction(SIGPIPE, NULL, &action);
    assert_true(action.sa_handler == ignore_signal);
    pleat_connection_close(client.connection);
    sigaction(SIGPIPE, &before, NULL);
    run_until(fixture, fixture->accepted == 2 && fixture->server[1].closed);
}

/* Runs in a child under another user: 0 when it got one error line and the end of the stream. */
static int stranger(const char *path)
{
    char buffer[2048];
    size_t length = 0;
    if (setgid(65534) || setuid(65534))
        return 2;
    int fd = raw_connect(path);
    if (fd < 0)
        return 3;
    ssize_t got;
    while (length < sizeof(buffer) - 1 &&
           (got = read(fd, buffer + length, sizeof(buffer) - 1 - length)) > 0)
        length += (size_t)got;
    buffer[length] = '\0';
    const char *newline = strchr(buffer, '\n');
    if (got != 0 || !newline || newline[1] != '\0')
        return 4;
    return strstr(buffer, "\"code\":-10") ? 0 : 5;
}

static void test_another_user(void **state)
{
    struct fixture *fixture = *state;
    if (geteuid() != 0)
        skip(); /* cannot become somebody else */
    assert_int_equal(chmod(fixture->directory, 0755), 0);
    assert_int_equal(chmod(fixture->path, 0666), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(stranger(fixture->path));
    int status = -1;
    run_until(fixture, waitpid(child, &status, WNOHANG) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(fixture->accepted, 0);
}

/* Serves one connection as another user, then ends. */
static void serve_as_stranger(const char *path, int ready)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    if (setgid(65534) || setuid(65534))
        _exit(2);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1) ||
        write(ready, "r", 1) != 1)
        _exit(3);
    int peer = accept(fd, NULL, NULL);
    char byte;
    ssize_t got = read(peer, &byte, 1);
    _exit(got > 0 ? 4 : 0); /* nothing may be told to it */
}

static void test_server_of_another_user(void **state)
{
    struct fixture *fixture = *state;
    if (geteuid() != 0)
        skip();
    char path[128];
    int ready[2];
    char byte;
    snprintf(path, sizeof(path), "%s/theirs", fixture->directory);
    assert_int_equal(chmod(fixture->directory, 0777), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
        serve_as_stranger(path, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    struct seen client = {0};
    struct pleat_error err;
    assert_int_equal(
        pleat_connection_open(&fixture->loop, path, &callbacks, &client, &client.connection, &err),
        0);
    send_notification(client.connection, "secret");
    run_until(fixture, client.closed);
    assert_int_equal(client.reason.code, PLEAT_E_PERMISSION);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(unlink(path), 0);
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_fixture(test_both_ways),
        with_fixture(test_large_flush_at_close),
        with_fixture(test_close_does_not_wait_for_a_slow_reader),
        with_fixture(test_owner_closes_in_message),
        with_fixture(test_owner_refuses),
        with_fixture(test_garbage),
        with_fixture(test_endless_line),
        with_fixture(test_closed_in_the_middle),
        with_fixture(test_slow_reader_is_closed),
        with_fixture(test_closed_while_sending),
        with_fixture(test_silent_peer_disturbs_nobody),
        with_fixture(test_nobody_listens),
        with_fixture(test_place_of_the_socket),
        with_fixture(test_sigpipe),
        with_fixture(test_another_user),
        with_fixture(test_server_of_another_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whose process is at the other end of a connection, by both ways of asking. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "loopback/peer.h"

#define NOBODY 65534

static bool (*const ways[])(int, uid_t *) = {pleat_peer_user_by_diag, pleat_peer_user_by_proc,
                                             pleat_peer_user};
#define WAYS (sizeof(ways) / sizeof(*ways))

union name {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Listens at a port of its own; *name is where a client connects to. */
static int listen_at(int family, union name *name)
{
    socklen_t size = sizeof(*name);
    *name = (union name){.any.sa_family = (sa_family_t)family};
    if (family == AF_INET)
        name->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        name->in6.sin6_addr = in6addr_loopback;
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, &name->any, sizeof(*name)) || listen(fd, 8) ||
        getsockname(fd, &name->any, &size)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_to(const union name *name)
{
    int fd = socket(name->any.sa_family, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, &name->any, sizeof(*name)), 0);
    return fd;
}

static void one_family(int family)
{
    union name name;
    uid_t user = 12345;
    int listener = listen_at(family, &name);
    if (listener < 0 && family == AF_INET6)
        return; /* a machine without IPv6 */
    assert_true(listener >= 0);
    int client = connect_to(&name);
    int server = accept(listener, NULL, NULL);
    for (size_t i = 0; i < WAYS; i++) {
        user = 12345;
        assert_true(ways[i](server, &user));
        assert_int_equal(user, geteuid());
        assert_true(ways[i](client, &user)); /* the other way round */
        assert_int_equal(user, geteuid());
    }
    /* closed: it counts as root's for the kernel, and is nobody's */
    close(client);
    for (size_t i = 0; i < WAYS; i++)
        assert_false(ways[i](server, &user));
    close(server);
    close(listener);
}

static void test_own_connections(void **state)
{
    (void)state;
    one_family(AF_INET);
    one_family(AF_INET6);
}

static void test_ipv4_on_a_socket_of_ipv6(void **state)
{
    (void)state;
    union name name = {.in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT}};
    socklen_t size = sizeof(name);
    uid_t user = 12345;
    int listener = socket(AF_INET6, SOCK_STREAM, 0);
    if (listener < 0)
        return;
    assert_int_equal(bind(listener, &name.any, sizeof(name)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, &name.any, &size), 0);
    union name four = {.in = {.sin_family = AF_INET,
                              .sin_port = name.in6.sin6_port,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    int client = connect_to(&four);
    int server = accept(listener, NULL, NULL);
    for (size_t i = 0; i < WAYS; i++) {
        assert_true(ways[i](server, &user));
        assert_int_equal(user, geteuid());
    }
    close(client);
    close(server);
    close(listener);
}

static void test_another_user(void **state)
{
    (void)state;
    union name name;
    uid_t user = 12345;
    int listener = listen_at(AF_INET, &name), hold[2];
    if (geteuid() != 0) {
        close(listener);
        skip(); /* only root can become somebody else */
    }
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        int fd = -1;
        close(hold[1]);
        if (setuid(NOBODY) == 0)
            fd = connect_to(&name);
        _exit(read(hold[0], &byte, 1) != 0 || fd < 0); /* until its parent lets go */
    }
    int server = accept(listener, NULL, NULL);
    for (size_t i = 0; i < WAYS; i++) {
        assert_true(ways[i](server, &user));
        assert_int_equal(user, NOBODY);
    }
    int status = -1;
    close(hold[0]);
    close(hold[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (size_t i = 0; i < WAYS; i++)
        assert_false(ways[i](server, &user));
    close(server);
    close(listener);
}

static void test_what_is_no_connection(void **state)
{
    (void)state;
    union name name;
    uid_t user = 0;
    int listener = listen_at(AF_INET, &name), pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < WAYS; i++) {
        assert_false(ways[i](listener, &user));
        assert_false(ways[i](pair[0], &user));
        assert_false(ways[i](-1, &user));
    }
    close(pair[0]);
    close(pair[1]);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_connections),
        cmocka_unit_test(test_ipv4_on_a_socket_of_ipv6),
        cmocka_unit_test(test_another_user),
        cmocka_unit_test(test_what_is_no_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Listening for callers on other machines. A caller is handed over when it has proved its identity.
 * Until then callers cost little: their number, and the time of each, are bounded. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/connection-internal.h"
#include "wire/tcp.h"

/* A caller that has not proved its identity yet. */
struct guest {
    struct guest *next;
    struct pleat_guests *guests;
    struct pleat_connection *connection;
    struct sockaddr_storage from;
};

struct pleat_guests {
    struct pleat_listener *listener; /* NULL: closed */
    struct pleat_guest_terms terms;
    struct guest *first;
};

/* Whether two addresses are of the same host. */
static bool is_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

static bool has_room(const struct pleat_guests *guests, const struct sockaddr_storage *from)
{
    int all = 0, of_host = 0;
    for (const struct guest *guest = guests->first; guest; guest = guest->next) {
        all++;
        of_host += is_same_host(&guest->from, from);
    }
    return all < guests->terms.most && of_host < guests->terms.most_of_host;
}

static void forget(struct guest *guest)
{
    struct pleat_guests *guests = guest->guests;
    struct guest **at = &guests->first;
    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    free(guest);
    if (!guests->listener && !guests->first)
        free(guests);
}

static void on_gone(void *arg, struct pleat_connection *connection, const struct pleat_error *error)
{
    struct guest *guest = arg;
    struct pleat_guests *guests = guest->guests;
    (void)connection;
    if (guests->terms.refused && guests->listener)
        guests->terms.refused(guests->terms.arg, error);
    forget(guest);
}

static void on_proved(void *arg, struct pleat_connection *connection)
{
    struct guest *guest = arg;
    struct pleat_listener *listener = guest->guests->listener;
    memset(&connection->callbacks, 0, sizeof(connection->callbacks));
    connection->established = NULL;
    connection->arg = NULL;
    forget(guest);
    if (listener)
        listener->on_accept(listener->arg, connection);
    else
        pleat_connection_close(connection);
}

static void on_limit(uv_timer_t *timer)
{
    struct pleat_error err;
    pleat_error_set(&err, PLEAT_E_TIMEOUT, "a caller did not say in time who he is");
    pleat_connection_fail(timer->data, &err);
}

static int begin(struct pleat_guests *guests, struct pleat_connection *connection,
                 struct pleat_error *err)
{
    const struct pleat_credentials credentials = {
        .server = true, .key_of = guests->terms.key_of, .arg = guests->terms.arg};
    struct sockaddr_storage from = {0};
    int size = sizeof(from);
    (void)uv_tcp_getpeername(&connection->u.tcp, (struct sockaddr *)&from, &size);
    if (!has_room(guests, &from))
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "too many callers who have not said who they are: one turned away");
    struct guest *guest = calloc(1, sizeof(*guest));
    if (!guest)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a caller");
    *guest = (struct guest){
        .next = guests->first, .guests = guests, .connection = connection, .from = from};
    guests->first = guest;
    connection->callbacks.closed = on_gone;
    connection->arg = guest;
    connection->established = on_proved;
    pleat_tcp_watch(&connection->u.tcp);
    (void)uv_timer_start(&connection->limit, on_limit, (uint64_t)guests->terms.limit_ms, 0);
    /* an error is told by on_gone */
    if (pleat_connection_connected(connection, &credentials, err))
        pleat_connection_fail(connection, err);
    return 0;
}

/* Closes the connection of a caller for whom there is no room. It is told by a reset, which says
 * nothing about keys: so the caller knows that it may call again. */
static void turn_away(struct pleat_connection *connection)
{
    const struct linger reset = {.l_onoff = 1};
    uv_os_fd_t fd;
    if (!uv_fileno((uv_handle_t *)&connection->u.tcp, &fd))
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    pleat_connection_close(connection);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct pleat_listener *listener = server->data;
    struct pleat_guests *guests = listener->guests;
    struct pleat_error err;
    if (status < 0)
        return; /* out of descriptors: libuv closed the connection, and the peer will try again */
    struct pleat_connection *connection = pleat_connection_make(server->loop, PLEAT_ADDRESS_TCP);
    if (!connection) {
        pleat_listener_retry(listener);
        return;
    }
    if (uv_accept(server, &connection->u.stream)) {
        pleat_connection_close(connection);
    } else if (begin(guests, connection, &err)) {
        turn_away(connection);
        if (guests->terms.refused)
            guests->terms.refused(guests->terms.arg, &err);
    }
}

static void leave(struct pleat_guests *guests)
{
    guests->listener = NULL;
    if (!guests->first) {
        free(guests);
        return;
    }
    struct pleat_error err;
    pleat_error_set(&err, PLEAT_E_CLOSED, "nobody listens any more");
    /* each is forgotten when its handles are closed, the last one with `guests` */
    for (struct guest *guest = guests->first; guest; guest = guest->next)
        pleat_connection_fail(guest->connection, &err);
}

static int bind_to(struct pleat_listener *listener, const char *host, uint16_t port,
                   struct pleat_error *err)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char text[8];
    snprintf(text, sizeof(text), "%u", (unsigned)port);
    if (getaddrinfo(host, text, &hints, &found)) /* asks nobody: it is a number */
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%.60s' is no address of a network interface: write its number, "
                               "or 0.0.0.0 for all",
                               host);
    int status = uv_tcp_bind(&listener->u.tcp, found->ai_addr, 0);
    freeaddrinfo(found);
    return status
               ? pleat_error_sys(err, -status, "cannot listen at %s, port %u", host, (unsigned)port)
               : 0;
}

int pleat_listener_create_tcp(uv_loop_t *loop, const char *host, uint16_t port,
                              const struct pleat_guest_terms *terms,
                              void (*on_accept)(void *arg, struct pleat_connection *connection),
                              void *arg, struct pleat_listener **listener, struct pleat_error *err)
{
    struct pleat_listener *fresh = pleat_listener_make(loop, PLEAT_ADDRESS_TCP, on_connection);
    struct pleat_guests *guests = fresh ? calloc(1, sizeof(*guests)) : NULL;
    if (!guests) {
        pleat_listener_close(fresh);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a listener");
    }
    pleat_ignore_sigpipe();
    *guests = (struct pleat_guests){.listener = fresh, .terms = *terms};
    fresh->guests = guests;
    fresh->leave = leave;
    fresh->on_accept = on_accept;
    fresh->arg = arg;
    int status = bind_to(fresh, host, port, err);
    if (status) {
        pleat_listener_close(fresh);
        return status;
    }
    char where[96];
    snprintf(where, sizeof(where), "%s, port %u", host, (unsigned)port);
    status = pleat_listener_listen(fresh, where, err); /* this reports a port that is taken */
    if (!status)
        *listener = fresh;
    return status;
}

uint16_t pleat_listener_port(const struct pleat_listener *listener)
{
    struct sockaddr_storage own = {0};
    int size = sizeof(own);
    if (!listener->guests || uv_tcp_getsockname(&listener->u.tcp, (struct sockaddr *)&own, &size))
        return 0;
    return ntohs(own.ss_family == AF_INET ? ((const struct sockaddr_in *)&own)->sin_port
                                          : ((const struct sockaddr_in6 *)&own)->sin6_port);
}

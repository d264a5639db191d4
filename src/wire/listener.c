#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/connection-internal.h"

#define LISTEN_QUEUE 1024 /* the kernel may have a lower limit */
#define RETRY_MS 100

/* Sends one error line to a peer of another user. The socket is fresh, so the line fits; if not, it
 * is dropped. */
static void turn_away(uv_stream_t *stream, const struct pleat_error *reason)
{
    struct pleat_string line = {0};
    if (pleat_write_failure(&line, 0, reason) == 0) {
        uv_buf_t buffer = uv_buf_init(line.text, (unsigned)line.length);
        (void)uv_try_write(stream, &buffer, 1);
    }
    pleat_string_finish(&line);
}

static void on_retry(uv_timer_t *timer)
{
    struct pleat_listener *listener = timer->data;
    listener->on_connection(&listener->u.stream, 0);
}

/* libuv reports nothing more until the peer that is there is accepted. */
void pleat_listener_retry(struct pleat_listener *listener)
{
    (void)uv_timer_start(&listener->retry, on_retry, RETRY_MS, 0);
}

static void on_connection(uv_stream_t *server, int status)
{
    static const struct pleat_credentials nothing = {.server = true};
    struct pleat_listener *listener = server->data;
    if (status < 0)
        return; /* out of descriptors: libuv closed the connection, and the peer will try again */
    struct pleat_connection *connection = pleat_connection_make(server->loop, PLEAT_ADDRESS_UNIX);
    if (!connection) {
        pleat_listener_retry(listener);
        return;
    }
    struct pleat_error err = {0};
    if (uv_accept(server, &connection->u.stream)) {
        pleat_connection_close(connection);
        return;
    }
    int refused = pleat_connection_connected(connection, &nothing, &err);
    if (refused == PLEAT_E_PERMISSION)
        turn_away(&connection->u.stream, &err);
    if (refused)
        pleat_connection_close(connection);
    else
        listener->on_accept(listener->arg, connection);
}

/* Removes the socket of an earlier process. */
static int clear_place(const char *path, struct pleat_error *err)
{
    struct stat st;
    if (lstat(path, &st)) {
        if (errno == ENOENT)
            return 0;
        return pleat_error_sys(err, errno, "cannot look at %s", path);
    }
    if (!S_ISSOCK(st.st_mode))
        return pleat_error_set(
            err, PLEAT_E_EXISTS,
            "%s is there and is not a socket: remove it, or choose another place", path);
    if (unlink(path) && errno != ENOENT)
        return pleat_error_sys(err, errno, "cannot remove the old socket %s", path);
    return 0;
}

/* A bound socket whose file has mode 0600 from its first moment: on Linux a socket's file takes the
 * mode of the socket, so no umask, which all threads share, has to change. */
static int bind_private(const struct sockaddr_un *address, int *fd, struct pleat_error *err)
{
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return pleat_error_sys(err, errno, "cannot make a socket");
    if (fchmod(made, 0600) || bind(made, (const struct sockaddr *)address, sizeof(*address))) {
        int reason = errno;
        close(made);
        return pleat_error_sys(err, reason, "cannot listen at %s", address->sun_path);
    }
    *fd = made;
    return 0;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct pleat_listener *listener = handle->data;
    if (--listener->handles == 0)
        free(listener);
}

bool pleat_listener_is_lost(const struct pleat_listener *listener)
{
    struct stat st;
    return *listener->path && (lstat(listener->path, &st) != 0 || st.st_dev != listener->device ||
                               st.st_ino != listener->inode);
}

static void unlink_own(const struct pleat_listener *listener)
{
    if (*listener->path && !pleat_listener_is_lost(listener))
        unlink(listener->path);
}

struct pleat_listener *pleat_listener_make(uv_loop_t *loop, enum pleat_address_kind kind,
                                           uv_connection_cb callback)
{
    struct pleat_listener *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    /* none can fail: they only fill in the handle */
    if (kind == PLEAT_ADDRESS_UNIX)
        (void)uv_pipe_init(loop, &fresh->u.pipe, 0);
    else
        (void)uv_tcp_init(loop, &fresh->u.tcp);
    (void)uv_timer_init(loop, &fresh->retry);
    fresh->handles = 2;
    fresh->u.handle.data = fresh;
    fresh->retry.data = fresh;
    fresh->on_connection = callback;
    return fresh;
}

int pleat_listener_listen(struct pleat_listener *listener, const char *where,
                          struct pleat_error *err)
{
    int status = uv_listen(&listener->u.stream, LISTEN_QUEUE, listener->on_connection);
    if (status < 0) {
        pleat_listener_close(listener);
        return pleat_error_sys(err, -status, "cannot listen at %s", where);
    }
    return 0;
}

void pleat_listener_close(struct pleat_listener *listener)
{
    if (!listener)
        return;
    unlink_own(listener);
    if (listener->guests)
        listener->leave(listener->guests);
    uv_close(&listener->u.handle, on_listener_closed);
    uv_close((uv_handle_t *)&listener->retry, on_listener_closed);
}

/* Gives the bound socket to libuv; on failure the caller still owns fd. */
static int adopt(struct pleat_listener *listener, int fd, struct pleat_error *err)
{
    struct stat st;
    if (lstat(listener->path, &st))
        return pleat_error_sys(err, errno, "cannot look at %s", listener->path);
    listener->device = st.st_dev;
    listener->inode = st.st_ino;
    int status = uv_pipe_open(&listener->u.pipe, fd);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot listen at %s", listener->path);
    return 0;
}

int pleat_listener_create(uv_loop_t *loop, const char *path,
                          void (*on_accept)(void *arg, struct pleat_connection *connection),
                          void *arg, struct pleat_listener **listener, struct pleat_error *err)
{
    struct sockaddr_un address;
    int fd = -1;
    int status = pleat_unix_address(path, &address, err);
    if (!status)
        status = clear_place(path, err);
    if (!status)
        status = bind_private(&address, &fd, err);
    if (status)
        return status;
    struct pleat_listener *fresh = pleat_listener_make(loop, PLEAT_ADDRESS_UNIX, on_connection);
    if (!fresh) {
        close(fd);
        unlink(path);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for a listener at %s", path);
    }
    pleat_ignore_sigpipe();
    memcpy(fresh->path, address.sun_path, sizeof(fresh->path));
    fresh->on_accept = on_accept;
    fresh->arg = arg;
    status = adopt(fresh, fd, err);
    if (status) {
        close(fd);
        pleat_listener_close(fresh);
        return status;
    }
    status = pleat_listener_listen(fresh, path, err);
    if (!status)
        *listener = fresh;
    return status;
}

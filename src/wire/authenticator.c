#include "wire/authenticator.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel names the user and the process at the other end of a unix socket. */
static int ask_user(uv_stream_t *stream, bool server, int *pid, struct pleat_error *err)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);
    uv_os_fd_t fd;
    int failure = uv_fileno((uv_handle_t *)stream, &fd);
    if (failure)
        return pleat_error_sys(err, -failure, "cannot tell who is connected");
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return pleat_error_sys(err, errno, "cannot tell who is connected");
    *pid = peer.pid;
    if (peer.uid == geteuid())
        return 0;
    if (server)
        return pleat_error_set(
            err, PLEAT_E_PERMISSION,
            "this socket belongs to user %lu and serves nobody else (you are user %lu)",
            (unsigned long)geteuid(), (unsigned long)peer.uid);
    return pleat_error_set(err, PLEAT_E_PERMISSION,
                           "the socket is served by user %lu, not by you: not used",
                           (unsigned long)peer.uid);
}

/* Both ends have a key that nobody else has. */
static int prove_key(const struct pleat_credentials *credentials, struct pleat_tls **tls,
                     struct pleat_error *err)
{
    if (credentials->server)
        return pleat_tls_server(credentials->key_of, credentials->arg, tls, err);
    return pleat_tls_client(credentials->identity, credentials->key, tls, err);
}

static const struct pleat_authenticator authenticators[] = {
    {"user", PLEAT_ADDRESS_UNIX, ask_user, NULL},
    {"key", PLEAT_ADDRESS_TCP, NULL, prove_key},
};

const struct pleat_authenticator *pleat_authenticator_of(enum pleat_address_kind kind)
{
    const struct pleat_authenticator *found = authenticators;
    while (found->kind != kind)
        found++;
    return found;
}

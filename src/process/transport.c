#include "process/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <zmq.h>

#include "process/door.h"

/* A connection is given up, and made again, where nothing is heard for so long. */
#define HEARTBEAT_MS 5000
#define SILENCE_MS 15000
#define AGAIN_MS 50
#define AGAIN_MOST_MS 1000
/* After finish, for what says that messages were received. */
#define LINGER_MS 300
#define DESCRIPTORS 20 /* that libzmq needs to begin, and a few for connections */
#define COPIED 512     /* a message up to here is copied, since that is faster than to share it */

static int failed(struct pleat_error *err, const char *what)
{
    return pleat_error_set(err, PLEAT_E_SYSTEM, "%s: %s (libzmq)", what, zmq_strerror(zmq_errno()));
}

static int set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof(value));
}

/* What both sockets have. No limits of libzmq's: the windows limit what is on its way. */
static int set_common(struct pleat_processes *all, void *socket)
{
    char name[32];
    int length =
        snprintf(name, sizeof(name), "%d.%016llx", all->self, (unsigned long long)all->stream);
    return set(socket, ZMQ_LINGER, LINGER_MS) || set(socket, ZMQ_SNDHWM, 0) ||
           set(socket, ZMQ_RCVHWM, 0) || set(socket, ZMQ_HEARTBEAT_IVL, HEARTBEAT_MS) ||
           set(socket, ZMQ_HEARTBEAT_TIMEOUT, SILENCE_MS) ||
           set(socket, ZMQ_HEARTBEAT_TTL, SILENCE_MS) || set(socket, ZMQ_RECONNECT_IVL, AGAIN_MS) ||
           set(socket, ZMQ_RECONNECT_IVL_MAX, AGAIN_MOST_MS) ||
           zmq_setsockopt(socket, ZMQ_ROUTING_ID, name, (size_t)length) ||
           zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, all->secret, 40);
}

static int watch(struct pleat_processes *all, void *socket, struct pleat_error *err)
{
    int fd;
    size_t size = sizeof(fd);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    if (zmq_getsockopt(socket, ZMQ_FD, &fd, &size))
        return failed(err, "cannot ask for a socket's descriptor");
    event.data.fd = fd;
    if (epoll_ctl(all->epoll, EPOLL_CTL_ADD, fd, &event))
        return pleat_error_sys(err, errno, "cannot watch a socket");
    return 0;
}

/* Those of this host reach it without the network, if that can be had. */
static void bind_near(struct pleat_processes *all, const char *dir)
{
    char wish[256];
    size_t size = sizeof(all->local);
    int length = snprintf(wish, sizeof(wish), "ipc://%s/%d.%d", dir, all->self, (int)getpid());
    if (length < 0 || (size_t)length >= sizeof(wish) || zmq_bind(all->in, wish) ||
        zmq_getsockopt(all->in, ZMQ_LAST_ENDPOINT, all->local, &size))
        all->local[0] = '\0';
}

/* Where others can reach this process: what the agent has said, completed. */
static int bind_in(struct pleat_processes *all, struct pleat_error *err)
{
    char wish[256] = "";
    const char *host = getenv("PLEAT_PROCESS_HOST");
    const char *dir = getenv("PLEAT_PROCESS_DIR");
    int length;
    if (!host || !*host)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "PLEAT_PROCESS_HOST is not set in this process of a run: start the "
                               "program by 'pleat run --evolving'");
    if (strchr(host, ':'))
        length =
            set(all->in, ZMQ_IPV6, 1) ? -1 : snprintf(wish, sizeof(wish), "tcp://[%s]:*", host);
    else if (strcmp(host, "ipc") != 0)
        length = snprintf(wish, sizeof(wish), "tcp://%s:*", host);
    else if (dir && *dir == '/')
        length = snprintf(wish, sizeof(wish), "ipc://%s/%d.%d", dir, all->self, (int)getpid());
    else
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "PLEAT_PROCESS_DIR is no directory in this process of a run: start "
                               "the program by 'pleat run --evolving'");
    size_t size = sizeof(all->address);
    if (length < 0 || (size_t)length >= sizeof(wish) || zmq_bind(all->in, wish) ||
        zmq_getsockopt(all->in, ZMQ_LAST_ENDPOINT, all->address, &size))
        return pleat_error_set(err, PLEAT_E_SYSTEM,
                               "cannot listen on %.200s, which pleat-agent has named "
                               "(PLEAT_PROCESS_HOST): %s",
                               wish, zmq_strerror(zmq_errno()));
    if (strcmp(host, "ipc") != 0 && dir && *dir == '/')
        bind_near(all, dir);
    return 0;
}

static int open_in(struct pleat_processes *all, struct pleat_error *err)
{
    all->in = zmq_socket(all->context, ZMQ_ROUTER);
    if (!all->in || set_common(all, all->in) || set(all->in, ZMQ_CURVE_SERVER, 1) ||
        set(all->in, ZMQ_ROUTER_HANDOVER, 1) || zmq_setsockopt(all->in, ZMQ_ZAP_DOMAIN, "pleat", 5))
        return failed(err, "cannot make a socket to listen");
    return 0;
}

static int open_out(struct pleat_processes *all, struct pleat_error *err)
{
    all->out = zmq_socket(all->context, ZMQ_ROUTER);
    if (!all->out || set_common(all, all->out) || set(all->out, ZMQ_IPV6, 1) ||
        set(all->out, ZMQ_ROUTER_MANDATORY, 1) ||
        zmq_setsockopt(all->out, ZMQ_CURVE_SERVERKEY, all->public, 40) ||
        zmq_setsockopt(all->out, ZMQ_CURVE_PUBLICKEY, all->public, 40))
        return failed(err, "cannot make a socket to send");
    return 0;
}

/* libzmq aborts where it gets no descriptor for its own threads: so it is tried before. */
static int have_descriptors(const struct pleat_processes *all, struct pleat_error *err)
{
    int tried[DESCRIPTORS], count = 0;
    while (count < DESCRIPTORS && (tried[count] = fcntl(all->epoll, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    int failed = errno;
    for (int i = 0; i < count; i++)
        close(tried[i]);
    return count == DESCRIPTORS
               ? 0
               : pleat_error_sys(err, failed,
                                 "cannot open %d more descriptors (ulimit -n), which messages need",
                                 DESCRIPTORS);
}

int pleat_transport_open(struct pleat_processes *all, struct pleat_error *err)
{
    int few = have_descriptors(all, err);
    if (few)
        return few;
    all->context = zmq_ctx_new();
    if (!all->context)
        return failed(err, "cannot begin with libzmq");
    int rc = pleat_door_open(all, err);
    if (!rc)
        rc = open_in(all, err);
    if (!rc)
        rc = open_out(all, err);
    if (!rc)
        rc = bind_in(all, err);
    if (!rc)
        rc = watch(all, all->doorman, err);
    if (!rc)
        rc = watch(all, all->in, err);
    if (!rc)
        rc = watch(all, all->out, err);
    return rc;
}

void pleat_transport_close(struct pleat_processes *all)
{
    /* the doorman goes last: without one libzmq would let in everybody */
    if (all->in)
        zmq_close(all->in);
    if (all->out)
        zmq_close(all->out);
    if (all->doorman)
        zmq_close(all->doorman);
    if (all->context)
        while (zmq_ctx_term(all->context) && zmq_errno() == EINTR)
            ;
    all->in = all->out = all->doorman = all->context = NULL;
}

int pleat_transport_connect(struct pleat_processes *all, struct pleat_peer *peer)
{
    int length = snprintf(peer->name, sizeof(peer->name), "p%d.%u", peer->id, peer->addresses);
    if (zmq_setsockopt(all->out, ZMQ_CONNECT_ROUTING_ID, peer->name, (size_t)length) ||
        zmq_connect(all->out, peer->address))
        return PLEAT_E_SYSTEM;
    peer->connected = true;
    return 0;
}

void pleat_transport_disconnect(struct pleat_processes *all, struct pleat_peer *peer)
{
    if (peer->connected)
        zmq_disconnect(all->out, peer->address);
    peer->connected = false;
}

/* libzmq does not need the bytes any more; called from its thread. */
static void unused(void *bytes, void *kept)
{
    (void)bytes;
    pleat_kept_drop(kept);
}

/* Sends the content after the name of a connection; it is libzmq's then. */
static bool send_to(void *socket, const void *name, size_t size, zmq_msg_t *content)
{
    if (zmq_send(socket, name, size, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
        zmq_msg_send(content, socket, ZMQ_DONTWAIT) >= 0)
        return true;
    zmq_msg_close(content);
    return false;
}

bool pleat_transport_send(struct pleat_processes *all, const struct pleat_peer *peer,
                          struct pleat_kept *kept)
{
    zmq_msg_t content;
    if (kept->size <= COPIED) {
        if (zmq_msg_init_size(&content, kept->size))
            return false;
        memcpy(zmq_msg_data(&content), kept->bytes, kept->size);
    } else {
        atomic_fetch_add(&kept->users, 1);
        if (zmq_msg_init_data(&content, kept->bytes, kept->size, unused, kept)) {
            pleat_kept_drop(kept);
            return false;
        }
    }
    return send_to(all->out, peer->name, strlen(peer->name), &content);
}

bool pleat_transport_say(struct pleat_processes *all, const struct pleat_peer *peer, bool back,
                         const struct pleat_head *head)
{
    zmq_msg_t content;
    if ((back && !peer->in.route_size) || (!back && !peer->connected) ||
        zmq_msg_init_size(&content, PLEAT_HEAD_BYTES))
        return false;
    pleat_head_write(head, zmq_msg_data(&content));
    return back ? send_to(all->in, peer->in.route, peer->in.route_size, &content)
                : send_to(all->out, peer->name, strlen(peer->name), &content);
}

static bool has_more(void *socket)
{
    int more = 0;
    size_t size = sizeof(more);
    return zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) == 0 && more;
}

/* Takes one message: its connection's name, and its content, which the caller closes. What has more
 * parts, or no content, is none of ours. 1; 0: none; -1: one that is dropped. */
static int take(void *socket, unsigned char *name, size_t *size, zmq_msg_t *content)
{
    int length = zmq_recv(socket, name, 64, ZMQ_DONTWAIT);
    if (length < 0)
        return 0;
    *size = (size_t)length;
    bool fits = length <= 64 && has_more(socket);
    zmq_msg_init(content);
    if (has_more(socket) && zmq_msg_recv(content, socket, ZMQ_DONTWAIT) < 0)
        fits = false;
    while (has_more(socket)) {
        fits = false;
        if (zmq_msg_recv(content, socket, ZMQ_DONTWAIT) < 0)
            break;
    }
    if (fits)
        return 1;
    zmq_msg_close(content);
    return -1;
}

/* Events of the socket, which also makes it wake a waiter the next time. */
static bool is_readable(void *socket)
{
    int events = 0;
    size_t size = sizeof(events);
    return zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN);
}

static bool drain_one(struct pleat_processes *all, void *socket)
{
    bool any = false;
    unsigned char name[64];
    size_t size;
    zmq_msg_t content;
    while (is_readable(socket)) {
        int found = take(socket, name, &size, &content);
        if (found == 0)
            break;
        any = true;
        if (found > 0) {
            all->take(all, name, socket == all->in ? size : 0, &content);
            zmq_msg_close(&content);
        }
    }
    return any;
}

void pleat_transport_drain(struct pleat_processes *all)
{
    /* taking from one may send by the other */
    bool any = true;
    while (any) {
        any = drain_one(all, all->in);
        any = drain_one(all, all->out) || any;
    }
    pleat_door_answer(all);
}

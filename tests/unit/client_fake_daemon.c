/* A program in pleatd's place for the tests of how it is started. FAKE_MODE says what it does:
 *   serve  takes the lock (exit 4 when another has it), listens, answers `about` and `quit`
 *   die    says a few lines and exits with 3
 *   crash  says a line and is ended by a signal
 * It ends by itself after a minute in any case. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/paths.h"
#include "wire/message.h"

#define PEERS 32

struct peer {
    int fd; /* 0: free */
    struct pleat_reader *reader;
};

static struct peer peers[PEERS];
static const char *socket_path;

static void send_all(int fd, struct pleat_string *out)
{
    size_t sent = 0;
    while (sent < out->length) {
        ssize_t count = send(fd, out->text + sent, out->length - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    pleat_string_finish(out);
}

/* What the tests want to know about how this process was started. */
static json_t *about(void)
{
    char cwd[256] = "", target[256];
    json_t *fds = json_array();
    for (int fd = 0; fd < 256; fd++) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        if (length < 0)
            continue;
        target[length] = '\0';
        /* its own sockets and its lock aside */
        if (fd < 3 || (strncmp(target, "socket:", 7) != 0 && !strstr(target, "lock")))
            json_array_append_new(fds, json_pack("[i,s]", fd, target));
    }
    struct sigaction action;
    sigset_t mask;
    sigaction(SIGUSR1, NULL, &action);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    const char *directory = getenv("PLEAT_DIR");
    return json_pack("{s:i,s:i,s:o,s:s,s:s,s:b,s:b}", "pid", getpid(), "sid", getsid(0), "fds", fds,
                     "cwd", getcwd(cwd, sizeof(cwd)) ? cwd : "", "PLEAT_DIR",
                     directory ? directory : "", "usr1_default", action.sa_handler == SIG_DFL,
                     "usr1_blocked", sigismember(&mask, SIGUSR1));
}

static void answer(int fd, const struct pleat_message *message)
{
    struct pleat_string out = {0};
    if (message->kind != PLEAT_REQUEST)
        return;
    bool quit = strcmp(message->method, "quit") == 0;
    if (pleat_write_result(&out, message->id, quit ? NULL : about()) == 0)
        send_all(fd, &out);
    if (quit) {
        unlink(socket_path);
        exit(0);
    }
}

static void drop(struct peer *peer)
{
    close(peer->fd);
    pleat_reader_destroy(peer->reader);
    memset(peer, 0, sizeof(*peer));
}

static void serve_peer(struct peer *peer)
{
    char buffer[4096];
    struct pleat_message message;
    int got = 0;
    ssize_t count = recv(peer->fd, buffer, sizeof(buffer), 0);
    if (count <= 0 || pleat_reader_feed(peer->reader, buffer, (size_t)count, NULL)) {
        drop(peer);
        return;
    }
    while ((got = pleat_reader_next(peer->reader, &message, NULL)) > 0) {
        answer(peer->fd, &message);
        pleat_message_finish(&message);
    }
    if (got < 0)
        drop(peer);
}

static void welcome(int listening)
{
    struct pleat_string out = {0};
    for (int i = 0; i < PEERS; i++) {
        if (peers[i].fd)
            continue;
        peers[i].fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (pleat_reader_create(&peers[i].reader) || pleat_write_hello(&out, "daemon", NULL))
            exit(1);
        send_all(peers[i].fd, &out);
        return;
    }
}

static void serve(int listening)
{
    for (;;) {
        struct pollfd polled[PEERS + 1] = {{.fd = listening, .events = POLLIN}};
        for (int i = 0; i < PEERS; i++)
            polled[i + 1] = (struct pollfd){.fd = peers[i].fd ? peers[i].fd : -1, .events = POLLIN};
        if (poll(polled, PEERS + 1, -1) < 0)
            continue;
        for (int i = 0; i < PEERS; i++)
            if (polled[i + 1].revents)
                serve_peer(&peers[i]);
        if (polled[0].revents)
            welcome(listening);
    }
}

static int start_serving(const struct pleat_paths *paths)
{
    char lock[300];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(lock, sizeof(lock), "%s/lock", paths->runtime);
    int held = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (held < 0 || flock(held, LOCK_EX | LOCK_NB)) {
        fprintf(stderr, "busy\n");
        return 4;
    }
    socket_path = paths->socket;
    memcpy(address.sun_path, paths->socket, sizeof(paths->socket));
    unlink(paths->socket);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&address, sizeof(address)) || listen(listening, 64)) {
        perror("listen");
        return 1;
    }
    serve(listening);
    return 0;
}

int main(void)
{
    struct pleat_paths paths;
    struct pleat_error err;
    const char *mode = getenv("FAKE_MODE");
    alarm(60);
    if (pleat_paths_init(&paths, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    if (mode && strcmp(mode, "die") == 0) {
        fprintf(stderr, "reading pleat.conf\npleat.conf:7: unknown key 'sites'\ngiving up\n");
        return 3;
    }
    if (mode && strcmp(mode, "crash") == 0) {
        fprintf(stderr, "about to fail\n");
        raise(SIGTERM);
    }
    return start_serving(&paths);
}

#include "wire/launching.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAGIC UINT32_C(0x316c6c70) /* "pll1" */
#define BACKLOG 16

static int address_of(const char *name, struct sockaddr_un *address, socklen_t *length,
                      struct pleat_error *err)
{
    size_t bytes = strlen(name);
    *length = 0;
    if (bytes == 0 || bytes >= PLEAT_LAUNCHING_NAME)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "PLEAT_LAUNCHING is '%.80s', which is no address", name);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, bytes);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes);
    return 0;
}

int pleat_launching_listen(int *fd, char name[PLEAT_LAUNCHING_NAME], struct pleat_error *err)
{
    uint64_t random[2];
    struct sockaddr_un address;
    socklen_t length = 0;
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return pleat_error_sys(err, errno, "no random numbers for a socket's name");
    snprintf(name, PLEAT_LAUNCHING_NAME, "pleat-launching-%016llx%016llx",
             (unsigned long long)random[0], (unsigned long long)random[1]);
    int code = address_of(name, &address, &length, err);
    if (code)
        return code;
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd >= 0 && bind(*fd, (struct sockaddr *)&address, length) == 0 &&
        listen(*fd, BACKLOG) == 0)
        return 0;
    code = pleat_error_sys(err, errno, "no socket for 'pleat launch'");
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return code;
}

int pleat_launching_accept(int listening, int *fd, pid_t *pid, struct pleat_error *err)
{
    struct ucred who = {0};
    socklen_t length = sizeof(who);
    *fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (*fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
        return PLEAT_E_NOTFOUND;
    if (*fd < 0)
        return pleat_error_sys(err, errno, "cannot listen to 'pleat launch'");
    if (getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && who.uid == geteuid()) {
        *pid = who.pid;
        return 0;
    }
    close(*fd);
    *fd = -1;
    return pleat_error_set(err, PLEAT_E_PERMISSION, "user %ld tried to launch something in a job",
                           (long)who.uid);
}

int pleat_launching_connect(const char *name, int *fd, struct pleat_error *err)
{
    struct sockaddr_un address;
    socklen_t length = 0;
    int code = address_of(name, &address, &length, err);
    if (code)
        return code;
    *fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && connect(*fd, (struct sockaddr *)&address, length) == 0)
        return 0;
    code = pleat_error_sys(err, errno,
                           "cannot reach the agent of this job (has it ended, or does the program "
                           "run elsewhere?)");
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return code;
}

int pleat_launching_send(int fd, enum pleat_launching_kind kind,
                         struct pleat_launching_record *record, struct pleat_error *err)
{
    record->magic = MAGIC;
    record->kind = kind;
    ssize_t sent;
    do
        sent = send(fd, record, sizeof(*record), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(*record)
               ? 0
               : pleat_error_sys(err, errno, "agent and 'pleat launch' lost each other");
}

int pleat_launching_receive(int fd, struct pleat_launching_record *record, struct pleat_error *err)
{
    ssize_t got;
    do
        got = recv(fd, record, sizeof(*record), 0);
    while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return PLEAT_E_NOTFOUND;
    if (got <= 0)
        return pleat_error_set(err, PLEAT_E_CLOSED, "agent and 'pleat launch' lost each other");
    if (got != (ssize_t)sizeof(*record) || record->magic != MAGIC)
        return pleat_error_set(err, PLEAT_E_PROTOCOL,
                               "agent and 'pleat launch' are of different versions");
    record->text[sizeof(record->text) - 1] = '\0';
    record->mailbox[sizeof(record->mailbox) - 1] = '\0';
    record->doorbell[sizeof(record->doorbell) - 1] = '\0';
    record->state[sizeof(record->state) - 1] = '\0';
    return 0;
}

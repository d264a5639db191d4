#include "cli/jobs/file_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/client.h"

enum { PIECE = 64 * 1024, IN = 3, OUT = 4 };

/* ---- in the reading process: only what is allowed after fork in a program with threads ---- */

static bool transfer(int fd, void *data, size_t size, bool writes)
{
    for (char *at = data; size > 0;) {
        ssize_t count = writes ? write(fd, at, size) : read(fd, at, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

/* The file is opened for each piece: it may be made or replaced meanwhile. A FIFO is not opened:
 * the job would find a reader that goes again, and end by SIGPIPE. */
static int32_t read_piece(const char *path, int64_t offset, char *buffer)
{
    struct stat about;
    ssize_t count = 0;
    if (stat(path, &about) || !S_ISREG(about.st_mode))
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
        count = pread(fd, buffer, PIECE, offset);
    if (fd >= 0)
        close(fd);
    return count > 0 ? (int32_t)count : 0;
}

/* The reading process keeps no descriptor of its parent but these two. So nothing waits for the
 * process where it cannot be ended. */
static void serve(const char *path, int in, int out)
{
    static char buffer[PIECE];
    int64_t offset;
    int high_in = fcntl(in, F_DUPFD, OUT + 1), high_out = fcntl(out, F_DUPFD, OUT + 1);
    if (high_in < 0 || high_out < 0 || dup2(high_in, IN) < 0 || dup2(high_out, OUT) < 0)
        _exit(1);
    for (int fd = 0; fd < IN; fd++)
        close(fd);
    (void)close_range(OUT + 1, ~0u, 0);
    while (transfer(IN, &offset, sizeof(offset), false)) {
        int32_t count = read_piece(path, offset, buffer);
        if (!transfer(OUT, &count, sizeof(count), true) ||
            !transfer(OUT, buffer, (size_t)count, true))
            break;
    }
    _exit(0);
}

/* ---- in the asking process ---- */

int pleat_file_reader_open(struct pleat_file_reader *reader, const char *path,
                           struct pleat_error *err)
{
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC))
        return pleat_error_sys(err, errno, "cannot make a pipe to read %s", path);
    if (pipe2(from, O_CLOEXEC)) {
        close(to[0]);
        close(to[1]);
        return pleat_error_sys(err, errno, "cannot make a pipe to read %s", path);
    }
    sigset_t all, before;
    sigfillset(&all); /* no handler of this program may run in the child */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid(), child = fork();
    int reason = errno;
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            serve(path, to[0], from[1]);
        _exit(1);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(to[0]);
    close(from[1]);
    if (child < 0) {
        close(to[1]);
        close(from[0]);
        return pleat_error_sys(err, reason, "cannot start a process to read %s", path);
    }
    *reader = (struct pleat_file_reader){.process = child, .to = to[1], .from = from[0]};
    return 0;
}

/* Waits for an answer. Returns 0 when it has come. A signal just before the wait is not missed. */
static int wait_answer(const struct pleat_file_reader *reader, int limit_ms,
                       const atomic_int *interrupted, struct pleat_error *err)
{
    int64_t until_us = pleat_clock_monotonic_us() + (int64_t)limit_ms * 1000;
    for (;;) {
        struct pollfd polled = {.fd = reader->from, .events = POLLIN};
        int64_t left_us = until_us - pleat_clock_monotonic_us();
        struct timespec limit = {0};
        sigset_t all, before;
        if (left_us > 0) {
            limit.tv_sec = left_us / PLEAT_US_PER_S;
            limit.tv_nsec = left_us % PLEAT_US_PER_S * 1000;
        }
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        bool stop = interrupted && *interrupted;
        int count = stop ? 0 : ppoll(&polled, 1, &limit, &before);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (stop)
            return PLEAT_INTERRUPTED;
        if (count > 0)
            return 0;
        if (count == 0)
            return pleat_error_set(err, PLEAT_E_TIMEOUT, "no answer in %d s",
                                   (limit_ms + 999) / 1000);
    }
}

static int broken(struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_SYSTEM, "the process that reads it has ended");
}

int pleat_file_reader_read(struct pleat_file_reader *reader, int64_t offset, int limit_ms,
                           const atomic_int *interrupted, struct pleat_string *bytes,
                           struct pleat_error *err)
{
    char buffer[4096];
    int32_t count;
    if (!reader->asked && !transfer(reader->to, &offset, sizeof(offset), true))
        return broken(err);
    reader->asked = true;
    int status = wait_answer(reader, limit_ms, interrupted, err);
    if (status)
        return status;
    reader->asked = false;
    if (!transfer(reader->from, &count, sizeof(count), false))
        return broken(err);
    while (count > 0) {
        size_t some = (size_t)count < sizeof(buffer) ? (size_t)count : sizeof(buffer);
        if (!transfer(reader->from, buffer, some, false))
            return broken(err);
        pleat_string_add_bytes(bytes, buffer, some);
        count -= (int32_t)some;
    }
    return bytes->failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

void pleat_file_reader_close(struct pleat_file_reader *reader)
{
    if (!reader->process)
        return;
    close(reader->to);
    close(reader->from);
    (void)kill(reader->process, SIGKILL);
    /* A process that waits for a file system ends when the file system answers; init reaps it
     * then. */
    while (waitpid(reader->process, NULL, reader->asked ? WNOHANG : 0) < 0 && errno == EINTR)
        continue;
    *reader = (struct pleat_file_reader){0};
}

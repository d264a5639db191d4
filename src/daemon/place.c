/* Where pleatd is found: its locks, its socket, and the record of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"

static void lock_path(const char *directory, char *path, size_t size)
{
    snprintf(path, size, "%s/pleatd.lock", directory);
}

static int take(const char *directory, int *fd, struct pleat_error *err)
{
    char path[600], pid[32] = "";
    lock_path(directory, path, sizeof(path));
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0) {
        *fd = 0;
        return pleat_error_sys(err, errno, "cannot open %s", path);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    ssize_t count = pread(*fd, pid, sizeof(pid) - 1, 0);
    pid[count > 0 ? count : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
    close(*fd);
    *fd = 0;
    return pleat_error_set(err, PLEAT_E_BUSY,
                           "another pleatd (process %s) runs for %s already: use that one, or give "
                           "another directory with --dir",
                           pid, directory);
}

/* Overwritten rather than emptied first: who reads it meanwhile finds one or the other. */
static int record(const struct daemon *d, int fd)
{
    char text[sizeof(d->paths.socket) + 32];
    int length = snprintf(text, sizeof(text), "%d\n%s\n", (int)getpid(), d->paths.socket);
    if (pwrite(fd, text, (size_t)length, 0) != length || ftruncate(fd, length))
        return errno ? errno : EIO;
    return 0;
}

static bool is_apart(const struct daemon *d)
{
    return strcmp(d->paths.runtime, d->paths.state) != 0;
}

int place_lock(struct daemon *d, struct pleat_error *err)
{
    int rc = take(d->paths.state, &d->lock_fd, err);
    if (!rc && is_apart(d))
        rc = take(d->paths.runtime, &d->runtime_lock_fd, err);
    if (rc)
        return rc;
    int code = record(d, d->lock_fd);
    if (!code && d->runtime_lock_fd)
        code = record(d, d->runtime_lock_fd);
    return code ? pleat_error_sys(err, code, "cannot write pleatd.lock in %s", d->paths.state) : 0;
}

int place_listen(struct daemon *d, struct pleat_error *err)
{
    return pleat_listener_create(&d->loop, d->paths.socket, client_accept, d, &d->listener, err);
}

/* ---- when it was removed ---- */

/* Nobody else may have come to the runtime directory meanwhile. */
static int lock_again(struct daemon *d, struct pleat_error *err)
{
    char path[600];
    struct stat there, ours;
    int fd = 0;
    if (!is_apart(d))
        return 0;
    lock_path(d->paths.runtime, path, sizeof(path));
    if (d->runtime_lock_fd && stat(path, &there) == 0 && fstat(d->runtime_lock_fd, &ours) == 0 &&
        there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
        return 0;
    int rc = take(d->paths.runtime, &fd, err);
    if (rc)
        return rc;
    if (d->runtime_lock_fd)
        close(d->runtime_lock_fd);
    d->runtime_lock_fd = fd;
    (void)record(d, fd); /* for people; the other one counts */
    return 0;
}

/* In the runtime directory, else in the state directory. */
static int listen_again(struct daemon *d, struct pleat_listener **fresh, struct pleat_error *err)
{
    char path[sizeof(d->paths.state) + 16];
    snprintf(path, sizeof(path), "%s/pleatd.sock", d->paths.runtime);
    int rc = pleat_paths_make_private(d->paths.runtime, err);
    if (!rc)
        rc = lock_again(d, err);
    if (!rc)
        rc = pleat_listener_create(&d->loop, path, client_accept, d, fresh, err);
    if (rc && is_apart(d)) {
        struct pleat_error ignored;
        snprintf(path, sizeof(path), "%s/pleatd.sock", d->paths.state);
        if (strlen(path) < sizeof(d->paths.socket) &&
            pleat_listener_create(&d->loop, path, client_accept, d, fresh, &ignored) == 0)
            rc = 0;
    }
    if (!rc)
        memcpy(d->paths.socket, path, strlen(path) + 1);
    return rc;
}

void place_check(struct daemon *d)
{
    struct pleat_listener *fresh = NULL;
    struct pleat_error err = {0};
    if (!d->listener || !pleat_listener_is_lost(d->listener))
        return;
    if (listen_again(d, &fresh, &err)) {
        if (!d->homeless)
            daemon_log("the socket %s was removed, and no other can be made: %s; trying again",
                       d->paths.socket, err.text);
        d->homeless = true;
        return;
    }
    pleat_listener_close(d->listener);
    d->listener = fresh;
    d->homeless = false;
    int code = record(d, d->lock_fd);
    daemon_log("the socket was removed: listening again, at %s%s%s", d->paths.socket,
               code ? "; that cannot be recorded in pleatd.lock: " : "",
               code ? strerror(code) : "");
}

/* Where pleatd is found: its locks, the record in them, its socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock_record.h"
#include "daemon/daemon.h"
#include "daemon/place.h"
#include "wire/connection.h"

static void lock_path(const char *directory, char *path, size_t size)
{
    snprintf(path, size, "%s/pleatd.lock", directory);
}

static void read_record(int fd, struct pleat_lock_record *found)
{
    char text[512];
    ssize_t count = pread(fd, text, sizeof(text) - 1, 0);
    text[count > 0 ? count : 0] = '\0';
    pleat_lock_record_parse(found, text);
}

static int take(const char *directory, int *fd, struct pleat_error *err)
{
    char path[600];
    struct pleat_lock_record found;
    lock_path(directory, path, sizeof(path));
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0) {
        *fd = 0;
        return pleat_error_sys(err, errno, "cannot open %s", path);
    }
    bool free = flock(*fd, LOCK_EX | LOCK_NB) == 0;
    read_record(*fd, &found);
    /* the lock is not enough: not every file system's locks reach other machines, and jobs live on
     * without a pleatd */
    int rc = pleat_lock_record_check(&found, directory, err);
    if (!rc && !free)
        rc = pleat_error_set(err, PLEAT_E_BUSY,
                             "another pleatd (process %d) runs for %s already: use that one, or "
                             "give another directory with --dir",
                             found.pid, directory);
    if (!rc)
        return 0;
    close(*fd);
    *fd = 0;
    return rc;
}

/* Overwrites the record before it shortens the file, so that a reader always finds one. */
static int record(const struct daemon *d, int fd)
{
    char text[512];
    struct pleat_lock_record own;
    pleat_lock_record_make(&own, d->paths.socket);
    int length = pleat_lock_record_format(&own, text, sizeof(text));
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
    int rc = take(d->paths.state, &d->place.lock_fd, err);
    if (!rc && is_apart(d))
        rc = take(d->paths.runtime, &d->place.runtime_lock_fd, err);
    if (rc)
        return rc;
    int code = record(d, d->place.lock_fd);
    if (!code && d->place.runtime_lock_fd)
        code = record(d, d->place.runtime_lock_fd);
    return code ? pleat_error_sys(err, code, "cannot write pleatd.lock in %s", d->paths.state) : 0;
}

int place_listen(struct daemon *d, void (*accept)(void *, struct pleat_connection *),
                 struct pleat_error *err)
{
    d->place.accept = accept;
    return pleat_listener_create(&d->loop, d->paths.socket, d->place.accept, d, &d->place.listener,
                                 err);
}

/* ---- when lock or socket was removed ---- */

/* If the lock file was removed or replaced, locks it anew. PLEAT_E_BUSY: another process has it
 * now. */
static int lock_again(struct daemon *d, const char *directory, int *lock_fd,
                      struct pleat_error *err)
{
    char path[600];
    struct stat there, ours;
    int fd = 0;
    lock_path(directory, path, sizeof(path));
    if (*lock_fd && stat(path, &there) == 0 && fstat(*lock_fd, &ours) == 0 &&
        there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
        return 0;
    int rc = take(directory, &fd, err);
    if (rc)
        return rc;
    if (*lock_fd)
        close(*lock_fd);
    *lock_fd = fd;
    (void)record(d, fd);
    return 0;
}

/* Listens at a new socket in the runtime directory, or else in the state directory. */
static int listen_again(struct daemon *d, struct pleat_listener **fresh, struct pleat_error *err)
{
    char path[sizeof(d->paths.state) + 16];
    snprintf(path, sizeof(path), "%s/pleatd.sock", d->paths.runtime);
    int rc = pleat_paths_make_private(d->paths.runtime, err);
    if (!rc && is_apart(d))
        rc = lock_again(d, d->paths.runtime, &d->place.runtime_lock_fd, err);
    if (!rc)
        rc = pleat_listener_create(&d->loop, path, d->place.accept, d, fresh, err);
    if (rc && is_apart(d)) {
        struct pleat_error ignored;
        snprintf(path, sizeof(path), "%s/pleatd.sock", d->paths.state);
        if (strlen(path) < sizeof(d->paths.socket) &&
            pleat_listener_create(&d->loop, path, d->place.accept, d, fresh, &ignored) == 0)
            rc = 0;
    }
    if (!rc)
        memcpy(d->paths.socket, path, strlen(path) + 1);
    return rc;
}

/* If locks do not reach other machines, or ours was removed, another pleatd may have the log by
 * now. Ends this one at once then: if both wrote, they would ruin the log. */
static void end_if_displaced(struct daemon *d)
{
    struct pleat_error err = {0};
    struct pleat_lock_record found;
    int rc = lock_again(d, d->paths.state, &d->place.lock_fd, &err);
    if (!rc) {
        read_record(d->place.lock_fd, &found);
        rc = pleat_lock_record_check(&found, d->paths.state, &err);
    }
    if (rc != PLEAT_E_BUSY)
        return; /* also where that cannot be found out */
    daemon_log("ending at once, and leaving the log alone: %s", err.text);
    _exit(1);
}

void place_leave(struct daemon *d)
{
    if (d->place.lock_fd && d->runs.count == 0 && ftruncate(d->place.lock_fd, 0))
        daemon_log("cannot empty pleatd.lock: %s", strerror(errno));
}

void place_check(struct daemon *d)
{
    struct pleat_listener *fresh = NULL;
    struct pleat_error err = {0};
    end_if_displaced(d);
    if (!d->place.listener || !pleat_listener_is_lost(d->place.listener))
        return;
    if (listen_again(d, &fresh, &err)) {
        if (!d->place.homeless)
            daemon_log("the socket %s was removed, and no other can be made: %s; trying again",
                       d->paths.socket, err.text);
        d->place.homeless = true;
        return;
    }
    pleat_listener_close(d->place.listener);
    d->place.listener = fresh;
    d->place.homeless = false;
    int code = record(d, d->place.lock_fd);
    daemon_log("the socket was removed: listening again, at %s%s%s", d->paths.socket,
               code ? "; that cannot be recorded in pleatd.lock: " : "",
               code ? strerror(code) : "");
}

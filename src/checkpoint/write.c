#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"

#define PART ".part"

/* An error of the file system, by what can be done about it. */
static int refuse(struct pleat_error *err, const char *path, int reason, const char *what)
{
    int code = PLEAT_E_SYSTEM;
    if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
        code = PLEAT_E_TOOBIG;
    else if (reason == EACCES || reason == EPERM || reason == EROFS)
        code = PLEAT_E_PERMISSION;
    return pleat_error_set(err, code, "cannot %s %s: %s", what, path, strerror(reason));
}

static int name_part(const char *path, struct pleat_checkpoint_writer *writer,
                     struct pleat_error *err)
{
    size_t length = strlen(path);
    *writer = (struct pleat_checkpoint_writer){.fd = -1};
    writer->path = strdup(path);
    writer->part = malloc(length + sizeof(PART));
    if (!writer->path || !writer->part) {
        pleat_checkpoint_close(writer, true);
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the name of a checkpoint");
    }
    memcpy(writer->part, path, length);
    memcpy(writer->part + length, PART, sizeof(PART));
    return 0;
}

/* Opens the part. In a directory that others may write to, somebody else's file may have its name.
 */
static int open_part(struct pleat_checkpoint_writer *writer, int flags, struct stat *st,
                     struct pleat_error *err)
{
    writer->fd = open(writer->part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
    if (writer->fd < 0)
        return refuse(err, writer->part, errno, "write");
    if (fstat(writer->fd, st))
        return refuse(err, writer->part, errno, "look at");
    if (!S_ISREG(st->st_mode) || st->st_uid != geteuid() || st->st_nlink != 1)
        return pleat_error_set(err, PLEAT_E_PERMISSION,
                               "cannot write %s: there is something else with that name",
                               writer->part);
    return 0;
}

/* What would raise SIGXFSZ in the program. */
static int check_limit(const char *path, uint64_t bytes, struct pleat_error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
        bytes <= limit.rlim_cur)
        return 0;
    return pleat_error_set(err, PLEAT_E_TOOBIG,
                           "cannot write %" PRIu64 " bytes to %s: the size of files is limited to "
                           "%" PRIu64 " (ulimit -f)",
                           bytes, path, (uint64_t)limit.rlim_cur);
}

static int make_part(struct pleat_checkpoint_writer *writer, uint64_t bytes,
                     struct pleat_error *err)
{
    struct stat st = {0};
    int code = open_part(writer, O_CREAT, &st, err);
    if (code)
        return code;
    if (flock(writer->fd, LOCK_EX | LOCK_NB))
        return pleat_error_set(err, PLEAT_E_BUSY, "another program is writing %s", writer->part);
    writer->device = (uint64_t)st.st_dev;
    writer->inode = (uint64_t)st.st_ino;
    if (fchmod(writer->fd, 0600) || ftruncate(writer->fd, 0) || ftruncate(writer->fd, (off_t)bytes))
        return refuse(err, writer->part, errno, "write");
    /* A full disk is found before anything is written. Where that cannot be asked for, the writes
     * find it. */
    if (fallocate(writer->fd, 0, 0, (off_t)bytes) && errno != EOPNOTSUPP && errno != ENOSYS)
        return refuse(err, writer->part, errno, "write");
    return 0;
}

int pleat_checkpoint_create(const char *path, uint64_t file_bytes,
                            struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    struct stat st = {0};
    *writer = (struct pleat_checkpoint_writer){.fd = -1};
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return pleat_error_set(err, PLEAT_E_INVALID, "cannot write the checkpoint %s: that is %s",
                               path, S_ISDIR(st.st_mode) ? "a directory" : "no file");
    int code = check_limit(path, file_bytes, err);
    if (!code)
        code = name_part(path, writer, err);
    if (code)
        return code;
    code = make_part(writer, file_bytes, err);
    if (code) /* another writer's part, or what is no part of ours, must stay */
        pleat_checkpoint_close(writer, !writer->inode);
    return code;
}

/* ---- on several nodes ---- */

int pleat_checkpoint_sign(const struct pleat_checkpoint_writer *writer, uint64_t number,
                          struct pleat_error *err)
{
    int code = pleat_checkpoint_write(writer->fd, 0, &number, sizeof(number), err);
    return code ? code : pleat_checkpoint_give(writer, err);
}

int pleat_checkpoint_join_signed(const char *path, uint64_t number,
                                 struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    struct stat st = {0};
    uint64_t there = ~number;
    int code = name_part(path, writer, err);
    if (!code)
        code = open_part(writer, 0, &st, err);
    if (!code && (pread(writer->fd, &there, sizeof(there), 0) != sizeof(there) || there != number))
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not the file that rank 0 has made",
                               writer->part);
    if (!code)
        code = check_limit(path, (uint64_t)st.st_size, err);
    if (!code)
        return 0;
    pleat_checkpoint_close(writer, true);
    if (!err || code == PLEAT_E_NOMEM)
        return code;
    char why[sizeof(err->text)];
    memcpy(why, err->text, sizeof(why));
    return pleat_error_set(err, code, "%s (the directory must be the same on all nodes)", why);
}

int pleat_checkpoint_give(const struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    return fsync(writer->fd) ? refuse(err, writer->part, errno, "write") : 0;
}

void pleat_checkpoint_forget(const struct pleat_checkpoint_writer *writer)
{
    (void)posix_fadvise(writer->fd, 0, 0, POSIX_FADV_DONTNEED);
}

int pleat_checkpoint_join(const char *path, uint64_t device, uint64_t inode,
                          struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    struct stat st = {0};
    int code = name_part(path, writer, err);
    if (!code)
        code = open_part(writer, 0, &st, err);
    if (!code && ((uint64_t)st.st_dev != device || (uint64_t)st.st_ino != inode))
        code = pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not the file that rank 0 has made",
                               writer->part);
    if (!code)
        code = check_limit(path, (uint64_t)st.st_size, err);
    if (code)
        pleat_checkpoint_close(writer, true);
    return code;
}

int pleat_checkpoint_write(int fd, uint64_t offset, const void *data, size_t bytes,
                           struct pleat_error *err)
{
    const char *at = data;
    while (bytes) {
        ssize_t wrote = pwrite(fd, at, bytes, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return refuse(err, "the checkpoint", wrote < 0 ? errno : ENOSPC, "write");
        at += wrote;
        offset += (uint64_t)wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

/* The name, too, must survive a crash of the machine. */
static int sync_directory(const char *path, struct pleat_error *err)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int reason = fd < 0 || fsync(fd) ? errno : 0;
    free(copy);
    if (fd >= 0)
        close(fd);
    /* some file systems have nothing to sync there */
    return reason && reason != EINVAL ? refuse(err, path, reason, "be sure of the name of") : 0;
}

int pleat_checkpoint_flush(struct pleat_checkpoint_writer *writer,
                           const struct pleat_checkpoint *checkpoint, struct pleat_error *err)
{
    void *head = malloc(checkpoint->head_bytes);
    if (!head)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the head of a checkpoint");
    pleat_checkpoint_encode(checkpoint, head);
    int code = pleat_checkpoint_write(writer->fd, 0, head, checkpoint->head_bytes, err);
    free(head);
    if (!code && fsync(writer->fd))
        code = refuse(err, writer->part, errno, "write");
    if (!code) /* what is read from now on comes from the disk */
        (void)posix_fadvise(writer->fd, 0, 0, POSIX_FADV_DONTNEED);
    return code;
}

bool pleat_checkpoint_replaces(const struct pleat_checkpoint_writer *writer)
{
    struct stat st;
    return stat(writer->path, &st) == 0;
}

int pleat_checkpoint_reread(const struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    struct pleat_checkpoint again = {0};
    int fd = -1;
    int code = pleat_checkpoint_open(writer->part, &again, &fd, err);
    pleat_checkpoint_finish(&again);
    if (fd >= 0)
        close(fd);
    return code;
}

int pleat_checkpoint_name(struct pleat_checkpoint_writer *writer, struct pleat_error *err)
{
    if (rename(writer->part, writer->path))
        return refuse(err, writer->path, errno, "give its name to");
    return sync_directory(writer->path, err);
}

void pleat_checkpoint_close(struct pleat_checkpoint_writer *writer, bool keep)
{
    if (!keep && writer->part)
        (void)unlink(writer->part);
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->path);
    free(writer->part);
    *writer = (struct pleat_checkpoint_writer){.fd = -1};
}

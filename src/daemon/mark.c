/* How far the log was, in a file beside it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/daemon.h"

enum { INSTANCE_LENGTH = 16 };

static void mark_path(const struct daemon *d, char *path, size_t size)
{
    snprintf(path, size, "%s/log.mark", d->paths.state);
}

/* Always as long, so that it is written over in one piece. */
void log_mark(struct daemon *d)
{
    char path[600], text[96];
    int length = snprintf(text, sizeof(text), "%16s %019lld %019lld\n", d->instance,
                          (long long)pleat_store_last_seq(d->store), (long long)d->last_job);
    mark_path(d, path, sizeof(path));
    if (d->mark_fd <= 0)
        d->mark_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (d->mark_fd < 0 || pwrite(d->mark_fd, text, (size_t)length, 0) != length)
        daemon_log("cannot write %s: %s", path, strerror(errno));
}

static bool read_mark(const struct daemon *d, char *instance, long long *seq, long long *job)
{
    char path[600], text[96] = "";
    mark_path(d, path, sizeof(path));
    FILE *file = fopen(path, "re");
    bool good = file && fgets(text, sizeof(text), file) &&
                sscanf(text, "%16[0-9a-f] %lld %lld", instance, seq, job) == 3 &&
                strlen(instance) == INSTANCE_LENGTH;
    if (file)
        fclose(file);
    return good;
}

bool log_is_behind(struct daemon *d)
{
    char instance[INSTANCE_LENGTH + 1];
    long long seq, job;
    if (!read_mark(d, instance, &seq, &job))
        return false;
    if (pleat_store_last_seq(d->store) >= seq)
        return false;
    if (job > d->last_job)
        d->last_job = job;
    return true;
}

bool log_mark_instance(struct daemon *d)
{
    char instance[INSTANCE_LENGTH + 1];
    long long seq, job;
    if (!read_mark(d, instance, &seq, &job))
        return false;
    snprintf(d->instance, sizeof(d->instance), "%s", instance);
    return true;
}

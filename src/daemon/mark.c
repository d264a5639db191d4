/* The mark: a file that says how far the log was. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock_record.h"
#include "daemon/daemon.h"
#include "daemon/mark.h"

enum { INSTANCE_LENGTH = 16, SECRET_LENGTH = 2 * PLEAT_SIPHASH_KEY };

void log_path(const struct daemon *d, char *path, size_t size)
{
    snprintf(path, size, "%s/log.sqlite", d->paths.state);
}

static void mark_path(const struct daemon *d, char *path, size_t size)
{
    snprintf(path, size, "%s/log.mark", d->paths.state);
}

void log_mark_secret(struct daemon *d)
{
    char path[600], text[192] = "", word[SECRET_LENGTH + 1];
    mark_path(d, path, sizeof(path));
    FILE *file = fopen(path, "re");
    if (file && fgets(text, sizeof(text), file) &&
        sscanf(text, "%*s %*s %*s %*s %*s %32[0-9a-f]", word) == 1 && strlen(word) == SECRET_LENGTH)
        memcpy(d->secret_text, word, sizeof(word));
    if (file)
        fclose(file);
}

/* The text always has the same length, so one pwrite replaces it as a whole. A salvage writes it
 * before the secret is known, which may be nowhere else then. */
void log_mark(struct daemon *d)
{
    char path[600], text[192], boot[40];
    if (!*d->secret_text)
        log_mark_secret(d);
    pleat_boot_id(boot, sizeof(boot));
    int length = snprintf(text, sizeof(text), "%16s %019lld %019lld %36s %020lld %*s\n",
                          d->instance, (long long)pleat_store_last_seq(d->store),
                          (long long)d->jobs.last_number, boot, (long long)d->clock.offset_us,
                          SECRET_LENGTH, *d->secret_text ? d->secret_text : "-");
    mark_path(d, path, sizeof(path));
    bool first = d->log.mark_fd <= 0;
    if (first)
        d->log.mark_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (d->log.mark_fd < 0 || pwrite(d->log.mark_fd, text, (size_t)length, 0) != length)
        daemon_log("cannot write %s: %s", path, strerror(errno));
    else if (first) /* so that after a power loss the file has an old or a new text, never none */
        (void)fsync(d->log.mark_fd);
}

static bool read_mark(const struct daemon *d, char *instance, long long *seq, long long *job)
{
    char path[600], text[192] = "";
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
    if (job > d->jobs.last_number)
        d->jobs.last_number = job;
    return pleat_store_last_seq(d->store) < seq;
}

bool log_mark_is_lost(const struct daemon *d)
{
    char instance[INSTANCE_LENGTH + 1];
    long long seq, job;
    return pleat_store_last_seq(d->store) > 0 && !read_mark(d, instance, &seq, &job);
}

/* While pleatd was down, the system's clock may have been set. If jobs run or wait, what they were
 * promised and what they used must be counted in time that really went by. */
void log_mark_clock(struct daemon *d, bool keep)
{
    char path[600], text[192] = "", boot[40], now[40];
    long long offset;
    int64_t monotonic = pleat_clock_monotonic_us();
    mark_path(d, path, sizeof(path));
    pleat_boot_id(now, sizeof(now));
    FILE *file = fopen(path, "re");
    if (keep && file && fgets(text, sizeof(text), file) &&
        sscanf(text, "%*s %*s %*s %39s %lld", boot, &offset) == 2 && !strcmp(boot, now))
        d->clock.offset_us = offset;
    if (file)
        fclose(file);
    if (d->clock.offset_us + monotonic < d->clock.last_us) {
        daemon_log(
            "the clock is %.0f s behind the last record of the log: time goes on from that record",
            (double)(d->clock.last_us - d->clock.offset_us - monotonic) / 1e6);
        d->clock.offset_us = d->clock.last_us - monotonic;
    }
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

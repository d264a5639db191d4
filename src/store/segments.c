/* Segments: files beside the log with records that were moved out of it.
 *
 * LOG-archive/<number of the first record, 20 digits>: a header, the records, a checksum. A segment
 * is complete or not there: it is written under another name, and renamed once it is on the disk.
 * Only then are its records removed from the log. Records that are both in a segment and in the log
 * are read from the log.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write.h"
#include "store/store-internal.h"

static const char magic[8] = "PLEATLOG";
enum { VERSION = 1, DIGITS = 20 };

struct header {
    char magic[8];
    uint32_t version, record_size;
    int64_t first, count;
};

struct segment {
    struct header header;
    char *path;
    unsigned char *records;
    int64_t checksum;
};

static char *directory_of(const char *log)
{
    struct pleat_string path = {0};
    pleat_string_addf(&path, "%s-archive", log);
    if (path.failed)
        pleat_string_finish(&path);
    return path.text;
}

static int out_of_memory(const struct pleat_store *store, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the records of %s", store->path);
}

/* ---- writing ---- */

static int collect(void *arg, int64_t seq, const void *record)
{
    struct segment *segment = arg;
    struct header *header = &segment->header;
    if (seq - header->first == header->count)
        return 1; /* the segment is full */
    memcpy(segment->records + (size_t)(seq - header->first) * header->record_size, record,
           header->record_size);
    return 0;
}

/* The file is on the disk when this returns 0; an errno otherwise. */
static int write_file(const char *path, const struct segment *segment)
{
    size_t size = (size_t)segment->header.count * segment->header.record_size;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int reason = pleat_write_all(fd, &segment->header, sizeof(segment->header));
    if (!reason)
        reason = pleat_write_all(fd, segment->records, size);
    if (!reason)
        reason = pleat_write_all(fd, &segment->checksum, sizeof(segment->checksum));
    if (!reason && fsync(fd))
        reason = errno;
    if (close(fd) && !reason)
        reason = errno;
    return reason;
}

static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int reason = fsync(fd) ? errno : 0;
    close(fd);
    return reason;
}

static int is_segment(const struct dirent *entry)
{
    return strlen(entry->d_name) == DIGITS && strspn(entry->d_name, "0123456789") == DIGITS;
}

/* Removes segments that begin after record `first`. They are from a log that was damaged since:
 * this log still has the records from `first` on itself, and may have others under the same
 * numbers. */
static void remove_later(const char *directory, int64_t first)
{
    struct dirent **names = NULL;
    int count = scandir(directory, &names, is_segment, alphasort);
    for (int i = 0; i < count; i++) {
        struct pleat_string path = {0};
        pleat_string_addf(&path, "%s/%s", directory, names[i]->d_name);
        if (!path.failed && strtoll(names[i]->d_name, NULL, 10) > first)
            unlink(path.text);
        pleat_string_finish(&path);
        free(names[i]);
    }
    free(names);
}

static int publish(struct pleat_store *store, const struct segment *segment,
                   struct pleat_error *err)
{
    struct pleat_string fresh = {0}, final = {0};
    char *directory = directory_of(store->path);
    if (directory) {
        pleat_string_addf(&fresh, "%s/new", directory);
        pleat_string_addf(&final, "%s/%0*lld", directory, DIGITS, (long long)segment->header.first);
    }
    int reason = ENOMEM;
    if (directory && !fresh.failed && !final.failed) {
        reason = mkdir(directory, 0700) && errno != EEXIST ? errno : 0;
        if (!reason)
            reason = write_file(fresh.text, segment);
        if (!reason)
            remove_later(directory, segment->header.first);
        if (!reason && rename(fresh.text, final.text))
            reason = errno;
        if (!reason)
            reason = sync_directory(directory);
        if (reason)
            unlink(fresh.text);
    }
    int status = reason ? pleat_error_sys(err, reason, "cannot move records of %s aside into %s",
                                          store->path, directory ? directory : "its archive")
                        : 0;
    pleat_string_finish(&fresh);
    pleat_string_finish(&final);
    free(directory);
    return status;
}

int pleat_store_set_aside(struct pleat_store *store, int64_t to_seq, struct pleat_error *err)
{
    struct segment segment = {.header = {.version = VERSION,
                                         .record_size = (uint32_t)store->record_size,
                                         .first = store->first_seq,
                                         .count = to_seq - store->first_seq + 1}};
    if (store->open)
        return pleat_error_set(err, PLEAT_E_STATE, "a transaction on %s is open", store->path);
    if (to_seq > store->last_seq)
        return pleat_error_set(err, PLEAT_E_INVALID, "no record %lld in %s", (long long)to_seq,
                               store->path);
    if (segment.header.count <= 0)
        return 0;
    memcpy(segment.header.magic, magic, sizeof(magic));
    size_t size = (size_t)segment.header.count * store->record_size;
    segment.records = malloc(size);
    if (!segment.records)
        return out_of_memory(store, err);
    int status = pleat_store_read_rows(store, segment.header.first, collect, &segment, err);
    if (status >= 0) {
        segment.checksum = pleat_store_checksum(segment.header.first, segment.records, size);
        status = publish(store, &segment, err);
    }
    free(segment.records);
    return status;
}

/* ---- reading ---- */

static void segment_finish(struct segment *segment)
{
    free(segment->path);
    free(segment->records);
    memset(segment, 0, sizeof(*segment));
}

static int damaged(const struct segment *segment, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_CORRUPT, "%s is damaged, or no part of a log of Pleat's",
                           segment->path);
}

static int take_records(struct pleat_store *store, struct segment *segment, FILE *file,
                        struct pleat_error *err)
{
    struct stat st;
    struct header *header = &segment->header;
    if (fstat(fileno(file), &st) || fread(header, sizeof(*header), 1, file) != 1 ||
        memcmp(header->magic, magic, sizeof(magic)) || header->version != VERSION ||
        header->record_size != store->record_size || header->count < 1 || header->first < 1)
        return damaged(segment, err);
    int64_t room = st.st_size - (int64_t)sizeof(*header) - (int64_t)sizeof(segment->checksum);
    if (room / (int64_t)header->record_size != header->count)
        return damaged(segment, err);
    size_t size = (size_t)header->count * header->record_size;
    segment->records = malloc(size);
    if (!segment->records)
        return out_of_memory(store, err);
    if (fread(segment->records, 1, size, file) != size ||
        fread(&segment->checksum, sizeof(segment->checksum), 1, file) != 1 ||
        segment->checksum != pleat_store_checksum(header->first, segment->records, size))
        return damaged(segment, err);
    return 0;
}

static int segment_read(struct pleat_store *store, const char *directory, const char *name,
                        struct segment *segment, struct pleat_error *err)
{
    struct pleat_string path = {0};
    pleat_string_addf(&path, "%s/%s", directory, name);
    memset(segment, 0, sizeof(*segment));
    if (path.failed)
        return out_of_memory(store, err);
    segment->path = path.text;
    FILE *file = fopen(path.text, "re");
    int status = file ? take_records(store, segment, file, err)
                      : pleat_error_sys(err, errno, "cannot read %s", path.text);
    if (file)
        fclose(file);
    if (status)
        segment_finish(segment);
    return status;
}

/* Calls back for each segment of the log at `path`, the oldest first. A callback that returns other
 * than 0 ends it, and that value is returned. */
static int each_segment(struct pleat_store *store, const char *path,
                        int (*callback)(void *arg, const struct segment *segment), void *arg,
                        struct pleat_error *err)
{
    struct dirent **names = NULL;
    char *directory = directory_of(path);
    if (!directory)
        return out_of_memory(store, err);
    int count = scandir(directory, &names, is_segment, alphasort);
    int status =
        count < 0 && errno != ENOENT ? pleat_error_sys(err, errno, "cannot read %s", directory) : 0;
    for (int i = 0; i < count; i++) {
        struct segment segment;
        if (!status &&
            !(status = segment_read(store, directory, names[i]->d_name, &segment, err))) {
            status = callback(arg, &segment);
            segment_finish(&segment);
        }
        free(names[i]);
    }
    free(names);
    free(directory);
    return status;
}

struct reading {
    struct pleat_store *store;
    int64_t seq;
    pleat_store_record_callback callback;
    void *arg;
};

static int read_segment(void *arg, const struct segment *segment)
{
    struct reading *reading = arg;
    const struct header *header = &segment->header;
    if (header->first > reading->seq)
        return 0; /* a gap: pleat_store_read_segments reports it */
    while (reading->seq < header->first + header->count &&
           reading->seq < reading->store->first_seq) {
        memcpy(reading->store->record,
               segment->records + (size_t)(reading->seq - header->first) * header->record_size,
               header->record_size);
        int status = reading->callback(reading->arg, reading->seq, reading->store->record);
        if (status)
            return status;
        reading->seq++;
    }
    return 0;
}

/* Records from *seq on, up to those that are in the log; *seq is then the first that was not. */
static int read_segments(struct pleat_store *store, int64_t *seq,
                         pleat_store_record_callback callback, void *arg, struct pleat_error *err)
{
    struct reading reading = {store, *seq, callback, arg};
    int status = each_segment(store, store->path, read_segment, &reading, err);
    *seq = reading.seq;
    if (!status && reading.seq < store->first_seq)
        return pleat_error_set(
            err, PLEAT_E_NOTFOUND,
            "records %lld to %lld of %s were moved aside into %s-archive, and are "
            "not there",
            (long long)reading.seq, (long long)store->first_seq - 1, store->path, store->path);
    return status;
}

int pleat_store_read(struct pleat_store *store, int64_t from_seq,
                     pleat_store_record_callback callback, void *arg, struct pleat_error *err)
{
    int64_t seq = from_seq < 1 ? 1 : from_seq;
    int status = 0;
    if (store->reading)
        return pleat_error_set(err, PLEAT_E_STATE, "%s is being read", store->path);
    if (seq < store->first_seq) {
        store->reading = true;
        status = read_segments(store, &seq, callback, arg, err);
        store->reading = false;
    }
    return status ? status : pleat_store_read_rows(store, seq, callback, arg, err);
}

static int take_segment(void *arg, const struct segment *segment)
{
    struct reading *reading = arg;
    const struct header *header = &segment->header;
    if (header->first > reading->seq)
        return 1; /* a gap: the records before this segment are lost */
    for (; reading->seq < header->first + header->count; reading->seq++) {
        int status = reading->callback(reading->arg, reading->seq,
                                       segment->records + (size_t)(reading->seq - header->first) *
                                                              header->record_size);
        if (status)
            return status;
    }
    return 0;
}

int pleat_store_salvage_segments(struct pleat_store *store, const char *path,
                                 pleat_store_record_callback callback, void *arg)
{
    struct reading reading = {store, 1, callback, arg};
    int status = each_segment(store, path, take_segment, &reading, NULL);
    return status == PLEAT_E_NOMEM ? status : 0;
}

/* replay.c - replays what a daemon recorded: the policies of this build decide again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common/reply.h"
#include "cli/sim/experiment.h"
#include "sim/replay.h"
#include "store/store.h"

enum { COPIES_MAX = 20 };

/* ---- a copy, so that the log is unchanged, even where a daemon writes to it ---- */

struct copy {
    char directory[512];
    char log[600], wal[610], archive[620];
};

/* What was read of a log. */
struct recorded {
    struct pleat_events records;
    /* state before the first record; empty: that is the first record of all */
    struct pleat_string state;
    size_t before; /* number of records that were removed */
};

static int copy_bytes(int in, int out)
{
    ssize_t count;
    while ((count = sendfile(out, in, NULL, 1 << 20)) > 0)
        ;
    return count < 0 ? errno : 0;
}

/* Copies a file. Returns 0 or an errno. */
static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return errno;
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int reason = out < 0 ? errno : copy_bytes(in, out);
    if (out >= 0 && close(out) && !reason)
        reason = errno;
    close(in);
    return reason;
}

static bool same_moment(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_size == b->st_size && a->st_ino == b->st_ino;
}

/* Whether two write-ahead logs begin with the same header. It changes whenever the file is written
 * anew. Two files that do not exist have the same. */
static bool same_header(const char *one, const char *other)
{
    char headers[2][32] = {{0}};
    const char *const paths[] = {one, other};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "re");
        size_t count = file ? fread(headers[i], 1, sizeof(headers[i]), file) : 0;
        if (file)
            fclose(file);
        if (count < sizeof(headers[i]))
            memset(headers[i], 0, sizeof(headers[i]));
    }
    return !memcmp(headers[0], headers[1], sizeof(headers[0]));
}

/* Copies the log and its write-ahead log. A daemon that writes appends to the latter. Only at a
 * checkpoint of SQLite, or when the write-ahead log is begun anew, the copies do not match: then
 * both are copied again. */
static int copy_log(const char *path, struct copy *copy, struct pleat_error *err)
{
    char wal[4200];
    snprintf(wal, sizeof(wal), "%s-wal", path);
    for (int i = 0; i < COPIES_MAX; i++) {
        struct stat before, after;
        int reason = stat(path, &before) ? errno : 0;
        if (!reason && !S_ISREG(before.st_mode))
            return pleat_error_set(err, PLEAT_E_INVALID, "%s: not a regular file", path);
        if (!reason)
            reason = copy_file(path, copy->log);
        if (reason)
            return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", path,
                                   strerror(reason));
        reason = copy_file(wal, copy->wal);
        if (reason && reason != ENOENT)
            return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", wal,
                                   strerror(reason));
        if (reason == ENOENT)
            unlink(copy->wal);
        if (stat(path, &after) == 0 && same_moment(&before, &after) && same_header(wal, copy->wal))
            return 0;
    }
    return pleat_error_set(
        err, PLEAT_E_BUSY,
        "%s: the log changes while it is copied; try again when fewer jobs start and end", path);
}

/* Archived records never change, so they are read where they are. */
static int link_archive(const char *path, const struct copy *copy, struct pleat_error *err)
{
    struct pleat_string archive = {0};
    char *whole = realpath(path, NULL);
    pleat_string_addf(&archive, "%s-archive", whole ? whole : path);
    free(whole);
    int rc = archive.failed || symlink(archive.text, copy->archive)
                 ? pleat_error_sys(err, errno, "cannot make a copy of %s", path)
                 : 0;
    pleat_string_finish(&archive);
    return rc;
}

static int begin_copy(struct copy *copy, struct pleat_error *err)
{
    const char *where = getenv("TMPDIR");
    snprintf(copy->directory, sizeof(copy->directory), "%.400s/pleat-replay-XXXXXX",
             where && *where ? where : "/tmp");
    if (!mkdtemp(copy->directory))
        return pleat_error_sys(err, errno, "cannot make a directory for a copy of the log");
    snprintf(copy->log, sizeof(copy->log), "%s/log.sqlite", copy->directory);
    snprintf(copy->wal, sizeof(copy->wal), "%s-wal", copy->log);
    snprintf(copy->archive, sizeof(copy->archive), "%s-archive", copy->log);
    return 0;
}

static void end_copy(const struct copy *copy)
{
    unlink(copy->archive);
    unlink(copy->wal);
    unlink(copy->log);
    rmdir(copy->directory);
}

/* ---- reading ---- */

static int add_record(void *arg, int64_t seq, const void *record)
{
    struct pleat_events *records = arg;
    (void)seq;
    return pleat_array_push(records, *(const struct pleat_event *)record) ? PLEAT_E_NOMEM : 0;
}

/* Reads from the oldest checkpoint on, where the records before it were removed. */
static int read_from_checkpoint(struct pleat_store *store, struct recorded *recorded,
                                struct pleat_error *err)
{
    int64_t first = pleat_store_first_seq(store), seq = 0;
    int rc = pleat_store_get_checkpoint(store, first - 1, &seq, &recorded->state, err);
    if (!rc && seq != first - 1)
        rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "there is no checkpoint at record %lld",
                             (long long)first - 1);
    if (rc)
        return rc;
    recorded->records.count = 0;
    recorded->before = (size_t)seq;
    return pleat_store_read(store, first, add_record, &recorded->records, err);
}

static int read_copy(const char *path, const struct copy *copy, struct recorded *recorded,
                     struct pleat_error *err)
{
    struct pleat_store *store;
    struct pleat_error said = {0};
    int rc = pleat_store_open(copy->log, sizeof(struct pleat_event), &store, &said);
    if (!rc) {
        rc = pleat_store_read(store, 1, add_record, &recorded->records, &said);
        if (rc == PLEAT_E_NOTFOUND)
            rc = read_from_checkpoint(store, recorded, &said);
        pleat_store_close(store);
    }
    if (!rc)
        return 0;
    /* drops advice that is for programs which want to write the log */
    char *at = strrchr(said.text, ';');
    if (at)
        *at = '\0';
    at = strstr(said.text, copy->log); /* names the user's log instead of its copy */
    if (!at)
        return pleat_error_set(err, rc, "%s: %s", path, said.text);
    *at = '\0';
    return pleat_error_set(err, rc, "%s%.200s%s", said.text, path, at + strlen(copy->log));
}

static int read_log(const char *path, struct recorded *recorded, struct pleat_error *err)
{
    struct copy copy;
    int rc = begin_copy(&copy, err);
    if (rc)
        return rc;
    rc = copy_log(path, &copy, err);
    if (!rc)
        rc = link_archive(path, &copy, err);
    if (!rc)
        rc = read_copy(path, &copy, recorded, err);
    end_copy(&copy);
    return rc;
}

/* ---- telling ---- */

static json_t *event_json(const struct pleat_event *event)
{
    char bytes[2 * sizeof(event->u.bytes) + 1];
    for (size_t i = 0; i < sizeof(event->u.bytes); i++)
        snprintf(bytes + 2 * i, 3, "%02x", event->u.bytes[i]);
    if (event->kind == 0)
        return json_null();
    return json_pack("{s:s, s:f, s:I, s:I, s:s}", "kind", pleat_event_name(event->kind), "time_s",
                     (double)event->time_us / 1e6, "component", (json_int_t)event->component,
                     "flags", (json_int_t)event->flags, "bytes", bytes);
}

static void print_event(const char *what, const struct pleat_event *event)
{
    if (event->kind == 0) {
        printf("%-12s nothing\n", what);
        return;
    }
    printf("%-12s %s at %.6f s", what, pleat_event_name(event->kind), (double)event->time_us / 1e6);
    if (event->component != PLEAT_NONE)
        printf(", component %" PRIu32, event->component);
    if (event->kind == PLEAT_EV_START)
        printf(": %" PRId32 " processors on site %" PRIu32, event->u.start.processors,
               event->u.start.site);
    if (event->kind == PLEAT_EV_RESIZE)
        printf(": to %" PRId32 " processors, offered %" PRId32 ", accepted %" PRId32,
               event->u.resize.processors, event->u.resize.offered, event->u.resize.accepted);
    putchar('\n');
}

static int tell(const char *path, const struct recorded *recorded,
                const struct pleat_replay_result *result)
{
    const struct pleat_events *records = &recorded->records;
    static const struct pleat_event nothing;
    bool same = result->different == result->records;
    const struct pleat_event *logged =
        result->different < records->count ? &records->items[result->different] : &nothing;
    int code = same ? PLEAT_EXIT_OK : PLEAT_EXIT_FAILED;
    if (pleat_settings.json) {
        json_t *json = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "log", path, "before",
            (json_int_t)recorded->before, "records", (json_int_t)result->records, "passes",
            (json_int_t)result->passes, "decisions", (json_int_t)result->decisions, "same", same,
            "different_at",
            same ? json_null()
                 : json_integer((json_int_t)recorded->before + (json_int_t)result->different + 1),
            "logged", same ? json_null() : event_json(logged), "decided",
            same ? json_null() : event_json(&result->decided));
        int printed = pleat_reply_print(json);
        json_decref(json);
        return printed ? printed : code;
    }
    if (recorded->before)
        printf("%-12s %zu records, which are not there any more\n", "after", recorded->before);
    printf("%-12s %zu\n%-12s %zu\n%-12s %zu\n", "records", result->records, "passes",
           result->passes, "decisions", result->decisions);
    if (same) {
        printf("%-12s the same\n", "result");
        return code;
    }
    printf("%-12s different at record %zu\n", "result", recorded->before + result->different + 1);
    print_event("logged", logged);
    print_event("decided", &result->decided);
    return code;
}

int pleat_sim_replay(const char *path)
{
    struct recorded recorded = {0};
    const struct pleat_events *records = &recorded.records;
    struct pleat_replay_result result;
    struct pleat_error err = {0};
    int rc = read_log(path, &recorded, &err);
    if (!rc) {
        rc = recorded.before ? pleat_replay_policies_after(&recorded.state, records->items,
                                                           records->count, &result, &err)
                             : pleat_replay_policies(records->items, records->count, &result, &err);
        if (rc)
            pleat_error_prefix(&err, rc, "%s", path);
    }
    int code = rc ? pleat_fail(&err) : tell(path, &recorded, &result);
    pleat_array_finish(&recorded.records);
    pleat_string_finish(&recorded.state);
    return code;
}

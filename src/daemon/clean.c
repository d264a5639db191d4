/* `clean`: removes what is kept about jobs that ended long ago, when their user asks for it.
 *
 * A request waits until nothing else is to be done: an input that is under way names a component by
 * its index, and must not find another job there. Output is removed before the records that name
 * its job, so that after an interruption the same request finishes the work.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/archive.h"
#include "daemon/clean.h"
#include "daemon/clients.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/methods.h"
#include "daemon/notify.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"

enum { AT_ONCE = 500 }; /* jobs handled for one answer */

struct wish {
    struct wish *next;
    struct client *client;
    int64_t request, after, before_us;
    bool outputs, dry_run;
};

/* A job that the request may remove. */
struct candidate {
    int64_t job;
    size_t account_bytes;
};

PLEAT_ARRAY(candidates, struct candidate);

struct sums {
    int64_t jobs, record_bytes, output_bytes;
    int64_t kept;  /* number of jobs that could not be removed */
    int64_t after; /* number of the last job looked at */
    bool more;
    char text[300]; /* why a job could not be removed; "": all could */
};

/* ---- output ---- */

/* Files that Pleat makes in a job's directory; a stream's file may be the user's instead. */
static const struct own_file {
    const char *name;
    bool is_output; /* counted as output; other files are Pleat's own notes */
    bool is_stream;
    enum job_file which;
} own_files[] = {{"stdout", true, true, JOB_OUTPUT},
                 {"stderr", true, true, JOB_ERROR},
                 {"notify", true, false, 0},
                 {"run", false, false, 0},
                 /* outputs.h; and couriers.h: with those that were not finished */
                 {"stdout.begin", false, false, 0},
                 {"stdout.begin.new", false, false, 0},
                 {"stderr.begin", false, false, 0},
                 {"stderr.begin.new", false, false, 0},
                 {"stdout.record", false, false, 0},
                 {"stdout.record.new", false, false, 0},
                 {"stderr.record", false, false, 0},
                 {"stderr.record.new", false, false, 0}};

/* Opens state/jobs/JOB, which must not be a symbolic link. -1 with errno. */
static int open_directory(struct daemon *d, int64_t job, char *path, size_t size)
{
    snprintf(path, size, "%s/jobs/%lld", d->paths.state, (long long)job);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_users(struct daemon *d, int64_t job, const struct own_file *file)
{
    return file->is_stream && job_file_is_users(d, job, file->which);
}

/* Adds the size of the output files that Pleat made for a job to *bytes, and removes them if
 * wanted. Files that the user named stay, wherever they are. */
static int take_output(struct daemon *d, int64_t job, bool removes, int64_t *bytes,
                       struct pleat_error *err)
{
    char path[600];
    int directory = open_directory(d, job, path, sizeof(path)), rc = 0;
    if (directory < 0)
        return errno == ENOENT ? 0 : pleat_error_sys(err, errno, "cannot open %s", path);
    for (size_t i = 0; !rc && i < sizeof(own_files) / sizeof(own_files[0]); i++) {
        struct stat about;
        if (is_users(d, job, &own_files[i]) ||
            fstatat(directory, own_files[i].name, &about, AT_SYMLINK_NOFOLLOW))
            continue;
        if (removes && unlinkat(directory, own_files[i].name, 0) && errno != ENOENT)
            rc = pleat_error_sys(err, errno, "cannot remove %s/%s", path, own_files[i].name);
        else if (own_files[i].is_output)
            *bytes += about.st_size;
    }
    close(directory);
    if (!rc && removes)
        (void)rmdir(path); /* fails if another program put a file into it: then it stays */
    return rc;
}

/* ---- records ---- */

static int take_row(void *arg, const struct pleat_account_row *row)
{
    struct candidates *found = arg;
    struct candidate one = {.job = row->job, .account_bytes = strlen(row->text)};
    if (found->count > AT_ONCE)
        return 1;
    return pleat_array_push(found, one);
}

/* Finds up to AT_ONCE + 1 jobs: the last one only says that there are more. */
static int find(struct daemon *d, const struct wish *wish, struct candidates *found,
                struct pleat_error *err)
{
    struct pleat_account_filter filter = {.after_job = wish->after,
                                          .ended_before_us = wish->before_us};
    int rc = pleat_store_read_accounts(d->store, &filter, take_row, found, err);
    return rc < 0 ? rc : 0;
}

static int64_t spec_bytes(struct daemon *d, int64_t job)
{
    struct pleat_string text = {0};
    struct pleat_error err;
    int rc = pleat_store_get_spec(d->store, job, &text, &err);
    int64_t bytes = rc ? 0 : (int64_t)text.length;
    pleat_string_finish(&text);
    return bytes;
}

/* PLEAT_E_BUSY while a --notify command of the job runs: it may still write beside the output, and
 * if it fails there would be a note of a job that nobody knows. */
static int check_told(const struct daemon *d, int64_t job, struct pleat_error *err)
{
    return notify_has(d, job)
               ? pleat_error_set(err, PLEAT_E_BUSY,
                                 "the command of its --notify has not ended: try again later")
               : 0;
}

/* Lets go of the job if it is still in memory. False: it has not ended, or the core does not forget
 * it. */
static bool forget(struct daemon *d, int64_t number)
{
    struct job *job = job_find(d, number);
    return !job || (job->ended && archive_let_go(d, job));
}

static void take_job(struct daemon *d, const struct wish *wish, const struct candidate *candidate,
                     struct sums *sums)
{
    struct pleat_error err = {0};
    struct job *job = job_find(d, candidate->job);
    int64_t output = 0;
    sums->after = candidate->job;
    if (job && !job->ended)
        return;
    int64_t records = spec_bytes(d, candidate->job) + (int64_t)candidate->account_bytes;
    int rc = check_told(d, candidate->job, &err);
    if (!rc && wish->outputs)
        rc = take_output(d, candidate->job, !wish->dry_run, &output, &err);
    if (!rc && !wish->dry_run) {
        if (pleat_array_push(&d->clean.dropped, candidate->job))
            rc = pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory");
        else if (!forget(d, candidate->job)) {
            d->clean.dropped.count--;
            rc = pleat_error_set(&err, PLEAT_E_STATE, "the daemon cannot let go of it");
        }
    }
    sums->output_bytes += output;
    if (rc) {
        sums->kept++;
        snprintf(sums->text, sizeof(sums->text), "job %lld: %.250s", (long long)candidate->job,
                 err.text);
        return;
    }
    sums->jobs++;
    sums->record_bytes += records;
}

static json_t *to_json(const struct sums *sums)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:s?, s:I, s:b}", "jobs", (json_int_t)sums->jobs,
                     "record_bytes", (json_int_t)sums->record_bytes, "output_bytes",
                     (json_int_t)sums->output_bytes, "kept", (json_int_t)sums->kept, "text",
                     *sums->text ? sums->text : NULL, "after", (json_int_t)sums->after, "more",
                     sums->more);
}

static void fulfil(struct daemon *d, const struct wish *wish)
{
    struct candidates found = {0};
    struct sums sums = {.after = wish->after};
    struct pleat_error err = {0};
    int rc = find(d, wish, &found, &err);
    if (rc && log_mend(d)) {
        found.count = 0;
        rc = find(d, wish, &found, &err);
    }
    if (rc) {
        pleat_array_finish(&found);
        client_fail(wish->client, wish->request, &err);
        return;
    }
    sums.more = found.count > AT_ONCE;
    for (size_t i = 0; i < found.count && i < AT_ONCE; i++)
        take_job(d, wish, &found.items[i], &sums);
    pleat_array_finish(&found);
    turn_reply(d, wish->client, wish->request, to_json(&sums));
    d->clean.drops_shared = !wish->dry_run && !sums.more;
    jobs_forget(d);
    turn_want(d); /* the turn writes, and then answers */
}

/* ---- in turns ---- */

bool clean_waits(const struct daemon *d)
{
    return d->clean.wishes != NULL;
}

void clean_run(struct daemon *d)
{
    struct wish *wish = d->clean.wishes;
    if (!wish)
        return;
    d->clean.wishes = wish->next;
    if (wish->client->connection) /* if the client has gone away, nothing is removed */
        fulfil(d, wish);
    client_drop(wish->client);
    free(wish);
}

int clean_write(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    char number[24];
    if (d->clean.dropped.count) { /* a salvage would find these numbers nowhere else */
        snprintf(number, sizeof(number), "%lld", (long long)d->jobs.last_number);
        rc = pleat_store_put_meta(d->store, "last_job", number, err);
    }
    for (size_t i = 0; !rc && i < d->clean.dropped.count; i++)
        rc = pleat_store_drop_job(d->store, d->clean.dropped.items[i], err);
    if (!rc && d->clean.drops_shared)
        rc = pleat_store_drop_unshared(d->store, err);
    return rc;
}

void clean_written(struct daemon *d)
{
    for (size_t i = 0; i < d->clean.dropped.count; i++)
        spec_forget(d, d->clean.dropped.items[i]);
    d->clean.dropped.count = 0;
    d->clean.drops_shared = false;
}

void clean_finish(struct daemon *d)
{
    while (d->clean.wishes) {
        struct wish *wish = d->clean.wishes;
        d->clean.wishes = wish->next;
        free(wish); /* the client is freed with all clients */
    }
    pleat_array_finish(&d->clean.dropped);
}

static int read_wish(const json_t *params, struct wish *wish, struct pleat_error *err)
{
    double before_s = 0;
    int rc = pleat_get_real(params, "before_s", true, &before_s, err);
    if (!rc && !(before_s >= 0 && before_s <= 1e12))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'before_s' is seconds since 1970, up to 1e12");
    if (!rc)
        rc = pleat_get_int(params, "after", false, 0, INT64_MAX, &wish->after, err);
    if (!rc)
        rc = pleat_get_bool(params, "outputs", false, &wish->outputs, err);
    if (!rc)
        rc = pleat_get_bool(params, "dry_run", false, &wish->dry_run, err);
    if (rc)
        return rc;
    /* to the store, 0 would mean no bound */
    wish->before_us = (int64_t)(before_s * (double)PLEAT_US_PER_S);
    wish->before_us += wish->before_us == 0;
    return 0;
}

int method_clean(struct client *client, int64_t request, const json_t *params,
                 struct pleat_error *err)
{
    struct daemon *d = client->daemon;
    struct wish wish = {.client = client, .request = request};
    int rc = read_wish(params, &wish, err);
    if (rc)
        return rc;
    if (d->turn.holding)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "the daemon cannot write its log (%s): nothing is removed until it "
                               "can",
                               d->turn.holding_why.text);
    struct wish *kept = malloc(sizeof(*kept));
    if (!kept)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    *kept = wish;
    struct wish **end = &d->clean.wishes;
    while (*end)
        end = &(*end)->next;
    *end = kept;
    client_hold(client);
    return 0;
}

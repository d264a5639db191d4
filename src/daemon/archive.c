/* Jobs that have ended: accounts, letting go, checkpoints.
 *
 * A job's account is written in the transaction in which the job ends. From then on the job is
 * shown from its account. After keep_ended_s core and daemon forget the job (PLEAT_EV_FORGET), and
 * its notes are removed; account, spec and output stay until `pleat clean`. A checkpoint is the
 * core's state after a record. The last two are kept; records before the older one are moved aside.
 */
#include <string.h>

#include "daemon/accounts.h"
#include "daemon/archive.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/history.h"
#include "daemon/job_json.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"

enum {
    BATCH = 1000,      /* jobs let go of in one turn */
    PAUSE_US = 100000, /* least time between two such turns, which others have to wait for */
};

/* ---- accounts ---- */

/* Members of a job that are computed when it is shown, not kept. */
static const char *const made_of_job[] = {"slots", "progress", "times", "curve"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void drop_same(json_t *object, const json_t *known)
{
    const char *name;
    const json_t *value;
    void *next;
    json_object_foreach_safe(object, next, name, value)
    {
        const json_t *other = json_object_get(known, name);
        if (other && json_equal(value, other))
            json_object_del(object, name);
    }
}

/* Names of the spec's members that the job does not show. */
static json_t *missing(const json_t *spec, const json_t *object)
{
    json_t *names = json_array();
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)spec, name, value) if (!json_object_get(object, name))
        json_array_append_new(names, json_string(name));
    return names;
}

/* The text of an account: {"use": the job's entry of `history`, "job": what else there is to show,
 * "without": names of the spec's members that are not shown}. Caller frees; NULL when out of
 * memory. */
static char *make_text(struct daemon *d, struct job *job)
{
    struct pleat_error err;
    json_t *object = job_now_to_json(d, job, true), *entry = history_entry(d, job);
    const json_t *spec = spec_json(d, job->id, &err);
    char *text = NULL;
    if (object && entry) {
        json_t *without = missing(spec, object);
        for (size_t i = 0; i < COUNT_OF(made_of_job); i++)
            json_object_del(object, made_of_job[i]);
        drop_same(object, entry);
        drop_same(object, spec);
        json_object_del(entry, "archived");
        json_t *whole =
            json_pack("{s:O, s:O, s:o}", "use", entry, "job", object, "without", without);
        text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;
        json_decref(whole);
    }
    json_decref(object);
    json_decref(entry);
    return text;
}

void archive_prepare(struct daemon *d)
{
    for (size_t i = 0; i < d->archive.ended.count; i++) {
        struct ended *ended = &d->archive.ended.items[i];
        struct job *job = job_find(d, ended->job);
        if (!job || ended->text)
            continue;
        const struct pleat_component *component = job_component(d, job);
        ended->submit_us = component->submit_us;
        ended->end_us = component->end_us;
        ended->text = make_text(d, job);
        if (!ended->text)
            daemon_log("out of memory: job %lld has no account", (long long)job->id);
    }
}

int archive_write(struct daemon *d, struct pleat_error *err)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < d->archive.ended.count; i++) {
        const struct ended *ended = &d->archive.ended.items[i];
        struct pleat_account_row row = {.job = ended->job,
                                        .submit_us = ended->submit_us,
                                        .end_us = ended->end_us,
                                        .text = ended->text};
        if (ended->text)
            rc = pleat_store_put_account(d->store, &row, err);
    }
    if (!rc && !d->archive.has_accounts)
        rc = pleat_store_put_meta(d->store, "accounts", "1", err);
    for (size_t i = 0; !rc && i < d->archive.archived.count; i++)
        rc = pleat_store_drop_notes(d->store, d->archive.archived.items[i], 0, err);
    return rc;
}

void archive_written(struct daemon *d)
{
    for (size_t i = 0; i < d->archive.ended.count; i++) {
        struct job *job = job_find(d, d->archive.ended.items[i].job);
        if (job && d->archive.ended.items[i].text) {
            job->accounted = true;
            job_drop_account(job);
        }
        free(d->archive.ended.items[i].text);
    }
    d->archive.ended.count = 0;
    d->archive.archived.count = 0;
}

/* ---- letting go ---- */

/* Has an account made for a job without one: the job ended under a version that wrote none, or
 * memory was short. */
static void ensure_account(struct daemon *d, struct job *job)
{
    if (job->accounted || accounts_know(d, job->id))
        return;
    struct ended ended = {.job = job->id};
    if (pleat_array_push(&d->archive.ended, ended))
        daemon_log("out of memory: job %lld has no account", (long long)job->id);
}

bool archive_let_go(struct daemon *d, struct job *job)
{
    struct pleat_error err;
    struct pleat_event forget = {
        .time_us = daemon_now_us(d), .kind = PLEAT_EV_FORGET, .component = job->component};
    if (pleat_array_push(&d->archive.archived, job->id))
        return false;
    int rc = turn_apply(d, &forget, &err);
    if (rc) {
        d->archive.archived.count--;
        daemon_log("job %lld cannot be forgotten: %s", (long long)job->id,
                   rc < 0 ? err.text : "it is already");
        return false;
    }
    job_gone(d, job);
    return true;
}

/* Lets go of the jobs that ended up to until_us, BATCH at most. *next: when the next job's time
 * comes. Returns the number of jobs let go of. One that the core does not forget is kept until
 * pleatd starts again. */
static size_t let_go_until(struct daemon *d, int64_t until_us, int64_t *next)
{
    size_t count = 0;
    int64_t end_us;
    struct job *job;
    while ((job = jobs_first_ended(d, &end_us)) != NULL && end_us <= until_us && count < BATCH) {
        ensure_account(d, job);
        count += archive_let_go(d, job);
        jobs_pass_first_ended(d);
    }
    *next = job ? end_us + d->config.keep_ended_us : INT64_MAX;
    return count;
}

static void archive_old(struct daemon *d)
{
    int64_t now_us = daemon_now_us(d), next_us;
    if (now_us < d->archive.next_us)
        return;
    size_t count = let_go_until(d, now_us - d->config.keep_ended_us, &next_us);
    d->archive.next_us = next_us > now_us + PAUSE_US ? next_us : now_us + PAUSE_US;
    if (count == 0)
        return;
    archive_prepare(d); /* while the core's records are still there */
    jobs_forget(d);
    turn_want(d);
}

/* ---- checkpoints ---- */

static int put_last_job(struct daemon *d, struct pleat_error *err)
{
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)d->jobs.last_number);
    return pleat_store_put_meta(d->store, "last_job", number, err);
}

static int write_checkpoint(struct daemon *d, const struct pleat_string *state, bool trims,
                            struct pleat_error *err)
{
    int64_t since_us = daemon_now_us(d) - d->config.keep_ended_us;
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = pleat_store_put_checkpoint(d->store, state->text, state->length, err);
    crash_point();
    if (!rc && trims)
        rc = pleat_store_trim(d->store, d->archive.checkpoint_seq, err);
    if (!rc)
        rc = put_last_job(d, err); /* the last submission may be in a record that is moved aside */
    if (!rc && since_us > 0)
        rc = pleat_store_drop_notes(d->store, -1, since_us, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    if (rc)
        pleat_store_rollback(d->store);
    crash_point();
    return rc;
}

/* trims: moves the records before the existing checkpoint aside first. Until the new checkpoint is
 * written these records are in both places. If they cannot be moved, the checkpoint is written all
 * the same. */
static void make_checkpoint(struct daemon *d, bool trims)
{
    struct pleat_string state = {0};
    struct pleat_error err = {0};
    int64_t seq = pleat_store_last_seq(d->store);
    int aside = trims ? pleat_store_set_aside(d->store, d->archive.checkpoint_seq, &err) : 0;
    if (log_mend(d)) /* the repair has made a checkpoint */
        return;
    if (aside) {
        daemon_log("%s", err.text);
        /* records that cannot be read any more are of no use: keeping them would let the log grow
         * for ever */
        trims = aside == PLEAT_E_CORRUPT;
    }
    crash_point();
    int rc = pleat_core_save(d->core, &state)
                 ? pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory for a checkpoint")
                 : write_checkpoint(d, &state, trims, &err);
    if (rc && !log_mend(d)) {
        daemon_log("no checkpoint: %s", err.text);
    } else if (!rc) {
        d->archive.checkpoint_seq = seq;
        d->archive.checkpoint_size = state.length;
    }
    pleat_string_finish(&state);
}

/* At least `least` records since the last checkpoint, which take at least its size: so checkpoints
 * at most double what is written. */
static bool is_due(const struct daemon *d, int64_t least)
{
    int64_t records = pleat_store_last_seq(d->store) - d->archive.checkpoint_seq;
    return turn_is_quiet(d) && records >= least &&
           (size_t)records * sizeof(struct pleat_event) >= d->archive.checkpoint_size;
}

void archive_run(struct daemon *d)
{
    archive_old(d);
    if (is_due(d, d->config.checkpoint_records))
        make_checkpoint(d, d->archive.checkpoint_seq >= pleat_store_first_seq(d->store));
}

void archive_end(struct daemon *d)
{
    if (is_due(d, 1)) /* otherwise the log of a pleatd that often ends would be cut into many
                       * pieces */
        make_checkpoint(d, d->archive.checkpoint_seq - pleat_store_first_seq(d->store) >=
                               d->config.checkpoint_records);
}

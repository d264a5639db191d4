/* A damaged log: what can be read of it is used, its file is kept aside, and what the lost part
 * leaves open is settled so that no work is done twice.
 *
 * Nobody knows what the lost part said. So numbers (of jobs, runs, claims) that it may have given
 * are not given again. A waiting job that was started before (it has a directory) is cancelled, and
 * so is a running job whose run no agent has: starting it again could do its work twice. Runs that
 * agents have and the log does not know are ended, as always (agent_runs.c).
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/jobs.h"
#include "daemon/mark.h"
#include "daemon/notes.h"
#include "daemon/runs.h"
#include "daemon/salvage.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "store/salvage.h"

/* The path of the damaged file, with which the description of the damage ends; NULL: it names none.
 */
static const char *damaged_file(const struct daemon *d)
{
    static const char before[] = "file is kept as ";
    const char *at = strstr(d->salvage.damage, before);
    return at ? at + strlen(before) : NULL;
}

/* The highest number of a job that was ever started: each has a directory. */
static int64_t last_started(const struct daemon *d)
{
    char path[600];
    int64_t last = 0;
    snprintf(path, sizeof(path), "%s/jobs", d->paths.state);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *end;
        int64_t number = strtoll(entry->d_name, &end, 10);
        if (*end == '\0' && number > last)
            last = number;
    }
    if (directory)
        closedir(directory);
    return last;
}

int salvage_put_meta(struct daemon *d, struct pleat_error *err)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)d->jobs.last_number);
    int rc = pleat_store_put_meta(d->store, "last_job", number, err);
    if (!rc)
        rc = pleat_store_put_meta(d->store, "salvaged", d->salvage.under_way ? "1" : "0", err);
    return rc ? rc : pleat_store_put_meta(d->store, "damage", d->salvage.damage, err);
}

void salvage_count_started(struct daemon *d)
{
    int64_t started = last_started(d);
    d->jobs.last_number = started > d->jobs.last_number ? started : d->jobs.last_number;
}

int salvage_write_meta(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = salvage_put_meta(d, err);
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    pleat_store_rollback(d->store);
    return rc;
}

int log_salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why)
{
    struct pleat_salvage result;
    struct pleat_error reason = *why;
    char path[600];
    log_path(d, path, sizeof(path));
    daemon_log("the log is damaged: %s", reason.text);
    int rc = pleat_store_salvage(path, sizeof(struct pleat_event), most_seq, pleat_clock_real_us(),
                                 &result, why);
    if (!rc)
        rc = pleat_store_open(path, sizeof(struct pleat_event), &d->store, why);
    if (rc)
        return pleat_error_prefix(why, rc, "the damaged log cannot be repaired");
    (void)log_is_behind(d);
    salvage_count_started(d);
    d->jobs.last_number =
        result.last_job > d->jobs.last_number ? result.last_job : d->jobs.last_number;
    d->salvage.under_way = true;
    snprintf(d->salvage.damage, sizeof(d->salvage.damage),
             "the log was damaged: %lld records are used, %lld after them cannot be; the damaged "
             "file is kept as %s",
             (long long)result.records, (long long)result.after, result.aside);
    daemon_log("%s", d->salvage.damage);
    return salvage_write_meta(d, why);
}

void salvage_say_alive(struct daemon *d)
{
    char kept[sizeof(d->salvage.damage)];
    const char *path = damaged_file(d);
    snprintf(kept, sizeof(kept), "%s", path ? path : "");
    snprintf(
        d->salvage.damage, sizeof(d->salvage.damage),
        "the log was damaged while pleatd ran: it is written anew, with the state of all jobs; "
        "the damaged file is kept as %.600s",
        kept);
    daemon_log("%s", d->salvage.damage);
}

/* ---- what the damage leaves open ---- */

#define SPEC_LOST                                                                                  \
    "cancelled: the description of what it is to run was lost with the damaged part of the log"

static void cancel(struct daemon *d, const struct job *job, const char *why)
{
    struct pleat_event event = {.kind = PLEAT_EV_CANCEL, .component = job->component};
    note_make(d, daemon_now_us(d), "warning", job->id, note_text(why));
    turn_event(d, &event);
}

void salvage_cancel(struct daemon *d, uint32_t component)
{
    cancel(d, job_of_component(d, component),
           "cancelled: the damaged part of the log may say that it was started, and to start "
           "it again could do its work twice; submit it again if it is needed");
}

/* Whether a job was started by a part of the log that is lost. Its directory is made at its first
 * start, and has a file with the number of its last run (run_note). */
static bool was_started(struct daemon *d, const struct job *job)
{
    char path[600];
    const struct pleat_component *c = job_component(d, job);
    uint64_t last = run_noted(d, job->id);
    if (last || c->state == PLEAT_FINISHING)
        return last > c->run;
    job_output_path(d, job->id, "", path, sizeof(path)); /* an older version made no such file */
    return c->attempt == 0 && access(path, F_OK) == 0;
}

/* Whether, by the log, the job waits, may wait again, or was not given to an agent yet. */
static bool is_before_its_start(const struct pleat_component *c)
{
    return c->state == PLEAT_FINISHING || c->state == PLEAT_QUEUED || c->state == PLEAT_PLACED ||
           c->state == PLEAT_STAGING_IN || c->state == PLEAT_CLAIMING;
}

void salvage_lost_specs(struct daemon *d)
{
    struct pleat_error lost;
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        struct job *job = d->jobs.by_number.items[i];
        if (job->ended || job->spec_lost || job_component(d, job)->state != PLEAT_QUEUED ||
            spec_of(d, job->id, &lost))
            continue;
        job->spec_lost = true;
        cancel(d, job, SPEC_LOST);
    }
}

void salvage_begin(struct daemon *d)
{
    struct pleat_event numbers = {.kind = PLEAT_EV_SALVAGED, .component = PLEAT_NONE};
    if (d->salvage.under_way) {
        turn_event(d, &numbers);
        note_make(d, daemon_now_us(d), "daemon", -1, note_text(d->salvage.damage));
    }
    for (size_t i = 0; d->salvage.under_way && i < d->runs.count; i++)
        if (d->runs.items[i].run >= d->salvage.runs_below)
            d->salvage.runs_below = d->runs.items[i].run + 1;
    for (size_t i = 0; i < d->jobs.by_number.count; i++) {
        const struct job *job = d->jobs.by_number.items[i];
        const struct pleat_component *c = job_component(d, job);
        if (job->spec_lost && !pleat_component_state_is_final((enum pleat_component_state)c->state))
            cancel(d, job, SPEC_LOST);
        else if (d->salvage.under_way && is_before_its_start(c) && was_started(d, job))
            salvage_cancel(d, job->component);
    }
}

void salvage_hold_starts(struct daemon *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->turn.effects.count; i++)
        if (!d->salvage.under_way || d->turn.effects.items[i].kind != PLEAT_DO_START)
            d->turn.effects.items[kept++] = d->turn.effects.items[i];
    d->turn.effects.count = kept;
}

void salvage_settled(struct daemon *d)
{
    struct pleat_error err = {0};
    if (!d->salvage.under_way || d->turn.holding)
        return;
    d->salvage.under_way = false;
    if (salvage_write_meta(d, &err)) {
        daemon_log("%s", err.text);
        d->salvage.under_way = true;
    }
}

const char *salvage_text(struct daemon *d)
{
    const char *path = damaged_file(d);
    return path && access(path, F_OK) == 0 ? d->salvage.damage : NULL;
}

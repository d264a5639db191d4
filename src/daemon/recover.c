/* After a start: applies the log to the core, decisions included; then asks the world for changes.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/accounts.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/recover.h"
#include "daemon/runs.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"

struct replay {
    struct daemon *d;
    struct pleat_effects effects;
    struct pleat_error err;
};

static int apply_record(void *arg, int64_t seq, const void *record)
{
    struct replay *replay = arg;
    const struct pleat_event *event = record;
    replay->effects.count = 0;
    int rc = pleat_core_apply(replay->d->core, event, &replay->effects, &replay->err);
    if (rc < 0 && !strcmp(pleat_event_name(event->kind), "?"))
        return pleat_error_set(&replay->err, PLEAT_E_UNSUPPORTED,
                               "record %lld of the log (kind %u) was written by a newer Pleat: run "
                               "that version",
                               (long long)seq, event->kind);
    if (rc) {
        struct pleat_error why = replay->err;
        return pleat_error_set(&replay->err, PLEAT_E_CORRUPT,
                               "record %lld ('%s') of the log cannot be applied: %.300s",
                               (long long)seq, pleat_event_name(event->kind),
                               rc > 0 ? "it changes nothing" : why.text);
    }
    replay->d->clock.last_us = event->time_us;
    replay->d->log.good_seq = seq;
    if (event->kind == PLEAT_EV_SUBMIT &&
        (int64_t)event->u.submit.job > replay->d->jobs.last_number)
        replay->d->jobs.last_number = (int64_t)event->u.submit.job;
    return 0;
}

/* Loads the newest good checkpoint, if there is one. *from: the record after it. *newer: some
 * checkpoint can only be read by a newer Pleat. */
static int load_checkpoint(struct daemon *d, int64_t *from, bool *newer, struct pleat_error *err)
{
    int64_t seq = INT64_MAX;
    *newer = false;
    for (*from = 1;; seq--) {
        struct pleat_string state = {0};
        struct pleat_core *core = NULL;
        int rc = pleat_store_get_checkpoint(d->store, seq, &seq, &state, err);
        if (!rc)
            rc = pleat_core_load(state.text, state.length, &core, err);
        d->archive.checkpoint_size = state.length;
        pleat_string_finish(&state);
        if (!rc) {
            pleat_core_destroy(d->core);
            d->core = core;
            d->archive.checkpoint_seq = d->log.good_seq = seq;
            *from = seq + 1;
            return 0;
        }
        if (rc == PLEAT_E_NOTFOUND)
            return 0;
        if ((rc != PLEAT_E_CORRUPT && rc != PLEAT_E_UNSUPPORTED) ||
            pleat_store_is_damaged(d->store)) /* older ones cannot be looked for */
            return rc;
        *newer = *newer || rc == PLEAT_E_UNSUPPORTED;
        daemon_log("the checkpoint at record %lld is not used: %s", (long long)seq, err->text);
    }
}

/* Reads a number; *value is left alone if the log has none. */
static int read_number(struct daemon *d, const char *key, int64_t *value, struct pleat_error *err)
{
    struct pleat_string text = {0};
    int rc = pleat_store_get_meta(d->store, key, &text, err);
    if (!rc)
        *value = strtoll(text.text, NULL, 10);
    pleat_string_finish(&text);
    return rc == PLEAT_E_NOTFOUND ? 0 : rc;
}

/* Makes the list of jobs, from the core's components that are not forgotten. */
static int know_jobs(struct daemon *d, struct pleat_error *err)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    struct pleat_error lost;
    bool accounts = d->archive.has_accounts;
    d->archive.next_us = 0;
    d->turn.next_size_list = pleat_core_size_list_count(d->core);
    for (uint32_t i = 0; i < view->component_count; i++) {
        const struct pleat_component *component = &view->components[i];
        if (pleat_component_is_forgotten(component))
            continue;
        if (job_add(d, (int64_t)component->job, i))
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        if (!component->exited)
            run_remember(d, component->run, i);
        struct job *job = job_of_component(d, i);
        job->accounted = job->ended && accounts;
        /* otherwise a lost spec shows at the job's start: reading all specs would take long */
        job->spec_lost = d->salvage.under_way && !job->ended && !spec_of(d, job->id, &lost);
    }
    jobs_sort(d);
    for (size_t i = 0; i < d->jobs.by_number.count && !accounts; i++)
        if (d->jobs.by_number.items[i]->ended) /* ended under a version that wrote no accounts */
            accounts_ended(d, d->jobs.by_number.items[i]);
    return 0;
}

/* No checkpoint can be used, and the log does not begin with the first record. */
static int without_begin(bool newer, struct pleat_error *err)
{
    struct pleat_error why = {0};
    if (err)
        why = *err;
    if (newer)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a checkpoint of the log was written by a newer Pleat: run that "
                               "version (%.400s)",
                               why.text);
    return pleat_error_set(err, PLEAT_E_CORRUPT, "no checkpoint of the log is good: %.400s",
                           why.text);
}

int recover(struct daemon *d, struct pleat_error *err)
{
    struct replay replay = {.d = d};
    bool newer;
    int64_t from;
    int64_t accounts = 0;
    int64_t last_job = pleat_store_last_job(d->store);
    d->jobs.last_number = last_job > d->jobs.last_number ? last_job : d->jobs.last_number;
    int rc = read_number(d, "accounts", &accounts, err);
    d->archive.has_accounts = accounts;
    if (!rc)
        rc = load_checkpoint(d, &from, &newer, err);
    if (rc)
        return rc;
    d->clock.last_us = pleat_core_view(d->core)->now_us;
    d->log.good_seq = from - 1;
    rc = pleat_store_read(d->store, from, apply_record, &replay, err);
    if (rc && replay.err.code && err)
        *err = replay.err;
    pleat_array_finish(&replay.effects);
    if (rc == PLEAT_E_NOTFOUND)
        rc = without_begin(newer, err);
    return rc ? rc : know_jobs(d, err);
}

void configure(struct daemon *d)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy = d->config.policies[q];
        struct pleat_event event = {.kind = PLEAT_EV_POLICY,
                                    .component = PLEAT_NONE,
                                    .u.policy = {.question = (uint32_t)q,
                                                 .policy = policy->number,
                                                 .version = policy->version}};
        /* written at every start: the log says which version of a policy decides from here on */
        turn_event(d, &event);
    }
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        struct pleat_event event = {.kind = PLEAT_EV_PARAMETER,
                                    .component = PLEAT_NONE,
                                    .u.parameter = {.which = p, .value = d->config.parameters[p]}};
        if (pleat_core_parameter(d->core, (enum pleat_parameter)p) != d->config.parameters[p])
            turn_event(d, &event);
    }
}

/* After a start: the log is applied again, decisions and all; then the world is asked. */
#include <string.h>

#include "daemon/daemon.h"

struct replay {
    struct daemon *d;
    struct pleat_effects effects;
    struct pleat_error err;
};

/* Stands for one that was lost: to show something of a job that is over. */
static const char lost_spec[] = "{\"name\": \"(lost)\", \"argv\": [\"false\"], \"cwd\": \"/\", "
                                "\"env\": [], \"runner\": \"plain\", "
                                "\"mpi\": \"none\", \"kind\": \"rigid\", \"min\": 1, \"max\": 1, "
                                "\"initial\": 0, \"sizes\": \"any\", "
                                "\"asks\": false, \"site\": null, \"estimate_s\": 0}";

static int load_spec(struct daemon *d, int64_t id, uint32_t component, struct pleat_error *err)
{
    struct pleat_string text = {0};
    struct pleat_spec *spec = calloc(1, sizeof(*spec));
    bool lost = false;
    int rc = pleat_store_get_spec(d->store, id, &text, err);
    json_t *json = rc ? NULL : json_loads(text.text, 0, NULL);
    pleat_string_finish(&text);
    if (!rc && (!json || !spec))
        rc = pleat_error_set(err, PLEAT_E_CORRUPT, "the spec of job %lld cannot be read",
                             (long long)id);
    if (!rc)
        rc = pleat_spec_from_json(json, spec, err);
    if (rc == PLEAT_E_CORRUPT || rc == PLEAT_E_NOTFOUND || rc == PLEAT_E_INVALID) {
        daemon_log("%s: the job cannot be started any more", err->text);
        json_decref(json);
        json = json_loads(lost_spec, 0, NULL);
        rc = pleat_spec_from_json(json, spec, err);
        lost = true;
    }
    if (rc) {
        json_decref(json);
        free(spec);
        return rc;
    }
    rc = job_add(d, id, component, json, spec);
    if (!rc)
        job_of_component(d, component)->spec_lost = lost;
    return rc;
}

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
    replay->d->last_us = event->time_us;
    replay->d->good_seq = seq;
    if (event->kind == PLEAT_EV_SUBMIT && (int64_t)event->u.submit.job > replay->d->last_job)
        replay->d->last_job = (int64_t)event->u.submit.job;
    if (event->kind == PLEAT_EV_SIZES && event->u.sizes.list >= replay->d->next_size_list)
        replay->d->next_size_list = event->u.sizes.list + 1;
    return 0;
}

int recover(struct daemon *d, struct pleat_error *err)
{
    struct replay replay = {.d = d};
    int rc = pleat_store_read(d->store, 1, apply_record, &replay, err);
    if (rc && replay.err.code && err)
        *err = replay.err;
    pleat_array_finish(&replay.effects);
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t i = 0; !rc && i < view->component_count; i++) {
        const struct pleat_component *component = &view->components[i];
        rc = load_spec(d, (int64_t)component->job, i, err);
        if (!component->exited)
            run_remember(d, component->run, i);
    }
    return rc;
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
        /* always written: the log says which version decided from here on */
        turn_event(d, &event);
    }
    for (uint32_t p = 1; p < PLEAT_PARAM_COUNT; p++) {
        struct pleat_event event = {.kind = PLEAT_EV_PARAMETER,
                                    .component = PLEAT_NONE,
                                    .u.parameter = {.which = p, .value = d->config.parameters[p]}};
        if (pleat_core_parameter(d->core, (enum pleat_parameter)p) != d->config.parameters[p])
            turn_event(d, &event);
    }
}

#include "recover/make_log.h"

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "store/store.h"

#define CHECKPOINT_AT 0.7
#define RUN_US 5000

static const char environment[] =
    "[\"PATH=/usr/local/bin:/usr/bin:/bin\",\"HOME=/home/somebody\",\"LANG=C.UTF-8\"]";

struct maker {
    struct pleat_store *store;
    struct pleat_core *core;
    struct pleat_effects effects;
    struct pleat_events decisions;
    int64_t now_us;
    struct pleat_error *err;
};

static int apply_old(void *arg, int64_t seq, const void *record)
{
    struct maker *maker = arg;
    const struct pleat_event *event = record;
    (void)seq;
    maker->effects.count = 0;
    maker->now_us = event->time_us;
    return pleat_core_apply(maker->core, event, &maker->effects, maker->err);
}

static int append(struct maker *maker, const struct pleat_event *event)
{
    struct pleat_event clean = *event;
    pleat_event_clean(&clean);
    return pleat_store_append(maker->store, &clean, sizeof(clean), NULL, maker->err);
}

static int input(struct maker *maker, struct pleat_event event)
{
    event.time_us = maker->now_us;
    int rc = pleat_core_apply(maker->core, &event, &maker->effects, maker->err);
    return rc ? rc : append(maker, &event);
}

/* Answers an effect as the machine would, and as the job would after its time. */
static int answer(struct maker *maker, const struct pleat_effect *effect)
{
    struct pleat_event event = {.component = effect->u.claim.index};
    int rc = 0;
    if (effect->kind == PLEAT_DO_CLAIM) {
        event.kind = PLEAT_EV_PIECE;
        event.u.piece.claim = effect->id;
        event.u.piece.count = (uint32_t)effect->u.claim.count;
        rc = input(maker, event);
        event = (struct pleat_event){.kind = PLEAT_EV_CLAIMED, .component = effect->u.claim.index};
        event.u.claim.claim = effect->id;
        event.u.claim.count = effect->u.claim.count;
    } else if (effect->kind == PLEAT_DO_RELEASE) {
        event.kind = PLEAT_EV_RELEASED;
        event.u.claim.claim = effect->id;
        event.u.claim.count = effect->u.claim.count;
    } else if (effect->kind == PLEAT_DO_START) {
        event.kind = PLEAT_EV_STARTED;
        event.component = effect->component;
        event.u.exit.run = effect->id;
        rc = input(maker, event);
        maker->now_us += RUN_US;
        event.kind = PLEAT_EV_EXITED;
    } else {
        return 0;
    }
    return rc ? rc : input(maker, event);
}

static int answer_all(struct maker *maker)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < maker->effects.count; i++) {
        struct pleat_effect effect = maker->effects.items[i]; /* the list grows meanwhile */
        rc = answer(maker, &effect);
    }
    maker->effects.count = 0;
    return rc;
}

static int write_texts(struct maker *maker, int64_t job, int64_t submit_us)
{
    char spec[500], account[500];
    snprintf(spec, sizeof(spec),
             "{\"name\":\"bench\",\"argv\":[\"/bin/true\",\"%lld\"],\"cwd\":\"/\",\"runner\":"
             "\"plain\",\"mpi\":\"none\",\"kind\":\"rigid\",\"min\":1,\"max\":1}",
             (long long)job);
    snprintf(account, sizeof(account),
             "{\"use\":{\"job\":%lld,\"name\":\"bench\",\"kind\":\"rigid\",\"state\":\"done\","
             "\"min\":1,\"max\":1,\"attempt\":0,\"reason\":null,\"exit_code\":0,\"signal\":null,"
             "\"processor_s\":1.0,\"sizes\":[],\"resizes\":[]},\"job\":{},\"without\":[]}",
             (long long)job);
    struct pleat_account_row row = {
        .job = job, .submit_us = submit_us, .end_us = maker->now_us, .text = account};
    int rc = pleat_store_put_spec(maker->store, job, spec, environment, maker->err);
    return rc ? rc : pleat_store_put_account(maker->store, &row, maker->err);
}

static int add_job(struct maker *maker, int64_t job)
{
    int64_t submit_us = maker->now_us += 1000;
    struct pleat_event submit = {.kind = PLEAT_EV_SUBMIT,
                                 .component = pleat_core_next_component(maker->core),
                                 .u.submit = {.job = (uint64_t)job,
                                              .minimum = 1,
                                              .maximum = 1,
                                              .site = PLEAT_NONE,
                                              .job_kind = PLEAT_RIGID}};
    uint32_t component = submit.component;
    int rc = input(maker, submit);
    maker->effects.count = 0;
    maker->decisions.count = 0;
    if (!rc)
        rc = pleat_core_pass(maker->core, maker->now_us, &maker->decisions, &maker->effects,
                             maker->err);
    for (size_t i = 0; !rc && i < maker->decisions.count; i++)
        rc = append(maker, &maker->decisions.items[i]);
    if (!rc)
        rc = answer_all(maker);
    if (!rc && pleat_core_view(maker->core)->components[component].state != PLEAT_DONE)
        rc = pleat_error_set(maker->err, PLEAT_E_STATE, "job %lld is not done", (long long)job);
    return rc ? rc : write_texts(maker, job, submit_us);
}

static int put_checkpoint(struct maker *maker)
{
    struct pleat_string state = {0};
    int rc = pleat_core_save(maker->core, &state);
    if (!rc)
        rc = pleat_store_put_checkpoint(maker->store, state.text, state.length, maker->err);
    pleat_string_finish(&state);
    return rc;
}

/* The daemon that made the log said that no agent was there yet: now one is. */
static int agent_comes(struct maker *maker)
{
    struct pleat_event back = {.kind = PLEAT_EV_AGENT_BACK, .component = 0, .u.agent.number = 1};
    return input(maker, back);
}

static int add_jobs(struct maker *maker, int jobs)
{
    int rc = pleat_store_begin(maker->store, maker->err);
    if (!rc)
        rc = agent_comes(maker);
    for (int i = 0; !rc && i < jobs; i++) {
        rc = add_job(maker, i + 1);
        if (!rc && i + 1 == (int)(CHECKPOINT_AT * jobs))
            rc = put_checkpoint(maker);
    }
    return rc ? rc : pleat_store_commit(maker->store, maker->err);
}

int bench_make_log(const char *path, int jobs, struct pleat_error *err)
{
    struct maker maker = {.err = err};
    int rc = pleat_store_open(path, sizeof(struct pleat_event), &maker.store, err);
    if (!rc)
        rc = pleat_core_create(&maker.core);
    if (!rc)
        rc = pleat_store_read(maker.store, 1, apply_old, &maker, err);
    if (!rc)
        rc = add_jobs(&maker, jobs);
    pleat_core_destroy(maker.core);
    pleat_array_finish(&maker.effects);
    pleat_array_finish(&maker.decisions);
    pleat_store_close(maker.store);
    return rc;
}

/* What the daemon knows of a job beyond the core: its spec, its history, how to show it. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "daemon/daemon.h"

/* Makes room for a component's index. */
static int reserve(struct daemon *d, uint32_t component)
{
    while (d->jobs.count <= component)
        if (pleat_array_push(&d->jobs, NULL))
            return PLEAT_E_NOMEM;
    return pleat_array_reserve(&d->numbers, 1);
}

int job_add(struct daemon *d, int64_t id, uint32_t component)
{
    struct job *job = calloc(1, sizeof(*job));
    if (!job || reserve(d, component)) {
        free(job);
        return PLEAT_E_NOMEM;
    }
    job->id = id;
    job->component = component;
    job->ended = job_is_over(d, job);
    d->living += !job->ended;
    d->jobs.items[component] = job;
    d->last_job = id > d->last_job ? id : d->last_job;
    d->numbers.items[d->numbers.count++] = job;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct job *const *one = a, *const *other = b;
    return ((*one)->id > (*other)->id) - ((*one)->id < (*other)->id);
}

void jobs_sort(struct daemon *d)
{
    if (d->numbers.count)
        qsort(d->numbers.items, d->numbers.count, sizeof(struct job *), by_number);
}

struct job *job_of_component(struct daemon *d, uint32_t component)
{
    return component < d->jobs.count ? d->jobs.items[component] : NULL;
}

size_t job_after(const struct daemon *d, int64_t id)
{
    size_t low = 0, high = d->numbers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->numbers.items[middle]->id > id)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct job *job_find(struct daemon *d, int64_t id)
{
    size_t after = job_after(d, id);
    struct job *job = after > 0 ? d->numbers.items[after - 1] : NULL;
    return job && job->id == id ? job : NULL;
}

const struct pleat_component *job_component(struct daemon *d, const struct job *job)
{
    return &pleat_core_view(d->core)->components[job->component];
}

bool job_is_over(struct daemon *d, const struct job *job)
{
    return pleat_state_is_final((enum pleat_state)job_component(d, job)->state);
}

void job_ended(struct daemon *d, struct job *job)
{
    d->living -= !job->ended;
    job->ended = true;
}

static void job_free(struct job *job)
{
    job_drop_account(job);
    free(job);
}

void jobs_forget(struct daemon *d)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->numbers.count; i++) {
        struct job *job = d->numbers.items[i];
        if (!job->gone) {
            d->numbers.items[kept++] = job;
            continue;
        }
        d->jobs.items[job->component] = NULL;
        spec_forget(job->id);
        job_free(job);
    }
    d->numbers.count = kept;
}

void jobs_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->numbers.count; i++)
        job_free(d->numbers.items[i]);
    pleat_array_finish(&d->jobs);
    pleat_array_finish(&d->numbers);
    specs_finish();
}

struct pleat_runner *job_runner(struct daemon *d, struct job *job)
{
    struct pleat_error err;
    if (!job->runner) {
        const json_t *json = spec_json(d, job->id, &err);
        const char *name = json_string_value(json_object_get(json, "runner"));
        if (!json)
            daemon_log("job %lld: %s", (long long)job->id, err.text);
        job->runner = d->runners[0]->ops->name;
        for (size_t i = 0; name && i < sizeof(d->runners) / sizeof(d->runners[0]); i++)
            if (!strcmp(d->runners[i]->ops->name, name))
                job->runner = d->runners[i]->ops->name;
    }
    size_t which = 0;
    while (d->runners[which]->ops->name != job->runner)
        which++;
    return d->runners[which];
}

void job_output_path(struct daemon *d, int64_t job, const char *stream, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s/jobs/%lld/%s", d->paths.state, (long long)job, stream);
}

/* ---- what it did ---- */

static int learn_note(void *arg, const struct pleat_note *note)
{
    json_t *data = json_loads(note->data, 0, NULL);
    if (data)
        account_note(arg, note->kind, note->time_us, data);
    json_decref(data);
    return 0;
}

/* From the notes in the store, and those that are still to be written. */
static void learn(struct daemon *d, int64_t job, struct account *account)
{
    struct pleat_note_filter of_job = {.job = job};
    struct pleat_error err;
    if (pleat_store_read_notes(d->store, &of_job, learn_note, account, &err))
        daemon_log("job %lld: what it did is not known: %s", (long long)job, err.text);
    for (size_t i = 0; i < d->notes.count; i++) {
        const struct made_note *note = &d->notes.items[i];
        if (note->job == job)
            account_note(account, note->kind, note->time_us, note->data);
    }
}

struct account *job_account(struct daemon *d, struct job *job)
{
    static struct account none; /* of nobody */
    if (job->account)
        return job->account;
    job->account = calloc(1, sizeof(*job->account));
    if (!job->account) {
        daemon_log("job %lld: out of memory", (long long)job->id);
        account_finish(&none);
        return &none;
    }
    learn(d, job->id, job->account);
    return job->account;
}

void job_drop_account(struct job *job)
{
    if (job->account)
        account_finish(job->account);
    free(job->account);
    job->account = NULL;
}

void job_note(struct daemon *d, int64_t id, const char *kind, int64_t time_us, const json_t *data)
{
    struct job *job = job_find(d, id);
    if (job && job->account)
        account_note(job->account, kind, time_us, data);
}

/* ---- showing ---- */

static json_t *seconds_or_null(int64_t us)
{
    return us == PLEAT_NEVER ? json_null() : json_real((double)us / 1e6);
}

static json_t *slots_to_json(struct daemon *d, const struct pleat_component *component)
{
    json_t *slots = json_array();
    for (uint32_t c = component->first_claim; c != PLEAT_NONE;
         c = pleat_core_claim(d->core, c)->next) {
        for (uint32_t p = pleat_core_claim(d->core, c)->first_piece; p != PLEAT_NONE;
             p = pleat_core_piece(d->core, p)->next) {
            const struct pleat_piece *piece = pleat_core_piece(d->core, p);
            json_array_append_new(slots,
                                  json_pack("{s:i, s:i, s:i}", "node", (int)piece->node, "first",
                                            (int)piece->first, "count", (int)piece->count));
        }
    }
    return slots;
}

static bool others_busy(const struct pleat_view *view)
{
    for (uint32_t s = 0; s < view->site_count; s++)
        if (view->sites[s].background > 0)
            return true;
    return false;
}

/* Why a waiting job waits, where that is simple to say. */
static json_t *reason_to_json(struct daemon *d, const struct pleat_component *component)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    if (component->state == PLEAT_QUEUED) {
        char text[160];
        int32_t need = pleat_accept_start(view, component);
        if (component->aside)
            snprintf(text, sizeof(text), "its reservation begins in %.0f s",
                     ceil((double)(component->begin_us - daemon_now_us(d)) / 1e6));
        else if (component->coming + component->earmarked > 0)
            snprintf(text, sizeof(text),
                     "room is being made: %d of %d processors earmarked, %d coming",
                     component->earmarked, need, component->coming);
        else if (view->queue_first != PLEAT_NONE &&
                 &view->components[view->queue_first] != component)
            snprintf(text, sizeof(text), "waits its turn behind job %llu",
                     (unsigned long long)view->components[view->queue_first].job);
        else
            snprintf(text, sizeof(text), "waits for %d processors%s", need,
                     others_busy(view) ? " (other work on the machine keeps some busy)" : "");
        return json_string(text);
    }
    return component->reason == PLEAT_REASON_NONE
               ? json_null()
               : json_string(pleat_reason_name((enum pleat_reason)component->reason));
}

static void add_times(struct daemon *d, json_t *object, const struct pleat_component *c)
{
    int64_t now = daemon_now_us(d);
    bool started = c->start_us != PLEAT_NEVER, ended = c->end_us != PLEAT_NEVER;
    int64_t until = started ? c->start_us : ended ? c->end_us : now;
    json_object_set_new(object, "submit_s", seconds_or_null(c->submit_us));
    json_object_set_new(object, "start_s", seconds_or_null(c->start_us));
    json_object_set_new(object, "end_s", seconds_or_null(c->end_us));
    json_object_set_new(object, "wait_s", json_real((double)(until - c->submit_us) / 1e6));
    json_object_set_new(object, "run_s",
                        started ? json_real((double)((ended ? c->end_us : now) - c->start_us) / 1e6)
                                : json_null());
}

static void add_path(struct daemon *d, json_t *object, int64_t job, const char *member,
                     enum job_file which)
{
    char path[PATH_MAX];
    bool known = !job_file_path(d, job, which, path, sizeof(path), NULL);
    json_object_set_new(object, member, known ? json_string(path) : json_null());
}

static json_t *terms_or_null(int64_t us, int64_t none)
{
    return us == none ? json_null() : json_real((double)us / 1e6);
}

static void add_terms(struct daemon *d, json_t *object, const struct job *job,
                      const struct pleat_component *c)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    json_object_set_new(object, "estimate_s", json_real((double)spec->estimate_us / 1e6));
    json_object_set_new(object, "limit_s", terms_or_null(c->limit_us, 0));
    json_object_set_new(object, "notice_s", terms_or_null(c->notice_us, -1));
    json_object_set_new(object, "lifetime_s", terms_or_null(c->lifetime_us, -1));
    json_object_set_new(object, "resize", json_string(pleat_resize_way_name(spec->resize)));
}

json_t *job_now_to_json(struct daemon *d, struct job *job, bool history)
{
    const struct account *account = job_account(d, job);
    const struct pleat_component *c = job_component(d, job);
    struct pleat_error err;
    const json_t *spec = spec_json(d, job->id, &err);
    json_t *object = spec ? json_copy((json_t *)(uintptr_t)spec) : json_object();
    if (!object)
        return NULL;
    const char *name = json_string_value(json_object_get(object, "name"));
    bool over = pleat_state_is_final(c->state);
    json_object_del(object, "env");
    json_object_del(object, "deadline_in_s");
    json_object_del(object, "begin_in_s");
    json_object_set_new(object, "priority", json_integer(c->priority));
    json_object_set_new(object, "deadline_s", seconds_or_null(c->due_us));
    json_object_set_new(object, "begin_s",
                        seconds_or_null(c->begin_us ? c->begin_us : PLEAT_NEVER));
    json_object_set_new(object, "job", json_integer(job->id));
    json_object_set_new(object, "name", json_string(name ? name : ""));
    add_terms(d, object, job, c);
    json_object_set_new(object, "min", json_integer(c->minimum));
    json_object_set_new(object, "max", json_integer(c->maximum));
    json_object_set_new(object, "state", json_string(pleat_state_name((enum pleat_state)c->state)));
    json_object_set_new(object, "reason", reason_to_json(d, c));
    json_object_set_new(object, "processors", json_integer(c->processors));
    json_object_set_new(object, "processes", json_integer(c->processes));
    json_object_set_new(object, "target", json_integer(c->target));
    json_object_set_new(object, "site",
                        c->site == PLEAT_NONE ? json_null()
                                              : json_string(d->config.sites[c->site].name));
    add_times(d, object, c);
    json_object_set_new(object, "exit_code", over ? json_integer(c->code) : json_null());
    json_object_set_new(object, "signal",
                        over && c->signal ? json_integer(c->signal) : json_null());
    json_object_set_new(object, "attempt", json_integer(c->attempt));
    json_object_set_new(object, "slots", slots_to_json(d, c));
    account_add_counts(account, object);
    json_object_set_new(object, "progress",
                        job->has_progress
                            ? json_pack("{s:I, s:f}", "iteration", (json_int_t)job->iteration,
                                        "iteration_s", (double)job->iteration_us / 1e6)
                            : json_null());
    add_path(d, object, job->id, "stdout", JOB_OUTPUT);
    add_path(d, object, job->id, "stderr", JOB_ERROR);
    json_object_del(object, "output"); /* the patterns of these */
    json_object_del(object, "error");
    if (!history)
        json_object_del(object, "script"); /* it is long */
    if (history)
        json_object_set_new(object, "history", account_to_history(account));
    return object;
}

json_t *job_to_json(struct daemon *d, struct job *job, bool history)
{
    json_t *object = job->accounted ? archive_job(d, job->id, history) : NULL;
    return object ? object : job_now_to_json(d, job, history);
}

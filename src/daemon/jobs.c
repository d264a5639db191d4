/* What the daemon knows of a job beyond the core: its runner, its progress, its account. */
#include <string.h>

#include "daemon/account.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

/* Makes room in both lists for one more job, with this component index. */
static int reserve(struct daemon *d, uint32_t component)
{
    while (d->jobs.by_component.count <= component)
        if (pleat_array_push(&d->jobs.by_component, NULL))
            return PLEAT_E_NOMEM;
    return pleat_array_reserve(&d->jobs.by_number, 1);
}

static void add_end(struct daemon *d, const struct job *job)
{
    struct job_end end = {job_component(d, job)->end_us, job->id};
    if (pleat_array_push(&d->jobs.by_end, end))
        daemon_log("out of memory: job %lld is kept until pleatd starts again", (long long)job->id);
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
    job->ended =
        pleat_component_state_is_final((enum pleat_component_state)job_component(d, job)->state);
    d->jobs.living += !job->ended;
    if (job->ended)
        add_end(d, job);
    d->jobs.by_component.items[component] = job;
    d->jobs.last_number = id > d->jobs.last_number ? id : d->jobs.last_number;
    d->jobs.by_number.items[d->jobs.by_number.count++] = job;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct job *const *one = a, *const *other = b;
    return ((*one)->id > (*other)->id) - ((*one)->id < (*other)->id);
}

static int by_end(const void *a, const void *b)
{
    const struct job_end *one = a, *other = b;
    if (one->end_us != other->end_us)
        return one->end_us < other->end_us ? -1 : 1;
    return (one->job > other->job) - (one->job < other->job);
}

void jobs_sort(struct daemon *d)
{
    if (d->jobs.by_number.count)
        qsort(d->jobs.by_number.items, d->jobs.by_number.count, sizeof(struct job *), by_number);
    if (d->jobs.by_end.count)
        qsort(d->jobs.by_end.items, d->jobs.by_end.count, sizeof(struct job_end), by_end);
}

struct job *job_of_component(struct daemon *d, uint32_t component)
{
    return component < d->jobs.by_component.count ? d->jobs.by_component.items[component] : NULL;
}

size_t job_after(const struct daemon *d, int64_t id)
{
    size_t low = 0, high = d->jobs.by_number.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->jobs.by_number.items[middle]->id > id)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct job *job_find(struct daemon *d, int64_t id)
{
    size_t after = job_after(d, id);
    struct job *job = after > 0 ? d->jobs.by_number.items[after - 1] : NULL;
    return job && job->id == id ? job : NULL;
}

const struct pleat_component *job_component(struct daemon *d, const struct job *job)
{
    return &pleat_core_view(d->core)->components[job->component];
}

void job_ended(struct daemon *d, struct job *job)
{
    if (job->ended)
        return;
    d->jobs.living--;
    job->ended = true;
    add_end(d, job);
}

struct job *jobs_first_ended(struct daemon *d, int64_t *end_us)
{
    for (; d->jobs.next_end < d->jobs.by_end.count; jobs_pass_first_ended(d)) {
        const struct job_end *first = &d->jobs.by_end.items[d->jobs.next_end];
        struct job *job = job_find(d, first->job);
        *end_us = first->end_us;
        if (job) /* else its user has had it removed */
            return job;
    }
    return NULL;
}

/* What was passed is dropped when it is half of the list, so each end is moved once on average. */
void jobs_pass_first_ended(struct daemon *d)
{
    struct job_ends *ends = &d->jobs.by_end;
    d->jobs.next_end++;
    if (d->jobs.next_end < ends->count - d->jobs.next_end)
        return;
    ends->count -= d->jobs.next_end;
    memmove(ends->items, ends->items + d->jobs.next_end, ends->count * sizeof(ends->items[0]));
    d->jobs.next_end = 0;
}

int64_t job_not_now(const struct job *job, const struct pleat_component *component)
{
    bool runs = component->state == PLEAT_RUNNING || component->state == PLEAT_RESIZING;
    return runs ? job->not_now : 0;
}

static void job_free(struct job *job)
{
    job_drop_account(job);
    json_decref(job->folded);
    json_decref(job->folded_nodes);
    json_decref(job->saved);
    json_decref(job->points);
    pleat_array_finish(&job->measured);
    demand_finish(&job->demand);
    json_decref(job->expects);
    free(job);
}

void job_gone(struct daemon *d, struct job *job)
{
    job->gone = true;
    if (d->jobs.leaving++ == 0 || job->id < d->jobs.leaves_from)
        d->jobs.leaves_from = job->id;
}

/* Looks only at the jobs between the first and the last that go: there may be a million others. */
void jobs_forget(struct daemon *d)
{
    struct job_list *all = &d->jobs.by_number;
    size_t at = d->jobs.leaving ? job_after(d, d->jobs.leaves_from - 1) : all->count, kept = at;
    for (; d->jobs.leaving > 0 && at < all->count; at++) {
        struct job *job = all->items[at];
        if (!job->gone) {
            all->items[kept++] = job;
            continue;
        }
        d->jobs.leaving--;
        d->jobs.by_component.items[job->component] = NULL;
        spec_forget(d, job->id);
        job_free(job);
    }
    if (kept < at) {
        memmove(all->items + kept, all->items + at, (all->count - at) * sizeof(all->items[0]));
        all->count -= at - kept;
    }
}

void jobs_finish(struct daemon *d)
{
    for (size_t i = 0; i < d->jobs.by_number.count; i++)
        job_free(d->jobs.by_number.items[i]);
    pleat_array_finish(&d->jobs.by_component);
    pleat_array_finish(&d->jobs.by_number);
    pleat_array_finish(&d->jobs.by_end);
    d->jobs.next_end = d->jobs.leaving = 0;
    specs_finish(d);
}

struct pleat_runner *job_runner(struct daemon *d, struct job *job)
{
    struct pleat_error err;
    if (!job->runner) {
        const json_t *json = spec_json(d, job->id, &err);
        const char *name = json_string_value(json_object_get(json, "runner"));
        if (!json && !*d->salvage.damage)
            daemon_log("job %lld: %s", (long long)job->id, err.text);
        job->runner = d->runners[0]->ops->name;
        for (size_t i = 0; name && i < PLEAT_RUNNER_KIND_COUNT; i++)
            if (!strcmp(d->runners[i]->ops->name, name))
                job->runner = d->runners[i]->ops->name;
    }
    size_t which = 0;
    while (d->runners[which]->ops->name != job->runner)
        which++;
    return d->runners[which];
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

/* Learns from the job's notes in the store, and from those still to be written. */
static void learn(struct daemon *d, const struct job *job, struct account *account)
{
    struct pleat_note_filter of_job = {.job = job->id};
    struct pleat_error err;
    if (pleat_store_read_notes(d->store, &of_job, learn_note, account, &err))
        daemon_log("job %lld: what it did is not known: %s", (long long)job->id, err.text);
    size_t i = job->first_note > d->notes_told ? job->first_note - d->notes_told : 0;
    for (size_t left = job->note_count; left > 0 && i < d->notes.count; i++) {
        const struct made_note *note = &d->notes.items[i];
        if (note->job != job->id)
            continue;
        account_note(account, note->kind, note->time_us, note->data);
        left--;
    }
}

struct account *job_account(struct daemon *d, struct job *job)
{
    static struct account none; /* when out of memory */
    if (job->account)
        return job->account;
    job->account = calloc(1, sizeof(*job->account));
    if (!job->account) {
        daemon_log("job %lld: out of memory", (long long)job->id);
        account_finish(&none);
        return &none;
    }
    learn(d, job, job->account);
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
    if (job && job->note_count++ == 0)
        job->first_note = d->notes_told + d->notes.count - 1;
    if (job && job->account)
        account_note(job->account, kind, time_us, data);
}

void jobs_told(struct daemon *d, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct job *job = job_find(d, d->notes.items[i].job);
        if (job && job->note_count > 0)
            job->note_count--;
    }
    d->notes_told += count;
}

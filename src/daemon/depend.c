/* Dependencies as users write them become dependencies of the core. Whether a job that has ended
 * satisfies one is decided here, from what is kept about it; for jobs that live the core decides
 * (core/depend.c).
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/accounts.h"
#include "daemon/daemon.h"
#include "daemon/depend.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "model/dependency.h"
#include "model/indexes.h"

enum fate { OPEN, MET, UNMET };

static enum fate by_state(enum pleat_condition condition, bool well)
{
    bool met = condition == PLEAT_AFTER_OK ? well : condition == PLEAT_AFTER_NOT_OK ? !well : true;
    return met ? MET : UNMET;
}

/* The fate of a dependency on a job that was let go of; PLEAT_E_NOTFOUND: there was no such job. */
static int fate_of_archived(struct daemon *d, const struct pleat_need *need, enum fate *fate,
                            struct pleat_error *err)
{
    json_t *account = accounts_job(d, need->job, false);
    if (!account)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "there is no job %lld to wait for: see 'pleat ps --all'",
                               (long long)need->job);
    const char *state = json_string_value(json_object_get(account, "state"));
    *fate =
        by_state(need->condition, state && !strcmp(state, pleat_component_state_name(PLEAT_DONE)));
    json_decref(account);
    return 0;
}

static int fate_of(struct daemon *d, const struct pleat_need *need, enum fate *fate,
                   struct pleat_error *err)
{
    const struct job *job = job_find(d, need->job);
    if (!job)
        return fate_of_archived(d, need, fate, err);
    enum pleat_component_state state = (enum pleat_component_state)job_component(d, job)->state;
    *fate = pleat_component_state_is_final(state) ? by_state(need->condition, state == PLEAT_DONE)
                                                  : OPEN;
    return 0;
}

static int push(struct pleat_need_list *needs, struct pleat_need need, struct pleat_error *err)
{
    return pleat_array_push(needs, need) ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash;
}

/* Whether a job has that name, whose hash is `hash`. Its spec is read only once, but for jobs whose
 * name has the same hash: else each job that waits for its namesakes would have all specs read. */
static bool has_name(struct daemon *d, struct job *job, const char *name, uint32_t hash)
{
    if (job->name_hashed && job->name_hash != hash)
        return false;
    const char *its = job_name(d, job->id);
    job->name_hash = hash_of(its);
    job->name_hashed = true;
    return !strcmp(its, name);
}

/* Adds all living jobs that have the same name and a number below `below`. */
static int add_namesakes(struct daemon *d, int64_t below, const char *name,
                         struct pleat_need_list *open, struct pleat_error *err)
{
    uint32_t hash = hash_of(name);
    for (size_t i = 0; i < d->jobs.by_number.count && d->jobs.by_number.items[i]->id < below; i++) {
        struct job *job = d->jobs.by_number.items[i];
        struct pleat_need need = {.job = job->id, .index = -1, .condition = PLEAT_AFTER_ANY};
        if (job->ended || !has_name(d, job, name, hash))
            continue;
        int rc = push(open, need, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* The job that was looked up last: tasks of one array often follow each other in a list. */
struct found {
    int64_t job;
    bool known;
    const char *list; /* of an array's first task: its index list, borrowed; else NULL */
    struct pleat_index_list indexes;
};

/* Looks a job up, unless it is the one that was looked up last. */
static int find(struct daemon *d, int64_t job, struct found *found, struct pleat_error *err)
{
    int32_t limit;
    if (found->job == job)
        return 0;
    found->job = job;
    found->known = job_find(d, job) || accounts_know(d, job);
    found->indexes.count = 0;
    const json_t *array =
        found->known ? json_object_get(spec_json(d, job, &(struct pleat_error){0}), "array") : NULL;
    bool first = json_integer_value(json_object_get(array, "job")) == job;
    found->list = first ? json_string_value(json_object_get(array, "list")) : NULL;
    return found->list ? pleat_indexes_parse(found->list, &found->indexes, &limit, err) : 0;
}

static int compare(const void *a, const void *b)
{
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one > other) - (one < other);
}

/* Adds one task of an array. Task numbers follow each other in the order of the indexes. */
static int add_task(const struct pleat_need *need, const struct found *found,
                    struct pleat_need_list *all, struct pleat_error *err)
{
    const int32_t *items = found->indexes.items;
    const int32_t *at =
        found->list ? bsearch(&need->index, items, found->indexes.count, sizeof(*items), compare)
                    : NULL;
    if (at)
        return push(all, (struct pleat_need){need->job + (at - items), -1, need->condition}, err);
    if (found->list)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "there is no task %lld_%d to wait for: the indexes of that array "
                               "are %.200s",
                               (long long)need->job, need->index, found->list);
    return pleat_error_set(err, PLEAT_E_NOTFOUND,
                           "there is no task %lld_%d to wait for: job %lld is no array",
                           (long long)need->job, need->index, (long long)need->job);
}

/* Replaces arrays and tasks by the numbers of jobs. */
static int add_tasks(struct daemon *d, const struct pleat_need_list *written,
                     struct pleat_need_list *all, struct pleat_error *err)
{
    struct found found = {0};
    int rc = 0;
    for (size_t i = 0; !rc && i < written->count; i++) {
        struct pleat_need need = written->items[i];
        if (need.job)
            rc = find(d, need.job, &found, err);
        if (!rc && need.index >= 0 && found.known) {
            rc = add_task(&need, &found, all, err);
            continue;
        }
        if (!rc)
            rc = push(all, need, err);
        for (size_t left = need.job && found.list ? found.indexes.count : 1; !rc && left > 1;
             left--) {
            need.job++;
            rc = push(all, need, err);
        }
    }
    pleat_array_finish(&found.indexes);
    return rc;
}

static int unmet(const struct pleat_need *need, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_STATE,
                           "it could never start: job %lld has ended already, and not as '%s' "
                           "wants it",
                           (long long)need->job, pleat_condition_name(need->condition));
}

/* Finds the jobs that a job still waits for. PLEAT_E_STATE: it would wait for ever. `below`: the
 * job's own number; before it has one, the next number. */
static int resolve(struct daemon *d, const struct pleat_spec *spec, int64_t below, bool *any,
                   struct pleat_need_list *open, struct pleat_error *err)
{
    struct pleat_need_list written = {0}, needs = {0};
    size_t failed = 0;
    bool met = false;
    int rc = pleat_needs_parse(spec->dependency, &written, any, err);
    if (!rc)
        rc = add_tasks(d, &written, &needs, err);
    pleat_array_finish(&written);
    for (size_t i = 0; !rc && i < needs.count; i++) {
        const struct pleat_need *need = &needs.items[i];
        enum fate fate = OPEN;
        size_t before = open->count;
        if (need->job == 0) {
            rc = add_namesakes(d, below, spec->name, open, err);
            met = met || open->count == before;
            continue;
        }
        rc = fate_of(d, need, &fate, err);
        met = met || fate == MET;
        failed += fate == UNMET;
        if (!rc && fate == UNMET && (!*any || failed == needs.count))
            rc = unmet(need, err);
        if (!rc && fate == OPEN)
            rc = push(open, *need, err);
    }
    if (*any && met)
        open->count = 0;
    pleat_array_finish(&needs);
    return rc;
}

int needs_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err)
{
    struct pleat_need_list open = {0};
    bool any;
    int rc = spec->dependency ? resolve(d, spec, d->jobs.last_number + 1, &any, &open, err) : 0;
    pleat_array_finish(&open);
    return rc;
}

int needs_find(struct daemon *d, int64_t job, const struct pleat_spec *spec,
               struct pleat_submission_needs *needs, bool *any, struct pleat_error *err)
{
    struct pleat_need_list open = {0};
    int rc = spec->dependency ? resolve(d, spec, job, any, &open, err) : 0;
    for (size_t i = 0; !rc && i < open.count; i++) {
        const struct job *on = job_find(d, open.items[i].job);
        struct pleat_submission_need need = {.job = (uint64_t)on->id,
                                             .component = on->component,
                                             .condition = open.items[i].condition};
        if (pleat_array_push(needs, need))
            rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    pleat_array_finish(&open);
    return rc;
}

/* ---- dependencies as they are shown ---- */

json_t *needs_to_json(struct daemon *d, const struct pleat_component *c)
{
    json_t *array = json_array();
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t i = c->first_need; i != PLEAT_NONE;
         i = pleat_core_dependency(d->core, i)->next_need) {
        const struct pleat_dependency *need = pleat_core_dependency(d->core, i);
        json_array_append_new(
            array,
            json_pack("{s:I, s:s}", "job", (json_int_t)view->components[need->on].job, "condition",
                      pleat_condition_name((enum pleat_condition)need->condition)));
    }
    return array;
}

json_t *holds_to_json(const struct pleat_component *c)
{
    json_t *array = json_array();
    if (c->holds & PLEAT_HELD_BY_USER)
        json_array_append_new(array, json_string("user"));
    if (c->holds & PLEAT_HELD_BY_JOBS)
        json_array_append_new(array, json_string("jobs"));
    if (c->holds & PLEAT_HELD_BY_GROUP)
        json_array_append_new(array, json_string("array"));
    return array;
}

static void add_needs(struct daemon *d, const struct pleat_component *c, char *text, size_t size)
{
    static const char *const words[] = {[PLEAT_AFTER_ANY] = "waits for the end of job %llu",
                                        [PLEAT_AFTER_OK] = "waits for job %llu to end well",
                                        [PLEAT_AFTER_NOT_OK] = "waits for job %llu to fail",
                                        [PLEAT_AFTER_START] = "waits for the start of job %llu"};
    const struct pleat_dependency *first = pleat_core_dependency(d->core, c->first_need);
    int more = 0;
    for (uint32_t i = first->next_need; i != PLEAT_NONE;
         i = pleat_core_dependency(d->core, i)->next_need)
        more++;
    unsigned long long job =
        (unsigned long long)pleat_core_view(d->core)->components[first->on].job;
    int length = snprintf(text, size, words[first->condition], job);
    if (more && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ", %s %d more",
                 c->any_need ? "or for one of" : "and for", more);
}

void holds_text(struct daemon *d, const struct pleat_component *c, char *text, size_t size)
{
    if (c->holds & PLEAT_HELD_BY_USER)
        snprintf(text, size, "held by its user, until 'pleat release'");
    else if (c->holds & PLEAT_HELD_BY_JOBS)
        add_needs(d, c, text, size);
    else
        snprintf(text, size,
                 "its array has as many tasks in the queue or running as its limit allows");
}

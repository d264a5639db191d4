/* What was learned of programs in all their runs, by site.
 *
 * The same program is what its user calls the same (--program), or else the same command line: its
 * problem size is in there, if anywhere. Reports go into its curve as they come, and into the store
 * when the run ends: what a run measured in which pleatd died is lost. */
#include "daemon/programs.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

/* Of so many programs the curves are kept; then those go of which nothing was learned for the
 * longest time. */
enum { PROGRAMS_MOST = 256, NAME_MOST = 1024 };

/* ---- which program ---- */

/* The caller frees it; NULL: out of memory. */
static char *name_of(struct daemon *d, const struct job *job)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    struct pleat_string name = {0};
    if (spec->program)
        pleat_string_add(&name, spec->program);
    for (size_t i = 0; !spec->program && spec->argv && spec->argv[i]; i++)
        pleat_string_addf(&name, i ? " %s" : "%s", spec->argv[i]);
    if (name.length > NAME_MOST) { /* never two for one: its end says which one it is */
        size_t cut = name.length - NAME_MOST;
        memmove(name.text, name.text + cut, NAME_MOST + 1);
    }
    return name.text;
}

static struct program *find(struct daemon *d, const char *name, const char *site)
{
    for (size_t i = 0; i < d->programs.list.count; i++) {
        struct program *program = &d->programs.list.items[i];
        if (!strcmp(program->name, name) && !strcmp(program->site, site))
            return program;
    }
    return NULL;
}

static void drop(struct daemon *d, size_t index)
{
    struct program *program = &d->programs.list.items[index];
    free(program->name);
    free(program->site);
    pleat_array_finish(&program->sizes);
    demands_finish(&program->runs);
    *program = d->programs.list.items[--d->programs.list.count];
}

static void make_room(struct daemon *d)
{
    size_t oldest = 0;
    if (d->programs.list.count < PROGRAMS_MOST)
        return;
    for (size_t i = 1; i < d->programs.list.count; i++)
        if (d->programs.list.items[i].used_us < d->programs.list.items[oldest].used_us)
            oldest = i;
    drop(d, oldest);
}

/* NULL: out of memory. */
static struct program *make(struct daemon *d, const char *name, const char *site)
{
    struct program fresh = {.name = strdup(name), .site = strdup(site)};
    make_room(d);
    if (!fresh.name || !fresh.site || pleat_array_push(&d->programs.list, fresh)) {
        free(fresh.name);
        free(fresh.site);
        return NULL;
    }
    return &d->programs.list.items[d->programs.list.count - 1];
}

/* The program of a job, at its present site; made where there is none, if that is wanted. */
static struct program *program_of(struct daemon *d, const struct job *job, uint32_t site, bool made)
{
    if (site >= d->config.site_count)
        return NULL;
    char *name = name_of(d, job);
    const char *where = d->config.sites[site].name;
    struct program *program = name ? find(d, name, where) : NULL;
    if (!program && name && made)
        program = make(d, name, where);
    free(name);
    return program;
}

/* ---- learning ---- */

void programs_learn(struct daemon *d, struct job *job, const struct pleat_event *measured,
                    uint64_t grid)
{
    struct program *program = program_of(d, job, job_component(d, job)->site, true);
    if (program && measured_take(&program->sizes, measured, grid))
        program->used_us = daemon_now_us(d);
}

void programs_run_over(struct daemon *d, struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    job->demand.executions = 0;
    if (component->buffer == PLEAT_NONE || !(component->flags & PLEAT_COMPONENT_PREPARES))
        return;
    const struct pleat_buffer *buffer = &pleat_core_view(d->core)->buffers[component->buffer];
    job->demand.executions = demand_is_whole(&job->demand, buffer->requests);
    job->demand.requests = buffer->requests;
    job->demand.satisfied = buffer->satisfied;
    job->demand.most = buffer->row_most;
    job->demand.iteration_us = buffer->iteration_us;
    job->demand.waited_us = buffer->waited_us;
    job->demand.held_us = buffer->held_us;
}

/* One that asked for nothing counts as well: "times" of Liu et al. 2009, 4.1. */
static void add_demand(struct daemon *d, struct job *job)
{
    struct program *program = program_of(d, job, job_component(d, job)->site, true);
    if (!program)
        return;
    if (demands_add(&program->runs, &job->demand))
        daemon_log("out of memory: what job %lld asked for is not kept", (long long)job->id);
    else
        program->used_us = daemon_now_us(d);
}

void programs_ended(struct daemon *d, struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    bool well = component->state == PLEAT_DONE && component->code == 0;
    if (well && job->demand.executions > 0)
        add_demand(d, job);
    struct program *program = program_of(d, job, component->site, false);
    if (!program)
        return;
    if (well && job->iteration > 0)
        program->iterations = job->iteration < INT32_MAX ? (int32_t)job->iteration : INT32_MAX;
    d->programs.changed = true;
    d->programs.news++;
}

const struct program *programs_of(struct daemon *d, const struct job *job, uint32_t site)
{
    const struct program *program = program_of(d, job, site, false);
    return program && program->iterations > 0 ? program : NULL;
}

const struct demands *programs_demands(struct daemon *d, const struct job *job, uint32_t site)
{
    const struct program *program = program_of(d, job, site, false);
    return program && program->runs.count > 0 ? &program->runs : NULL;
}

/* ---- as JSON ---- */

static json_t *program_to_json(const struct program *program, bool derived)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:f, s:i, s:o, s:o}", "program", program->name, "site", program->site, "used_s",
        (double)program->used_us / 1e6, "iterations", program->iterations, "sizes",
        measured_to_json(&program->sizes), "runs", demands_to_json(&program->runs));
    if (!object || !derived)
        return object;
    json_object_set_new(object, "shrink_points", measured_points_to_json(&program->sizes, false));
    json_object_set_new(object, "expand_points", measured_points_to_json(&program->sizes, true));
    json_object_set_new(object, "demand", demands_sum_to_json(&program->runs));
    json_object_set_new(object, "predicted_grids", measured_grids_to_json(&program->sizes));
    return object;
}

static bool matches(const struct program *program, const char *name, const char *site)
{
    return (!name || !strcmp(program->name, name) || !fnmatch(name, program->name, 0)) &&
           (!site || !strcmp(program->site, site));
}

static json_t *list_to_json(const struct daemon *d, const char *name, const char *site,
                            bool derived)
{
    json_t *array = json_array();
    for (size_t i = 0; i < d->programs.list.count; i++)
        if (matches(&d->programs.list.items[i], name, site))
            json_array_append_new(array, program_to_json(&d->programs.list.items[i], derived));
    return array;
}

json_t *programs_to_json(const struct daemon *d, const char *name, const char *site)
{
    return list_to_json(d, name, site, true);
}

int programs_clear(struct daemon *d, const char *name, const char *site)
{
    int cleared = 0;
    for (size_t i = d->programs.list.count; i-- > 0;)
        if (matches(&d->programs.list.items[i], name, site)) {
            drop(d, i);
            cleared++;
        }
    if (cleared > 0) {
        d->programs.changed = true;
        d->programs.news++;
    }
    return cleared;
}

/* ---- in the store ---- */

static int64_t microseconds(const json_t *object, const char *name)
{
    double seconds = json_number_value(json_object_get(object, name));
    return seconds > 0 && seconds < 1e12 ? (int64_t)(seconds * 1e6 + 0.5) : 0;
}

static int32_t whole(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 && value < INT32_MAX ? (int32_t)value : 0;
}

static void read_program(struct daemon *d, const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "program"));
    const char *site = json_string_value(json_object_get(object, "site"));
    struct program *program = name && site && !find(d, name, site) ? make(d, name, site) : NULL;
    if (!program)
        return;
    program->used_us = microseconds(object, "used_s");
    program->iterations = whole(object, "iterations");
    measured_read(&program->sizes, json_object_get(object, "sizes"));
    demands_read(&program->runs, json_object_get(object, "runs"));
}

void programs_open(struct daemon *d)
{
    struct pleat_string text = {0};
    struct pleat_error err;
    json_t *list = NULL, *program;
    size_t i;
    int rc = pleat_store_get_meta(d->store, "programs", &text, &err);
    d->programs.news = 1;
    if (!rc)
        list = json_loads(text.text ? text.text : "", 0, NULL);
    if (!rc && !json_is_array(list))
        daemon_log("what was learned of programs cannot be read in the log: it is learned anew");
    json_array_foreach(list, i, program)
    {
        read_program(d, program);
    }
    json_decref(list);
    pleat_string_finish(&text);
}

int programs_write(struct daemon *d, struct pleat_error *err)
{
    if (!d->programs.changed)
        return 0;
    json_t *list = list_to_json(d, NULL, NULL, false);
    char *text = json_dumps(list, JSON_COMPACT);
    bool whole_list = json_array_size(list) == d->programs.list.count;
    json_decref(list);
    int rc = text && whole_list ? pleat_store_put_meta(d->store, "programs", text, err)
                                : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    free(text);
    return rc;
}

void programs_written(struct daemon *d)
{
    d->programs.changed = false;
}

void programs_finish(struct daemon *d)
{
    while (d->programs.list.count > 0)
        drop(d, d->programs.list.count - 1);
    pleat_array_finish(&d->programs.list);
}

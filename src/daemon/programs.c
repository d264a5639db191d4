/* What was learned of programs in all their runs, by site.
 *
 * The same program is what its user calls the same (--program), or else the same command line: its
 * problem size is in there, if anywhere. Reports go into its curve as they come, and into the store
 * when the run ends: what a run measured in which pleatd died is lost. */
#include "daemon/programs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"

/* Of so many programs the curves are kept; then those go of which nothing was learned for the
 * longest time. Of so many sizes each. */
enum { PROGRAMS_MOST = 256, SIZES_MOST = 64, NAME_MOST = 1024 };

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

/* NULL: out of memory, or there are too many. */
static struct pleat_timing *size_of(struct program *program, int32_t processors)
{
    size_t at = 0;
    while (at < program->sizes.count && program->sizes.items[at].processors < processors)
        at++;
    if (at < program->sizes.count && program->sizes.items[at].processors == processors)
        return &program->sizes.items[at];
    struct pleat_timing fresh = {.processors = processors, .next = PLEAT_NONE};
    if (program->sizes.count >= SIZES_MOST || pleat_array_push(&program->sizes, fresh))
        return NULL;
    memmove(&program->sizes.items[at + 1], &program->sizes.items[at],
            (program->sizes.count - 1 - at) * sizeof(fresh));
    program->sizes.items[at] = fresh;
    return &program->sizes.items[at];
}

void programs_learn(struct daemon *d, struct job *job, const struct pleat_event *measured)
{
    struct program *program = program_of(d, job, job_component(d, job)->site, true);
    struct pleat_timing *size = program ? size_of(program, measured->u.measured.processors) : NULL;
    if (!size)
        return;
    pleat_timing_merge(size, measured);
    if (measured->u.measured.redistribution_us > 0) {
        size->redistribution_us = measured->u.measured.redistribution_us;
        size->from = measured->u.measured.from;
    }
    program->used_us = daemon_now_us(d);
}

void programs_ended(struct daemon *d, const struct job *job)
{
    const struct pleat_component *component = job_component(d, job);
    bool well = component->state == PLEAT_DONE && component->code == 0;
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

/* ---- as JSON ---- */

static json_t *size_to_json(const struct pleat_timing *size)
{
    double spread_us = size->count > 0 ? sqrt(size->squares / size->count) : 0;
    return json_pack("{s:i, s:i, s:f, s:f, s:f, s:i}", "processors", size->processors, "measured",
                     size->count, "iteration_s", size->mean_us / 1e6, "spread_s", spread_us / 1e6,
                     "redistribution_s", (double)size->redistribution_us / 1e6, "from", size->from);
}

/* From each measured size to the next one, larger or smaller: what costs least, or gains most,
 * stands in front (Swaminathan 2004, 3.4.4). */
static json_t *points_to_json(const struct program *program, bool larger)
{
    json_t *points = json_array();
    for (size_t i = 1; i < program->sizes.count; i++) {
        const struct pleat_timing *low = &program->sizes.items[i - 1];
        const struct pleat_timing *high = low + 1;
        double gain = larger ? 1 - high->mean_us / low->mean_us : 1 - low->mean_us / high->mean_us;
        const char *name = larger ? "shorter" : "longer";
        size_t at = 0;
        for (; at < json_array_size(points); at++) {
            const json_t *other = json_object_get(json_array_get(points, at), name);
            double its = larger ? json_real_value(other) : -json_real_value(other);
            if (its < gain)
                break;
        }
        json_array_insert_new(
            points, at,
            json_pack("{s:i, s:i, s:i, s:f}", "from", larger ? low->processors : high->processors,
                      "processors", larger ? high->processors : low->processors,
                      larger ? "takes" : "frees", high->processors - low->processors, name,
                      larger ? gain : -gain));
    }
    return points;
}

static json_t *program_to_json(const struct program *program)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < program->sizes.count; i++)
        json_array_append_new(sizes, size_to_json(&program->sizes.items[i]));
    return json_pack("{s:s, s:s, s:f, s:i, s:o, s:o, s:o}", "program", program->name, "site",
                     program->site, "used_s", (double)program->used_us / 1e6, "iterations",
                     program->iterations, "sizes", sizes, "shrink_points",
                     points_to_json(program, false), "expand_points",
                     points_to_json(program, true));
}

static bool matches(const struct program *program, const char *name, const char *site)
{
    return (!name || !strcmp(program->name, name) || !fnmatch(name, program->name, 0)) &&
           (!site || !strcmp(program->site, site));
}

json_t *programs_to_json(const struct daemon *d, const char *name, const char *site)
{
    json_t *array = json_array();
    for (size_t i = 0; i < d->programs.list.count; i++)
        if (matches(&d->programs.list.items[i], name, site))
            json_array_append_new(array, program_to_json(&d->programs.list.items[i]));
    return array;
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

static void read_size(struct program *program, const json_t *object)
{
    int64_t mean_us = microseconds(object, "iteration_s");
    double spread_us = (double)microseconds(object, "spread_s");
    int32_t processors = whole(object, "processors"), count = whole(object, "measured");
    struct pleat_timing *size =
        mean_us > 0 && processors > 0 && count > 0 ? size_of(program, processors) : NULL;
    if (!size)
        return;
    size->iteration_us = mean_us;
    size->mean_us = (double)mean_us;
    size->count = count < PLEAT_TIMING_WINDOW ? count : PLEAT_TIMING_WINDOW;
    size->squares = spread_us * spread_us * size->count;
    size->redistribution_us = microseconds(object, "redistribution_s");
    size->from = whole(object, "from");
}

static void read_program(struct daemon *d, const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "program"));
    const char *site = json_string_value(json_object_get(object, "site"));
    struct program *program = name && site && !find(d, name, site) ? make(d, name, site) : NULL;
    size_t i;
    json_t *size;
    if (!program)
        return;
    program->used_us = microseconds(object, "used_s");
    program->iterations = whole(object, "iterations");
    json_array_foreach(json_object_get(object, "sizes"), i, size)
    {
        read_size(program, size);
    }
}

void programs_open(struct daemon *d)
{
    d->programs.news = 1;
    struct pleat_string text = {0};
    struct pleat_error err;
    json_t *list = NULL, *program;
    size_t i;
    int rc = pleat_store_get_meta(d->store, "programs", &text, &err);
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
    json_t *list = programs_to_json(d, NULL, NULL);
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

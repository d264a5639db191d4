/* elastisim.c - ElastiSim's jobs, and the application models that they name.
 *
 * A model is computed at every size that its job can have (a selection, where these are many),
 * which gives the table of run times of a Pleat application: what is computed, and delays; messages
 * and files take no time. A node is a processor. The scheduling points become equal parts of the
 * work, and what is done at a reconfiguration the time of a resize. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scenario/elastisim-model.h"

enum { APPS_KEPT = 64, SIZES_MOST = 64 };

#define SECONDS_MOST (PLEAT_WORKLOAD_TIME_MAX / 1000000 - 1)

/* An application of the workload, and what it was made from. */
struct made {
    const struct pleat_elastisim_model *model;
    const json_t *arguments;
    int64_t minimum, maximum;
    uint32_t app;
};

PLEAT_ARRAY(made_apps, struct made);

struct elastisim {
    struct pleat_foreign *foreign;
    struct pleat_elastisim_models models;
    struct made_apps made;
};

/* What a job's file says of it. */
struct described {
    enum pleat_job_kind kind;
    int64_t minimum, maximum, limit_s, priority;
    double submit_s;
    const json_t *arguments;
    const struct pleat_elastisim_model *model;
};

/* ---- applications ---- */

/* The next size after `size` for which the model is computed: all, or SIZES_MOST in about equal
 * steps of a factor. */
static int64_t next_size(int64_t size, int64_t minimum, int64_t maximum)
{
    double factor = pow((double)maximum / (double)minimum, 1.0 / (SIZES_MOST - 1));
    int64_t next = (int64_t)ceil((double)size * factor);
    if (maximum - minimum < SIZES_MOST || next <= size)
        next = size + 1;
    return next > maximum && size < maximum ? maximum : next;
}

static int add_rows(struct elastisim *all, const struct described *of,
                    const struct pleat_member_place *place, struct pleat_elastisim_walk *walk,
                    struct pleat_speedup *speedup)
{
    struct pleat_workload *workload = all->foreign->workload;
    speedup->kind = PLEAT_SPEEDUP_TABLE;
    speedup->first = (uint32_t)workload->table.count;
    for (int64_t n = of->minimum; n <= of->maximum; n = next_size(n, of->minimum, of->maximum)) {
        int rc = pleat_elastisim_time(walk, n);
        if (rc)
            return rc;
        if (walk->seconds > (double)SECONDS_MOST)
            return pleat_member_wrong(
                place, "", "on %lld nodes it would run for more than 3,170 years", (long long)n);
        struct pleat_table_row row = {(int32_t)n, llround(walk->seconds * 1e6)};
        if (row.run_us == 0) { /* it has no work: its speedup does not matter */
            workload->table.count = speedup->first;
            *speedup = (struct pleat_speedup){.kind = PLEAT_SPEEDUP_LINEAR};
            walk->seconds = 0;
            return 0;
        }
        if (pleat_array_push(&workload->table, row))
            return pleat_error_set(all->foreign->err, PLEAT_E_NOMEM, "out of memory");
        speedup->count++;
    }
    return 0;
}

static void name_app(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = 0;
    for (const char *at = slash ? slash + 1 : path; *at && length + 1 < size; at++) {
        bool plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                     (*at >= 'A' && *at <= 'Z') || *at == '-' || *at == '_' || *at == '.';
        name[length++] = plain ? *at : '_';
    }
    name[length] = '\0';
    if (length > 5 && !strcmp(name + length - 5, ".json"))
        name[length - 5] = '\0';
}

static int make_app(struct elastisim *all, const struct described *of,
                    const struct pleat_member_place *place, struct pleat_elastisim_walk *walk,
                    uint32_t *index)
{
    struct pleat_workload *workload = all->foreign->workload;
    struct pleat_app app = {0};
    double resize_s = 0;
    int rc = add_rows(all, of, place, walk, &app.speedup);
    if (!rc)
        rc = pleat_elastisim_resize_time(walk, of->minimum, of->maximum, &resize_s);
    if (rc)
        return rc;
    if (resize_s > (double)SECONDS_MOST)
        return pleat_member_wrong(place, "", "a reconfiguration takes more than 3,170 years");
    app.cost.fixed_us = llround(resize_s * 1e6);
    app.iterations = walk->points;
    name_app(of->model->path, app.name, sizeof(app.name));
    struct made made = {of->model, of->arguments, of->minimum, of->maximum,
                        (uint32_t)workload->apps.count};
    if (pleat_array_push(&workload->apps, app) || pleat_array_push(&all->made, made))
        return pleat_error_set(all->foreign->err, PLEAT_E_NOMEM, "out of memory");
    *index = made.app;
    return 0;
}

/* The application of a job: one of the last that were made, where that is the same. */
static int find_app(struct elastisim *all, const struct described *of,
                    const struct pleat_member_place *place, struct pleat_elastisim_walk *walk,
                    uint32_t *index)
{
    size_t first = all->made.count > APPS_KEPT ? all->made.count - APPS_KEPT : 0;
    for (size_t i = first; i < all->made.count; i++) {
        const struct made *made = &all->made.items[i];
        if (made->model != of->model || made->minimum != of->minimum ||
            made->maximum != of->maximum || (made->arguments != NULL) != (of->arguments != NULL) ||
            (of->arguments && !json_equal(made->arguments, of->arguments)))
            continue;
        *index = made->app;
        return pleat_elastisim_time(walk, of->maximum); /* for what it has beside */
    }
    return make_app(all, of, place, walk, index);
}

/* ---- jobs ---- */

static int read_kind(struct pleat_foreign *foreign, const struct pleat_member_place *place,
                     const json_t *json, size_t index, struct described *of, bool *left_out)
{
    static const char *const kinds[] = {"rigid", "moldable", "malleable"};
    const char *type = NULL;
    int rc = pleat_member_text(place, json, "type", &type);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, "type", "is missing");
    for (int k = 0; k < 3; k++) {
        of->kind = (enum pleat_job_kind)k;
        if (!strcasecmp(kinds[k], type))
            return 0;
    }
    if (strcasecmp(type, "evolving") != 0 && strcasecmp(type, "adaptive") != 0)
        return pleat_member_wrong(
            place, "type", "'%.30s' is none of rigid, moldable, malleable, evolving, adaptive",
            type);
    *left_out = true;
    pleat_foreign_leave_out(foreign, index,
                            "evolving and adaptive jobs ask for nodes, which is not read");
    return 0;
}

static int read_sizes(const struct pleat_member_place *place, const json_t *json,
                      struct described *of)
{
    const char *low = of->kind == PLEAT_RIGID ? "num_nodes" : "num_nodes_min";
    const char *high = of->kind == PLEAT_RIGID ? "num_nodes" : "num_nodes_max";
    int rc = pleat_member_whole(place, json, low, 1, PLEAT_SIZE_MAX, &of->minimum);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, low, "is missing");
    rc = pleat_member_whole(place, json, high, 1, PLEAT_SIZE_MAX, &of->maximum);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, high, "is missing");
    return of->minimum <= of->maximum
               ? 0
               : pleat_member_wrong(place, high, "is less than num_nodes_min");
}

static int read_rest(struct elastisim *all, const struct pleat_member_place *place,
                     const json_t *json, struct described *of)
{
    const json_t *attributes = json_object_get(json, "attributes");
    int rc = pleat_member_real(place, json, "submit_time", 0, (double)SECONDS_MOST, &of->submit_s);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, "submit_time", "is missing");
    rc = pleat_member_whole(place, json, "walltime", 0, SECONDS_MOST, &of->limit_s);
    if (rc < 0)
        return rc;
    of->arguments = json_object_get(json, "arguments");
    if (of->arguments && !json_is_object(of->arguments))
        return pleat_member_wrong(place, "arguments", "must be an object");
    /* attributes are whatever the user likes: a priority that is none of Pleat's is no mistake */
    const json_t *priority = json_object_get(attributes, "priority");
    if (json_is_integer(priority) && json_integer_value(priority) >= -INT16_MAX &&
        json_integer_value(priority) <= INT16_MAX)
        of->priority = (int64_t)json_integer_value(priority);
    all->foreign->depend += json_object_get(attributes, "dependency") != NULL;
    return pleat_elastisim_model(&all->models, place, json_object_get(json, "application_model"),
                                 &of->model);
}

static int add_job(struct elastisim *all, const struct pleat_member_place *place,
                   const struct described *of, size_t index)
{
    struct pleat_foreign *foreign = all->foreign;
    struct pleat_elastisim_walk walk = {
        .foreign = foreign, .model = of->model, .arguments = of->arguments};
    struct pleat_workload_job job;
    uint32_t app = 0;
    int rc = of->kind == PLEAT_RIGID ? pleat_elastisim_time(&walk, of->maximum)
                                     : find_app(all, of, place, &walk, &app);
    if (rc)
        return rc;
    if (walk.unknown) {
        pleat_foreign_leave_out(foreign, index, walk.unknown);
        return 0;
    }
    if (walk.seconds > (double)SECONDS_MOST)
        return pleat_member_wrong(place, "application_model", "it runs for more than 3,170 years");
    pleat_foreign_job(&job);
    job.number = (int64_t)index + 1;
    job.kind = (uint8_t)of->kind;
    job.processors = job.maximum = (int32_t)of->maximum;
    job.minimum = (int32_t)of->minimum;
    job.priority = (int16_t)of->priority;
    job.app = app;
    if (of->kind == PLEAT_MALLEABLE && walk.points == 0)
        job.kind = PLEAT_MOLDABLE; /* it has no point at which it could change */
    foreign->transfers += walk.transfers;
    pleat_foreign_times(foreign, &job, of->submit_s, walk.seconds, (double)of->limit_s);
    return pleat_foreign_add(foreign, place, &job);
}

static int read_job(struct elastisim *all, const json_t *json, size_t index)
{
    char where[40];
    snprintf(where, sizeof(where), "jobs[%zu]", index);
    const struct pleat_member_place place = {all->foreign->name, where, all->foreign->err};
    struct described of = {0};
    bool left_out = false;
    if (!json_is_object(json))
        return pleat_member_wrong(&place, "", "must be an object");
    int rc = read_kind(all->foreign, &place, json, index, &of, &left_out);
    if (rc || left_out)
        return rc;
    rc = read_sizes(&place, json, &of);
    if (!rc)
        rc = read_rest(all, &place, json, &of);
    return rc ? rc : add_job(all, &place, &of, index);
}

int pleat_elastisim_read(struct pleat_foreign *foreign, const json_t *json)
{
    const struct pleat_member_place place = {foreign->name, "", foreign->err};
    struct elastisim all = {.foreign = foreign, .models = {.foreign = foreign}};
    const json_t *jobs = json_object_get(json, "jobs");
    int rc = 0;
    if (!json_is_array(jobs))
        return pleat_member_wrong(&place, "jobs", "a list of jobs is expected");
    for (size_t i = 0; !rc && i < json_array_size(jobs); i++)
        rc = read_job(&all, json_array_get(jobs, i), i);
    pleat_elastisim_models_finish(&all.models);
    pleat_array_finish(&all.made);
    return rc;
}

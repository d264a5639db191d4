#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario/elastisim-model.h"
#include "scenario/expression.h"

enum { DEPTH_MOST = 16, POINTS_MOST = 1000000000 };

/* ---- files ---- */

void pleat_elastisim_models_finish(struct pleat_elastisim_models *models)
{
    for (size_t i = 0; i < models->read.count; i++) {
        struct pleat_elastisim_model *model = models->read.items[i];
        if (model->own)
            json_decref(model->json);
        free(model->path);
        free(model);
    }
    pleat_array_finish(&models->read);
}

/* Where a model's file is: beside that of the jobs, if there is one there. */
static int find_file(const struct pleat_elastisim_models *models, const char *named,
                     struct pleat_string *path)
{
    const char *slash = strrchr(models->foreign->name, '/');
    if (*named != '/' && slash) {
        pleat_string_add_bytes(path, models->foreign->name,
                               (size_t)(slash + 1 - models->foreign->name));
        pleat_string_add(path, named);
        if (path->failed || access(path->text, F_OK) == 0)
            return path->failed ? PLEAT_E_NOMEM : 0;
        pleat_string_finish(path);
    }
    pleat_string_add(path, named);
    return path->failed ? PLEAT_E_NOMEM : 0;
}

static int add_model(struct pleat_elastisim_models *models, char *path, json_t *json, bool own)
{
    struct pleat_elastisim_model *model = malloc(sizeof(*model));
    if (!path || !model || pleat_array_push(&models->read, model)) {
        free(path);
        free(model);
        if (own)
            json_decref(json);
        return pleat_error_set(models->foreign->err, PLEAT_E_NOMEM, "out of memory");
    }
    *model = (struct pleat_elastisim_model){path, json, own};
    return 0;
}

static int read_file(struct pleat_elastisim_models *models, const struct pleat_member_place *place,
                     const char *path)
{
    struct pleat_string text = {0};
    struct pleat_error why = {0};
    struct stat about;
    json_t *json = NULL;
    if (!stat(path, &about) && !S_ISREG(about.st_mode)) /* what has no end is not to be read */
        return pleat_member_wrong(place, "application_model", "%.200s is no plain file", path);
    int rc = pleat_text_read(path, PLEAT_TEXT_MOST, &text, &why);
    if (!rc)
        rc = pleat_text_json(text.text ? text.text : "", text.length, path, &json, &why);
    pleat_string_finish(&text);
    if (rc)
        return pleat_member_wrong(place, "application_model", "%.240s", why.text);
    return add_model(models, strdup(path), json, true);
}

int pleat_elastisim_model(struct pleat_elastisim_models *models,
                          const struct pleat_member_place *place, const json_t *value,
                          const struct pleat_elastisim_model **model)
{
    struct pleat_string path = {0};
    int rc = 0;
    if (!json_is_string(value) && !json_is_object(value))
        return pleat_member_wrong(place, "application_model", "must be the path of a file");
    if (json_is_string(value))
        rc = find_file(models, json_string_value(value), &path);
    if (rc)
        return pleat_error_set(place->err, rc, "out of memory");
    for (size_t i = 0; i < models->read.count; i++) {
        *model = models->read.items[i];
        bool same = path.text ? (*model)->own && !strcmp((*model)->path, path.text)
                              : (*model)->json == value;
        if (same) {
            pleat_string_finish(&path);
            return 0;
        }
    }
    rc = path.text
             ? read_file(models, place, path.text)
             : add_model(models, strdup(models->foreign->name), (json_t *)(uintptr_t)value, false);
    pleat_string_finish(&path);
    if (!rc)
        *model = models->read.items[models->read.count - 1];
    return rc;
}

/* ---- numbers, which may be formulas ---- */

static bool find_variable(void *context, const char *name, size_t length, double *value)
{
    struct pleat_elastisim_walk *walk = context;
    char key[64];
    if (length >= sizeof(key))
        return false;
    memcpy(key, name, length);
    key[length] = '\0';
    if (!strcmp(key, "num_nodes")) {
        *value = (double)walk->nodes;
        return true;
    }
    const json_t *argument = json_object_get(walk->arguments, key);
    if (json_is_number(argument)) {
        *value = json_number_value(argument);
        return true;
    }
    if (!json_is_string(argument) || walk->depth >= DEPTH_MOST)
        return false;
    walk->depth++;
    int rc = pleat_expression(json_string_value(argument), find_variable, walk, value, NULL);
    walk->depth--;
    return !rc;
}

/* Computes what a member of a task or phase says; 0 or more. 1: it is there; 0: it is not. */
static int number(struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                  const json_t *object, const char *key, double *value)
{
    const json_t *member = json_object_get(object, key);
    struct pleat_error why;
    if (!member || json_is_null(member))
        return 0;
    if (!json_is_number(member) && !json_is_string(member))
        return pleat_member_wrong(place, key, "must be a number or a formula");
    double read = json_number_value(member);
    if (json_is_string(member) &&
        pleat_expression(json_string_value(member), find_variable, walk, &read, &why))
        return pleat_member_wrong(place, key, "%.250s", why.text);
    if (!(read >= 0 && read <= 1e30))
        return pleat_member_wrong(place, key, "is %g with num_nodes = %lld: not from 0 to 1e30",
                                  read, (long long)walk->nodes);
    *value = read;
    return 1;
}

/* How much of a task's amount the busiest node has. */
static int busiest(const struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                   const json_t *task, const char *key, double amount, double *most)
{
    const char *pattern = "uniform";
    int rc = pleat_member_text(place, task, key, &pattern);
    double nodes = (double)walk->nodes;
    if (rc < 0)
        return rc;
    if (!strcasecmp(pattern, "total") || !strcasecmp(pattern, "all_ranks"))
        *most = amount / nodes;
    else if (!strcasecmp(pattern, "uniform") || !strcasecmp(pattern, "root_only"))
        *most = amount;
    else if (!strcasecmp(pattern, "even_ranks"))
        *most = amount / ceil(nodes / 2);
    else if (!strcasecmp(pattern, "odd_ranks"))
        *most = amount / fmax(floor(nodes / 2), 1);
    else
        return pleat_member_wrong(place, key,
                                  "'%.30s' is none of uniform, total, all_ranks, root_only, "
                                  "even_ranks, odd_ranks, and (with a list of numbers) vector",
                                  pattern);
    return 0;
}

/* The amount of the busiest node, of a task whose amounts may be a list. 0: it has none. */
static int amount_of(struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                     const json_t *task, const char *key, const char *pattern, double *most)
{
    const json_t *list = json_object_get(task, key);
    double amount = 0;
    if (json_is_array(list)) {
        for (size_t i = 0; i < json_array_size(list); i++) {
            double one = json_number_value(json_array_get(list, i));
            int rc = pleat_foreign_step(walk->foreign);
            if (rc)
                return rc;
            if (!json_is_number(json_array_get(list, i)) || !(one >= 0 && one <= 1e30))
                return pleat_member_wrong(place, key, "entry %zu must be a number from 0 on", i);
            *most = fmax(*most, one);
        }
        return 1;
    }
    int rc = number(walk, place, task, key, &amount);
    if (rc <= 0)
        return rc;
    rc = busiest(walk, place, task, pattern, amount, most);
    return rc ? rc : 1;
}

/* ---- tasks and phases ---- */

static int add_tasks(struct pleat_elastisim_walk *walk, const char *where, const json_t *tasks,
                     double times);

static int add_computing(struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                         const json_t *task, double times)
{
    double flops = 0, rate = walk->foreign->reading->flops;
    int rc = amount_of(walk, place, task, "flops", "computation_pattern", &flops);
    if (rc < 0)
        return rc;
    walk->transfers |= json_object_get(task, "bytes") != NULL;
    if (flops > 0 && !(rate > 0))
        return pleat_member_wrong(place, "flops",
                                  "operations are counted: say how many a node does in a second "
                                  "(--flops 1e12 for a platform's speed=\"1000Gf\")");
    walk->seconds += flops > 0 ? times * flops / rate : 0;
    return 0;
}

static int add_delay(struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                     const json_t *task, double times)
{
    double delay = 0;
    int rc = amount_of(walk, place, task, "delay", "pattern", &delay);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, "delay", "is missing");
    walk->seconds += times * delay;
    return 0;
}

static int add_task(struct pleat_elastisim_walk *walk, const struct pleat_member_place *place,
                    const json_t *task, double times)
{
    const char *type = NULL;
    double iterations = 1;
    int rc = pleat_foreign_step(walk->foreign);
    if (rc)
        return rc;
    rc = pleat_member_text(place, task, "type", &type);
    if (rc <= 0)
        return rc ? rc : pleat_member_wrong(place, "type", "is missing");
    rc = number(walk, place, task, "iterations", &iterations);
    if (rc < 0)
        return rc;
    times *= floor(iterations);
    if (!strcasecmp(type, "cpu"))
        return add_computing(walk, place, task, times);
    if (!strcasecmp(type, "idle") || !strcasecmp(type, "busy_wait"))
        return add_delay(walk, place, task, times);
    if (!strcasecmp(type, "sequence"))
        return add_tasks(walk, place->where, json_object_get(task, "tasks"), times);
    if (!strcasecmp(type, "gpu")) {
        walk->unknown = "nothing tells how long tasks of type gpu take";
        return 0;
    }
    if (strcasecmp(type, "pfs_read") != 0 && strcasecmp(type, "pfs_write") != 0 &&
        strcasecmp(type, "bb_read") != 0 && strcasecmp(type, "bb_write") != 0)
        return pleat_member_wrong(
            place, "type",
            "'%.30s' is none of cpu, gpu, idle, busy_wait, sequence, pfs_read, "
            "pfs_write, bb_read, bb_write",
            type);
    walk->transfers = true;
    return 0;
}

static int add_tasks(struct pleat_elastisim_walk *walk, const char *where, const json_t *tasks,
                     double times)
{
    const char *name = walk->model->path;
    const struct pleat_member_place place = {name, where, walk->foreign->err};
    int rc = 0;
    if (!json_is_array(tasks))
        return pleat_member_wrong(&place, "tasks", "a list of tasks is expected");
    if (walk->depth >= DEPTH_MOST)
        return pleat_member_wrong(&place, "tasks", "sequences are nested more than %d deep",
                                  DEPTH_MOST);
    walk->depth++;
    for (size_t i = 0; !rc && i < json_array_size(tasks); i++) {
        char inner[160];
        snprintf(inner, sizeof(inner), "%.110s%stasks[%zu]", where, *where ? "." : "", i);
        const struct pleat_member_place at = {name, inner, walk->foreign->err};
        const json_t *task = json_array_get(tasks, i);
        rc = json_is_object(task) ? add_task(walk, &at, task, times)
                                  : pleat_member_wrong(&at, "", "must be an object");
    }
    walk->depth--;
    return rc;
}

static bool flag(const json_t *object, const char *key, bool usual)
{
    const json_t *member = json_object_get(object, key);
    return json_is_boolean(member) ? json_is_true(member) : usual;
}

static int add_phase(struct pleat_elastisim_walk *walk, const json_t *phase, size_t index)
{
    char where[40];
    snprintf(where, sizeof(where), "phases[%zu]", index);
    const struct pleat_member_place place = {walk->model->path, where, walk->foreign->err};
    double iterations = 1;
    if (!json_is_object(phase))
        return pleat_member_wrong(&place, "", "must be an object");
    int rc = number(walk, &place, phase, "iterations", &iterations);
    if (rc < 0)
        return rc;
    iterations = floor(iterations);
    if (flag(phase, "scheduling_point", true))
        walk->points = (int32_t)fmin((double)walk->points + iterations, POINTS_MOST);
    return add_tasks(walk, where, json_object_get(phase, "tasks"), iterations);
}

/* What is done once: a list of tasks, or (in older files) an object with such a list. */
static int add_once(struct pleat_elastisim_walk *walk, const char *key)
{
    const json_t *once = json_object_get(walk->model->json, key);
    if (!once || json_is_null(once))
        return 0;
    return add_tasks(walk, key, json_is_object(once) ? json_object_get(once, "tasks") : once, 1);
}

int pleat_elastisim_time(struct pleat_elastisim_walk *walk, int64_t nodes)
{
    const struct pleat_member_place place = {walk->model->path, "", walk->foreign->err};
    const json_t *phases = json_object_get(walk->model->json, "phases");
    walk->nodes = nodes;
    walk->seconds = 0;
    walk->points = 0;
    walk->depth = 0;
    walk->transfers = false;
    walk->unknown = NULL;
    if (!json_is_array(phases))
        return pleat_member_wrong(&place, "phases", "a list of phases is expected");
    int rc = add_once(walk, "on_init");
    for (size_t i = 0; !rc && i < json_array_size(phases); i++)
        rc = add_phase(walk, json_array_get(phases, i), i);
    return rc;
}

int pleat_elastisim_resize_time(struct pleat_elastisim_walk *walk, int64_t least, int64_t most,
                                double *seconds)
{
    double longest = 0;
    for (int i = 0; i < 2; i++) {
        struct pleat_elastisim_walk resize = {.foreign = walk->foreign,
                                              .model = walk->model,
                                              .arguments = walk->arguments,
                                              .nodes = i == 0 ? least : most};
        int rc = add_once(&resize, "on_reconfiguration");
        if (!rc)
            rc = add_once(&resize, "on_expansion");
        if (rc)
            return rc;
        walk->transfers |= resize.transfers;
        longest = fmax(longest, resize.seconds);
    }
    *seconds = longest;
    return 0;
}

/* Specs of jobs: all in the store, a few cached. A spec is written without its environment: many
 * jobs share one, and only a start needs it.
 */
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/specs.h"

static void empty(struct known_spec *known)
{
    json_decref(known->json);
    if (known->parsed)
        pleat_spec_finish(&known->spec);
    memset(known, 0, sizeof(*known));
}

static struct known_spec *slot_of(struct daemon *d, int64_t job)
{
    return &d->specs.known[(uint64_t)job % SPECS_KNOWN];
}

void specs_finish(struct daemon *d)
{
    for (size_t i = 0; i < SPECS_KNOWN; i++)
        empty(&d->specs.known[i]);
}

void spec_forget(struct daemon *d, int64_t job)
{
    if (slot_of(d, job)->job == job)
        empty(slot_of(d, job));
}

static const struct made_spec *unwritten(const struct daemon *d, int64_t job)
{
    for (size_t i = d->specs.made.count; i > 0; i--)
        if (d->specs.made.items[i - 1].job == job)
            return &d->specs.made.items[i - 1];
    return NULL;
}

static json_t *read_json(const char *text, json_type type, int64_t job, struct pleat_error *err)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    if (json && json_typeof(json) != type) {
        json_decref(json);
        json = NULL;
    }
    if (!json)
        pleat_error_set(err, PLEAT_E_CORRUPT, "the spec of job %lld cannot be read",
                        (long long)job);
    return json;
}

static json_t *load(struct daemon *d, int64_t job, struct pleat_error *err)
{
    const struct made_spec *made = unwritten(d, job);
    struct pleat_string text = {0};
    if (made)
        return read_json(made->text, JSON_OBJECT, job, err);
    if (pleat_store_get_spec(d->store, job, &text, err)) {
        pleat_string_finish(&text);
        return NULL;
    }
    json_t *json = read_json(text.text, JSON_OBJECT, job, err);
    pleat_string_finish(&text);
    return json;
}

/* 0 with *env NULL: the spec of an older version, which includes its environment. */
static int load_environment(struct daemon *d, int64_t job, json_t **env, struct pleat_error *err)
{
    const struct made_spec *made = unwritten(d, job);
    struct pleat_string text = {0};
    int rc = 0;
    *env = NULL;
    if (!made)
        rc = pleat_store_get_shared(d->store, job, &text, err);
    if (!rc && (made ? made->environment : text.text)) {
        *env = read_json(made ? made->environment : text.text, JSON_ARRAY, job, err);
        rc = *env ? 0 : PLEAT_E_CORRUPT;
    }
    pleat_string_finish(&text);
    return rc == PLEAT_E_NOTFOUND ? 0 : rc;
}

static struct known_spec *known_of(struct daemon *d, int64_t job, struct pleat_error *err)
{
    struct known_spec *known = slot_of(d, job);
    if (known->json && known->job == job)
        return known;
    json_t *json = load(d, job, err);
    if (!json)
        return NULL;
    empty(known);
    known->job = job;
    known->json = json;
    return known;
}

const json_t *spec_json(struct daemon *d, int64_t job, struct pleat_error *err)
{
    const struct known_spec *known = known_of(d, job, err);
    return known ? known->json : NULL;
}

/* Parses a cached spec with this environment; NULL: with the one that it includes. Takes `env`. */
static int parse(struct known_spec *known, json_t *env, struct pleat_error *err)
{
    struct pleat_spec fresh;
    json_t *json = json_copy(known->json);
    if (env)
        json_object_set_new(json, "env", env);
    int rc = json ? pleat_spec_from_json(json, &fresh, err)
                  : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    json_decref(json);
    if (rc)
        return rc;
    if (known->parsed)
        pleat_spec_finish(&known->spec);
    known->spec = fresh; /* spec.sizes points into memory that moves with it */
    known->parsed = true;
    return 0;
}

const struct pleat_spec *spec_of(struct daemon *d, int64_t job, struct pleat_error *err)
{
    struct known_spec *known = known_of(d, job, err);
    json_t *env;
    if (!known || known->whole)
        return known ? &known->spec : NULL;
    if (load_environment(d, job, &env, err) || parse(known, env, err))
        return NULL;
    known->whole = true;
    return &known->spec;
}

const struct pleat_spec *job_spec(struct daemon *d, int64_t job)
{
    static const struct pleat_spec none;
    struct pleat_error err;
    struct known_spec *known = known_of(d, job, &err);
    if (known && (known->parsed ||
                  !parse(known, json_object_get(known->json, "env") ? NULL : json_array(), &err)))
        return &known->spec;
    if (err.code != PLEAT_E_NOTFOUND ||
        !*d->salvage.damage) /* else users were told that specs are lost */
        daemon_log("job %lld: %s", (long long)job, err.text);
    return &none;
}

const char *job_name(struct daemon *d, int64_t job)
{
    const char *name = job_spec(d, job)->name;
    return name ? name : "";
}

void specs_written(struct daemon *d)
{
    for (size_t i = 0; i < d->specs.made.count; i++) {
        free(d->specs.made.items[i].text);
        free(d->specs.made.items[i].environment);
    }
    d->specs.made.count = 0;
}

int spec_made(struct daemon *d, int64_t job, json_t *json)
{
    json_t *env = json_object_get(json, "env");
    struct made_spec made = {.job = job};
    made.environment = env ? json_dumps(env, JSON_COMPACT) : NULL;
    bool lost = env && !made.environment;
    json_object_del(json, "env");
    made.text = json_dumps(json, JSON_COMPACT);
    if (!made.text || lost || pleat_array_push(&d->specs.made, made)) {
        free(made.text);
        free(made.environment);
        return PLEAT_E_NOMEM;
    }
    return 0;
}

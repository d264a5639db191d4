#include "daemon/parts_start.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/remote.h"
#include "daemon/agent_link.h"
#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/parts_inside.h"
#include "daemon/runs.h"
#include "daemon/slots.h"
#include "daemon/specs.h"
#include "model/runner_kind.h"

static bool has_name(const char *entry, const char *name, size_t length)
{
    return !strncmp(entry, name, length) && entry[length] == '=';
}

/* Whether `names`, with ',' between them, has that of the variable. */
static bool is_named(const char *names, const char *entry)
{
    while (names && *names) {
        size_t length = strcspn(names, ",");
        if (length && has_name(entry, names, length))
            return true;
        names += length + (names[length] == ',');
    }
    return false;
}

static int add_variable(json_t *env, const char *name, size_t length, const char *value)
{
    char *text = NULL;
    if (asprintf(&text, "%.*s=%s", (int)length, name, value) < 0)
        return PLEAT_E_NOMEM;
    int bad = json_array_append_new(env, json_string(text));
    free(text);
    return bad;
}

/* The environment of the launcher, with the scratch directory of the part's node in the place of
 * its own. */
static json_t *environment(const json_t *base, const char *scratch)
{
    static const char *const own[] = {PLEAT_SCRATCH_ENV, PLEAT_PART_SCRATCH_ENV};
    const char *names = NULL;
    size_t index;
    const json_t *entry;
    json_t *env = json_array();
    json_array_foreach(base, index, entry)
    {
        const char *text = json_string_value(entry);
        if (has_name(text, PLEAT_PART_SCRATCH_ENV, strlen(PLEAT_PART_SCRATCH_ENV)))
            names = text + strlen(PLEAT_PART_SCRATCH_ENV) + 1;
    }
    int bad = !env;
    json_array_foreach(base, index, entry)
    {
        const char *text = json_string_value(entry);
        if (!bad && !is_named(names, text) && !has_name(text, own[0], strlen(own[0])) &&
            !has_name(text, own[1], strlen(own[1])))
            bad = json_array_append(env, (json_t *)(uintptr_t)entry);
    }
    bad = bad || add_variable(env, own[0], strlen(own[0]), scratch);
    for (const char *name = names; !bad && name && *name;) {
        size_t length = strcspn(name, ",");
        bad = length && add_variable(env, name, length, scratch);
        name += length + (name[length] == ',');
    }
    if (!bad)
        return env;
    json_decref(env);
    return NULL;
}

/* Adds which of the run's nodes the part's is, and how many there are, as the leading agent has
 * said; where the run has a mailbox. */
static int add_place(struct daemon *d, const struct pleat_component *component, const json_t *wish,
                     json_t *params)
{
    int32_t most = pleat_core_view(d->core)->sites[component->site].capacity;
    return json_object_set_new(params, "mailbox_ranks", json_integer(most)) ||
           json_object_set(params, "place", json_object_get(wish, "place")) ||
           (json_object_get(wish, "waits") &&
            json_object_set(params, "waits", json_object_get(wish, "waits"))) ||
           json_object_set(params, "places", json_object_get(wish, "places"));
}

/* The number of processors with which the run is started: of a resize under way, if there is one.
 */
static int32_t processors_of(struct daemon *d, const struct pleat_component *component)
{
    return component->resize != PLEAT_NONE ? pleat_core_resize(d->core, component->resize)->to
                                           : component->processors;
}

/* Adds how the part of a folded run is folded, which has `count` processors, after `before` of
 * other nodes. */
static int add_fold(struct daemon *d, const struct pleat_component *component,
                    const struct pleat_spec *spec, uint32_t node, int32_t before, int32_t count,
                    json_t *params, struct pleat_error *err)
{
    if (!spec->folds)
        return 0;
    json_t *fold = pleat_runner_fold(spec, slots_processes(d, component, node, before, count), err);
    if (!fold)
        return err->code;
    return json_object_set_new(params, "fold", fold)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

/* Adds the slots of the component on the part's node; none where it is not bound. */
static int add_slots(struct daemon *d, const struct pleat_component *component,
                     const struct pleat_spec *spec, uint32_t node, json_t *params,
                     struct pleat_error *err)
{
    struct node_slots_list nodes = {0};
    int rc = slots_of(d, component, processors_of(d, component), &nodes, err);
    int32_t before = 0;
    for (size_t i = 0; !rc && i < nodes.count; before += nodes.items[i].processors, i++) {
        const struct slot_ranges *ranges = &nodes.items[i].ranges;
        if (nodes.items[i].node != node || ranges->count == 0)
            continue;
        rc = add_fold(d, component, spec, node, before, nodes.items[i].processors, params, err);
        json_t *slots = json_array();
        for (size_t r = 0; slots && r < ranges->count; r++)
            json_array_append_new(slots, json_pack("{s:I, s:I}", "first",
                                                   (json_int_t)ranges->items[r].first, "count",
                                                   (json_int_t)ranges->items[r].count));
        if (json_object_set_new(params, "slots", slots))
            rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    slots_finish(&nodes);
    if (!rc && spec->folds && !json_object_get(params, "fold"))
        rc = pleat_error_set(err, PLEAT_E_STATE, "a folded job has no processors on its node");
    return rc;
}

int part_start(struct daemon *d, const struct part *part, struct pleat_error *err)
{
    char scratch[PATH_MAX], number[32];
    uint32_t index = run_component(d, part->run);
    const struct job *job = job_of_component(d, index);
    if (!job)
        return pleat_error_set(err, PLEAT_E_STATE, "the job is over");
    if (!agent_knows(d, part->site, part->node, PLEAT_FEATURE_STREAMS))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the agent of node %u was started before Pleat was upgraded, and "
                               "takes no part of a job: submit the job again when the agent's jobs "
                               "have ended",
                               part->node);
    const struct pleat_spec *spec = job_spec(d, job->id);
    /* what the launcher names is a directory of its own node, where the nodes have none in common
     */
    const struct pleat_component *c = job_component(d, job);
    bool apart =
        agent_is_apart(d, part->site, part->node) || agent_is_apart(d, c->site, c->lead_node);
    const char *cwd = apart ? scratch : json_string_value(json_object_get(part->wish, "cwd"));
    bool mailbox = pleat_runner_kind_find(spec->runner)->starts & PLEAT_STARTS_MAILBOX;
    agent_scratch(d, part->site, part->node, part->there, scratch, sizeof(scratch));
    snprintf(number, sizeof(number), "%lld", (long long)job->id);
    json_t *params =
        json_pack("{s:I, s:I, s:s, s:[s, s, O], s:o, s:s, s:s, s:s, s:i, s:s, s:s*}", "run",
                  (json_int_t)part->there, "part", (json_int_t)part->number, "job", number, "argv",
                  "/bin/sh", "-c", json_object_get(part->wish, "command"), "env",
                  environment(json_object_get(part->wish, "env"), scratch), "cwd", cwd, "stdout",
                  "/dev/null", "stderr", "/dev/null", "umask", (int)spec->umask, "scratch", scratch,
                  "limits", spec->limits);
    if (params && spec->nice != PLEAT_SPEC_NICE_HERE)
        json_object_set_new(params, "nice", json_integer(spec->nice));
    if (params && spec->memory_limit_kb)
        json_object_set_new(params, "memory_limit_kb", json_integer(spec->memory_limit_kb));
    int rc = params ? add_slots(d, job_component(d, job), spec, part->node, params, err)
                    : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    const struct part *before = part->there != part->run ? part_before(d, part) : NULL;
    if (before)
        json_object_set_new(params, "before", json_integer((json_int_t)before->there));
    if (!rc && mailbox && add_place(d, job_component(d, job), part->wish, params))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (rc) {
        json_decref(params);
        return rc;
    }
    return agent_send(d, part->site, part->node, "start", params, err);
}

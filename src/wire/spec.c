#include "wire/spec.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "model/dependency.h"
#include "model/indexes.h"
#include "model/runner_kind.h"
#include "wire/spec_values.h"

/* The signal before the time limit: {"signal", "lead_s", "script"}. */
static int read_signal(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const json_t *member = json_object_get(object, "limit_signal");
    int64_t number = 0;
    if (!member || json_is_null(member))
        return 0;
    int rc = pleat_get_int(member, "signal", true, 1, SIGRTMAX, &number, err);
    if (!rc)
        rc = pleat_spec_read_seconds(member, "lead_s", &spec->signal.lead_us, err);
    if (!rc)
        rc = pleat_get_bool(member, "script", false, &spec->signal.script_only, err);
    spec->signal.number = (int32_t)number;
    if (!rc && spec->limit_us && spec->signal.lead_us >= spec->limit_us)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "a signal %g s before a time limit of %g s would come before the job",
                             (double)spec->signal.lead_us / 1e6, (double)spec->limit_us / 1e6);
    return rc;
}

#define KEEP 2 /* number of files where the job does not say it */
#define KEEP_MOST 1000
#define OFTEN_US 1000000 /* the shortest time between two checkpoints */

/* Checkpoints that nobody has to ask for: {"every_s", "keep", "before_limit_s", "go_on", "dir",
 * "signal"}.
 */
static int read_checkpoints(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const json_t *member = json_object_get(object, "checkpoints");
    struct pleat_spec_checkpoints *wanted = &spec->checkpoints;
    int64_t keep = KEEP, number = 0;
    wanted->keep = KEEP;
    if (!member || json_is_null(member))
        return 0;
    int rc = pleat_spec_read_seconds(member, "every_s", &wanted->every_us, err);
    if (!rc)
        rc = pleat_spec_read_seconds(member, "before_limit_s", &wanted->before_us, err);
    if (!rc)
        rc = pleat_get_int(member, "keep", false, 1, KEEP_MOST, &keep, err);
    if (!rc)
        rc = pleat_get_bool(member, "go_on", false, &wanted->goes_on, err);
    if (!rc)
        rc =
            pleat_spec_copy_bounded(member, "dir", PLEAT_SPEC_PATH_MAX, &spec->checkpoint_dir, err);
    if (!rc)
        rc = pleat_get_int(member, "signal", false, 1, SIGRTMAX, &number, err);
    if (!rc && number && number != SIGUSR1 && number != SIGUSR2)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "only SIGUSR1 and SIGUSR2 can ask for a checkpoint");
    wanted->signal = (int32_t)number;
    wanted->keep = (int32_t)keep;
    if (!rc && wanted->every_us && wanted->every_us < OFTEN_US)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "checkpoints are written at most once a second, not every %g s",
                             (double)wanted->every_us / 1e6);
    if (!rc && spec->checkpoint_dir && *spec->checkpoint_dir != '/')
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'dir' of 'checkpoints' must be absolute");
    if (!rc && spec->limit_us && wanted->before_us >= spec->limit_us)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "a checkpoint %g s before a time limit of %g s would come before the "
                             "job",
                             (double)wanted->before_us / 1e6, (double)spec->limit_us / 1e6);
    return rc;
}

static int read_times(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    int rc = pleat_spec_read_seconds(object, "estimate_s", &spec->estimate_us, err);
    if (!rc)
        rc = pleat_spec_read_seconds(object, "deadline_in_s", &spec->deadline_us, err);
    if (!rc)
        rc = pleat_spec_read_seconds(object, "begin_in_s", &spec->begin_us, err);
    if (!rc)
        rc = pleat_spec_read_seconds(object, "limit_s", &spec->limit_us, err);
    if (!rc)
        rc = read_signal(object, spec, err);
    if (!rc)
        rc = read_checkpoints(object, spec, err);
    if (!rc)
        rc = pleat_spec_read_seconds_or_default(object, "notice_s", &spec->notice_us, err);
    if (!rc)
        rc = pleat_spec_read_seconds_or_default(object, "lifetime_s", &spec->lifetime_us, err);
    if (!spec->estimate_us)
        spec->estimate_us = spec->limit_us; /* the job cannot run longer */
    if (!rc && spec->begin_us && !spec->estimate_us)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "a job with 'begin_in_s' needs 'estimate_s': how long are the "
                             "processors kept for it?");
    return rc;
}

static int read_numbers(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    int64_t minimum = 1, maximum = 1, initial = 0, priority = 0;
    bool requeue = true;
    int rc = pleat_get_int(object, "min", true, 0, PLEAT_SIZE_MAX, &minimum, err);
    if (!rc)
        rc = pleat_get_int(object, "max", true, 1, PLEAT_SIZE_MAX, &maximum, err);
    if (!rc)
        rc = pleat_get_int(object, "initial", false, 0, PLEAT_SIZE_MAX, &initial, err);
    if (!rc)
        rc = pleat_get_int(object, "priority", false, INT16_MIN, INT16_MAX, &priority, err);
    if (!rc)
        rc = read_times(object, spec, err);
    if (!rc)
        rc = pleat_get_bool(object, "asks", false, &spec->asks, err);
    if (!rc)
        rc = pleat_get_bool(object, "requeue", false, &requeue, err);
    if (!rc)
        rc = pleat_get_bool(object, "one_node", false, &spec->one_node, err);
    if (!rc)
        rc = pleat_get_bool(object, "any_site", false, &spec->any_site, err);
    if (rc)
        return rc;
    spec->once = !requeue;
    spec->minimum = (int32_t)minimum;
    spec->maximum = (int32_t)maximum;
    spec->initial = (int32_t)initial;
    spec->priority = (int16_t)priority;
    return 0;
}

/* ---- files, script, notification ---- */

static int read_pattern(const json_t *object, const char *name, char **out, struct pleat_error *err)
{
    int rc = pleat_spec_copy_bounded(object, name, PLEAT_SPEC_PATH_MAX, out, err);
    return rc || !*out ? rc : pleat_spec_check_pattern(name, *out, err);
}

static int read_files(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    int rc = read_pattern(object, "output", &spec->output, err);
    if (!rc)
        rc = read_pattern(object, "error", &spec->error, err);
    if (!rc)
        rc = read_pattern(object, "input", &spec->input, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "terminal", PLEAT_SPEC_NAME_MAX, &spec->terminal, err);
    if (!rc && spec->terminal && *spec->terminal != '/')
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'terminal' must be an absolute path");
    if (!rc && spec->terminal && (spec->output || spec->error || spec->input))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "'terminal' takes the place of 'output', 'error' and 'input'");
    if (!rc)
        rc = pleat_get_bool(object, "terminal_sent", false, &spec->terminal_sent, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "from", PLEAT_SPEC_PATH_MAX, &spec->from, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "save", PLEAT_SPEC_NAME_MAX, &spec->save, err);
    if (!rc && spec->from && *spec->from != '/')
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'from' must be an absolute path");
    if (!rc)
        rc = pleat_get_bool(object, "append", false, &spec->append, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "script", PLEAT_SPEC_SCRIPT_MAX, &spec->script, err);
    int64_t mask = PLEAT_SPEC_UMASK;
    if (!rc)
        rc = pleat_get_int(object, "umask", false, 0, 0777, &mask, err);
    spec->umask = (int32_t)mask;
    return rc;
}

static int read_process(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    struct pleat_limits limits;
    int64_t nice = PLEAT_SPEC_NICE_HERE;
    int rc = pleat_spec_copy_text(object, "limits", false, &spec->limits, err);
    if (!rc && spec->limits)
        rc = pleat_limits_parse(spec->limits, &limits, err);
    if (!rc && json_object_get(object, "nice"))
        rc = pleat_get_int(object, "nice", true, -20, 19, &nice, err);
    if (!rc)
        rc = pleat_get_int(object, "memory_limit_kb", false, 0, PLEAT_SPEC_MEMORY_MAX_KB,
                           &spec->memory_limit_kb, err);
    spec->nice = (int32_t)nice;
    return rc;
}

static int read_program(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    return pleat_spec_copy_bounded(object, "program", PLEAT_SPEC_PROGRAM_MAX, &spec->program, err);
}

static int read_notify(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const json_t *when = json_object_get(object, "notify_on"), *word;
    size_t i;
    int rc = pleat_spec_copy_bounded(object, "notify", PLEAT_SPEC_NOTIFY_MAX, &spec->notify, err);
    spec->notify_on = PLEAT_NOTIFY_END | PLEAT_NOTIFY_FAIL;
    if (rc || !when || json_is_null(when))
        return rc;
    if (!json_is_array(when))
        return pleat_error_set(err, PLEAT_E_INVALID, "'notify_on' must be a list of strings");
    spec->notify_on = 0;
    json_array_foreach(when, i, word)
    {
        const char *text = json_is_string(word) ? json_string_value(word) : "";
        if (!pleat_notify_bit(text))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'notify_on' cannot have '%.40s': start, end, fail, resize, "
                                   "warning",
                                   text);
        spec->notify_on |= pleat_notify_bit(text);
    }
    return 0;
}

static int read_holds(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    struct pleat_need_list needs = {0};
    bool any;
    int rc = pleat_get_bool(object, "hold", false, &spec->hold, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "dependency", PLEAT_SPEC_TEXT_MAX, &spec->dependency,
                                     err);
    if (!rc && spec->dependency) {
        rc = pleat_needs_parse(spec->dependency, &needs, &any, err);
        if (rc)
            pleat_error_prefix(err, rc, "'dependency'");
    }
    pleat_array_finish(&needs);
    if (!rc && spec->begin_us && (spec->hold || spec->dependency))
        rc =
            pleat_error_set(err, PLEAT_E_INVALID,
                            "a job for which processors are reserved from a time on cannot be held "
                            "or wait for other jobs");
    return rc;
}

/* "array": a list of indexes, for which tasks are to be made; or {"job","index","list"}, one such
 * task. */
static int read_array(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const json_t *array = json_object_get(object, "array");
    struct pleat_spec_array *out = &spec->array;
    struct pleat_indexes indexes;
    const char *text = json_string_value(array);
    int64_t job = 0, index = -1;
    int rc = 0;
    if (!array || json_is_null(array))
        return 0;
    if (json_is_object(array)) {
        rc = pleat_get_string(array, "list", true, &text, err);
        if (!rc)
            rc = pleat_get_int(array, "job", false, 0, INT64_MAX, &job, err);
        if (!rc)
            rc = pleat_get_int(array, "index", true, 0, PLEAT_INDEX_MAX, &index, err);
    } else if (!text) {
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'array' must be a list of indexes: \"0-9:2\"");
    }
    if (!rc)
        rc = pleat_indexes_describe(text, (int32_t)index, &indexes, err);
    if (!rc && json_is_object(array) && indexes.place < 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'array' has no index %lld", (long long)index);
    if (!rc && spec->begin_us)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "processors cannot be reserved for the tasks of an array");
    if (!rc) {
        out->count = indexes.count;
        out->place = indexes.place;
        out->limit = indexes.limit;
        out->job = job;
        out->index = index < 0 ? 0 : (int32_t)index;
        out->least = indexes.least;
        out->most = indexes.most;
        out->step = indexes.step;
    }
    return rc;
}

static int read_way(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const char *word = "auto";
    int rc = json_is_null(json_object_get(object, "resize"))
                 ? 0
                 : pleat_get_string(object, "resize", false, &word, err);
    return rc ? rc : pleat_resize_way_parse(word, &spec->resize, err);
}

/* ---- folding ---- */

static int check_fold(const struct pleat_spec *spec, struct pleat_error *err)
{
    static const char *const mappings[] = {"round-robin", "communication", "balance"};
    bool known = !spec->fold.mapping;
    for (size_t i = 0; spec->fold.mapping && i < sizeof(mappings) / sizeof(mappings[0]); i++)
        known = known || !strcmp(mappings[i], spec->fold.mapping);
    if (!known)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'mapping' cannot be '%.40s': round-robin, communication, balance",
                               spec->fold.mapping);
    if (spec->fold.least > spec->fold.most)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'fold' has 'min' %d above its 'max' %d (processes)",
                               spec->fold.least, spec->fold.most);
    if (spec->kind != PLEAT_MALLEABLE || (!strcmp(spec->mpi, "none") && !spec->script))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job that folds is malleable, and 'mpi' is openmpi or mpich, "
                               "unless it is a batch script");
    return 0;
}

static int read_fold(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    const json_t *fold = json_object_get(object, "fold");
    spec->folds = pleat_runner_kind_find(spec->runner)->starts & PLEAT_STARTS_FOLDED;
    if (spec->folds ? !json_is_object(fold) : fold && !json_is_null(fold))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the runner 'folded' and an object 'fold' belong together");
    if (!spec->folds)
        return 0;
    int64_t least = 1, most = 1, mpl = 0;
    int rc = pleat_get_int(fold, "min", true, 1, PLEAT_SIZE_MAX, &least, err);
    if (!rc)
        rc = pleat_get_int(fold, "max", true, 1, PLEAT_SIZE_MAX, &most, err);
    if (!rc)
        rc = pleat_get_int(fold, "mpl", false, 0, UINT8_MAX, &mpl, err);
    if (!rc)
        rc = pleat_get_bool(fold, "boost", false, &spec->fold.boost, err);
    spec->fold.least = (int32_t)least;
    spec->fold.most = (int32_t)most;
    spec->fold.mpl = (int32_t)mpl;
    if (!rc)
        rc = pleat_spec_copy_bounded(fold, "settings", PLEAT_SPEC_TEXT_MAX, &spec->fold.settings,
                                     err);
    if (!rc)
        rc =
            pleat_spec_copy_bounded(fold, "mapping", PLEAT_SPEC_NAME_MAX, &spec->fold.mapping, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(fold, "count_word", PLEAT_SPEC_NAME_MAX,
                                     &spec->fold.count_word, err);
    return rc ? rc : check_fold(spec, err);
}

/* "cpus_per_task". The sizes of the job are numbers of processors, which must be multiples of it.
 */
static int read_tasks(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    int64_t cpus = 0;
    if (!json_object_get(object, "cpus_per_task") ||
        json_is_null(json_object_get(object, "cpus_per_task")))
        return 0;
    int rc = pleat_get_int(object, "cpus_per_task", true, 1, PLEAT_SIZE_MAX, &cpus, err);
    if (rc)
        return rc;
    spec->cpus_per_task = (int32_t)cpus;
    if (spec->folds)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a job that folds has several processes on a processor, so it has "
                               "no 'cpus_per_task'");
    if (spec->minimum % cpus || spec->maximum % cpus || spec->initial % cpus ||
        (spec->minimum < spec->maximum &&
         !pleat_sizes_are_multiples(&spec->sizes, spec->cpus_per_task)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'min', 'max', 'initial' and all 'sizes' must be multiples of "
                               "'cpus_per_task', %lld",
                               (long long)cpus);
    return 0;
}

static int read_class(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    static const char *const classes[] = {"unknown", "short", "long", NULL};
    char *word = NULL;
    int rc = pleat_spec_read_choice(object, "class", classes, "unknown", &word, err);
    for (int c = 0; !rc && classes[c]; c++)
        if (!strcmp(classes[c], word))
            spec->job_class = (enum pleat_job_class)c;
    free(word);
    return rc;
}

static int check_sites(const struct pleat_spec *spec, struct pleat_error *err)
{
    bool evolves = pleat_runner_starts(spec->runner) & PLEAT_STARTS_EVOLVING;
    if (spec->sites && (!evolves || spec->one_node))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'sites' is for the runner 'evolving', without 'one_node'");
    if (spec->any_site && !spec->sites)
        return pleat_error_set(err, PLEAT_E_INVALID, "'any_site' needs 'sites': which ones");
    return 0;
}

static int read_spec(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    static const char *const kinds[] = {"rigid", "moldable", "malleable", NULL};
    static const char *const mpis[] = {"none", "openmpi", "mpich", NULL};
    char *kind = NULL;
    int rc = pleat_spec_read_choice(object, "kind", kinds, "rigid", &kind, err);
    for (int k = 0; !rc && kinds[k]; k++)
        if (!strcmp(kinds[k], kind))
            spec->kind = (enum pleat_job_kind)k;
    free(kind);
    if (!rc)
        rc = pleat_spec_read_choice(object, "runner", pleat_runner_names, *pleat_runner_names,
                                    &spec->runner, err);
    if (!rc)
        rc = pleat_spec_read_choice(object, "mpi", mpis, "none", &spec->mpi, err);
    if (!rc)
        rc = pleat_spec_copy_list(object, "argv", PLEAT_SPEC_STRINGS_MAX, &spec->argv, err);
    if (!rc && !spec->argv[0])
        rc = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: no program to run");
    if (!rc)
        rc = pleat_spec_copy_list(object, "env", PLEAT_SPEC_STRINGS_MAX, &spec->env, err);
    if (!rc)
        rc = pleat_spec_copy_text(object, "cwd", true, &spec->cwd, err);
    if (!rc)
        rc = pleat_spec_copy_text(object, "site", false, &spec->site, err);
    if (!rc)
        rc = pleat_spec_copy_bounded(object, "sites", PLEAT_SPEC_TEXT_MAX, &spec->sites, err);
    if (!rc)
        rc = pleat_spec_copy_text(object, "name", false, &spec->name, err);
    if (!rc && !spec->name) {
        const char *slash = strrchr(spec->argv[0], '/');
        spec->name = strdup(slash ? slash + 1 : spec->argv[0]);
        rc = spec->name ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    if (!rc)
        rc = pleat_spec_copy_text(object, "sizes", false, &spec->sizes_text, err);
    if (!rc)
        rc = pleat_sizes_parse(spec->sizes_text ? spec->sizes_text : "any", &spec->sizes,
                               &spec->size_list, err);
    if (!rc)
        rc = read_numbers(object, spec, err);
    if (!rc)
        rc = read_files(object, spec, err);
    if (!rc)
        rc = read_process(object, spec, err);
    if (!rc)
        rc = read_notify(object, spec, err);
    if (!rc)
        rc = read_program(object, spec, err);
    if (!rc)
        rc = read_class(object, spec, err);
    if (!rc)
        rc = read_way(object, spec, err);
    if (!rc)
        rc = read_holds(object, spec, err);
    if (!rc)
        rc = read_array(object, spec, err);
    if (!rc)
        rc = read_fold(object, spec, err);
    if (!rc)
        rc = read_tasks(object, spec, err);
    return rc ? rc : check_sites(spec, err);
}

/* Limits the lengths of texts: a job must fit into one answer, and many jobs into a few. */
static int check_lengths(const json_t *object, struct pleat_error *err)
{
    static const struct {
        const char *member;
        size_t most;
    } limits[] = {{"name", PLEAT_SPEC_NAME_MAX},
                  {"site", PLEAT_SPEC_NAME_MAX},
                  {"sizes", PLEAT_SPEC_TEXT_MAX},
                  {"limits", PLEAT_LIMITS_TEXT_MAX},
                  {"cwd", PLEAT_SPEC_TEXT_MAX}};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        size_t length = json_string_length(json_object_get(object, limits[i].member));
        if (length > limits[i].most)
            return pleat_error_set(err, PLEAT_E_TOOBIG, "'%s' has %zu bytes; at most %zu",
                                   limits[i].member, length, limits[i].most);
    }
    size_t length = json_dumpb(json_object_get(object, "argv"), NULL, 0, JSON_COMPACT);
    if (length > PLEAT_SPEC_ARGV_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the program's arguments have %zu bytes as JSON; at most %d: put "
                               "them into a file",
                               length, PLEAT_SPEC_ARGV_MAX);
    return 0;
}

int pleat_spec_from_json(const json_t *object, struct pleat_spec *spec, struct pleat_error *err)
{
    memset(spec, 0, sizeof(*spec));
    if (!json_is_object(object))
        return pleat_error_set(err, PLEAT_E_INVALID, "a spec must be an object");
    int rc = check_lengths(object, err);
    if (rc)
        return rc;
    rc = read_spec(object, spec, err);
    if (rc)
        pleat_spec_finish(spec);
    return rc;
}

#include "eval_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "figure/replace.h"
#include "options.h"
#include "steady.h"

void eval_keep_within(struct eval_keeper *keeper, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(keeper->within, sizeof(keeper->within), format, arguments);
    va_end(arguments);
}

/* The member of a value, "openmpi w1: response"; NULL where there is none to be read. */
static const json_t *member(struct eval_keeper *keeper, const char *name, json_t *fresh)
{
    char full[256];
    snprintf(full, sizeof(full), "%s: %s", keeper->within, name);
    const json_t *found = json_object_get(keeper->values, full);
    if (!keeper->reads && found) /* two values of one name: one would be lost */
        keeper->strange = true;
    if (!keeper->reads && json_object_set_new(keeper->values, full, fresh))
        keeper->strange = true;
    if (keeper->reads && !found)
        keeper->strange = true;
    return found;
}

void eval_keep_series(struct eval_keeper *keeper, const char *name, struct bench_series *series)
{
    json_t *fresh = keeper->reads ? NULL : json_array(), *value;
    size_t i;
    for (int n = 0; fresh && n < series->count; n++)
        (void)json_array_append_new(fresh, json_real(series->values[n]));
    const json_t *found = member(keeper, name, fresh);
    if (!keeper->reads)
        return;
    keeper->strange |= !json_is_array(found);
    json_array_foreach(found, i, value)
    {
        keeper->strange |= !json_is_number(value);
        bench_add(series, json_number_value(value));
    }
}

void eval_keep_number(struct eval_keeper *keeper, const char *name, double *number)
{
    const json_t *found = member(keeper, name, keeper->reads ? NULL : json_real(*number));
    if (!keeper->reads)
        return;
    keeper->strange |= !json_is_number(found);
    *number = json_number_value(found);
}

void eval_keep_count(struct eval_keeper *keeper, const char *name, int *count)
{
    double number = *count;
    eval_keep_number(keeper, name, &number);
    if (keeper->reads)
        *count = (int)number;
}

void eval_keep_contest(struct eval_keeper *keeper, struct contest *contest)
{
    for (int i = 0; i < contest->count; i++) {
        struct contender *contender = &contest->contenders[i];
        eval_keep_within(keeper, "%s, %s", contest->name, contender->name);
        eval_keep_series(keeper, "elapsed", &contender->elapsed);
        eval_keep_series(keeper, "cpu", &contender->cpu);
        eval_keep_series(keeper, "own elapsed", &contender->own_elapsed);
        eval_keep_series(keeper, "own cpu", &contender->own_cpu);
        eval_keep_series(keeper, "switches", &contender->switches);
        eval_keep_series(keeper, "idleness", &contender->idleness);
        eval_keep_count(keeper, "global", &contender->global);
        eval_keep_count(keeper, "late", &contender->late);
    }
}

static int keep_parts(struct eval *eval, struct eval_keeper *keeper, struct pleat_error *err)
{
    for (size_t i = 0; eval->about->parts[i]; i++) {
        const struct eval_part *part = eval->about->parts[i];
        if (!bench_is_listed(eval->only, part->name))
            continue;
        if (!part->keep)
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "the part %s of the page %s keeps nothing between runs: leave "
                                   "--keep away, or name other parts with --only",
                                   part->name, eval->about->name);
        eval_keep_within(keeper, "%s", part->name);
        part->keep(keeper);
    }
    eval_keep_within(keeper, "all");
    eval_keep_series(keeper, "others", &eval->others);
    struct steady_counts *stalls = steady_counts();
    eval_keep_count(keeper, "runs", &stalls->runs);
    eval_keep_count(keeper, "runs made again", &stalls->again);
    eval_keep_count(keeper, "stalled", &stalls->stalled);
    eval_keep_number(keeper, "latest_s", &stalls->latest_s);
    return 0;
}

/* Two that keep rounds in one file would each lose those of the other, and disturb what it
 * measures. Held until the end, by the directory, so that nothing is left beside the file. */
static int lock(const char *path, struct pleat_error *err)
{
    char directory[1024];
    snprintf(directory, sizeof(directory), "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory] = '\0';
    int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot write %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int failed = errno;
        close(fd);
        if (failed != EWOULDBLOCK)
            return pleat_error_sys(err, failed, "cannot lock the directory of %s", path);
        return pleat_error_set(
            err, PLEAT_E_BUSY,
            "%s: another measurement keeps its rounds in that directory now, and "
            "both would disturb each other: wait for its end",
            path);
    }
    return 0;
}

int eval_keep_read(struct eval *eval, const char *path, const char *what, struct pleat_error *err)
{
    struct eval_keeper keeper = {.reads = true};
    struct eval_keeper none = {.values = json_object()};
    json_error_t error;
    char here[EVAL_MACHINE_TEXT];
    const char *kept = NULL, *begun = NULL, *ended = NULL, *machine = NULL;
    int rc = keep_parts(eval, &none, err), rounds = 0; /* before hours are spent on it */
    json_decref(none.values);
    if (!rc)
        rc = lock(path, err);
    if (rc || (access(path, F_OK) && errno == ENOENT))
        return rc;
    json_t *all = json_load_file(path, 0, &error);
    if (!all)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: %s: it is no file of --keep", path,
                               error.line, error.text);
    eval_machine(here, sizeof(here));
    if (json_unpack(all, "{s:s, s:s, s:s, s:s, s:i, s:o}", "of", &kept, "machine", &machine,
                    "begun", &begun, "ended", &ended, "rounds", &rounds, "values", &keeper.values))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: it is no file of --keep", path);
    else if (strcmp(kept, what))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "%s: its rounds are of '%s', and these would be of '%s': name another "
                             "file with --keep, or give the same options",
                             path, kept, what);
    else if (strcmp(machine, here))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "%s: its rounds are of another machine (%s; this one: %s), and a page "
                             "is of one: name another file with --keep",
                             path, machine, here);
    if (!rc)
        rc = keep_parts(eval, &keeper, err);
    if (!rc && (keeper.strange || rounds < 0))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: values are missing in it, or are none",
                             path);
    if (!rc) {
        eval->rounds = rounds;
        snprintf(eval->begun, sizeof(eval->begun), "%s", begun);
        snprintf(eval->ended, sizeof(eval->ended), "%s", ended);
    }
    json_decref(all);
    return rc;
}

int eval_keep_write(struct eval *eval, const char *path, const char *what, struct pleat_error *err)
{
    struct eval_keeper keeper = {.values = json_object()};
    struct pleat_string text = {0};
    char machine[EVAL_MACHINE_TEXT];
    eval_machine(machine, sizeof(machine));
    int rc = keep_parts(eval, &keeper, err);
    json_t *all = json_pack("{s:s, s:s, s:s, s:s, s:i, s:O}", "of", what, "machine", machine,
                            "begun", eval->begun, "ended", eval->ended, "rounds", eval->rounds,
                            "values", keeper.values);
    char *dumped = all ? json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    if (!rc && (!dumped || keeper.strange))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to keep rounds in %s", path);
    pleat_string_add(&text, dumped ? dumped : "");
    if (!rc)
        rc = pleat_replace_text(path, &text, err);
    pleat_string_finish(&text);
    free(dumped);
    json_decref(all);
    json_decref(keeper.values);
    return rc;
}

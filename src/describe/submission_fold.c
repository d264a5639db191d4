/* submission_fold.c - unmodified MPI programs that are to be folded: their numbers of processes,
 * how these take turns, and whether the program can be folded at all. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe/submission.h"
#include "describe/values.h"
#include "launch/detect.h"
#include "launch/fold.h"
#include "model/sizes.h"
#include "model/spec.h"
#include "model/types.h"
#include "shm/fold.h"

/* The greatest MPL where the user gives none: beyond it Utrera (2010, 4.4.2) found no gain. */
#define USUAL_MPL 4

#define INSTEAD " (or run it with a processor for each process: --no-fold)"

/* ---- how many processes ---- */

/* Reads "8" or "2-8". */
static int read_range(const char *text, struct pleat_submission_fold *fold, struct pleat_error *err)
{
    char first[32];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    snprintf(first, sizeof(first), "%.*s", (int)(length < 31 ? length : 31), text);
    int status = pleat_parse_int("--processes", first, 1, PLEAT_SIZE_MAX, &fold->least, err);
    fold->most = fold->least;
    if (!status && dash)
        status = pleat_parse_int("--processes", dash + 1, 1, PLEAT_SIZE_MAX, &fold->most, err);
    if (!status && fold->least > fold->most)
        status = pleat_error_set(err, PLEAT_E_INVALID, "--processes %s: %lld is above %lld", text,
                                 (long long)fold->least, (long long)fold->most);
    return status;
}

/* Reads a list "2,4,8", which also gives the accepted numbers. */
static int read_list(const struct pleat_submit_options *s, struct pleat_submission_fold *fold,
                     struct pleat_error *err)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    if (strcmp(s->sizes, "any") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes %s is a list of numbers already: leave out --sizes",
                               s->processes);
    int status = pleat_sizes_parse(s->processes, &sizes, &list, err);
    if (status)
        return pleat_error_prefix(err, status, "--processes");
    fold->least = list.items[0];
    fold->most = list.items[list.count - 1];
    pleat_array_finish(&list);
    return 0;
}

static bool takes_any(const char *sizes_text, int64_t least, int64_t most)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    bool any = !pleat_sizes_parse(sizes_text, &sizes, &list, NULL) &&
               pleat_sizes_floor(&sizes, (int32_t)most) >= least;
    pleat_array_finish(&list);
    return any;
}

/* ---- how processes take turns ---- */

static char *copy_word(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

/* Reads the settings. Those for the agent ("mapping=", "boost") are taken out. */
static int read_settings(const char *text, struct pleat_submission_fold *fold,
                         struct pleat_error *err)
{
    struct pleat_string rest = {0};
    for (const char *at = text; at && *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (!strncmp(at, "mapping=", 8)) {
            free(fold->mapping);
            fold->mapping = copy_word(at + 8, length - 8);
            rest.failed |= !fold->mapping;
        } else if (length == 5 && !strncmp(at, "boost", 5)) {
            fold->boost = true;
        } else {
            pleat_string_addf(&rest, "%s%.*s", rest.length ? "," : "", (int)length, at);
        }
        at += length;
    }
    if (rest.failed) {
        pleat_string_finish(&rest);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    fold->settings = rest.text;
    struct pleat_fold_settings settings = {0};
    int status = rest.length > 0 ? pleat_fold_settings_parse(rest.text, &settings, err) : 0;
    if (status)
        return pleat_error_prefix(err, status, "--fold");
    static const char *const mappings[] = {"round-robin", "communication", "balance"};
    size_t which;
    return fold->mapping
               ? pleat_parse_word("--fold mapping", fold->mapping, mappings, 3, &which, err)
               : 0;
}

int pleat_submission_read_fold(const struct pleat_submit_options *s,
                               struct pleat_submission_fold *fold, struct pleat_error *err)
{
    *fold = (struct pleat_submission_fold){0};
    bool list = strchr(s->processes, ',') != NULL;
    int status = list ? read_list(s, fold, err) : read_range(s->processes, fold, err);
    if (!status && !(fold->sizes = strdup(list ? s->processes : s->sizes)))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!status && !takes_any(fold->sizes, fold->least, fold->most))
        status = pleat_error_set(err, PLEAT_E_INVALID, "--sizes %s: none is from %lld to %lld",
                                 fold->sizes, (long long)fold->least, (long long)fold->most);
    return status ? status : read_settings(s->fold, fold, err);
}

void pleat_submission_finish_fold(struct pleat_submission_fold *fold)
{
    free(fold->sizes);
    free(fold->settings);
    free(fold->mapping);
    *fold = (struct pleat_submission_fold){0};
}

/* ---- the program ---- */

static int check_program(const char *program, int64_t count, struct pleat_error *err)
{
    struct stat about;
    if (stat(program, &about) || !S_ISREG(about.st_mode) || access(program, X_OK))
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "there is no program '%s', which would run with %lld processes: "
                               "each number that --processes allows needs its own",
                               program, (long long)count);
    return pleat_launch_fold_check(program, err);
}

static bool in_command(const struct pleat_submit_options *s)
{
    for (int i = 0; i < s->argc; i++)
        if (pleat_spec_has_word(s->argv[i], s->count_word))
            return true;
    return false;
}

/* Checks the program for each accepted number of processes. */
static int check_programs(const struct pleat_submit_options *s,
                          const struct pleat_submission_fold *fold, const char *program,
                          struct pleat_error *err)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(fold->sizes, &sizes, &list, err);
    for (int32_t n = status ? 0 : pleat_sizes_ceil(&sizes, (int32_t)fold->least);
         !status && n > 0 && n <= fold->most; n = pleat_sizes_ceil(&sizes, n + 1)) {
        char *path = pleat_spec_put_number(program, s->count_word, n);
        status = path ? check_program(path, n, err)
                      : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        free(path);
    }
    pleat_array_finish(&list);
    return status;
}

static int check_environment(const json_t *env, struct pleat_error *err)
{
    size_t count = json_array_size(env);
    const char **list = calloc(count + 1, sizeof(*list));
    if (!list)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(env, i));
    int status = pleat_launch_fold_check_preload(list, err);
    free(list);
    return status;
}

/* Appends advice to an error. */
static int with_advice(int status, struct pleat_error *err)
{
    struct pleat_error why;
    if (status != PLEAT_E_UNSUPPORTED || !err)
        return status;
    why = *err;
    return pleat_error_set(err, status, "%s" INSTEAD, why.text);
}

int pleat_submission_check_fold(const struct pleat_submit_options *s,
                                const struct pleat_submission_fold *fold, const char *program,
                                const json_t *env, struct pleat_error *err)
{
    int status = 0;
    if (s->count_word && !in_command(s))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--count-word %s: it stands nowhere in the command by itself",
                               s->count_word);
    if (s->count_word && s->script)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--count-word is for programs: a batch script finds the number of "
                               "processes in PLEAT_PROCESSES");
    if (!s->script && s->count_word && pleat_spec_has_word(program, s->count_word))
        status = check_programs(s, fold, program, err);
    else if (!s->script)
        status = pleat_launch_fold_check(program, err);
    if (!status)
        status = check_environment(env, err);
    return with_advice(status, err);
}

/* The greatest number of processes on one processor: as given, as --min implies, or as usual (more,
 * where --max makes that necessary). */
static int64_t most_on_one(const struct pleat_submit_options *s,
                           const struct pleat_submission_fold *fold)
{
    int64_t fewest = s->least > 0 ? s->least : s->most > 0 ? s->most : fold->most;
    int64_t mpl = (fold->most + fewest - 1) / fewest;
    if (s->mpl > 0)
        mpl = s->mpl;
    else if (s->least <= 0 && mpl < USUAL_MPL)
        mpl = USUAL_MPL;
    return mpl < UINT8_MAX ? mpl : UINT8_MAX;
}

json_t *pleat_submission_fold_json(const struct pleat_submit_options *s,
                                   const struct pleat_submission_fold *fold)
{
    json_t *json = json_pack("{s:I, s:I, s:I, s:s*, s:s*, s:s*}", "min", (json_int_t)fold->least,
                             "max", (json_int_t)fold->most, "mpl", (json_int_t)most_on_one(s, fold),
                             "settings", fold->settings && *fold->settings ? fold->settings : NULL,
                             "mapping", fold->mapping, "count_word", s->count_word);
    if (json && fold->boost)
        json_object_set_new(json, "boost", json_true());
    return json;
}

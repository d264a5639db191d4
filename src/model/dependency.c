#include "model/dependency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/indexes.h"

static const char *const names[] = {[PLEAT_AFTER_ANY] = "afterany",
                                    [PLEAT_AFTER_OK] = "afterok",
                                    [PLEAT_AFTER_NOT_OK] = "afternotok",
                                    [PLEAT_AFTER_START] = "after"};

const char *pleat_condition_name(enum pleat_condition condition)
{
    size_t index = (size_t)condition;
    return index >= PLEAT_AFTER_ANY && index < sizeof(names) / sizeof(names[0]) ? names[index]
                                                                                : "?";
}

static int add(struct pleat_need_list *needs, struct pleat_need need, struct pleat_error *err)
{
    if (needs->count >= PLEAT_NEEDS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a job waits for at most %d others",
                               PLEAT_NEEDS_MAX);
    return pleat_array_push(needs, need) ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* Where the word that begins at `at` ends: what stands in brackets belongs to it. */
static const char *end_of(const char *at, const char *marks)
{
    for (bool inside = false; *at && (inside || !strchr(marks, *at)); at++)
        inside = *at == '[' || (inside && *at != ']');
    return at;
}

/* "3", "[4,6-8]": of the tasks of an array. */
static int read_tasks(const char *at, size_t length, struct pleat_need need,
                      struct pleat_need_list *needs, struct pleat_error *err)
{
    struct pleat_index_list indexes = {0};
    bool several = length > 2 && at[0] == '[' && at[length - 1] == ']';
    size_t count = several ? length - 2 : length;
    const char *text = at + several;
    int32_t limit;
    if (!count || strspn(text, several ? "0123456789-:," : "0123456789") < count)
        return pleat_error_set(
            err, PLEAT_E_INVALID, "'%.*s' names no tasks of job %lld: %lld_3 or %lld_[1,3-5]",
            (int)length, at, (long long)need.job, (long long)need.job, (long long)need.job);
    char *list = strndup(text, count);
    int rc = list ? pleat_indexes_parse(list, &indexes, &limit, err)
                  : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; !rc && i < indexes.count; i++) {
        need.index = indexes.items[i];
        rc = add(needs, need, err);
    }
    pleat_array_finish(&indexes);
    free(list);
    return rc;
}

/* "3", "12_3", "12_[4,6-8]": up to `end`. */
static int read_job(const char *at, const char *end, enum pleat_condition condition,
                    struct pleat_need_list *needs, struct pleat_error *err)
{
    char *stop;
    errno = 0;
    struct pleat_need need = {.job = strtoll(at, &stop, 10), .index = -1, .condition = condition};
    bool number = *at >= '0' && *at <= '9' && !errno && need.job > 0 && stop <= end;
    if (number && *stop == '+')
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "a time after the start (%.*s) cannot be waited for",
                               (int)(end - at), at);
    if (number && *stop == '_' && stop < end)
        return read_tasks(stop + 1, (size_t)(end - stop - 1), need, needs, err);
    if (!number || stop < end)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%.*s' is not the number of a job",
                               (int)(end - at), at);
    return add(needs, need, err);
}

/* ":3:4" up to `end`. */
static int read_jobs(const char *at, const char *end, enum pleat_condition condition,
                     struct pleat_need_list *needs, struct pleat_error *err)
{
    int rc = 0;
    while (!rc && at < end) {
        const char *word = at + 1;
        at = end_of(word, ":,?");
        rc = read_job(word, at < end ? at : end, condition, needs, err);
    }
    return rc;
}

static int read_one(const char *text, size_t length, struct pleat_need_list *needs,
                    struct pleat_error *err)
{
    static const char singleton[] = "singleton";
    size_t word = strcspn(text, ":,?");
    if (word == length && length == strlen(singleton) && !strncmp(text, singleton, length))
        return add(needs, (struct pleat_need){.index = -1, .condition = PLEAT_AFTER_ANY}, err);
    for (size_t i = PLEAT_AFTER_ANY; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == word && !strncmp(text, names[i], word) && word < length)
            return read_jobs(text + word, text + length, (enum pleat_condition)i, needs, err);
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%.*s' is none of afterok:JOB, afternotok:JOB, afterany:JOB, after:JOB "
                           "(its start), with several jobs :JOB:JOB, or singleton",
                           (int)(length < 80 ? length : 80), text);
}

int pleat_needs_parse(const char *text, struct pleat_need_list *needs, bool *any,
                      struct pleat_error *err)
{
    *any = *end_of(text, "?");
    if (*any && *end_of(text, ","))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "',' (all of them) and '?' (one is enough) do not go together");
    for (const char *at = text;; at++) {
        size_t length = (size_t)(end_of(at, ",?") - at);
        int rc = read_one(at, length, needs, err);
        if (rc)
            return rc;
        at += length;
        if (!*at)
            return 0;
    }
}

#include "model/dependency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int add(struct pleat_need_list *needs, int64_t job, enum pleat_condition condition,
               struct pleat_error *err)
{
    struct pleat_need need = {.job = job, .condition = condition};
    if (needs->count >= PLEAT_NEEDS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "a job waits for at most %d others",
                               PLEAT_NEEDS_MAX);
    return pleat_array_push(needs, need) ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* ":3:4" up to `end`. */
static int read_jobs(const char *at, const char *end, enum pleat_condition condition,
                     struct pleat_need_list *needs, struct pleat_error *err)
{
    while (at < end) {
        char *stop;
        errno = 0;
        long long job = strtoll(at + 1, &stop, 10);
        bool number = at[1] >= '0' && at[1] <= '9' && !errno && job > 0;
        if (number && *stop == '+')
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "a time after the start (%.*s) cannot be waited for",
                                   (int)(end - at - 1), at + 1);
        if (!number || stop > end || (stop < end && *stop != ':'))
            return pleat_error_set(err, PLEAT_E_INVALID, "'%.*s' is not the number of a job",
                                   (int)(end - at - 1), at + 1);
        int rc = add(needs, job, condition, err);
        if (rc)
            return rc;
        at = stop;
    }
    return 0;
}

static int read_one(const char *text, size_t length, struct pleat_need_list *needs,
                    struct pleat_error *err)
{
    static const char singleton[] = "singleton";
    size_t word = strcspn(text, ":,?");
    if (word == length && length == strlen(singleton) && !strncmp(text, singleton, length))
        return add(needs, 0, PLEAT_AFTER_ANY, err);
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
    *any = strchr(text, '?') != NULL;
    if (*any && strchr(text, ','))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "',' (all of them) and '?' (one is enough) do not go together");
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",?");
        int rc = read_one(at, length, needs, err);
        if (rc)
            return rc;
        at += length;
        if (!*at)
            return 0;
    }
}

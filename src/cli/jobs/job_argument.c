#include "cli/jobs/job_argument.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"

int pleat_parse_tasks(const char *word, int64_t *array, struct pleat_index_list *indexes,
                      struct pleat_error *err)
{
    char number[24], list[200];
    const char *at = strchr(word, '_');
    size_t length = (size_t)(at - word), rest = strlen(at + 1);
    bool bracket = at[1] == '[' && at[rest] == ']';
    int32_t limit;
    snprintf(number, sizeof(number), "%.*s", (int)(length < 23 ? length : 23), word);
    snprintf(list, sizeof(list), "%.*s", (int)(bracket ? rest - 2 : rest), at + 1 + bracket);
    int status = pleat_parse_job(number, array, err);
    if (!status && (rest >= sizeof(list) || (!bracket && strspn(list, "0123456789") != rest)))
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%.100s' names no tasks: 12_3 or 12_[1,3-5]", word);
    return status ? status : pleat_indexes_parse(list, indexes, &limit, err);
}

static int out_of_memory(void)
{
    return pleat_fail(&(struct pleat_error){.code = PLEAT_E_NOMEM, .text = "out of memory"});
}

/* Appends the jobs of those `wanted` indexes that the array has. The tasks of an array have
 * consecutive numbers, in the order of their indexes. */
static int add_known(int64_t array, const struct pleat_index_list *all,
                     const struct pleat_index_list *wanted, struct pleat_job_numbers *jobs)
{
    for (size_t w = 0; w < wanted->count; w++)
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i] == wanted->items[w] && pleat_array_push(jobs, array + (int64_t)i))
                return out_of_memory();
    return 0;
}

static int add_tasks(int64_t array, const struct pleat_index_list *indexes,
                     struct pleat_job_numbers *jobs)
{
    struct pleat_index_list all = {0};
    json_t *job;
    int32_t limit;
    int code = pleat_daemon_ask_once("job", json_pack("{s:I}", "job", (json_int_t)array), &job);
    if (code)
        return code;
    const json_t *of = json_object_get(job, "array");
    const char *text = pleat_reply_text(of, "list", "");
    if (pleat_reply_int(of, "job", 0) != array || pleat_indexes_parse(text, &all, &limit, NULL)) {
        pleat_say("job %lld is no array: it has no tasks", (long long)array);
        code = PLEAT_EXIT_NO_JOB;
    }
    size_t before = jobs->count;
    if (!code)
        code = add_known(array, &all, indexes, jobs);
    if (!code && jobs->count == before) {
        pleat_say("the array %lld has no such task: its indexes are %s", (long long)array, text);
        code = PLEAT_EXIT_NO_JOB;
    }
    pleat_array_finish(&all);
    json_decref(job);
    return code;
}

int pleat_job_arguments(const struct pleat_cli_command *command, const char *word,
                        struct pleat_job_numbers *jobs)
{
    struct pleat_index_list indexes = {0};
    struct pleat_error err;
    int64_t number;
    bool tasks = strchr(word, '_') != NULL;
    int code = 0;
    if (tasks ? pleat_parse_tasks(word, &number, &indexes, &err)
              : pleat_parse_job(word, &number, &err))
        code = pleat_usage(command, "%s", err.text);
    else if (tasks)
        code = add_tasks(number, &indexes, jobs);
    else if (pleat_array_push(jobs, number))
        code = out_of_memory();
    pleat_array_finish(&indexes);
    return code;
}

int pleat_job_argument(const struct pleat_cli_command *command, const char *word, int64_t *job)
{
    struct pleat_job_numbers jobs = {0};
    int code = pleat_job_arguments(command, word, &jobs);
    if (!code && jobs.count == 1)
        *job = jobs.items[0];
    else if (!code)
        code = pleat_usage(command, "'%.100s' are several jobs: name one", word);
    pleat_array_finish(&jobs);
    return code;
}

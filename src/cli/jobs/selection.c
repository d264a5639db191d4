#include "cli/jobs/selection.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/jobs.h"

static const char *const states[] = {"waiting",    "held",     "running",  "queued",
                                     "staging in", "claiming", "resizing", "finishing"};

int pleat_selection_take(struct pleat_selection *selection, int option, const char *value,
                         struct pleat_error *err)
{
    size_t index;
    int status = 0;
    if (option == PLEAT_SELECT_ALL)
        selection->all = true;
    else if (option == PLEAT_SELECT_NAME)
        selection->name = value;
    else if (!(status = pleat_parse_word("--state", value, states,
                                         sizeof(states) / sizeof(states[0]), &index, err)))
        selection->state = states[index];
    return status;
}

/* Reads "12" or "3-7". */
static int parse_range(const char *word, int64_t *first, int64_t *last, struct pleat_error *err)
{
    char low[24];
    const char *dash = strchr(word, '-');
    size_t length = dash ? (size_t)(dash - word) : 0;
    if (!dash || length == 0 || length >= sizeof(low)) {
        int status = pleat_parse_job(word, first, err);
        *last = *first;
        return status;
    }
    memcpy(low, word, length);
    low[length] = 0;
    int status = pleat_parse_job(low, first, err);
    if (!status)
        status = pleat_parse_job(dash + 1, last, err);
    if (!status && *first > *last)
        status =
            pleat_error_set(err, PLEAT_E_INVALID, "'%s': the first number is the larger one", word);
    return status;
}

static int check_word(const char *word, struct pleat_error *err)
{
    struct pleat_index_list indexes = {0};
    int64_t first, last;
    int status = strchr(word, '_') ? pleat_parse_tasks(word, &first, &indexes, err)
                                   : parse_range(word, &first, &last, err);
    pleat_array_finish(&indexes);
    return status;
}

/* Whether the job is one of the tasks that the word names. */
static bool is_task(const char *word, const json_t *job)
{
    struct pleat_index_list indexes = {0};
    const json_t *array = json_object_get(job, "array");
    int64_t number, index = pleat_reply_int(array, "index", -1);
    bool found = false;
    if (!pleat_parse_tasks(word, &number, &indexes, NULL) &&
        pleat_reply_int(array, "job", 0) == number)
        for (size_t i = 0; i < indexes.count && !found; i++)
            found = indexes.items[i] == index;
    pleat_array_finish(&indexes);
    return found;
}

int pleat_selection_check(const struct pleat_selection *selection)
{
    struct pleat_error err;
    for (int i = 0; i < selection->count; i++)
        if (check_word(selection->words[i], &err))
            return pleat_usage(selection->command, "%s", err.text);
    if (selection->all && selection->count)
        return pleat_usage(selection->command,
                           "--all means all jobs: leave it out, or the numbers of jobs");
    if (selection->count || selection->all || selection->name || selection->state)
        return 0;
    return pleat_usage(selection->command, "which jobs? Numbers or ranges (3-7), --name, --state, "
                                           "or --all");
}

static bool is_waiting(const json_t *job)
{
    return pleat_reply_is(job, "state", "queued");
}

static bool fits(const json_t *job, enum pleat_selects selects)
{
    switch (selects) {
    case PLEAT_SELECTS_WAITING:
        return is_waiting(job) && !pleat_job_is_held(job);
    case PLEAT_SELECTS_HELD:
        return pleat_job_is_held(job);
    case PLEAT_SELECTS_RUNNING:
        return !is_waiting(job) && !pleat_reply_is(job, "state", "finishing");
    default:
        return true;
    }
}

static bool is_in_state(const json_t *job, const char *state)
{
    if (!strcmp(state, "waiting"))
        return is_waiting(job);
    if (!strcmp(state, "held"))
        return pleat_job_is_held(job);
    if (!strcmp(state, "running"))
        return !is_waiting(job) && !pleat_reply_is(job, "state", "finishing");
    return pleat_reply_is(job, "state", state);
}

/* How the selection names a job: by its own number, which counts in any state; by a range; or not
 * at all. */
enum named { BY_NOTHING, BY_RANGE, BY_NUMBER };

static enum named named(const struct pleat_selection *selection, const json_t *one)
{
    int64_t job = pleat_reply_int(one, "job", 0);
    int64_t array = pleat_reply_int(json_object_get(one, "array"), "job", 0);
    enum named how = BY_NOTHING;
    for (int i = 0; i < selection->count; i++) {
        int64_t first, last;
        if (strchr(selection->words[i], '_')) {
            how = how == BY_NOTHING && is_task(selection->words[i], one) ? BY_RANGE : how;
            continue;
        }
        if (!parse_range(selection->words[i], &first, &last, NULL) && first == last &&
            array == first) { /* the number of an array means all its tasks */
            how = how == BY_NOTHING ? BY_RANGE : how;
            continue;
        }
        if (parse_range(selection->words[i], &first, &last, NULL) || job < first || job > last)
            continue;
        how = first == last ? BY_NUMBER : how == BY_NOTHING ? BY_RANGE : how;
    }
    return how;
}

static bool is_selected(const struct pleat_selection *selection, const json_t *job,
                        enum pleat_selects selects)
{
    enum named how = named(selection, job);
    if ((selection->count && how == BY_NOTHING) ||
        (selection->name && fnmatch(selection->name, pleat_reply_text(job, "name", ""), 0)) ||
        (selection->state && !is_in_state(job, selection->state)))
        return false;
    return how == BY_NUMBER || fits(job, selects);
}

static bool is_plain(const struct pleat_selection *selection)
{
    for (int i = 0; i < selection->count; i++)
        if (strpbrk(selection->words[i], "-_"))
            return false;
    return selection->count && !selection->name && !selection->state;
}

static int add(struct pleat_job_numbers *jobs, int64_t job)
{
    return pleat_array_push(jobs, job)
               ? pleat_fail(&(struct pleat_error){.code = PLEAT_E_NOMEM, .text = "out of memory"})
               : 0;
}

/* Appends the tasks of an array that have not ended. False: it is no array, or all have ended. */
static bool add_array(const json_t *list, int64_t array, enum pleat_selects selects,
                      struct pleat_job_numbers *jobs, int *code)
{
    bool any = false;
    size_t i;
    json_t *job;
    json_array_foreach(list, i, job)
    {
        if (pleat_reply_int(json_object_get(job, "array"), "job", 0) != array)
            continue;
        any = true;
        if (!*code && fits(job, selects))
            *code = add(jobs, pleat_reply_int(job, "job", 0));
    }
    return any;
}

/* For a selection of nothing but numbers. Whether something can be done to these jobs is left to
 * the daemon. The number of an array is that of its first task, and means all tasks. */
static int plain_jobs(const struct pleat_selection *selection, const json_t *list,
                      enum pleat_selects selects, struct pleat_job_numbers *jobs)
{
    int code = 0;
    for (int i = 0; !code && i < selection->count; i++) {
        int64_t job;
        if (!pleat_parse_job(selection->words[i], &job, NULL) &&
            !add_array(list, job, selects, jobs, &code))
            code = add(jobs, job);
    }
    return code;
}

/* Numbers from the first to the last. */
struct range {
    int64_t first, last;
};

static int by_first(const void *a, const void *b)
{
    const struct range *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* What the words name, in order: each number once. Returns how many ranges. */
static size_t find_ranges(const struct pleat_selection *selection, struct range *ranges)
{
    size_t count = 0, kept = 0;
    for (int i = 0; i < selection->count; i++) {
        struct pleat_index_list indexes = {0};
        struct range *range = &ranges[count];
        int status = strchr(selection->words[i], '_')
                         ? pleat_parse_tasks(selection->words[i], &range->first, &indexes, NULL)
                         : parse_range(selection->words[i], &range->first, &range->last, NULL);
        if (strchr(selection->words[i], '_'))
            range->last = range->first; /* the array, which stands for its tasks */
        pleat_array_finish(&indexes);
        count += status == 0;
    }
    qsort(ranges, count, sizeof(*ranges), by_first);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || ranges[i].first > ranges[kept - 1].last + 1)
            ranges[kept++] = ranges[i];
        else if (ranges[i].last > ranges[kept - 1].last)
            ranges[kept - 1].last = ranges[i].last;
    }
    return kept;
}

/* All jobs that the selection may be about: where it names numbers, not all that there are. */
static int fetch(const struct pleat_selection *selection, struct pleat_client *client,
                 json_t **list)
{
    if (selection->count == 0)
        return pleat_daemon_jobs(client, PLEAT_JOBS_BRIEF, list);
    struct range *ranges = calloc((size_t)selection->count, sizeof(*ranges));
    if (!ranges)
        return pleat_fail(&(struct pleat_error){.code = PLEAT_E_NOMEM, .text = "out of memory"});
    size_t count = find_ranges(selection, ranges);
    int code = 0;
    *list = json_array();
    for (size_t i = 0; !code && i < count; i++)
        code = pleat_daemon_jobs_between(client, ranges[i].first, ranges[i].last, *list);
    free(ranges);
    if (code)
        json_decref(*list);
    return code;
}

int pleat_selection_jobs(const struct pleat_selection *selection, struct pleat_client *client,
                         enum pleat_selects selects, struct pleat_job_numbers *jobs)
{
    json_t *list, *job;
    size_t i;
    int code = fetch(selection, client, &list);
    if (code)
        return code;
    if (is_plain(selection))
        code = plain_jobs(selection, list, selects, jobs);
    else
        json_array_foreach(list, i, job) if (!code && is_selected(selection, job, selects)) code =
            add(jobs, pleat_reply_int(job, "job", 0));
    json_decref(list);
    if (code || jobs->count)
        return code;
    pleat_say("no job is selected: 'pleat ps' lists those that wait or run");
    return PLEAT_EXIT_NO_JOB;
}

int pleat_selection_ask(const struct pleat_selection *selection, struct pleat_client *client,
                        const struct pleat_job_numbers *jobs, const char *method,
                        const json_t *params, const char *done)
{
    int code = 0;
    size_t count = 0;
    for (size_t i = 0; i < jobs->count && code != PLEAT_EXIT_NO_DAEMON; i++) {
        json_t *own = params ? json_copy((json_t *)(uintptr_t)params) : json_object();
        json_object_set_new(own, "job", json_integer(jobs->items[i]));
        int one = pleat_daemon_ask(client, method, own, NULL);
        count += one == 0;
        code = one ? one : code;
    }
    if (!is_plain(selection) || jobs->count > (size_t)selection->count)
        pleat_say("%zu job%s %s", count, count == 1 ? "" : "s", done);
    return code;
}

int pleat_selection_change(const struct pleat_selection *selection, enum pleat_selects selects,
                           const char *method, const json_t *params, const char *done)
{
    struct pleat_client *client;
    struct pleat_job_numbers jobs = {0};
    int code = pleat_selection_check(selection);
    if (!code)
        code = pleat_daemon_connect(&client);
    if (code)
        return code;
    code = pleat_selection_jobs(selection, client, selects, &jobs);
    if (!code)
        code = pleat_selection_ask(selection, client, &jobs, method, params, done);
    pleat_array_finish(&jobs);
    pleat_client_close(client);
    return code;
}

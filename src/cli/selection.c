#include "cli/selection.h"

#include <fnmatch.h>
#include <string.h>

#include "cli/daemon.h"
#include "cli/reply.h"

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

/* "12" or "3-7". */
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

int pleat_selection_check(const struct pleat_selection *selection)
{
    struct pleat_error err;
    int64_t first, last;
    for (int i = 0; i < selection->count; i++)
        if (parse_range(selection->words[i], &first, &last, &err))
            return pleat_usage(selection->command, "%s", err.text);
    if (selection->all && selection->count)
        return pleat_usage(selection->command, "either --all or numbers of jobs");
    if (selection->count || selection->all || selection->name || selection->state)
        return 0;
    return pleat_usage(selection->command, "which jobs? Numbers or ranges (3-7), --name, --state, "
                                           "or --all");
}

static bool is_waiting(const json_t *job)
{
    return pleat_reply_is(job, "state", "queued");
}

static bool is_held(const json_t *job)
{
    size_t i;
    json_t *by;
    json_array_foreach(
        pleat_reply_array(job, "held_by"), i,
        by) if (!strcmp(json_string_value(by) ? json_string_value(by) : "", "user")) return true;
    return false;
}

static bool fits(const json_t *job, enum pleat_selects selects)
{
    switch (selects) {
    case PLEAT_SELECTS_WAITING:
        return is_waiting(job) && !is_held(job);
    case PLEAT_SELECTS_HELD:
        return is_held(job);
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
        return is_held(job);
    if (!strcmp(state, "running"))
        return !is_waiting(job) && !pleat_reply_is(job, "state", "finishing");
    return pleat_reply_is(job, "state", state);
}

/* Named by its own number, which counts whatever it is; by a range; or by nothing. */
enum named { BY_NOTHING, BY_RANGE, BY_NUMBER };

static enum named named(const struct pleat_selection *selection, int64_t job)
{
    enum named how = BY_NOTHING;
    for (int i = 0; i < selection->count; i++) {
        int64_t first, last;
        if (parse_range(selection->words[i], &first, &last, NULL) || job < first || job > last)
            continue;
        how = first == last ? BY_NUMBER : how == BY_NOTHING ? BY_RANGE : how;
    }
    return how;
}

static bool is_selected(const struct pleat_selection *selection, const json_t *job,
                        enum pleat_selects selects)
{
    enum named how = named(selection, pleat_reply_int(job, "job", 0));
    if ((selection->count && how == BY_NOTHING) ||
        (selection->name && fnmatch(selection->name, pleat_reply_text(job, "name", ""), 0)) ||
        (selection->state && !is_in_state(job, selection->state)))
        return false;
    return how == BY_NUMBER || fits(job, selects);
}

static bool is_plain(const struct pleat_selection *selection)
{
    for (int i = 0; i < selection->count; i++)
        if (strchr(selection->words[i], '-'))
            return false;
    return selection->count && !selection->name && !selection->state;
}

static int add(struct pleat_job_numbers *jobs, int64_t job)
{
    return pleat_array_push(jobs, job)
               ? pleat_fail(&(struct pleat_error){.code = PLEAT_E_NOMEM, .text = "out of memory"})
               : 0;
}

/* Numbers and nothing else: the daemon knows best what can be done to them. */
static int plain_jobs(const struct pleat_selection *selection, struct pleat_job_numbers *jobs)
{
    int code = 0;
    for (int i = 0; !code && i < selection->count; i++) {
        int64_t job;
        if (!pleat_parse_job(selection->words[i], &job, NULL))
            code = add(jobs, job);
    }
    return code;
}

int pleat_selection_jobs(const struct pleat_selection *selection, struct pleat_client *client,
                         enum pleat_selects selects, struct pleat_job_numbers *jobs)
{
    json_t *list, *job;
    size_t i;
    if (is_plain(selection))
        return plain_jobs(selection, jobs);
    int code = pleat_daemon_jobs(client, PLEAT_JOBS_BRIEF, &list);
    if (code)
        return code;
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
    if (!is_plain(selection))
        pleat_say("%zu job%s %s", count, count == 1 ? "" : "s", done);
    return code;
}

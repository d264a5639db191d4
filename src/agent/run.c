#include "agent/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/log.h"
#include "agent/process.h"
#include "agent/resize.h"
#include "agent/scratch.h"
#include "base/clock.h"

bool pleat_run_is_live(const struct pleat_run *run)
{
    return run->state == PLEAT_RUN_RUNNING || run->state == PLEAT_RUN_ENDING;
}

size_t pleat_runs_live(const struct pleat_agent *agent)
{
    size_t live = 0;
    for (size_t i = 0; i < agent->runs.count; i++)
        live += pleat_run_is_live(agent->runs.items[i]);
    return live;
}

/* Where a run with this id is, or would be inserted. */
static size_t position(const struct pleat_agent *agent, uint64_t id)
{
    size_t low = 0;
    size_t high = agent->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (agent->runs.items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id)
{
    size_t at = position(agent, id);
    return at < agent->runs.count && agent->runs.items[at]->id == id ? agent->runs.items[at] : NULL;
}

/* ---- starting ---- */

/* Lists for execve: the strings of JSON are borrowed, those in `own` are not. */
struct words {
    char **items;
    size_t count;
    struct pleat_string own;
};

/* Variables of an agent around this one (a job that submits jobs) must not reach its runs. */
static bool is_own_variable(const char *entry)
{
    static const char *const names[] = {PLEAT_RUN_ENV,     PLEAT_NODE_ENV,     PLEAT_AGENT_ENV,
                                        PLEAT_MAILBOX_ENV, PLEAT_DOORBELL_ENV, NULL};
    for (size_t i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(entry, names[i], length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

#define OWN_VARIABLES 5

static int words_init(struct words *words, const json_t *array)
{
    size_t size = json_array_size(array);
    memset(words, 0, sizeof(*words));
    words->items = calloc(size + OWN_VARIABLES + 1, sizeof(*words->items));
    if (!words->items)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < size; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!is_own_variable(text))
            words->items[words->count++] = (char *)(uintptr_t)text; /* execve does not write */
    }
    return 0;
}

static void words_finish(struct words *words)
{
    free(words->items);
    pleat_string_finish(&words->own);
}

/* Adds the strings that are in words->own, one after the other, each with its NUL. */
static int add_own(struct words *words)
{
    if (words->own.failed)
        return PLEAT_E_NOMEM;
    for (size_t at = 0; at < words->own.length; at += strlen(words->own.text + at) + 1)
        words->items[words->count++] = words->own.text + at;
    return 0;
}

static void add_variable(struct pleat_string *own, const char *name, const char *value)
{
    pleat_string_addf(own, "%s=%s", name, value);
    pleat_string_add_bytes(own, "", 1);
}

static int make_env(const struct pleat_run *run, struct words *env)
{
    const struct pleat_agent *agent = run->agent;
    char text[160];
    snprintf(text, sizeof(text), "%s:%" PRIu64, agent->options.instance, run->id);
    add_variable(&env->own, PLEAT_RUN_ENV, text);
    snprintf(text, sizeof(text), "%s:%" PRIu32, agent->options.site, agent->options.node);
    add_variable(&env->own, PLEAT_NODE_ENV, text);
    snprintf(text, sizeof(text), "%d:%" PRIu64, (int)agent->pid, agent->start);
    add_variable(&env->own, PLEAT_AGENT_ENV, text);
    if (run->malleable) {
        pleat_malleable_path(run->malleable, false, text, sizeof(text));
        add_variable(&env->own, PLEAT_MAILBOX_ENV, text);
        pleat_malleable_path(run->malleable, true, text, sizeof(text));
        add_variable(&env->own, PLEAT_DOORBELL_ENV, text);
    }
    return add_own(env);
}

static int execute(struct pleat_run *run, const struct pleat_run_request *request,
                   struct pleat_error *err)
{
    struct words argv = {0};
    struct words env = {0};
    int result = words_init(&argv, request->argv);
    if (!result)
        result = words_init(&env, request->env);
    if (!result)
        result = make_env(run, &env);
    if (result)
        (void)pleat_error_set(err, result, "no memory to start run %" PRIu64, run->id);
    else {
        struct pleat_process_spec spec = {.argv = argv.items,
                                          .env = env.items,
                                          .cwd = request->cwd,
                                          .stdin_path = request->stdin_path,
                                          .truncate = request->truncate,
                                          .stdout_path = request->stdout_path,
                                          .stderr_path = request->stderr_path,
                                          .files = &run->agent->files};
        result = pleat_process_start(&spec, &run->pid, &run->user_fault, err);
    }
    words_finish(&argv);
    words_finish(&env);
    return result;
}

static int insert(struct pleat_agent *agent, struct pleat_run *run)
{
    if (pleat_array_reserve(&agent->runs, 1))
        return PLEAT_E_NOMEM;
    size_t at = position(agent, run->id);
    memmove(agent->runs.items + at + 1, agent->runs.items + at,
            (agent->runs.count - at) * sizeof(*agent->runs.items));
    agent->runs.items[at] = run;
    agent->runs.count++;
    return 0;
}

static void report_start(const struct pleat_run *run)
{
    if (run->state == PLEAT_RUN_FAILED)
        pleat_agent_notify(run->agent, "start_failed",
                           json_pack("{s:I, s:o, s:b}", "run", (json_int_t)run->id, "text",
                                     pleat_json_text(run->failure.text), "user_fault",
                                     run->user_fault));
    else
        pleat_agent_notify(
            run->agent, "started",
            json_pack("{s:I, s:i}", "run", (json_int_t)run->id, "pid", (int)run->first_pid));
}

int pleat_run_start(struct pleat_agent *agent, const struct pleat_run_request *request,
                    struct pleat_error *err)
{
    if (agent->runs.count >= PLEAT_AGENT_RUNS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the agent holds %d runs already: forget some that have exited",
                               PLEAT_AGENT_RUNS_MAX);
    struct pleat_run *run = calloc(1, sizeof(*run));
    if (!run)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, request->id);
    run->agent = agent;
    run->id = request->id;
    run->linger_us = request->linger_us;
    run->scratch = request->scratch ? strdup(request->scratch) : NULL;
    snprintf(run->job, sizeof(run->job), "%s", request->job);
    if ((request->scratch && !run->scratch) || insert(agent, run)) {
        free(run->scratch);
        free(run);
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, request->id);
    }

    struct pleat_error failure = {0};
    int result = 0;
    if (request->mailbox_ranks)
        result = pleat_malleable_create(run, request->mailbox_ranks, &failure);
    if (!result && run->scratch) {
        result = pleat_scratch_make(run->scratch, &failure);
        if (result) { /* what is there is not ours to remove */
            free(run->scratch);
            run->scratch = NULL;
        }
    }
    if (!result)
        result = execute(run, request, &failure);
    if (result) {
        pleat_scratch_remove(run->scratch);
        pleat_malleable_destroy(run->malleable);
        run->malleable = NULL;
        run->state = PLEAT_RUN_FAILED;
        run->failure = failure;
    } else {
        run->state = PLEAT_RUN_RUNNING;
        run->session = run->first_pid = run->pid;
    }
    report_start(run);
    pleat_agent_settle(agent);
    return 0;
}

/* ---- exiting ---- */

static int64_t timeval_us(const struct timeval *value)
{
    return (int64_t)value->tv_sec * PLEAT_US_PER_S + value->tv_usec;
}

static void main_exited(struct pleat_run *run, int status, const struct rusage *usage)
{
    run->pid = 0;
    run->state = PLEAT_RUN_ENDING;
    run->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    run->cpu_us = timeval_us(&usage->ru_utime) + timeval_us(&usage->ru_stime);
    run->max_rss_kb = usage->ru_maxrss;
    pleat_run_end_rest(run);
}

void pleat_runs_reap(struct pleat_agent *agent)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid <= 0)
            return;
        /* all others are orphans that this process adopted as subreaper */
        for (size_t i = 0; i < agent->runs.count; i++) {
            if (agent->runs.items[i]->pid == pid) {
                main_exited(agent->runs.items[i], status, &usage);
                break;
            }
        }
    }
}

static void report_exit(const struct pleat_run *run)
{
    pleat_agent_notify(run->agent, "exited",
                       json_pack("{s:I, s:i, s:i, s:I, s:I, s:i}", "run", (json_int_t)run->id,
                                 "code", run->code, "signal", run->signal, "cpu_us",
                                 (json_int_t)run->cpu_us, "max_rss_kb", (json_int_t)run->max_rss_kb,
                                 "left", (int)run->left));
}

void pleat_run_exited(struct pleat_run *run)
{
    run->state = PLEAT_RUN_EXITED;
    pleat_array_finish(&run->told);
    if (run->malleable)
        pleat_malleable_stop(run->malleable);
    if (run->left)
        pleat_log("run %" PRIu64 " (job %s): ended %" PRIu32 " processes that it left behind",
                  run->id, run->job, run->left);
    pleat_scratch_remove(run->scratch);
    report_exit(run);
}

void pleat_run_report(const struct pleat_run *run)
{
    report_start(run);
    if (run->malleable)
        pleat_malleable_report(run->malleable);
    if (run->state == PLEAT_RUN_EXITED)
        report_exit(run);
}

void pleat_run_destroy(struct pleat_run *run)
{
    struct pleat_agent *agent = run->agent;
    size_t at = position(agent, run->id);
    agent->runs.count--;
    memmove(agent->runs.items + at, agent->runs.items + at + 1,
            (agent->runs.count - at) * sizeof(*agent->runs.items));
    pleat_malleable_destroy(run->malleable);
    pleat_array_finish(&run->told);
    free(run->scratch);
    free(run);
}

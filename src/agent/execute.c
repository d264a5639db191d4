#include "agent/execute.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/kind.h"
#include "agent/link.h"
#include "agent/process.h"
#include "agent/screen.h"
#include "base/processes.h"
#include "base/remote.h"
#include "shm/fold.h"
#include "shm/mailbox.h"
#include "shm/state.h"
#include "wire/launching.h"

/* Lists of words for execve. Strings of JSON are borrowed, those in `own` belong to the list. */
struct words {
    char **items;
    size_t count;
    struct pleat_string own;
};

/* Variables of another agent, in the environment of a job that submits jobs. They must not reach
 * the runs of this one. */
static bool is_own_variable(const char *entry)
{
    static const char *const names[] = {PLEAT_RUN_ENV,
                                        PLEAT_NODE_ENV,
                                        PLEAT_AGENT_ENV,
                                        PLEAT_MAILBOX_ENV,
                                        PLEAT_DOORBELL_ENV,
                                        PLEAT_STATE_ENV,
                                        PLEAT_FOLD_ENV,
                                        PLEAT_LAUNCHING_ENV,
                                        PLEAT_LAUNCH_ENV,
                                        PLEAT_CPUS_ENV,
                                        PLEAT_AGENT_KEY_ENV,
                                        PLEAT_REMOTE_ENV,
                                        PLEAT_REMOTE_HERE_ENV,
                                        PLEAT_MAILBOX_HERE_ENV,
                                        PLEAT_DOORBELL_HERE_ENV,
                                        PLEAT_STATE_HERE_ENV,
                                        PLEAT_ANNOUNCED_ENV,
                                        PLEAT_PROCESS_ENV,
                                        PLEAT_PROCESS_SOCKET_ENV,
                                        PLEAT_PROCESS_SECRET_ENV,
                                        PLEAT_PROCESS_SECRET_FD_ENV,
                                        PLEAT_PROCESS_AWAY_ENV,
                                        PLEAT_PROCESS_REACH_ENV,
                                        PLEAT_PROCESS_HOST_ENV,
                                        PLEAT_PROCESS_DIR_ENV,
                                        PLEAT_TERMINAL_ENV,
                                        NULL};
    for (size_t i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(entry, names[i], length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static int words_init(struct words *words, const json_t *array, bool variables)
{
    size_t size = json_array_size(array);
    memset(words, 0, sizeof(*words));
    words->items = calloc(size + 1, sizeof(*words->items));
    if (!words->items)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < size; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!variables || !is_own_variable(text))
            words->items[words->count++] = (char *)(uintptr_t)text; /* execve does not write */
    }
    return 0;
}

static void words_finish(struct words *words)
{
    free(words->items);
    pleat_string_finish(&words->own);
}

/* Adds the strings in words->own, which stand there one after the other, each with its NUL. */
static int add_own(struct words *words)
{
    size_t count = 0;
    if (words->own.failed)
        return PLEAT_E_NOMEM;
    for (size_t at = 0; at < words->own.length; at += strlen(words->own.text + at) + 1)
        count++;
    char **more = realloc(words->items, (words->count + count + 1) * sizeof(*words->items));
    if (!more)
        return PLEAT_E_NOMEM;
    words->items = more;
    for (size_t at = 0; at < words->own.length; at += strlen(words->own.text + at) + 1)
        words->items[words->count++] = words->own.text + at;
    words->items[words->count] = NULL;
    return 0;
}

static int make_env(const struct pleat_run *run, const struct pleat_generation *generation,
                    struct words *env)
{
    const struct pleat_agent *agent = run->agent;
    char text[160];
    snprintf(text, sizeof(text), "%s:%" PRIu64, agent->options.instance, run->id);
    pleat_run_add_variable(&env->own, PLEAT_RUN_ENV, text);
    snprintf(text, sizeof(text), "%s:%" PRIu32, agent->options.site, agent->options.node);
    pleat_run_add_variable(&env->own, PLEAT_NODE_ENV, text);
    snprintf(text, sizeof(text), "%d:%" PRIu64, (int)agent->pid, agent->start);
    pleat_run_add_variable(&env->own, PLEAT_AGENT_ENV, text);
    run->kind->environment(run, generation, &env->own);
    if (pleat_screen_of_rank(run))
        pleat_run_add_variable(&env->own, PLEAT_TERMINAL_ENV, pleat_screen_of_rank(run));
    if (run->kind->leaves && run->agent->options.announced)
        pleat_run_add_variable(&env->own, PLEAT_ANNOUNCED_ENV, "1");
    const struct pleat_cpu_list *cpus = pleat_bind_cpus(run, generation != &run->now);
    if (run->cpus_per_task && cpus->count) {
        struct pleat_string list = {0};
        pleat_cpu_list_text(cpus, &list);
        pleat_run_add_variable(&env->own, PLEAT_CPUS_ENV, list.text ? list.text : "");
        env->own.failed = env->own.failed || list.failed;
        pleat_string_finish(&list);
    }
    return add_own(env);
}

/* ---- starting ---- */

/* The pipe from the new process. It outlives a run that is dropped while the pipe is still open. */
struct pleat_starting {
    uv_poll_t poll;
    int report;
    struct pleat_run *run;               /* NULL: dropped */
    struct pleat_generation *generation; /* of that run */
    pleat_run_settled settled;
    /* the reason is known; it is told when the process has ended, and so has left its cpuset */
    bool failed;
    struct pleat_error failure;
};

static struct pleat_process_spec spec_of(const struct pleat_run *run, char *const *argv,
                                         char *const *env)
{
    return (struct pleat_process_spec){.argv = argv,
                                       .env = env,
                                       .cwd = run->cwd,
                                       .stdin_path = run->stdin_path,
                                       .terminal = run->terminal,
                                       .truncate = run->truncate,
                                       .umask = run->umask,
                                       .stdout_path = run->stdout_path,
                                       .stderr_path = run->stderr_path,
                                       .files = &run->agent->files,
                                       .limits = run->limits,
                                       .announced =
                                           run->kind->leaves && run->agent->options.announced,
                                       .nice = run->nice};
}

static void on_closed(uv_handle_t *handle)
{
    struct pleat_starting *starting = handle->data;
    close(starting->report);
    free(starting);
}

void pleat_run_execute_drop(struct pleat_generation *generation)
{
    struct pleat_starting *starting = generation->starting;
    generation->starting = NULL;
    if (!starting)
        return;
    starting->run = NULL;
    uv_close((uv_handle_t *)&starting->poll, on_closed);
}

bool pleat_run_execute_goes_on(struct pleat_run *run, struct pleat_generation *generation)
{
    struct pleat_starting *starting = generation->starting;
    char *const words[] = {run->program, NULL};
    struct pleat_process_spec spec = spec_of(run, words, NULL);
    bool user_fault = false;
    if (starting->failed)
        return false;
    int result = pleat_process_outcome(&spec, starting->report, &generation->pid, &user_fault,
                                       &starting->failure);
    if (generation == &run->now)
        run->user_fault = user_fault;
    generation->session = generation->pid;
    starting->failed = result != 0 && result != 1;
    return result == 1;
}

/* Whether a main process that tells no more has executed its program. False: it has not, or it has
 * ended, and who reaps it knows. */
static bool has_executed(const struct pleat_run *run, const struct pleat_generation *generation)
{
    struct pleat_process_entry process;
    return generation->pid &&
           !pleat_process_tree_read_one(run->agent->proc, generation->pid, &process) &&
           !process.unexecuted;
}

static void settle(struct pleat_run *run, struct pleat_generation *generation)
{
    bool failed = generation->starting->failed;
    struct pleat_error failure = generation->starting->failure;
    pleat_run_settled settled = generation->starting->settled;
    pleat_run_execute_drop(generation);
    if (!failed)
        generation->first_pid = generation->pid;
    settled(run, failed ? &failure : NULL);
}

static void on_report(uv_poll_t *poll, int status, int events)
{
    struct pleat_starting *starting = poll->data;
    struct pleat_run *run = starting->run;
    struct pleat_generation *generation = starting->generation;
    (void)status;
    (void)events;
    if (!run || pleat_run_execute_goes_on(run, generation))
        return;
    if (!starting->failed && has_executed(run, generation))
        settle(run, generation);
    else if (!generation->reaper && !generation->pid) /* nobody will tell of its end */
        pleat_run_execute_ended(run, generation, true, SIGKILL);
    else
        (void)uv_poll_stop(poll);
}

void pleat_run_execute_ended(struct pleat_run *run, struct pleat_generation *generation,
                             bool unexecuted, int number)
{
    /* The process has ended, so all that it wrote is in the pipe. A child of it cannot hold the
     * pipe open. */
    struct pleat_starting *starting = generation->starting;
    (void)pleat_run_execute_goes_on(run, generation);
    if (unexecuted && !starting->failed && !run->killing && !pleat_memory_is_over(run)) {
        starting->failed = true;
        (void)pleat_error_set(&starting->failure, PLEAT_E_SYSTEM,
                              "cannot start '%s': its process was ended by signal %d before it "
                              "executed that",
                              run->program, number);
    }
    settle(run, generation);
}

static int watch(struct pleat_run *run, struct pleat_generation *generation,
                 struct pleat_starting *starting, struct pleat_error *err)
{
    int status = uv_poll_init(&run->agent->loop, &starting->poll, starting->report);
    if (status < 0) {
        (void)kill(generation->reaper, PLEAT_REAPER_END);
        generation->reaper = 0;
        close(starting->report);
        free(starting);
        return pleat_error_sys(err, -status, "cannot watch the start of run %" PRIu64, run->id);
    }
    starting->poll.data = starting;
    starting->run = run;
    starting->generation = generation;
    generation->starting = starting;
    (void)uv_poll_start(&starting->poll, UV_READABLE | UV_DISCONNECT, on_report); /* cannot fail */
    generation->pid = generation->session = 0;
    generation->empty = false;
    if (generation == &run->now)
        run->state = PLEAT_RUN_STARTING;
    return 0;
}

static int begin(struct pleat_run *run, struct pleat_generation *generation, char *const *argv,
                 char *const *env, pleat_run_settled settled, struct pleat_error *err)
{
    if (!argv[0])
        return pleat_error_set(err, PLEAT_E_INVALID, "run %" PRIu64 " names no program", run->id);
    struct pleat_starting *starting = calloc(1, sizeof(*starting));
    char *program = strdup(argv[0]);
    if (!starting || !program) {
        free(starting);
        free(program);
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to start run %" PRIu64, run->id);
    }
    free(run->program);
    run->program = program;
    struct pleat_process_spec spec = spec_of(run, argv, env);
    const struct pleat_reaper_order order = {.agent = run->agent->pid,
                                             .guard = run->agent->guard,
                                             .records = run->agent->records[1],
                                             .job = run->job};
    struct pleat_cpu_set mask;
    spec.under = &order;
    spec.cpus = pleat_bind_mask(run, generation != &run->now, &mask) ? &mask : NULL;
    pleat_bind_group(run, &spec.groups[0]);
    pleat_memory_group(run, &spec.groups[1]);
    int result = pleat_process_begin(&spec, &generation->reaper, &starting->report, err);
    for (int i = 0; i < 2; i++)
        if (spec.groups[i] >= 0)
            close(spec.groups[i]);
    if (result) {
        free(starting);
        return result;
    }
    run->truncate = false;
    starting->settled = settled;
    return watch(run, generation, starting, err);
}

int pleat_run_execute(struct pleat_run *run, struct pleat_generation *generation,
                      const json_t *argv, const json_t *env, pleat_run_settled settled,
                      struct pleat_error *err)
{
    struct words words = {0};
    struct words variables = {0};
    int result = words_init(&words, argv, false);
    if (!result)
        result = words_init(&variables, env, true);
    if (!result)
        result = make_env(run, generation, &variables);
    if (result)
        (void)pleat_error_set(err, result, "no memory to start run %" PRIu64, run->id);
    else
        result = begin(run, generation, words.items, variables.items, settled, err);
    words_finish(&words);
    words_finish(&variables);
    return result;
}

int pleat_run_failure_code(const struct pleat_run *run)
{
    if (run->user_fault && run->failure.code == PLEAT_E_NOTFOUND)
        return 127;
    return run->user_fault && run->failure.code == PLEAT_E_PERMISSION ? 126 : 125;
}

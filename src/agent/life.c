#include "agent/life.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/execute.h"
#include "agent/inflow.h"
#include "agent/kind.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/outflow.h"
#include "agent/owner.h"
#include "agent/scratch.h"
#include "agent/screen.h"
#include "agent/shared_files.h"
#include "agent/succession.h"
#include "base/clock.h"

/* So long a run that was told to end waits, after its last process, until its output was heard. */
#define HEARD_US PLEAT_US_PER_S
/* So long after a reaper was told to end the agent may be told yet. */
#define TOLD_US PLEAT_US_PER_S

/* ---- starting ---- */

static int insert(struct pleat_agent *agent, struct pleat_run *run)
{
    if (pleat_array_reserve(&agent->runs, 1))
        return PLEAT_E_NOMEM;
    size_t at = pleat_run_position(agent, run->id);
    memmove(agent->runs.items + at + 1, agent->runs.items + at,
            (agent->runs.count - at) * sizeof(*agent->runs.items));
    agent->runs.items[at] = run;
    agent->runs.count++;
    return 0;
}

static void report_start(const struct pleat_run *run)
{
    if (run->state == PLEAT_RUN_STARTING || run->leader)
        return; /* the start is told when it is settled */
    if (run->state == PLEAT_RUN_FAILED)
        pleat_agent_notify(run->agent, "start_failed",
                           json_pack("{s:I, s:o, s:b, s:i}", "run", (json_int_t)run->id, "text",
                                     pleat_json_text(run->failure.text), "user_fault",
                                     run->user_fault, "code", pleat_run_failure_code(run)));
    else
        pleat_agent_notify(
            run->agent, "started",
            json_pack("{s:I, s:i}", "run", (json_int_t)run->id, "pid", (int)run->now.first_pid));
}

static void run_free(struct pleat_run *run)
{
    pleat_run_execute_drop(&run->now);
    pleat_succession_free(run);
    pleat_inflow_destroy(run);
    pleat_outflow_destroy(run);
    pleat_screen_destroy(run);
    run->kind->destroy(run);
    pleat_outcomes_finish(run);
    pleat_array_finish(&run->told);
    pleat_bind_finish(run);
    pleat_memory_over(run);
    free(run->cwd);
    free(run->stdin_path);
    free(run->stdout_path);
    free(run->stderr_path);
    free(run->terminal);
    free(run->scratch);
    if (run->scratch_lock >= 0)
        close(run->scratch_lock);
    free(run->program);
    free(run->limits);
    free(run);
}

static struct pleat_run *run_new(struct pleat_agent *agent, const struct pleat_run_request *request)
{
    struct pleat_run *run = calloc(1, sizeof(*run));
    if (!run)
        return NULL;
    run->agent = agent;
    run->scratch_lock = -1;
    run->kind = agent->kinds[0];
    for (size_t i = 1; agent->kinds[i]; i++)
        if (agent->kinds[i]->is_wanted(request))
            run->kind = agent->kinds[i];
    run->id = request->id;
    /* time stamps of files are coarser than the clock */
    run->begun_s = pleat_clock_real_us() / PLEAT_US_PER_S - 1;
    run->linger_us = request->linger_us;
    run->last_part = request->last_part;
    run->cwd = strdup(request->cwd);
    run->truncate = request->truncate;
    run->umask = request->umask;
    run->cpus_per_task = request->cpus_per_task;
    run->nice = request->nice;
    run->memory.limit_kb = request->memory_kb;
    run->limits = request->limits ? malloc(sizeof(*run->limits)) : NULL;
    if (run->limits)
        *run->limits = *request->limits;
    run->stdin_path = request->stdin_path ? strdup(request->stdin_path) : NULL;
    run->stdout_path = strdup(request->stdout_path);
    run->stderr_path = strdup(request->stderr_path);
    run->terminal = request->terminal ? strdup(request->terminal) : NULL;
    run->scratch = request->scratch ? strdup(request->scratch) : NULL;
    snprintf(run->job, sizeof(run->job), "%s", request->job);
    if (run->cwd && run->stdout_path && run->stderr_path &&
        (!request->stdin_path || run->stdin_path) && (!request->scratch || run->scratch) &&
        (!request->terminal || run->terminal) && (!request->limits || run->limits))
        return run;
    run_free(run);
    return NULL;
}

/* Releases all that was made for the run. The run then waits to be forgotten. */
static void start_failed(struct pleat_run *run, const struct pleat_error *failure)
{
    run->now.pid = run->now.session = run->now.reaper =
        0; /* the processes of the start end by themselves */
    pleat_scratch_remove(run->scratch, &run->scratch_lock);
    pleat_inflow_destroy(run);
    pleat_outflow_destroy(run);
    pleat_screen_destroy(run);
    run->kind->destroy(run);
    pleat_bind_over(run);
    pleat_memory_over(run);
    run->state = PLEAT_RUN_FAILED;
    run->failure = *failure;
}

void pleat_run_start_settled(struct pleat_run *run, const struct pleat_error *failure)
{
    if (!failure) {
        run->state = PLEAT_RUN_RUNNING;
        run->agent->memory_wait_us *= run->leader != NULL; /* processes of one that runs wait */
        if (run->stdin_path)
            run->input_is_file = pleat_process_input_is_file(run->now.pid);
    }
    if (run->kind->started(run, failure))
        return;
    if (failure && run->now.first_pid) { /* it was to be started again: the run has exited */
        run->now.pid = 0;
        run->code = -1;
        run->failure = *failure;
        pleat_run_exited(run);
    } else {
        if (failure)
            start_failed(run, failure);
        report_start(run);
    }
}

int pleat_run_start(struct pleat_agent *agent, const struct pleat_run_request *request,
                    struct pleat_error *err)
{
    if (agent->runs.count >= PLEAT_AGENT_RUNS_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the agent holds %d runs already: forget some that have exited",
                               PLEAT_AGENT_RUNS_MAX);
    struct pleat_run *run = run_new(agent, request);
    if (!run || insert(agent, run)) {
        if (run)
            run_free(run);
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for run %" PRIu64, request->id);
    }

    struct pleat_error failure = {0};
    int result = pleat_bind_begin(run, request->slots, &failure);
    if (!result && run->scratch) {
        result = pleat_scratch_make(run->scratch, &run->scratch_lock, &failure);
        if (result) { /* a directory that is there is not the run's: it must stay */
            free(run->scratch);
            run->scratch = NULL;
        }
    }
    if (!result)
        result = run->kind->create(run, request, &failure);
    if (!result && request->window)
        result = pleat_screen_create(run, request->window, &failure);
    if (!result && (request->output_sent || request->part))
        result = pleat_outflow_create(run, &failure);
    if (!result && request->file)
        result = pleat_scratch_write(run->scratch, request->file, request->file_text, &failure);
    if (!result && request->stdin_sent)
        result = pleat_inflow_create(run, &failure);
    if (!result && run->scratch && request->hosts)
        pleat_scratch_hosts(run->scratch, pleat_run_processes(run, request->hosts));
    if (!result)
        result = pleat_run_execute(run, &run->now, request->argv, request->env,
                                   pleat_run_start_settled, &failure);
    if (result) {
        start_failed(run, &failure);
        report_start(run);
    }
    return 0;
}

/* ---- exiting ---- */

static void report_exit(const struct pleat_run *run)
{
    if (run->leader)
        return; /* the daemon knows only that run */
    json_t *params =
        json_pack("{s:I, s:i, s:i, s:I, s:I, s:I, s:i, s:b, s:b, s:b, s:b}", "run",
                  (json_int_t)run->id, "code", run->code, "signal", run->signal, "cpu_us",
                  (json_int_t)run->cpu_us, "max_rss_kb", (json_int_t)run->max_rss_kb, "memory_kb",
                  (json_int_t)run->memory.peak_kb, "left", (int)run->left, "broken", run->broken,
                  "over_memory", run->memory.over, "told", run->was_told, "lost", run->lost);
    if (params && run->moved) {
        (void)json_object_set_new(params, "moved", json_integer((json_int_t)run->moved));
        (void)json_object_set_new(params, "iteration", pleat_outcome_number(run->moved_at));
    }
    if (params && run->failure.text[0] &&
        json_object_set_new(params, "text", pleat_json_text(run->failure.text))) {
        json_decref(params);
        params = NULL;
    }
    pleat_agent_notify(run->agent, "exited", params);
}

/* The end is told when all that the run wrote was heard, where that goes to the daemon; but a run
 * that was told to end does not wait for that without end. */
static bool waits_to_be_heard(struct pleat_run *run)
{
    bool late = run->killing && pleat_clock_monotonic_us() >= run->kill_at_us + HEARD_US;
    run->end_waits = !late && pleat_outflow_holds(run);
    if (run->end_waits)
        run->now.empty = true;
    return run->end_waits;
}

/* A batch system tells all processes of an allocation to end, one after the other. A program that
 * ends well then may be over before the agent is told, and would count as one that has done its
 * work. Where its reaper was told the agent is so in a moment: only then the end is reported. */
static bool waits_to_be_told(const struct pleat_run *run)
{
    const struct pleat_agent *agent = run->agent;
    return run->reaper_told && !run->killing && !agent->quitting && !agent->holds &&
           pleat_clock_monotonic_us() < run->ending_us + TOLD_US;
}

/* Where the agent holds its runs, since they may leave before the batch system kills, that has told
 * theirs to end all the same, unless it tells the agent alone. Who ends well then has not done its
 * work, but for one that got a signal of its own before: that can end in time as it wants. */
static bool is_cut_off_while_held(const struct pleat_run *run)
{
    return run->agent->holds && run->reaper_told && !run->killing && !run->signalled &&
           !run->code && !run->signal;
}

void pleat_run_look_at_end(struct pleat_run *run)
{
    bool waited = run->end_waits;
    run->end_waits = false;
    if (waited)
        pleat_run_exited(run);
}

void pleat_run_exited(struct pleat_run *run)
{
    run->kind->look(run); /* changes applied just before the end count */
    bool over = pleat_memory_is_over(run);
    if (!over && run->kind->goes_on(run))
        return;
    if (waits_to_be_told(run)) {
        run->now.empty = true;
        return;
    }
    if (is_cut_off_while_held(run))
        run->lost = true;
    if (waits_to_be_heard(run))
        return;
    if (run->cut_off && !run->code && !run->signal) {
        run->signal = SIGTERM;
        (void)pleat_error_set(&run->failure, PLEAT_E_STATE,
                              "it was ended before it was started again with the state that it "
                              "had saved");
    }
    pleat_memory_explain(run);
    bool abnormal = run->code != 0 || run->signal != 0;
    pleat_run_finish(run, !over && abnormal && !run->unwanted && !run->moved &&
                              run->kind->is_broken(run));
}

void pleat_run_broke(struct pleat_run *run)
{
    run->broken = true;
    report_exit(run);
}

void pleat_run_give_up(struct pleat_run *run)
{
    run->unwanted = true;
    run->broken = false;
    if (run->moved) { /* with the state that it had saved */
        run->moved = 0;
        run->signal = SIGTERM;
    }
    run->kind->over(run, false);
    report_exit(run);
}

void pleat_run_finish(struct pleat_run *run, bool broken)
{
    run->state = PLEAT_RUN_EXITED;
    run->broken = broken;
    pleat_array_finish(&run->told);
    run->kind->over(run, broken);
    if (run->left)
        pleat_log("run %" PRIu64 " (job %s): ended %" PRIu32 " processes that it left behind",
                  run->id, run->job, run->left);
    pleat_scratch_remove(run->scratch, &run->scratch_lock);
    if (run->scratch) /* programs of an MPI may have left files in shared memory */
        (void)pleat_shared_files_sweep(PLEAT_SHARED_MEMORY, run->begun_s);
    if (!broken) {
        pleat_inflow_destroy(run);
        pleat_outflow_destroy(run);
        pleat_screen_destroy(run);
        pleat_bind_over(run);
        pleat_memory_over(run);
    }
    report_exit(run);
}

void pleat_run_report(struct pleat_run *run)
{
    report_start(run);
    if (pleat_run_is_live(run))
        pleat_memory_report(run);
    pleat_outcomes_report(run);
    run->kind->report(run);
    if (run->state == PLEAT_RUN_EXITED || run->broken)
        report_exit(run);
}

void pleat_run_destroy(struct pleat_run *run)
{
    struct pleat_agent *agent = run->agent;
    size_t at = pleat_run_position(agent, run->id);
    agent->runs.count--;
    memmove(agent->runs.items + at, agent->runs.items + at + 1,
            (agent->runs.count - at) * sizeof(*agent->runs.items));
    run_free(run);
}

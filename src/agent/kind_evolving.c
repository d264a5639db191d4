/* kind_evolving.c - the kind of runs whose processes ask for more processes, and the kind of each
 * of their processes but the first, which is a run that only this agent knows. */
#include "agent/evolve.h"
#include "agent/kind.h"

#include <stdio.h>

#include "base/clock.h"

#define GRACE_US (5 * PLEAT_US_PER_S)

static void add_variables(const struct pleat_evolve *evolve, uint32_t id, struct pleat_string *own)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", id);
    pleat_run_add_variable(own, PLEAT_PROCESS_ENV, text);
    pleat_run_add_variable(own, PLEAT_PROCESS_SOCKET_ENV, evolve->socket);
    pleat_run_add_variable(own, PLEAT_PROCESS_SECRET_ENV, evolve->secret);
    pleat_run_add_variable(own, PLEAT_PROCESS_HOST_ENV, *evolve->host ? evolve->host : "ipc");
    pleat_run_add_variable(own, PLEAT_PROCESS_DIR_ENV, evolve->run->scratch);
}

/* ---- the run ---- */

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->evolves != NULL;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    int result = pleat_evolve_create(run, request, err);
    return result ? result : pleat_evolve_listen(run, err);
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    if (run->evolve)
        add_variables(run->evolve, 0, own);
}

/* The run is over when none of its processes is left: the others end with the first. */
static bool goes_on(struct pleat_run *run)
{
    if (!pleat_evolve_holds(run))
        return false;
    if (!run->evolve->ending)
        pleat_evolve_end(run, GRACE_US);
    run->now.empty = true;
    return true;
}

static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    if (run->evolve)
        (void)pleat_evolve_send_news(run->evolve, INT64_MAX);
    pleat_evolve_stop(run);
}

/* The grace of the run is that of all its processes. */
static void unwanted(struct pleat_run *run)
{
    int64_t left = run->kill_at_us - pleat_clock_monotonic_us();
    pleat_evolve_end(run, left > 0 ? left : 0);
}

static int describe(const struct pleat_run *run, json_t *text)
{
    return run->evolve ? json_object_set_new(text, "processes",
                                             json_integer((json_int_t)run->evolve->procs.count)) ||
                             pleat_far_describe(run->evolve, text)
                       : 0;
}

const struct pleat_run_kind pleat_kind_evolving = {
    .name = "evolving",
    .is_wanted = is_wanted,
    .create = create,
    .destroy = pleat_evolve_destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = goes_on,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = unwanted,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_evolve_report,
    .describe = describe,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_evolve_pump,
    .greeted = pleat_kind_no_timers,
};

/* ---- one of its processes ---- */

static bool is_process(const struct pleat_run_request *request)
{
    return request->leader != NULL;
}

static int create_process(struct pleat_run *run, const struct pleat_run_request *request,
                          struct pleat_error *err)
{
    (void)err;
    run->leader = request->leader;
    run->process_id = request->process_id;
    return 0;
}

/* Also called for one that could not be started, which is settled later. */
static void destroy_process(struct pleat_run *run)
{
    struct pleat_proc *proc = run->state == PLEAT_RUN_EXITED || run->state == PLEAT_RUN_FAILED
                                  ? pleat_proc_of_child(run)
                                  : NULL;
    if (proc)
        proc->child = NULL;
}

static void environment_of_process(const struct pleat_run *run,
                                   const struct pleat_generation *generation,
                                   struct pleat_string *own)
{
    (void)generation;
    add_variables(run->leader->evolve, run->process_id, own);
}

static bool started(struct pleat_run *run, const struct pleat_error *failure)
{
    pleat_evolve_child_started(run, failure);
    return false;
}

static void process_over(struct pleat_run *run, bool broken)
{
    (void)broken;
    pleat_evolve_child_over(run);
}

static int describe_nothing(const struct pleat_run *run, json_t *text)
{
    (void)run;
    (void)text;
    return 0;
}

const struct pleat_run_kind pleat_kind_process = {
    .name = "process",
    .is_wanted = is_process,
    .create = create_process,
    .destroy = destroy_process,
    .environment = environment_of_process,
    .started = started,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = process_over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = pleat_kind_no_report,
    .describe = describe_nothing,
    .change = pleat_kind_no_change,
    .withdraw = pleat_kind_no_relaunch,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};

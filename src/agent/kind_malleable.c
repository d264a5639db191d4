/* kind_malleable.c - the kinds of runs that have a mailbox: an MPI program, and a script that
 * launches MPI programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/checkpoint.h"
#include "agent/crash.h"
#include "agent/ending.h"
#include "agent/kind.h"
#include "agent/launching.h"
#include "agent/launching_talk.h"
#include "agent/life.h"
#include "agent/malleable_watch.h"
#include "agent/outcomes.h"
#include "agent/owner.h"
#include "agent/params.h"
#include "agent/part_mailbox.h"
#include "agent/relaunch.h"
#include "agent/remote.h"
#include "agent/resize.h"
#include "agent/succession.h"
#include "agent/warm.h"
#include "model/occasion.h"
#include "wire/message.h"

#define LEAVE_S 10.0         /* for processes to leave after their state was saved */
#define BEGAN_ANEW 125       /* exit code, as of programs that Pleat could not start */
#define RELAUNCH_GRACE_S 3.0 /* from SIGTERM to SIGKILL */

/* ---- its life ---- */

static bool is_malleable(const struct pleat_run_request *request)
{
    return request->mailbox_ranks && !request->launches && !request->part;
}

static bool is_script(const struct pleat_run_request *request)
{
    return request->mailbox_ranks && request->launches && !request->part;
}

/* Takes note of the checkpoint that the run is to go on from (PLEAT_FROM in its environment). */
static void note_from(struct pleat_malleable *malleable, const json_t *env)
{
    static const char name[] = "PLEAT_FROM=";
    size_t at;
    json_t *entry;
    json_array_foreach(env, at, entry)
    {
        const char *text = json_string_value(entry);
        if (text && !strncmp(text, name, sizeof(name) - 1))
            snprintf(malleable->from, sizeof(malleable->from), "%s", text + sizeof(name) - 1);
    }
}

/* Another node has led the run: it goes on from what a part of it has kept here. */
static int go_on_here(struct pleat_run *run, const struct pleat_run_request *request,
                      struct pleat_error *err)
{
    const struct pleat_mailbox_request change = {
        .resize = request->resize,
        .target = pleat_run_processes(run, request->to),
        .mandatory = true,
        .occasion = (uint32_t)pleat_occasion_parse(request->occasion),
        .relaunch = true,
        .stays = true,
        .next_nodes = request->places};
    pleat_part_state_swap(request->inherits, &run->malleable->state);
    pleat_agent_crash_point("lead", "goes on");
    return pleat_malleable_go_on(run->malleable, &change, pleat_run_processes(run, request->from),
                                 err);
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    int result = pleat_malleable_create(run, pleat_run_processes(run, request->mailbox_ranks),
                                        request->places, !request->launches, err);
    if (!result && request->nodes)
        result = pleat_remote_create(run, request->nodes, err);
    if (result)
        return result;
    pleat_malleable_watch(run->malleable);
    if (request->inherits)
        return go_on_here(run, request, err);
    note_from(run->malleable, request->env);
    if (!request->launches)
        return 0;
    result = pleat_launches_create(run, pleat_run_processes(run, request->launches),
                                   request->launches_adapt, err);
    if (!result)
        pleat_launches_listen(run);
    return result;
}

static void destroy(struct pleat_run *run)
{
    pleat_remote_destroy(run);
    pleat_relaunch_drop(run);
    pleat_malleable_destroy(run->malleable);
    run->malleable = NULL;
    pleat_launches_destroy(run->launches);
    run->launches = NULL;
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    char text[160], paths[PLEAT_STATE_PATHS_SIZE];
    if (generation == &run->now)
        pleat_malleable_path(run->malleable, false, text, sizeof(text));
    else
        snprintf(text, sizeof(text), "/proc/%d/fd/%d", (int)run->agent->pid, run->succession->fd);
    pleat_run_add_variable(own, PLEAT_MAILBOX_ENV, text);
    pleat_malleable_path(run->malleable, true, text, sizeof(text));
    pleat_run_add_variable(own, PLEAT_DOORBELL_ENV, text);
    pleat_state_store_paths(&run->malleable->state, paths);
    pleat_run_add_variable(own, PLEAT_STATE_ENV, paths);
    pleat_remote_add_variables(run, generation != &run->now, own);
}

static void environment_of_script(const struct pleat_run *run,
                                  const struct pleat_generation *generation,
                                  struct pleat_string *own)
{
    (void)generation;
    pleat_run_add_variable(own, PLEAT_LAUNCHING_ENV, run->launches->name);
}

static bool started(struct pleat_run *run, const struct pleat_error *failure)
{
    bool again = run->relaunch && run->relaunch->stage == PLEAT_RELAUNCH_STARTING;
    if (again)
        pleat_relaunch_started(run, failure);
    return again;
}

static void look(struct pleat_run *run)
{
    if (run->malleable)
        pleat_malleable_look(run->malleable);
    pleat_warm_look(run);
}

static bool goes_on(struct pleat_run *run)
{
    if (pleat_warm_survives(run))
        return true;
    bool due = pleat_relaunch_is_due(run);
    if (due && run->relaunch->moves) {
        pleat_relaunch_move(run);
        return false;
    }
    if (due)
        pleat_relaunch_go(run);
    return due;
}

static bool is_broken(struct pleat_run *run)
{
    return run->malleable && pleat_malleable_is_broken(run->malleable, &run->failure);
}

/* Whether nothing of the run has gone on from the checkpoint that it was to go on from. */
static bool began_anew(const struct pleat_run *run, struct pleat_error *why)
{
    const struct pleat_malleable *malleable = run->malleable;
    const char *from = malleable->from;
    if (!from[0])
        return false;
    if (run->launches && malleable->spared)
        (void)pleat_error_set(why, PLEAT_E_STATE,
                              "'pleat launch' number %" PRIu64 " of a script wrote the checkpoint "
                              "%s, and this script had %" PRIu32 " of them: none went on from it, "
                              "and what they computed is from its beginning. Give --from with the "
                              "script that wrote it",
                              malleable->spared, from, run->launches->count);
    else
        (void)pleat_error_set(
            why, PLEAT_E_STATE,
            "%s went on from the checkpoint %s (--from): what was computed is "
            "from its beginning",
            run->launches ? "no 'pleat launch' of the script" : "the program never", from);
    return true;
}

/* A run that ended well, but was to go on from a checkpoint and began anew, has failed. */
static void check_from(struct pleat_run *run)
{
    bool well =
        run->code == 0 && run->signal == 0 && !run->unwanted && !run->killing && !run->memory.over;
    if (well && began_anew(run, &run->failure))
        run->code = BEGAN_ANEW;
}

static void over(struct pleat_run *run, bool broken)
{
    const bool stopped = run->malleable && run->malleable->wish.leaving_us;
    pleat_relaunch_drop(run);
    if (run->malleable && !broken)
        pleat_wish_over(run->malleable);
    if (run->malleable && broken)
        pleat_malleable_pause(run->malleable);
    else if (run->malleable)
        pleat_malleable_stop(run->malleable);
    if (run->malleable && !broken && !stopped)
        check_from(run);
    pleat_launches_stop(run);
    pleat_remote_stop(run);
}

/* Ranks that have saved their state, or are about to, end with exit code 0: their program has not
 * ended by itself, and must not be told as done. */
static void unwanted(struct pleat_run *run)
{
    if (run->relaunch && (run->relaunch->stage != PLEAT_RELAUNCH_PLANNED || run->malleable->posted))
        run->cut_off = true;
    if (run->relaunch)
        pleat_malleable_abandon(run->malleable);
    pleat_launches_end(run);
}

static uint32_t ranks(const struct pleat_run *run, int32_t *pids, uint32_t room)
{
    if (!pids || !run->malleable)
        return run->malleable ? pleat_malleable_processes(run->malleable) : 0;
    return pleat_mailbox_pids(run->malleable->mailbox, 0, room, pids);
}

static void report(const struct pleat_run *run)
{
    if (!run->malleable)
        return;
    pleat_malleable_tell_limit(run->malleable);
    pleat_malleable_tell_ask(run->malleable);
    pleat_remote_report(run);
}

static int describe(const struct pleat_run *run, json_t *text)
{
    uint64_t resize = 0;
    if (!run->malleable)
        return 0;
    int failed = json_object_set_new(
        text, "processes",
        json_integer(pleat_run_processors(run, pleat_malleable_processes(run->malleable))));
    if (pleat_malleable_outstanding(run->malleable, &resize))
        failed |= json_object_set_new(text, "resize", json_integer((json_int_t)resize));
    return run->remote ? failed | pleat_remote_describe(run, text) : failed;
}

/* ---- requests ---- */

/* Refuses for a run over several nodes what needs all data of its ranks on one: no agent has all of
 * them. */
static int check_one_node(const struct pleat_run *run, const char *what, struct pleat_error *err)
{
    if (run->malleable->places == 1)
        return 0;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "run %" PRIu64 " is on %" PRIu32 " nodes, and %s only on one", run->id,
                           run->malleable->places, what);
}

/* Reads a number of processors, and turns it into a number of processes. */
static int get_size(const struct pleat_run *run, const json_t *params, const char *name,
                    uint32_t *processes, struct pleat_error *err)
{
    int64_t size = 0;
    int result = pleat_get_int(params, name, true, 1, PLEAT_PARAM_RANKS_MAX, &size, err);
    *processes = result ? 0 : pleat_run_processes(run, (uint32_t)size);
    if (!result && pleat_run_processors(run, *processes) != size)
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s' must be a multiple of the %" PRIu32
                                 " processors that each process of run %" PRIu64 " has",
                                 name, run->cpus_per_task, run->id);
    return result;
}

/* Reads argv, env and grace_s of an object. */
static int read_order(const json_t *object, double grace_s, struct pleat_relaunch_order *order,
                      struct pleat_error *err)
{
    int result = pleat_get_bool(object, "moves", false, &order->moves, err);
    if (!result && !order->moves)
        result = pleat_param_strings(object, "argv", false, &order->argv, err);
    if (!result && !order->moves && json_array_size(order->argv) == 0)
        result = pleat_error_set(err, PLEAT_E_INVALID, "'argv' is empty: there is no program");
    if (!result && !order->moves)
        result = pleat_param_strings(object, "env", true, &order->env, err);
    if (!result)
        result = pleat_param_seconds(object, "grace_s", grace_s, &order->grace_us, err);
    if (!result)
        result = pleat_param_seconds(object, "warm_s", 0, &order->warm_us, err);
    order->nodes = json_object_get(object, "nodes");
    if (!result && order->nodes && (!json_is_array(order->nodes) || !json_array_size(order->nodes)))
        result = pleat_error_set(err, PLEAT_E_INVALID, "'nodes' must be an array, and not empty");
    if (!result && order->moves && !order->nodes)
        result =
            pleat_error_set(err, PLEAT_E_INVALID, "'nodes' must name those to which the run moves");
    return result;
}

static int change(struct pleat_run *run, const json_t *params, bool ask, struct pleat_error *err)
{
    struct pleat_mailbox_request request = {0};
    struct pleat_relaunch_order order = {0};
    const char *occasion = NULL;
    if (!run->malleable)
        return pleat_kind_no_relaunch(run, params, err);
    int result = pleat_param_id(params, "resize", &request.resize, err);
    if (!result)
        result = get_size(run, params, ask ? "offered" : "target", &request.target, err);
    if (!result)
        result = pleat_get_bool(params, "mandatory", false, &request.mandatory, err);
    if (!result)
        result = pleat_get_string(params, "occasion", false, &occasion, err);
    request.occasion = (uint32_t)pleat_occasion_parse(occasion);
    const json_t *relaunch = ask ? NULL : json_object_get(params, "relaunch");
    const json_t *slots = NULL;
    if (!result && !ask)
        result = pleat_param_slots(params, &slots, err);
    order.processes = request.target;
    order.resize = request.resize;
    request.relaunch = relaunch && !json_is_null(relaunch);
    if (!result && request.relaunch)
        result = read_order(relaunch, LEAVE_S, &order, err);
    if (!result && request.relaunch)
        result = pleat_get_bool(relaunch, "or_merge", false, &order.or_merges, err);
    if (!result && !ask && !(request.relaunch && !order.or_merges))
        result = check_one_node(run, "can merge and split", err);
    request.stays = !order.moves;
    request.next_nodes = order.nodes ? (uint32_t)json_array_size(order.nodes) : 1;
    if (!result)
        result = pleat_malleable_request(run->malleable, ask, &request,
                                         request.relaunch ? &order : NULL, slots, err);
    pleat_runs_sweep(run->agent); /* new processes of an earlier request may have to end */
    return result;
}

static int withdraw(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    uint64_t resize = 0;
    if (!run->malleable)
        return pleat_kind_no_relaunch(run, params, err);
    int result = pleat_param_id(params, "resize", &resize, err);
    if (!result)
        result = pleat_malleable_withdraw(run->malleable, resize, err);
    pleat_runs_sweep(run->agent); /* new processes for it may have to end */
    return result;
}

static int relaunch(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    struct pleat_relaunch_order order = {0};
    if (!run->malleable)
        return pleat_kind_no_relaunch(run, params, err);
    int result = pleat_param_id(params, "resize", &order.resize, err);
    if (!result)
        result = get_size(run, params, "processes", &order.processes, err);
    if (!result)
        result = read_order(params, RELAUNCH_GRACE_S, &order, err);
    if (!result)
        result = pleat_param_slots(params, &order.slots, err);
    if (!result && order.processes > run->malleable->max_ranks)
        result = pleat_error_set(err, PLEAT_E_TOOBIG,
                                 "run %" PRIu64 " has room for %" PRIu32 " processes, not %" PRIu32,
                                 run->id, run->malleable->max_ranks, order.processes);
    return result ? result : pleat_relaunch_demand(run, &order, err);
}

static int checkpoint(struct pleat_run *run, const json_t *params, bool withdraw_it,
                      struct pleat_error *err)
{
    uint64_t id = 0;
    const char *path = NULL;
    bool stop = false;
    if (!run->malleable)
        return pleat_kind_no_checkpoint(run, params, withdraw_it, err);
    int result = pleat_param_id(params, "checkpoint", &id, err);
    if (!result && withdraw_it) {
        pleat_malleable_look(run->malleable);
        pleat_wish_withdraw(run->malleable, id);
        return 0;
    }
    if (!result)
        result = pleat_get_string(params, "path", true, &path, err);
    if (!result)
        result = pleat_get_bool(params, "stop", false, &stop, err);
    if (!result && !pleat_run_is_live(run))
        result = pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited", run->id);
    if (!result)
        result = pleat_wish_take(run->malleable, id, path, stop, err);
    if (!result)
        pleat_malleable_look(run->malleable);
    return result;
}

const struct pleat_run_kind pleat_kind_malleable = {
    .name = "malleable",
    .leaves = true,
    .spawns = true,
    .is_wanted = is_malleable,
    .create = create,
    .destroy = destroy,
    .environment = environment,
    .started = started,
    .look = look,
    .goes_on = goes_on,
    .is_broken = is_broken,
    .over = over,
    .unwanted = unwanted,
    .part = pleat_kind_no_part,
    .ranks = ranks,
    .report = report,
    .describe = describe,
    .change = change,
    .withdraw = withdraw,
    .relaunch = relaunch,
    .checkpoint = checkpoint,
    .arm = pleat_malleables_arm,
    .greeted = pleat_malleables_forget_progress,
};

/* When the script ends its run is over, whatever was under way. */
const struct pleat_run_kind pleat_kind_script = {
    .name = "script",
    .spawns = true,
    .is_wanted = is_script,
    .create = create,
    .destroy = destroy,
    .environment = environment_of_script,
    .started = started,
    .look = look,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = unwanted,
    .part = pleat_launches_pid,
    .ranks = ranks,
    .report = report,
    .describe = describe,
    .change = change,
    .withdraw = withdraw,
    .relaunch = relaunch,
    .checkpoint = checkpoint,
    .arm = pleat_kind_no_timers,
    .greeted = pleat_kind_no_timers,
};

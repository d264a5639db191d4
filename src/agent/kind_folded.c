/* kind_folded.c - the kind of folded runs: of those that have parts on other nodes, too, and of
 * such a part, whose processes this node folds by itself. */
#include "agent/fold.h"
#include "agent/fold_resize.h"
#include "agent/fold_tell.h"
#include "agent/fold_watch.h"
#include "agent/kind.h"
#include "agent/params.h"
#include "agent/remote.h"
#include "wire/message.h"

static bool is_wanted(const struct pleat_run_request *request)
{
    return request->folded != NULL;
}

static int create(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err)
{
    int result = pleat_folded_create(run, request->folded, err);
    run->part_number = request->part;
    return result || !request->nodes ? result : pleat_remote_create(run, request->nodes, err);
}

static void destroy(struct pleat_run *run)
{
    pleat_remote_destroy(run);
    pleat_folded_destroy(run->folded);
    run->folded = NULL;
}

static void environment(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own)
{
    (void)generation;
    char text[160];
    pleat_remote_add_variables(run, false, own);
    pleat_folded_path(run->folded, text, sizeof(text));
    pleat_run_add_variable(own, PLEAT_FOLD_ENV, text);
}

static void over(struct pleat_run *run, bool broken)
{
    (void)broken;
    pleat_remote_stop(run);
    if (run->folded)
        pleat_folded_stop(run->folded);
}

static void report(const struct pleat_run *run)
{
    pleat_remote_report(run);
    if (run->folded)
        pleat_folded_report(run->folded);
}

static int describe(const struct pleat_run *run, json_t *text)
{
    int bad = run->folded ? pleat_folded_describe(run->folded, text) : 0;
    if (run->part_number)
        bad |= json_object_set_new(text, "part", json_integer((json_int_t)run->part_number));
    return run->remote ? bad | pleat_remote_describe(run, text) : bad;
}

/* A resize changes the processors; the processes stay. Of a run on several nodes it is about those
 * of this node. */
static int change(struct pleat_run *run, const json_t *params, bool ask, struct pleat_error *err)
{
    uint64_t resize = 0;
    int64_t target = 0;
    bool vacates = false;
    const json_t *slots = NULL;
    if (!run->folded)
        return pleat_kind_no_relaunch(run, params, err);
    int result = pleat_param_id(params, "resize", &resize, err);
    if (!result)
        result = pleat_get_int(params, ask ? "offered" : "target", true, 1, PLEAT_PARAM_RANKS_MAX,
                               &target, err);
    if (result || ask)
        return result ? result : pleat_folded_ask(run->folded, resize, (uint32_t)target, err);
    result = pleat_param_slots(params, &slots, err);
    if (!result)
        result = pleat_get_bool(params, "vacates", false, &vacates, err);
    return result ? result
                  : pleat_folded_resize(run->folded, resize, (uint32_t)target, slots, vacates, err);
}

static int withdraw(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    uint64_t resize = 0;
    int64_t target = 0;
    const json_t *slots = NULL;
    if (!run->folded)
        return pleat_kind_no_relaunch(run, params, err);
    int result = pleat_param_id(params, "resize", &resize, err);
    if (!result)
        result = pleat_param_slots(params, &slots, err);
    if (!result && slots)
        result = pleat_get_int(params, "target", true, 1, PLEAT_PARAM_RANKS_MAX, &target, err);
    if (result)
        return result;
    if (slots)
        return pleat_folded_take_back(run->folded, resize, (uint32_t)target, slots, err);
    pleat_folded_withdraw(run->folded, resize);
    return 0;
}

const struct pleat_run_kind pleat_kind_folded = {
    .name = "folded",
    .pins = true,
    .is_wanted = is_wanted,
    .create = create,
    .destroy = destroy,
    .environment = environment,
    .started = pleat_kind_starts_itself,
    .look = pleat_kind_nothing,
    .goes_on = pleat_kind_never,
    .is_broken = pleat_kind_never,
    .over = over,
    .unwanted = pleat_kind_nothing,
    .part = pleat_kind_no_part,
    .ranks = pleat_kind_no_ranks,
    .report = report,
    .describe = describe,
    .change = change,
    .withdraw = withdraw,
    .relaunch = pleat_kind_no_relaunch,
    .checkpoint = pleat_kind_no_checkpoint,
    .arm = pleat_foldeds_arm,
    .greeted = pleat_kind_no_timers,
};

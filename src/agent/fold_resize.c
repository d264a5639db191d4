#include "agent/fold_resize.h"

#include <inttypes.h>

#include "agent/bind.h"
#include "agent/fold_partition.h"
#include "agent/fold_tell.h"
#include "agent/fold_watch.h"
#include "agent/owner.h"
#include "base/clock.h"

/* Whether some CPU of `before` is not in `now`. */
static bool gives_up(const struct pleat_cpu_list *before, const struct pleat_cpu_list *now)
{
    struct pleat_cpu_set set = {0};
    pleat_cpu_set_add_list(&set, now);
    for (size_t i = 0; i < before->count; i++)
        if (!pleat_cpu_set_has(&set, before->items[i]))
            return true;
    return false;
}

static void tell_applied(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                         int64_t took_us)
{
    pleat_outcome_add(folded->run, "applied", resize,
                      json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:I, s:i}", "run",
                                (json_int_t)folded->run->id, "resize", (json_int_t)resize,
                                "processes", (json_int_t)target, "wait_us", 0, "save_us", 0,
                                "processes_us", 0, "redistribute_us", 0, "load_us", 0, "total_us",
                                (json_int_t)took_us, "bytes", 0));
}

/* Begins to wait until processes have left: a CPU of the partition is given up, or one place on a
 * CPU that the partition has several times. */
static void begin_to_vacate(struct pleat_folded *folded, struct pleat_folded_shrunk shrunk)
{
    folded->clean = folded->strays = 0;
    folded->vacating.items[folded->vacating.count++] = shrunk; /* room was made before */
}

/* Whether a resize is being taken back. */
static bool is_taken_back(const struct pleat_folded *folded, uint64_t resize)
{
    for (size_t i = 0; i < folded->vacating.count; i++)
        if (folded->vacating.items[i].resize == resize && folded->vacating.items[i].withdrawn)
            return true;
    return false;
}

/* Changes the partition to `slots`, with room for one more that is left. *leaves: processors are
 * given up. */
static int change(struct pleat_folded *folded, uint64_t resize, const json_t *slots, bool *leaves,
                  struct pleat_error *err)
{
    struct pleat_run *run = folded->run;
    size_t before = folded->cpus.count;
    if (!folded->fold || !pleat_run_is_live(run))
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited", run->id);
    if (pleat_array_reserve(&folded->vacating, 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for resize %" PRIu64, resize);
    pleat_folded_look(folded); /* processes that have attached since are pinned, too */
    int result = pleat_bind_plan(run, slots, err);
    *leaves = !result && gives_up(&folded->cpus, &run->binding.wanted);
    if (!result)
        result = pleat_folded_move(folded, err);
    if (result)
        pleat_bind_cancel(run);
    *leaves = *leaves || folded->cpus.count < before;
    return result;
}

int pleat_folded_resize(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                        const json_t *slots, bool vacates, struct pleat_error *err)
{
    int64_t begin_us = pleat_clock_monotonic_us();
    bool leaves = false;
    if (pleat_outcome_tell(folded->run, PLEAT_OUTCOME_OF_RESIZE, resize) ||
        is_taken_back(folded, resize))
        return 0;
    int result = change(folded, resize, slots, &leaves, err);
    if (result)
        return result;
    tell_applied(folded, resize, target, pleat_clock_monotonic_us() - begin_us);
    if (leaves || vacates)
        begin_to_vacate(folded, (struct pleat_folded_shrunk){resize, target, false});
    pleat_folded_tell(folded, pleat_clock_monotonic_us());
    return 0;
}

/* The resize is undone: nothing of it is waited for, or told. */
static void forget(struct pleat_folded *folded, uint64_t resize)
{
    size_t kept = 0;
    for (size_t i = 0; i < folded->vacating.count; i++)
        if (folded->vacating.items[i].resize != resize)
            folded->vacating.items[kept++] = folded->vacating.items[i];
    folded->vacating.count = kept;
    pleat_outcome_drop(folded->run, resize);
}

int pleat_folded_take_back(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                           const json_t *slots, struct pleat_error *err)
{
    bool leaves = false;
    if (pleat_outcome_is(folded->run, "withdrawn", resize)) {
        (void)pleat_outcome_tell(folded->run, PLEAT_OUTCOME_OF_RESIZE, resize);
        return 0;
    }
    if (is_taken_back(folded, resize))
        return 0;
    int result = change(folded, resize, slots, &leaves, err);
    if (result)
        return result;
    forget(folded, resize);
    if (leaves)
        begin_to_vacate(folded, (struct pleat_folded_shrunk){resize, target, true});
    else
        pleat_outcome_add(folded->run, "withdrawn", resize,
                          pleat_outcome_params(folded->run, resize));
    pleat_folded_tell(folded, pleat_clock_monotonic_us());
    return 0;
}

int pleat_folded_ask(struct pleat_folded *folded, uint64_t resize, uint32_t offered,
                     struct pleat_error *err)
{
    struct pleat_run *run = folded->run;
    if (pleat_outcome_tell(run, PLEAT_OUTCOME_OF_ASK, resize))
        return 0;
    if (!folded->fold)
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited", run->id);
    uint32_t most = folded->asked.processes;
    pleat_outcome_add(run, "answer", resize,
                      json_pack("{s:I, s:I, s:I}", "run", (json_int_t)run->id, "resize",
                                (json_int_t)resize, "accepted",
                                (json_int_t)(offered < most ? offered : most)));
    return 0;
}

void pleat_folded_withdraw(struct pleat_folded *folded, uint64_t resize)
{
    if (!pleat_outcome_tell(folded->run, PLEAT_OUTCOME_OF_RESIZE, resize))
        pleat_outcome_add(folded->run, "withdrawn", resize,
                          pleat_outcome_params(folded->run, resize));
}

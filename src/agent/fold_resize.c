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
static void begin_to_vacate(struct pleat_folded *folded, uint64_t resize, uint32_t target)
{
    struct pleat_folded_shrunk shrunk = {resize, target};
    folded->clean = folded->strays = 0;
    folded->vacating.items[folded->vacating.count++] = shrunk; /* room was made before */
}

int pleat_folded_resize(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                        const json_t *slots, struct pleat_error *err)
{
    struct pleat_run *run = folded->run;
    int64_t begin_us = pleat_clock_monotonic_us();
    size_t before = folded->cpus.count;
    if (pleat_outcome_tell(run, PLEAT_OUTCOME_OF_RESIZE, resize))
        return 0;
    if (!folded->fold || !pleat_run_is_live(run))
        return pleat_error_set(err, PLEAT_E_STATE, "run %" PRIu64 " has exited", run->id);
    if (pleat_array_reserve(&folded->vacating, 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for resize %" PRIu64, resize);
    pleat_folded_look(folded); /* processes that have attached since are pinned, too */
    int result = pleat_bind_plan(run, slots, err);
    bool leaves = !result && gives_up(&folded->cpus, &run->binding.wanted);
    if (!result)
        result = pleat_folded_move(folded, err);
    if (result) {
        pleat_bind_cancel(run);
        return result;
    }
    tell_applied(folded, resize, target, pleat_clock_monotonic_us() - begin_us);
    if (leaves || folded->cpus.count < before)
        begin_to_vacate(folded, resize, target);
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

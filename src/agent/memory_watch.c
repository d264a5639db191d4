/* memory_watch.c - measures the memory of all live runs from time to time, and ends the runs that
 * are above their limits. */
#include "agent/ending.h"
#include "agent/log.h"
#include "agent/memory.h"
#include "agent/owner.h"
#include "agent/run.h"
#include "base/clock.h"

#define FIRST_MS 50 /* from a start to the first look; then doubled each time, up to MOST_MS */
#define MOST_MS 1000
#define LIMIT_MS 200 /* the longest time between two looks where a limit is kept by measuring */
#define SHARE 50     /* looking takes at most the SHARE-th part of the time */
/* From a second after a start on, the daemon is told of a peak only when it has grown by NEWS_KB
 * and by the NEWS_PART-th part. */
#define NEWS_KB 1024
#define NEWS_PART 4

static struct pleat_run *live_run_of(struct pleat_agent *agent, struct pleat_process_entry *process)
{
    if (pleat_process_tree_is_dead(process) || process->exiting)
        return NULL;
    uint64_t owner = pleat_run_of_process(agent, process);
    struct pleat_run *run = owner ? pleat_run_find(agent, owner) : NULL;
    if (run && run->leader) /* the processes of a run count together */
        run = run->leader;
    return run && pleat_run_is_live(run) ? run : NULL;
}

static void measure(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        agent->runs.items[i]->memory.resident_kb = agent->runs.items[i]->memory.measured_kb = 0;
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_run *run = live_run_of(agent, &agent->tree.items[i]);
        if (run)
            run->memory.resident_kb += pleat_memory_resident_kb(agent, agent->tree.items[i].pid);
    }
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_run *run = live_run_of(agent, &agent->tree.items[i]);
        if (run && run->memory.resident_kb > run->memory.peak_kb)
            run->memory.measured_kb +=
                pleat_memory_proportional_kb(agent, agent->tree.items[i].pid);
    }
}

static void tell_peak(struct pleat_run *run)
{
    const struct pleat_run_memory *memory = &run->memory;
    if (pleat_clock_monotonic_us() >= memory->since_us + PLEAT_US_PER_S &&
        memory->peak_kb >= memory->told_kb + memory->told_kb / NEWS_PART + NEWS_KB)
        pleat_memory_report(run);
}

/* Ends runs that are above their limits. *measured: whether some limit is kept by measuring. */
static bool judge(struct pleat_agent *agent, bool *measured)
{
    bool ended = false;
    *measured = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        if (!pleat_run_is_live(run))
            continue;
        pleat_memory_largest(run, run->memory.measured_kb);
        *measured = *measured || (run->memory.limit_kb > 0 && !run->memory.has_group);
        if (!run->memory.over && pleat_memory_is_over(run)) {
            pleat_run_end(run, 0);
            ended = true;
        }
        tell_peak(run);
    }
    return ended;
}

static void arm(struct pleat_agent *agent);

static void on_timer(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    struct pleat_error err;
    bool measured = false;
    int64_t began_us = pleat_clock_monotonic_us();
    if (pleat_process_tree_read(agent->proc, &agent->tree, &err) == 0)
        measure(agent);
    bool ended = judge(agent, &measured);
    int64_t most_us = (measured ? LIMIT_MS : MOST_MS) * (PLEAT_US_PER_S / 1000);
    int64_t took_us = pleat_clock_monotonic_us() - began_us;
    agent->memory_wait_us =
        2 * agent->memory_wait_us < most_us ? 2 * agent->memory_wait_us : most_us;
    if (agent->memory_wait_us < took_us * SHARE)
        agent->memory_wait_us = took_us * SHARE;
    if (ended)
        pleat_runs_sweep(agent);
    arm(agent);
}

static void arm(struct pleat_agent *agent)
{
    if (agent->closing || pleat_runs_live(agent) == 0)
        uv_timer_stop(&agent->measuring);
    else
        uv_timer_start(&agent->measuring, on_timer, (uint64_t)(agent->memory_wait_us / 1000), 0);
}

void pleat_memory_arm(struct pleat_agent *agent)
{
    if (agent->memory_wait_us == 0) {
        agent->memory_wait_us = FIRST_MS * (PLEAT_US_PER_S / 1000);
        arm(agent);
    }
}

/* memory_watch.c - measures the memory of all live runs from time to time, and ends the runs that
 * are above their limits.
 *
 * A look at a thousand processes takes a quarter of a second of processor time, most of it for
 * their proportional set sizes. So that everybody is answered meanwhile, it is made in turns of
 * TURN_US.
 *
 * The sizes of a run's processes are then not those of one moment: memory that one process gives up
 * and another one takes in between may be counted twice. So what is above a limit is measured once
 * more, in one turn, before a run is ended for it. */
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
#define TURN_US 2000 /* a turn of a look takes so long, and once more what one process takes */
#define PAUSE_MS 2   /* between two turns of a look */
#define LISTED_AT_ONCE 16
/* From a second after a start on, the daemon is told of a peak only when it has grown by NEWS_KB
 * and by the NEWS_PART-th part. */
#define NEWS_KB 1024
#define NEWS_PART 4

/* The live run that a process of the look's tree belongs to. NULL: none. */
static struct pleat_run *live_run_of(struct pleat_agent *agent, struct pleat_process_entry *process)
{
    if (pleat_process_tree_is_dead(process) || process->exiting)
        return NULL;
    /* owners are found in agent->tree, which is that of the last sweep (ending.c) otherwise */
    const struct pleat_process_tree last = agent->tree;
    agent->tree = agent->memory_look.tree;
    uint64_t owner = pleat_run_of_process(agent, process);
    agent->memory_look.tree = agent->tree;
    agent->tree = last;
    struct pleat_run *run = owner ? pleat_run_find(agent, owner) : NULL;
    if (run && run->leader) /* the processes of a run count together */
        run = run->leader;
    return run && pleat_run_is_live(run) ? run : NULL;
}

/* ---- a look ---- */

static void begin(struct pleat_agent *agent)
{
    struct pleat_memory_look *look = &agent->memory_look;
    struct pleat_error err;
    look->stage = PLEAT_MEMORY_LISTS;
    look->turns = 0;
    look->took_us = 0;
    if (pleat_process_tree_begin(agent->proc, &look->tree, &look->reading, &err))
        look->stage = PLEAT_MEMORY_RESTS; /* what is known by now is all that there is to judge */
}

static void list_some(struct pleat_agent *agent)
{
    struct pleat_memory_look *look = &agent->memory_look;
    struct pleat_error err;
    /* in an error the tree is empty, and nothing is measured in this look */
    if (pleat_process_tree_more(agent->proc, &look->tree, &look->reading, LISTED_AT_ONCE, &err) > 0)
        return;
    look->stage = PLEAT_MEMORY_RESIDENT;
    look->next = 0;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run_memory *memory = &agent->runs.items[i]->memory;
        memory->resident_kb = memory->measured_kb = 0;
        memory->is_measured = false;
    }
}

static void read_next(struct pleat_agent *agent)
{
    struct pleat_memory_look *look = &agent->memory_look;
    struct pleat_process_entry *process = &look->tree.items[look->next++];
    struct pleat_run *run = live_run_of(agent, process);
    if (run && look->stage == PLEAT_MEMORY_RESIDENT)
        run->memory.resident_kb += pleat_memory_resident_kb(agent, process->pid);
    else if (run && run->memory.is_measured)
        run->memory.measured_kb += pleat_memory_proportional_kb(agent, process->pid);
}

/* All processes were read in this stage. */
static void end_stage(struct pleat_agent *agent)
{
    struct pleat_memory_look *look = &agent->memory_look;
    bool measures = false;
    for (size_t i = 0; look->stage == PLEAT_MEMORY_RESIDENT && i < agent->runs.count; i++) {
        struct pleat_run_memory *memory = &agent->runs.items[i]->memory;
        memory->is_measured = memory->resident_kb > memory->peak_kb;
        measures = measures || memory->is_measured;
    }
    look->stage = measures ? PLEAT_MEMORY_PROPORTIONAL : PLEAT_MEMORY_RESTS;
    look->next = 0;
}

/* Goes on with the look for TURN_US. Returns whether it is over. */
static bool go_on(struct pleat_agent *agent)
{
    struct pleat_memory_look *look = &agent->memory_look;
    int64_t began_us = pleat_clock_monotonic_us(), now_us = began_us;
    while (look->stage != PLEAT_MEMORY_RESTS && now_us < began_us + TURN_US) {
        if (look->stage == PLEAT_MEMORY_LISTS)
            list_some(agent);
        else if (look->next < look->tree.count)
            read_next(agent);
        else
            end_stage(agent);
        now_us = pleat_clock_monotonic_us();
    }
    look->turns++;
    look->took_us += now_us - began_us;
    return look->stage == PLEAT_MEMORY_RESTS;
}

/* ---- what it has shown ---- */

/* The proportional set size of a run, as it is now, of the processes that the look has found. */
static int64_t measure_now(struct pleat_agent *agent, const struct pleat_run *run)
{
    struct pleat_process_tree *tree = &agent->memory_look.tree;
    int64_t sum_kb = 0;
    for (size_t i = 0; i < tree->count; i++)
        if (live_run_of(agent, &tree->items[i]) == run)
            sum_kb += pleat_memory_proportional_kb(agent, tree->items[i].pid);
    return sum_kb;
}

/* Raises the peak of a run to what was measured. What would end the run has to be so at one time.
 */
static void take_measured(struct pleat_agent *agent, struct pleat_run *run)
{
    struct pleat_run_memory *memory = &run->memory;
    bool ends =
        memory->limit_kb > 0 && !memory->has_group && memory->measured_kb > memory->limit_kb;
    if (ends && !memory->over && agent->memory_look.turns > 1)
        memory->measured_kb = measure_now(agent, run);
    pleat_memory_largest(run, memory->measured_kb);
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
        take_measured(agent, run);
        *measured = *measured || (run->memory.limit_kb > 0 && !run->memory.has_group);
        if (!run->memory.over && pleat_memory_is_over(run)) {
            pleat_run_end(run, 0);
            ended = true;
        }
        tell_peak(run);
    }
    return ended;
}

/* ---- when ---- */

static void arm(struct pleat_agent *agent);

static void on_timer(uv_timer_t *timer)
{
    struct pleat_agent *agent = timer->data;
    struct pleat_memory_look *look = &agent->memory_look;
    bool measured = false;
    if (look->stage == PLEAT_MEMORY_RESTS)
        begin(agent);
    if (!go_on(agent)) {
        uv_update_time(&agent->loop); /* the pause is from now on */
        uv_timer_start(timer, on_timer, PAUSE_MS, 0);
        return;
    }
    int64_t began_us = pleat_clock_monotonic_us();
    bool ended = judge(agent, &measured);
    look->over_us = pleat_clock_monotonic_us();
    look->took_us += look->over_us - began_us;
    int64_t most_us = (measured ? LIMIT_MS : MOST_MS) * (PLEAT_US_PER_S / 1000);
    int64_t wait_us = 2 * agent->memory_wait_us < most_us ? 2 * agent->memory_wait_us : most_us;
    if (wait_us < look->took_us * SHARE)
        wait_us = look->took_us * SHARE;
    const bool started = agent->memory_wait_us == 0; /* a run, since the timer was armed */
    if (!started)
        agent->memory_wait_us = wait_us;
    if (ended)
        pleat_runs_sweep(agent);
    if (started)
        pleat_memory_arm(agent);
    else
        arm(agent);
}

/* A look that is under way goes on in its own time. The wait is never 0 here: a timer that is due
 * at once, armed by its own callback, is called again before anything else in the loop is, as
 * long as no look takes two turns. */
static void arm(struct pleat_agent *agent)
{
    if (agent->closing || pleat_runs_live(agent) == 0)
        uv_timer_stop(&agent->measuring);
    else if (agent->memory_look.stage == PLEAT_MEMORY_RESTS)
        uv_timer_start(&agent->measuring, on_timer, (uint64_t)(agent->memory_wait_us / 1000), 0);
}

void pleat_memory_arm(struct pleat_agent *agent)
{
    const struct pleat_memory_look *look = &agent->memory_look;
    const uv_timer_t *timer = &agent->measuring;
    if (agent->memory_wait_us != 0 || look->stage != PLEAT_MEMORY_RESTS)
        return;
    const int64_t first_us = FIRST_MS * (PLEAT_US_PER_S / 1000);
    const int64_t rest_us = look->over_us + look->took_us * SHARE - pleat_clock_monotonic_us();
    agent->memory_wait_us = rest_us > first_us ? rest_us : first_us;
    /* a look that is due sooner stays: starts may follow one another for ever */
    if (!uv_is_active((const uv_handle_t *)timer) ||
        uv_timer_get_due_in(timer) > (uint64_t)(agent->memory_wait_us / 1000))
        arm(agent);
}

void pleat_memory_finish(struct pleat_agent *agent)
{
    pleat_process_tree_stop(&agent->memory_look.reading);
    pleat_process_tree_finish(&agent->memory_look.tree);
}

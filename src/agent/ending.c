/* ending.c - ends whole trees of processes.
 *
 * Signals are repeated until the run's reaper says that nothing is left, since processes fork while
 * they are being counted. A pleatd that a run has started is not the run's. Where only such a
 * pleatd is left, the reaper is ended.
 *
 * Where the reaper was killed, a snapshot must show that nothing is left. It is believed only when
 * no process had just ended in it: a process that ended may have started another one that the
 * snapshot does not have (tree.h).
 */
#include "agent/ending.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/kind.h"
#include "agent/life.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/reap.h"
#include "agent/succession.h"
#include "base/clock.h"

#define KILL_ROUNDS 10
/* Looks at processes whose owner cannot be told, until they are counted as no run's. */
#define DOUBTS_MAX 10
#define COMPLAIN_US (10 * PLEAT_US_PER_S)

#define NOBODYS UINT64_C(0)

/* ---- telling processes to end ---- */

static struct pleat_told *find_told(const struct pleat_run *run,
                                    const struct pleat_process_entry *process)
{
    for (size_t i = 0; i < run->told.count; i++)
        if (run->told.items[i].pid == process->pid && run->told.items[i].start == process->start)
            return &run->told.items[i];
    return NULL;
}

static void send_signal(const struct pleat_run *run, const struct pleat_process_entry *process,
                        int number)
{
    struct pleat_error err = {0};
    int result =
        pleat_process_tree_signal(run->agent->proc, process->pid, process->start, number, &err);
    if (result && result != PLEAT_E_NOTFOUND)
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

static void end_process(struct pleat_run *run, const struct pleat_process_entry *process,
                        bool killing)
{
    struct pleat_told *told = find_told(run, process);
    bool is_new = !told;
    if (is_new) {
        struct pleat_told fresh = {process->pid, process->start, false};
        if (pleat_array_push(&run->told, fresh) == 0)
            told = &run->told.items[run->told.count - 1];
    }
    if (told && !told->outlived && run->state == PLEAT_RUN_ENDING && (is_new || killing) &&
        !pleat_succession_has(run, process)) {
        told->outlived = true;
        run->left++;
    }
    if (killing) {
        send_signal(run, process, SIGKILL);
    } else if (is_new) {
        send_signal(run, process, SIGTERM);
        if (process->state == 'T') /* it would not handle SIGTERM; mpirun says that it got this */
            send_signal(run, process, SIGCONT);
    }
}

static bool is_ending(const struct pleat_run *run)
{
    return (run->state == PLEAT_RUN_ENDING && !run->end_waits) ||
           (pleat_run_is_live(run) && run->killing);
}

static bool ends_part(const struct pleat_run *run)
{
    return pleat_run_is_live(run) && run->part.killing;
}

/* Open MPI starts a daemon for a program that began without mpirun. It ends by itself as soon as
 * the program has, which takes it a while. It must not be told to end meanwhile: it unloads its
 * handler of SIGTERM before it unsets it, so that it crashes, and says so in the job's output. */
static bool ends_alone(const struct pleat_agent *agent, const struct pleat_process_entry *process)
{
    char name[PLEAT_TREE_NAME_SIZE];
    pleat_process_tree_name(agent->proc, process->pid, name);
    return !strcmp(name, "orted") &&
           pleat_process_tree_has_argument(agent->proc, process->pid, "--singleton-died-pipe");
}

/* Processes that outlive SIGKILL wait in the kernel, for a file system that does not answer for
 * example. */
static void tell_stuck(const struct pleat_run *run, size_t members)
{
    char text[160];
    snprintf(text, sizeof(text),
             "%zu of its processes do not end although they were killed: they wait for a device or "
             "a file system",
             members);
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, text);
    pleat_agent_notify(run->agent, "warning",
                       json_pack("{s:I, s:s}", "run", (json_int_t)run->id, "text", text));
}

/* Deals with all processes of the run in the snapshot. Returns how many are alive. *just_ended: how
 * many dead ones are the run's or may have been: dead children of the agent are reaped before, so
 * those in the snapshot ended after that. */
static size_t sweep_run(struct pleat_run *run, int64_t now, size_t *just_ended)
{
    struct pleat_agent *agent = run->agent;
    size_t members = 0;
    *just_ended = 0;
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_process_entry *process = &agent->tree.items[i];
        uint64_t owner = pleat_run_of_process(agent, process);
        if (pleat_process_tree_is_dead(process)) {
            *just_ended += owner == run->id || (owner == NOBODYS && process->parent == agent->pid);
            continue;
        }
        if (owner != run->id || pleat_succession_has(run, process))
            continue;
        members++;
        if (now >= run->kill_at_us || (now >= run->term_at_us && !ends_alone(agent, process)))
            end_process(run, process, now >= run->kill_at_us);
    }
    if (!members &&
        run->now.reaper) /* the reaper tells when nothing is left, unless it was stopped */
        (void)kill(run->now.reaper, SIGCONT);
    if (members && !run->complained && now >= run->kill_at_us + COMPLAIN_US) {
        run->complained = true;
        tell_stuck(run, members);
    }
    return members;
}

/* Ends the second generation, in the snapshot. Returns whether another look at once is worth it. */
static bool sweep_other(struct pleat_run *run, int64_t now)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_succession *succession = run->succession;
    struct pleat_generation *other = &succession->other;
    size_t members = 0, just_ended = 0;
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_process_entry *process = &agent->tree.items[i];
        uint64_t owner = pleat_run_of_process(agent, process);
        if (pleat_process_tree_is_dead(process)) {
            just_ended += owner == run->id || (owner == NOBODYS && process->parent == agent->pid);
            continue;
        }
        if (owner != run->id || !pleat_succession_has(run, process))
            continue;
        members++;
        if (now >= succession->kill_at_us ||
            (now >= succession->term_at_us && !ends_alone(agent, process)))
            end_process(run, process, now >= succession->kill_at_us);
    }
    if (members)
        return now >= succession->kill_at_us;
    if (other->reaper) /* the reaper tells when nothing is left, unless it was stopped */
        (void)kill(other->reaper, SIGCONT);
    if (just_ended || agent->tree.vanished)
        return true;
    if (!other->reaper && agent->unsettled && succession->doubts++ < DOUBTS_MAX)
        return false;
    if (other->reaper && !run->spares)
        return false;
    if (other->reaper)
        (void)kill(other->reaper, SIGKILL);
    other->reaper = 0;
    other->empty = true;
    return true;
}

/* Whether processes of the second generation have to be looked for. */
static bool sweeps_other(const struct pleat_run *run, int64_t now)
{
    return run->succession && pleat_succession_ends(run) && !run->succession->other.empty &&
           (!run->succession->other.reaper || now >= run->succession->term_at_us);
}

/* Ends only what the script launched. The `pleat launch` says when nothing of that is left. */
static void sweep_part(struct pleat_run *run, int64_t now)
{
    const struct pleat_part_end *part = &run->part;
    struct pleat_agent *agent = run->agent;
    pid_t top = run->kind->part(run);
    for (size_t i = 0; top && now >= part->term_at_us && i < agent->tree.count; i++) {
        const struct pleat_process_entry *process = &agent->tree.items[i];
        if (!pleat_process_tree_is_dead(process) &&
            pleat_process_tree_descends(&agent->tree, process, top))
            end_process(run, process, now >= part->kill_at_us);
    }
}

/* Exits the runs of which nothing is left. Returns whether processes have to be looked for. */
static bool finish_empty(struct pleat_agent *agent)
{
    bool ending = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        if (run->succession)
            run->kind->look(run);
        if (run->state == PLEAT_RUN_ENDING && run->now.empty && !pleat_succession_holds(run))
            pleat_run_exited(run);
        ending = ending || is_ending(run) || ends_part(run) ||
                 sweeps_other(run, pleat_clock_monotonic_us());
        run->spares = false;
    }
    return ending;
}

/* No process of the run is left to be ended. What the run spares is the agent's from now on. */
static void gone(struct pleat_run *run)
{
    if (run->now.reaper)
        (void)kill(run->now.reaper, SIGKILL);
    run->now.reaper = 0;
    pleat_run_exited(run);
}

/* Whether all that is to be ended is below the reapers of processes of evolving runs. Then nothing
 * else has to be looked at, and what is missed in a look is found in the next one: the reaper says
 * when nothing is left. A program may stop a thousand of them one after another, beside a thousand
 * others. *reapers: to be freed. */
static bool is_below_reapers(const struct pleat_agent *agent, int64_t now, pid_t **reapers,
                             size_t *count)
{
    *count = 0;
    *reapers = malloc((agent->runs.count + 1) * sizeof(**reapers));
    for (size_t i = 0; *reapers && i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        if (ends_part(run) || sweeps_other(run, now) ||
            (is_ending(run) && !(run->leader && run->now.reaper)))
            return false;
        if (is_ending(run))
            (*reapers)[(*count)++] = run->now.reaper;
    }
    return *reapers != NULL;
}

static int take_snapshot(struct pleat_agent *agent, struct pleat_error *err)
{
    pid_t *reapers = NULL;
    size_t count = 0;
    int result = is_below_reapers(agent, pleat_clock_monotonic_us(), &reapers, &count)
                     ? pleat_process_tree_below(agent->proc, &agent->tree, reapers, count, NULL)
                     : PLEAT_E_UNSUPPORTED;
    free(reapers);
    return result ? pleat_process_tree_read(agent->proc, &agent->tree, err) : 0;
}

/* Returns whether another look at once is worth it: a process was killed that may have forked, or a
 * process ended meanwhile. */
static bool sweep_round(struct pleat_agent *agent)
{
    struct pleat_error err;
    pleat_runs_reap(agent);
    if (!finish_empty(agent))
        return false;
    if (take_snapshot(agent, &err)) {
        pleat_log("%s; trying again", err.text);
        return false;
    }
    agent->unsettled = 0;
    int64_t now = pleat_clock_monotonic_us();
    bool again = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        size_t just_ended = 0;
        if (sweeps_other(run, now))
            again = sweep_other(run, now) || again;
        if (!is_ending(run)) {
            if (ends_part(run))
                sweep_part(run, now);
            continue;
        }
        if (sweep_run(run, now, &just_ended))
            again = again || now >= run->kill_at_us;
        else if (just_ended || agent->tree.vanished)
            again = true;
        else if (!run->now.reaper && agent->unsettled && run->doubts < DOUBTS_MAX)
            run->doubts++; /* counted again at the next look */
        else if (run->state == PLEAT_RUN_ENDING && (!run->now.reaper || run->spares) &&
                 !pleat_succession_holds(run))
            gone(run);
    }
    return again;
}

static void on_timer(uv_timer_t *timer)
{
    pleat_runs_sweep(timer->data);
}

/* The time until the second generation is looked at again; 0: it need not be. */
static uint64_t other_look_ms(const struct pleat_run *run, int64_t now)
{
    const struct pleat_succession *succession = run->succession;
    if (!pleat_succession_ends(run))
        return 0;
    if (succession->other.reaper && now < succession->term_at_us) /* its reaper tells */
        return (uint64_t)(succession->term_at_us - now) / 1000 + 1;
    return now - succession->ending_us < PLEAT_US_PER_S / 2 ? 20 : 100;
}

/* The time until the next look: short at first, when most trees of processes end, long later, for
 * processes that do not go. 0: no run is being ended. */
static uint64_t next_look_ms(const struct pleat_agent *agent)
{
    int64_t now = pleat_clock_monotonic_us();
    uint64_t next = 0;
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        uint64_t other = other_look_ms(run, now);
        if (other && (next == 0 || other < next))
            next = other;
        if (!is_ending(run) && !ends_part(run))
            continue;
        int64_t age = now - (is_ending(run) ? run->ending_us : run->part.ending_us);
        uint64_t wait = run->complained ? 1000 : age < PLEAT_US_PER_S / 2 ? 20 : 100;
        if (next == 0 || wait < next)
            next = wait;
    }
    return next;
}

void pleat_runs_sweep(struct pleat_agent *agent)
{
    if (next_look_ms(agent) == 0) {
        uv_timer_stop(&agent->ending);
        return;
    }
    for (int round = 0; round < KILL_ROUNDS && sweep_round(agent); round++)
        ;
    uint64_t next = next_look_ms(agent);
    if (next && !agent->closing)
        uv_timer_start(&agent->ending, on_timer, next, 0);
    else
        uv_timer_stop(&agent->ending);
}

void pleat_run_kill(struct pleat_run *run, int64_t grace_us)
{
    if (!pleat_run_is_live(run))
        return;
    int64_t now = pleat_clock_monotonic_us();
    bool first = !is_ending(run);
    if (first)
        run->ending_us = now;
    if (first || run->term_at_us > now)
        run->term_at_us = now;
    if (first || run->kill_at_us > now + grace_us)
        run->kill_at_us = now + grace_us;
    run->killing = true;
    pleat_succession_end(run, 0, grace_us);
}

void pleat_run_end(struct pleat_run *run, int64_t grace_us)
{
    if (!pleat_run_is_live(run))
        return;
    run->unwanted = true;
    pleat_run_kill(run, grace_us);
    run->kind->unwanted(run);
}

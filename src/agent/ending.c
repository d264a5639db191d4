/* ending.c - ends whole trees of processes.
 *
 * A process belongs to a run when it is below the run's reaper (reaper.h). Signals are repeated
 * until the reaper says that nothing is left, since processes fork while they are being counted. A
 * pleatd that a run has started is not the run's; where only that is left, the reaper is ended.
 *
 * A reaper may have been killed. What it had is the agent's then, which is a subreaper, too: a
 * process belongs to the run when, on the way up from it to the agent, there is a process in the
 * run's session or one whose environment has the run's token: the first finds what cleared its
 * environment, the second what made itself a session of its own and lost its parents. That nothing
 * is left is believed then only of a snapshot in which nothing had just ended, because what ended
 * may have started another that the snapshot does not have (tree.h).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/launching.h"
#include "agent/leftovers.h"
#include "agent/log.h"
#include "agent/resize.h"
#include "base/clock.h"

#define LEFT_GRACE_US (2 * PLEAT_US_PER_S)
#define KILL_ROUNDS 10
#define CHAIN_MAX 4096
/* Looks at processes whose owner cannot be told, before they are taken for nobody's. */
#define DOUBTS_MAX 10
#define COMPLAIN_US (10 * PLEAT_US_PER_S)

#define NOBODYS UINT64_C(0)
/* Parents of a process that ended while the list was read are missing in it. */
enum where { OUTSIDE, INSIDE, UNKNOWN };

static enum where where_is(const struct pleat_agent *agent,
                           const struct pleat_tree_process *process)
{
    for (int length = 0; length < CHAIN_MAX; length++) {
        if (process->parent == agent->pid)
            return INSIDE;
        if (process->parent == 0 || process->pid == agent->pid)
            return OUTSIDE;
        process = pleat_tree_find(&agent->tree, process->parent);
        if (!process)
            return UNKNOWN;
    }
    return UNKNOWN;
}

/* The run with this reaper, or NULL. */
static struct pleat_run *find_reaper(const struct pleat_agent *agent, pid_t pid)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        if (agent->runs.items[i]->reaper == pid && pleat_run_is_live(agent->runs.items[i]))
            return agent->runs.items[i];
    return NULL;
}

/* The child of the agent from which it descends; NULL: it is one itself, or that cannot be seen. */
static const struct pleat_tree_process *below_agent(const struct pleat_agent *agent,
                                                    const struct pleat_tree_process *process)
{
    const struct pleat_tree_process *below = NULL;
    for (int length = 0; process && process->parent != agent->pid && length < CHAIN_MAX; length++)
        below = process = pleat_tree_find(&agent->tree, process->parent);
    return process ? below : NULL;
}

/* A main process that was just forked may have no session yet. */
static uint64_t by_session(const struct pleat_agent *agent,
                           const struct pleat_tree_process *process)
{
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        if (((run->session && run->session == process->session) || run->pid == process->pid) &&
            pleat_run_is_live(run))
            return run->id;
    }
    return NOBODYS;
}

static uint64_t run_of_token(const struct pleat_agent *agent, const char *token)
{
    size_t length = strlen(agent->options.instance);
    if (!token || strncmp(token, agent->options.instance, length) != 0 || token[length] != ':')
        return NOBODYS;
    char *end = NULL;
    uint64_t id = strtoull(token + length + 1, &end, 10);
    return end != token + length + 1 && *end == '\0' ? id : NOBODYS;
}

/* Where the environment cannot be read, the snapshot says too little: either the process has ended
 * since, or it is being executed (or has none, or hides it, which looks the same). */
static uint64_t by_token(struct pleat_agent *agent, const struct pleat_tree_process *process)
{
    struct pleat_tree_process now;
    if (pleat_tree_environ(agent->proc, process->pid, &agent->env) == 0)
        return run_of_token(agent, pleat_tree_environ_get(&agent->env, PLEAT_RUN_ENV));
    if (pleat_tree_is_dead(process))
        return NOBODYS; /* as which it is counted */
    if (pleat_tree_read_one(agent->proc, process->pid, &now) || now.start != process->start ||
        pleat_tree_is_dead(&now) || now.exiting)
        agent->tree.vanished++;
    else
        agent->unsettled++;
    return NOBODYS;
}

uint64_t pleat_run_of_process(struct pleat_agent *agent, struct pleat_tree_process *process)
{
    if (process->owner_known)
        return process->owner;
    process->owner_known = true;
    process->owner = NOBODYS;
    if (where_is(agent, process) == OUTSIDE)
        return NOBODYS;
    const struct pleat_tree_process *top = below_agent(agent, process);
    struct pleat_run *run = find_reaper(agent, top ? top->pid : process->pid);
    if (run) {
        bool spared = top && pleat_leftovers_spare(&agent->tree, process, top->pid);
        run->spares = run->spares || spared;
        return process->owner = top && !spared ? run->id : NOBODYS;
    }
    struct pleat_tree_process *at = process;
    uint64_t owner = NOBODYS;
    for (int length = 0; at && at->pid != agent->pid && length < CHAIN_MAX && !owner; length++) {
        owner = by_session(agent, at);
        at = pleat_tree_find(&agent->tree, at->parent);
    }
    at = process;
    for (int length = 0; at && at->pid != agent->pid && length < CHAIN_MAX && !owner; length++) {
        if (at != process && at->owner_known && at->owner)
            owner = at->owner;
        else
            owner = by_token(agent, at);
        at = pleat_tree_find(&agent->tree, at->parent);
    }
    process->owner = owner;
    return owner;
}

/* ---- telling processes to end ---- */

static struct pleat_told *find_told(const struct pleat_run *run,
                                    const struct pleat_tree_process *process)
{
    for (size_t i = 0; i < run->told.count; i++)
        if (run->told.items[i].pid == process->pid && run->told.items[i].start == process->start)
            return &run->told.items[i];
    return NULL;
}

static void send_signal(const struct pleat_run *run, const struct pleat_tree_process *process,
                        int number)
{
    struct pleat_error err = {0};
    int result = pleat_tree_signal(run->agent->proc, process->pid, process->start, number, &err);
    if (result && result != PLEAT_E_NOTFOUND)
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

static void end_process(struct pleat_run *run, const struct pleat_tree_process *process,
                        bool killing)
{
    struct pleat_told *told = find_told(run, process);
    bool is_new = !told;
    if (is_new) {
        struct pleat_told fresh = {process->pid, process->start, false};
        if (pleat_array_push(&run->told, fresh) == 0)
            told = &run->told.items[run->told.count - 1];
    }
    if (told && !told->outlived && run->state == PLEAT_RUN_ENDING && (is_new || killing)) {
        told->outlived = true;
        run->left++;
    }
    if (killing) {
        send_signal(run, process, SIGKILL);
    } else if (is_new) {
        send_signal(run, process, SIGTERM);
        send_signal(run, process, SIGCONT); /* a stopped one would not see it */
    }
}

static bool is_ending(const struct pleat_run *run)
{
    return run->state == PLEAT_RUN_ENDING || (pleat_run_is_live(run) && run->killing);
}

static bool ends_launch(const struct pleat_run *run)
{
    return run->launches && run->launches->killing;
}

/* They wait for something in the kernel, such as a file system that does not answer. */
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

/* Deals with all of the run's processes of the snapshot; returns how many there are. *just_ended:
 * dead ones that are the run's, or may have been (children of the agent are reaped before). */
static size_t sweep_run(struct pleat_run *run, int64_t now, size_t *just_ended)
{
    struct pleat_agent *agent = run->agent;
    size_t members = 0;
    *just_ended = 0;
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_tree_process *process = &agent->tree.items[i];
        uint64_t owner = pleat_run_of_process(agent, process);
        if (pleat_tree_is_dead(process)) {
            *just_ended += owner == run->id || (owner == NOBODYS && process->parent == agent->pid);
            continue;
        }
        if (owner != run->id)
            continue;
        members++;
        if (now >= run->term_at_us)
            end_process(run, process, now >= run->kill_at_us);
    }
    if (!members && run->reaper) /* it says so itself, unless somebody has stopped it */
        (void)kill(run->reaper, SIGCONT);
    if (members && !run->complained && now >= run->kill_at_us + COMPLAIN_US) {
        run->complained = true;
        tell_stuck(run, members);
    }
    return members;
}

/* Only what `pleat launch` started; it says itself when nothing of that is left. */
static void sweep_launch(struct pleat_run *run, int64_t now)
{
    const struct pleat_launches *launches = run->launches;
    struct pleat_agent *agent = run->agent;
    pid_t top = pleat_launches_pid(run);
    for (size_t i = 0; top && now >= launches->term_at_us && i < agent->tree.count; i++) {
        const struct pleat_tree_process *process = &agent->tree.items[i];
        if (!pleat_tree_is_dead(process) && pleat_tree_descends(&agent->tree, process, top))
            end_process(run, process, now >= launches->kill_at_us);
    }
}

/* Returns whether any is left that is being ended. */
static bool finish_empty(struct pleat_agent *agent)
{
    bool ending = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        if (run->state == PLEAT_RUN_ENDING && run->empty)
            pleat_run_exited(run);
        ending = ending || is_ending(run) || ends_launch(run);
        run->spares = false;
    }
    return ending;
}

/* Nothing more of it has to be ended; what it spares is the agent's from now on. */
static void gone(struct pleat_run *run)
{
    if (run->reaper)
        (void)kill(run->reaper, SIGKILL);
    run->reaper = 0;
    pleat_run_exited(run);
}

/* Returns whether another look right now is worth it: something was killed that may have forked, or
 * something ended meanwhile. */
static bool sweep_round(struct pleat_agent *agent)
{
    struct pleat_error err;
    pleat_runs_reap(agent);
    if (!finish_empty(agent))
        return false;
    if (pleat_tree_read(agent->proc, &agent->tree, &err)) {
        pleat_log("%s; trying again", err.text);
        return false;
    }
    agent->unsettled = 0;
    int64_t now = pleat_clock_monotonic_us();
    bool again = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        size_t just_ended = 0;
        if (!is_ending(run)) {
            if (ends_launch(run))
                sweep_launch(run, now);
            continue;
        }
        if (sweep_run(run, now, &just_ended))
            again = again || now >= run->kill_at_us;
        else if (just_ended || agent->tree.vanished)
            again = true;
        else if (!run->reaper && agent->unsettled && run->doubts < DOUBTS_MAX)
            run->doubts++; /* until the next time */
        else if (run->state == PLEAT_RUN_ENDING && (!run->reaper || run->spares))
            gone(run);
    }
    return again;
}

static void on_timer(uv_timer_t *timer)
{
    pleat_runs_sweep(timer->data);
}

/* Often at first, when most trees end; later seldom, for what does not go. 0: nothing to do. */
static uint64_t next_look_ms(const struct pleat_agent *agent)
{
    int64_t now = pleat_clock_monotonic_us();
    uint64_t next = 0;
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        if (!is_ending(run) && !ends_launch(run))
            continue;
        int64_t age = now - (is_ending(run) ? run->ending_us : run->launches->ending_us);
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
    pleat_agent_settle(agent);
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
}

void pleat_run_end(struct pleat_run *run, int64_t grace_us)
{
    if (!pleat_run_is_live(run))
        return;
    run->unwanted = true;
    if (run->relaunch)
        pleat_malleable_abandon(run->malleable);
    pleat_run_kill(run, grace_us);
    pleat_launches_end(run);
}

void pleat_run_end_rest(struct pleat_run *run)
{
    if (run->killing)
        return;
    run->ending_us = pleat_clock_monotonic_us();
    run->term_at_us = run->ending_us + run->linger_us;
    run->kill_at_us = run->term_at_us + LEFT_GRACE_US;
}

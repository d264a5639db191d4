/* owner.c - whose a process is.
 *
 * A process belongs to a run when it is below the run's reaper (reaper.h), unless it is a pleatd
 * that the run has started, or below one.
 *
 * A reaper may have been killed. Its processes are then the agent's, which is a subreaper, too.
 * Such a process belongs to the run when, on the way up from it to the agent, there is a process
 * that is in the run's session or has the run's token in its environment. Sessions find processes
 * that cleared their environment. Tokens find processes that made a session of their own and lost
 * their parents.
 */
#include "agent/owner.h"

#include <stdlib.h>
#include <string.h>

#include "agent/leftovers.h"
#include "agent/run.h"
#include "agent/succession.h"

#define CHAIN_MAX 4096

#define NOBODYS UINT64_C(0)
/* Where a process is, within the tree below the agent. UNKNOWN: a parent is missing, since it ended
 * while the list was read. */
enum where { OUTSIDE, INSIDE, UNKNOWN };

static enum where where_is(const struct pleat_agent *agent,
                           const struct pleat_process_entry *process)
{
    for (int length = 0; length < CHAIN_MAX; length++) {
        if (process->parent == agent->pid)
            return INSIDE;
        if (process->parent == 0 || process->pid == agent->pid)
            return OUTSIDE;
        process = pleat_process_tree_find(&agent->tree, process->parent);
        if (!process)
            return UNKNOWN;
    }
    return UNKNOWN;
}

/* The main process is the run's while it is a child of the run's reaper: one look, where a list of
 * all processes takes as long as there are many. */
static bool is_main(const struct pleat_run *run, pid_t pid)
{
    struct pleat_process_entry process;
    return pid > 0 && run->now.pid == pid && run->now.reaper > 0 &&
           !pleat_process_tree_read_one(run->agent->proc, pid, &process) &&
           process.parent == run->now.reaper;
}

bool pleat_run_has_process(struct pleat_run *run, pid_t pid)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_error err;
    if (is_main(run, pid))
        return true;
    if (pleat_process_tree_read(agent->proc, &agent->tree, &err))
        return false;
    struct pleat_process_entry *process = pleat_process_tree_find(&agent->tree, pid);
    return process && pleat_run_of_process(agent, process) == run->id;
}

struct pleat_generation *pleat_run_generation(struct pleat_run *run, pid_t reaper)
{
    if (run->now.reaper == reaper)
        return &run->now;
    return run->succession && run->succession->other.reaper == reaper ? &run->succession->other
                                                                      : NULL;
}

/* The run that has this reaper, or NULL. */
static struct pleat_run *find_reaper(const struct pleat_agent *agent, pid_t pid)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        if (pleat_run_generation(agent->runs.items[i], pid) &&
            pleat_run_is_live(agent->runs.items[i]))
            return agent->runs.items[i];
    return NULL;
}

/* The child of the agent from which a process descends. NULL: the process is itself a child of the
 * agent, or its parents are not in the snapshot. */
static const struct pleat_process_entry *below_agent(const struct pleat_agent *agent,
                                                     const struct pleat_process_entry *process)
{
    const struct pleat_process_entry *below = NULL;
    for (int length = 0; process && process->parent != agent->pid && length < CHAIN_MAX; length++)
        below = process = pleat_process_tree_find(&agent->tree, process->parent);
    return process ? below : NULL;
}

/* A main process that was just forked may have no session yet, so it is found by its pid. */
static bool is_in_session(const struct pleat_generation *generation,
                          const struct pleat_process_entry *process)
{
    return (generation->session && generation->session == process->session) ||
           generation->pid == process->pid;
}

/* The run in whose session a process is. */
static uint64_t by_session(const struct pleat_agent *agent,
                           const struct pleat_process_entry *process)
{
    for (size_t i = 0; i < agent->runs.count; i++) {
        const struct pleat_run *run = agent->runs.items[i];
        if (pleat_run_is_live(run) &&
            (is_in_session(&run->now, process) ||
             (run->succession && is_in_session(&run->succession->other, process))))
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

/* The run whose token is in a process's environment. Where the environment cannot be read the
 * snapshot says too little. Either the process has ended since. Or it is being executed; a process
 * without an environment, or with a hidden one, looks the same. */
static uint64_t by_token(struct pleat_agent *agent, const struct pleat_process_entry *process)
{
    struct pleat_process_entry now;
    if (pleat_process_tree_environ(agent->proc, process->pid, &agent->env) == 0)
        return run_of_token(agent, pleat_process_tree_environ_get(&agent->env, PLEAT_RUN_ENV));
    if (pleat_process_tree_is_dead(process))
        return NOBODYS; /* dead processes are counted as no run's */
    if (pleat_process_tree_read_one(agent->proc, process->pid, &now) ||
        now.start != process->start || pleat_process_tree_is_dead(&now) || now.exiting)
        agent->tree.vanished++;
    else
        agent->unsettled++;
    return NOBODYS;
}

uint64_t pleat_run_of_process(struct pleat_agent *agent, struct pleat_process_entry *process)
{
    if (process->owner_known)
        return process->owner;
    process->owner_known = true;
    process->owner = NOBODYS;
    if (where_is(agent, process) == OUTSIDE)
        return NOBODYS;
    const struct pleat_process_entry *top = below_agent(agent, process);
    struct pleat_run *run = find_reaper(agent, top ? top->pid : process->pid);
    if (run) {
        bool spared = top && pleat_leftovers_spare(&agent->tree, process, top->pid);
        run->spares = run->spares || spared;
        return process->owner = top && !spared ? run->id : NOBODYS;
    }
    struct pleat_process_entry *at = process;
    uint64_t owner = NOBODYS;
    for (int length = 0; at && at->pid != agent->pid && length < CHAIN_MAX && !owner; length++) {
        owner = by_session(agent, at);
        at = pleat_process_tree_find(&agent->tree, at->parent);
    }
    at = process;
    for (int length = 0; at && at->pid != agent->pid && length < CHAIN_MAX && !owner; length++) {
        if (at != process && at->owner_known && at->owner)
            owner = at->owner;
        else
            owner = by_token(agent, at);
        at = pleat_process_tree_find(&agent->tree, at->parent);
    }
    process->owner = owner;
    return owner;
}

/* ---- runs ---- */

bool pleat_run_is_live(const struct pleat_run *run)
{
    return run->state == PLEAT_RUN_STARTING || run->state == PLEAT_RUN_RUNNING ||
           run->state == PLEAT_RUN_ENDING;
}

size_t pleat_runs_live(const struct pleat_agent *agent)
{
    size_t live = 0;
    for (size_t i = 0; i < agent->runs.count; i++)
        live += pleat_run_is_live(agent->runs.items[i]);
    return live;
}

uint32_t pleat_run_processors(const struct pleat_run *run, uint32_t processes)
{
    return run->cpus_per_task > 1 ? processes * run->cpus_per_task : processes;
}

uint32_t pleat_run_processes(const struct pleat_run *run, uint32_t processors)
{
    return run->cpus_per_task > 1 ? processors / run->cpus_per_task : processors;
}

size_t pleat_run_position(const struct pleat_agent *agent, uint64_t id)
{
    size_t low = 0;
    size_t high = agent->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (agent->runs.items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id)
{
    size_t at = pleat_run_position(agent, id);
    return at < agent->runs.count && agent->runs.items[at]->id == id ? agent->runs.items[at] : NULL;
}

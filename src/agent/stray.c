#include "agent/stray.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/log.h"
#include "base/clock.h"

#define GRACE_US (2 * PLEAT_US_PER_S)
#define LIMIT_US (10 * PLEAT_US_PER_S)
#define LOOK_MS 50
#define DOUBTS_MAX 13
#define DOUBT_MS 10 /* at most; less at first, since executing another program takes no time */
#define INIT 1      /* was there before any agent; that of a container may have no environment */
#define KERNEL 2    /* parent of the kernel's threads, which have no environment */

/* Whether the process that "<pid>:<start>" names is alive. */
static bool agent_lives(const struct pleat_agent *agent, const char *text)
{
    int pid = 0;
    uint64_t start = 0;
    char end = '\0';
    struct pleat_process_entry process;
    if (sscanf(text, "%d:%" SCNu64 "%c", &pid, &start, &end) != 2)
        return false;
    return pleat_process_tree_read_one(agent->proc, (pid_t)pid, &process) == 0 &&
           process.start == start && !pleat_process_tree_is_dead(&process);
}

struct hunt {
    struct pleat_process_tree tree;
    struct pleat_string env;
    struct pleat_process_tree told; /* the processes that got SIGTERM */
    struct pleat_process_tree
        settled;                     /* those that are no strays, and will not be: not read again */
    struct pleat_process_tree fresh; /* what becomes `settled` at the end of a round */
    /* of the last round: processes that may be strays but whose environment cannot be read */
    size_t unsettled;
    size_t ending;
};

/* Counts a process whose environment cannot be read. Either it is about to execute another program,
 * or it is ending: then its memory goes before its files do. A process without an environment, or
 * with a hidden one, looks like the first. */
static void doubt(struct hunt *hunt, const struct pleat_agent *agent,
                  const struct pleat_process_entry *process)
{
    char path[256];
    struct stat owner;
    struct pleat_process_entry now;
    snprintf(path, sizeof(path), "%s/%d", agent->proc, (int)process->pid);
    if (process->pid == INIT || process->pid == KERNEL || process->parent == KERNEL ||
        stat(path, &owner) || owner.st_uid != geteuid() ||
        pleat_process_tree_read_one(agent->proc, process->pid, &now) ||
        pleat_process_tree_is_dead(&now))
        return;
    if (now.exiting || now.state == 'Z' || now.state == 'X')
        hunt->ending++;
    else
        hunt->unsettled++;
}

static bool is_stray(struct hunt *hunt, const struct pleat_agent *agent,
                     const struct pleat_process_entry *process)
{
    char node[128];
    struct pleat_string *env = &hunt->env;
    size_t length = strlen(agent->options.instance);
    if (pleat_process_tree_is_dead(process))
        return false;
    if (pleat_process_tree_environ(agent->proc, process->pid, env)) {
        doubt(hunt, agent, process);
        return false;
    }
    const char *run = pleat_process_tree_environ_get(env, PLEAT_RUN_ENV);
    const char *where = pleat_process_tree_environ_get(env, PLEAT_NODE_ENV);
    const char *whose = pleat_process_tree_environ_get(env, PLEAT_AGENT_ENV);
    snprintf(node, sizeof(node), "%s:%" PRIu32, agent->options.site, agent->options.node);
    return run && where && whose && strncmp(run, agent->options.instance, length) == 0 &&
           run[length] == ':' && strcmp(where, node) == 0 && !agent_lives(agent, whose);
}

static bool is_settled(const struct hunt *hunt, const struct pleat_process_entry *process)
{
    const struct pleat_process_entry *known = pleat_process_tree_find(&hunt->settled, process->pid);
    return known && known->start == process->start;
}

static bool was_told(const struct hunt *hunt, const struct pleat_process_entry *process)
{
    for (size_t i = 0; i < hunt->told.count; i++)
        if (hunt->told.items[i].pid == process->pid && hunt->told.items[i].start == process->start)
            return true;
    return false;
}

static void end_stray(const struct pleat_agent *agent, struct hunt *hunt,
                      const struct pleat_process_entry *process, bool killing)
{
    struct pleat_error err;
    bool told = was_told(hunt, process);
    if (told && !killing)
        return;
    if (!told) {
        pleat_log("ending process %d, which an earlier agent left (%s)", (int)process->pid,
                  pleat_process_tree_environ_get(&hunt->env, PLEAT_RUN_ENV));
        if (pleat_array_push(&hunt->told, *process))
            pleat_log("no memory to remember it");
    }
    int number = killing ? SIGKILL : SIGTERM;
    int result = pleat_process_tree_signal(agent->proc, process->pid, process->start, number, &err);
    if (!result && !killing)
        result =
            pleat_process_tree_signal(agent->proc, process->pid, process->start, SIGCONT, &err);
    if (result && result != PLEAT_E_NOTFOUND)
        pleat_log("%s", err.text);
}

/* Looks at one process. Returns whether it may be forgotten: it is no stray, for good. The marks
 * are inherited, so a program that it executes does not get them; but a process that has executed
 * none yet has the environment of its parent, which may be the dead agent. */
static bool settle(struct hunt *hunt, const struct pleat_agent *agent,
                   const struct pleat_process_entry *process, bool killing, size_t *strays)
{
    size_t unclear = hunt->unsettled + hunt->ending;
    if (is_stray(hunt, agent, process)) {
        ++*strays;
        end_stray(agent, hunt, process, killing);
        return false;
    }
    return !process->unexecuted && hunt->unsettled + hunt->ending == unclear;
}

/* One round. Returns how many strays there are. */
static size_t hunt_round(const struct pleat_agent *agent, struct hunt *hunt, bool killing)
{
    struct pleat_error err;
    size_t strays = 0;
    hunt->unsettled = hunt->ending = 0;
    if (pleat_process_tree_read(agent->proc, &hunt->tree, &err)) {
        pleat_log("%s: cannot look for strays", err.text);
        return 0;
    }
    hunt->unsettled = hunt->tree.vanished;
    hunt->fresh.count = 0;
    for (size_t i = 0; i < hunt->tree.count; i++) {
        const struct pleat_process_entry *process = &hunt->tree.items[i];
        if (process->pid == agent->pid)
            continue;
        bool settled = is_settled(hunt, process) || settle(hunt, agent, process, killing, &strays);
        /* without memory it is looked at again */
        if (settled && pleat_array_push(&hunt->fresh, *process))
            pleat_log("no memory to remember process %d", (int)process->pid);
    }
    struct pleat_process_tree before = hunt->settled;
    hunt->settled = hunt->fresh; /* in the order of pids, as the snapshot is */
    hunt->fresh = before;
    return strays;
}

/* How long to wait before processes that could not be read are looked at again. */
static int doubt_ms(int doubts)
{
    return doubts < 4 ? 1 << doubts : DOUBT_MS;
}

void pleat_strays_end(const struct pleat_agent *agent)
{
    struct hunt hunt;
    memset(&hunt, 0, sizeof(hunt));
    int64_t begin = pleat_clock_monotonic_us();
    size_t strays;
    int doubts = 0; /* rounds in a row without a stray, but with processes that may be strays */
    for (;;) {
        int64_t age = pleat_clock_monotonic_us() - begin;
        strays = hunt_round(agent, &hunt, age >= GRACE_US);
        size_t busy = strays + hunt.ending;
        doubts = busy == 0 && hunt.unsettled > 0 ? doubts + 1 : 0;
        if ((busy == 0 && (hunt.unsettled == 0 || doubts > DOUBTS_MAX)) || age >= LIMIT_US)
            break;
        /* strays are no children of this process, so their end has to be polled for; what ended
         * while it was listed may have left a child, which the next list has */
        if (busy > 0 || hunt.unsettled > hunt.tree.vanished)
            (void)poll(NULL, 0, strays ? LOOK_MS : doubt_ms(doubts));
    }
    if (strays)
        pleat_log("%zu processes of an earlier agent do not end although they were killed", strays);
    pleat_process_tree_finish(&hunt.tree);
    pleat_process_tree_finish(&hunt.told);
    pleat_process_tree_finish(&hunt.settled);
    pleat_process_tree_finish(&hunt.fresh);
    pleat_string_finish(&hunt.env);
}

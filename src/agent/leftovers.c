#include "agent/leftovers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/log.h"
#include "base/clock.h"

#define GRACE_US (2 * PLEAT_US_PER_S)
#define LIMIT_US (10 * PLEAT_US_PER_S)
#define LOOK_MS 20
#define QUIET_ROUNDS 3

struct leftovers {
    pid_t above;
    const char *why; /* borrowed */
    struct pleat_process_tree tree;
    struct pleat_process_tree told; /* the processes that got SIGTERM */
};

/* ---- what is spared ---- */

static bool runs(const char *program, const char *name)
{
    const char *slash = strrchr(program, '/');
    size_t length = strlen(name);
    return slash && !strncmp(slash + 1, name, length) &&
           (!slash[1 + length] || !strcmp(slash + 1 + length, " (deleted)"));
}

/* Whether a process of the agent's program is a part of a run: a reaper, or a main process whose
 * program is not executed yet. */
static bool is_reaper(pid_t pid)
{
    char name[PLEAT_TREE_NAME_SIZE];
    pleat_process_tree_name("/proc", pid, name);
    return !strncmp(name, PLEAT_REAPER_NAME, strlen(PLEAT_REAPER_NAME));
}

static bool is_service(pid_t pid)
{
    char path[64], program[4096];
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    return runs(program, "pleatd") || (runs(program, "pleat-agent") && !is_reaper(pid));
}

bool pleat_leftovers_spare(const struct pleat_process_tree *tree,
                           struct pleat_process_entry *process, pid_t above)
{
    if (!process || process->pid == above)
        return false;
    if (!process->spared_known) {
        process->spared_known = true; /* also ends circles of parents, which a snapshot may have */
        process->spared =
            is_service(process->pid) ||
            pleat_leftovers_spare(tree, pleat_process_tree_find(tree, process->parent), above);
    }
    return process->spared;
}

/* ---- ending ---- */

static bool was_told(const struct leftovers *left, const struct pleat_process_entry *process)
{
    for (size_t i = 0; i < left->told.count; i++)
        if (left->told.items[i].pid == process->pid && left->told.items[i].start == process->start)
            return true;
    return false;
}

static void end_one(struct leftovers *left, const struct pleat_process_entry *process, bool killing)
{
    struct pleat_error err;
    if (!killing && was_told(left, process))
        return;
    if (!killing && pleat_array_push(&left->told, *process))
        pleat_log("no memory to remember process %d", (int)process->pid);
    if (!killing && left->told.count == 1)
        pleat_log("%s", left->why);
    int result = pleat_process_tree_signal("/proc", process->pid, process->start,
                                           killing ? SIGKILL : SIGTERM, &err);
    if (!result && !killing && process->state == 'T') /* it would not handle SIGTERM */
        result = pleat_process_tree_signal("/proc", process->pid, process->start, SIGCONT, &err);
    if (result && result != PLEAT_E_NOTFOUND)
        pleat_log("%s", err.text);
}

/* Returns how many processes are left, or may be left: a process that ended in this round may have
 * started another one that the snapshot does not have. */
static size_t end_round(struct leftovers *left, bool killing)
{
    struct pleat_error err;
    size_t count = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        count = 1;
    if (pleat_process_tree_read("/proc", &left->tree, &err)) {
        pleat_log("%s: cannot look for what is left", err.text);
        return 1;
    }
    for (size_t i = 0; i < left->tree.count; i++) {
        struct pleat_process_entry *process = &left->tree.items[i];
        if (pleat_process_tree_is_dead(process) ||
            !pleat_process_tree_descends(&left->tree, process, left->above) ||
            pleat_leftovers_spare(&left->tree, process, left->above))
            continue;
        count++;
        end_one(left, process, killing);
    }
    return count;
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void pleat_leftovers_end(const char *why)
{
    struct leftovers left = {.above = getpid(), .why = why};
    int64_t begin_us = pleat_clock_monotonic_us(), age_us = 0;
    int quiet = 0;
    size_t count = 0;
    while (has_children() && quiet < QUIET_ROUNDS && age_us < LIMIT_US) {
        age_us = pleat_clock_monotonic_us() - begin_us;
        count = end_round(&left, age_us >= GRACE_US);
        quiet = count ? 0 : quiet + 1;
        (void)poll(NULL, 0, LOOK_MS);
    }
    if (count && age_us >= LIMIT_US)
        pleat_log("%zu processes that were left do not end although they were killed", count);
    pleat_process_tree_finish(&left.tree);
    pleat_process_tree_finish(&left.told);
}

#include "agent/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/bind.h"
#include "agent/log.h"
#include "agent/memgroup.h"
#include "agent/run.h"
#include "base/clock.h"

#define FIRST_MS 50  /* after a start; then twice as long each time, up to ... */
#define MOST_MS 1000 /* ... this */
#define LIMIT_MS 200 /* where a limit is kept by what is measured */
#define SHARE 50     /* looking takes at most the SHARE-th part of the time */
/* After a second the daemon is told of a peak that is more by NEWS_KB and the NEWS_PART-th part. */
#define NEWS_KB 1024
#define NEWS_PART 4
#define ROLLUP_MAX 4096

/* ---- one process ---- */

/* The start of a file of a process, with a NUL; false: it is gone, or may not be read. */
static bool read_of(const struct pleat_agent *agent, pid_t pid, const char *name, char *text,
                    size_t size)
{
    char path[256];
    int used = snprintf(path, sizeof(path), "%s/%d/%s", agent->proc, (int)pid, name);
    int fd = used > 0 && (size_t)used < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t count = read(fd, text, size - 1);
    close(fd);
    text[count > 0 ? count : 0] = '\0';
    return count > 0;
}

static int64_t resident_kb(const struct pleat_agent *agent, pid_t pid)
{
    char text[128];
    long long pages = 0;
    if (!read_of(agent, pid, "statm", text, sizeof(text)) || sscanf(text, "%*s %lld", &pages) != 1)
        return 0;
    return (int64_t)pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int64_t proportional_kb(const struct pleat_agent *agent, pid_t pid)
{
    char text[ROLLUP_MAX];
    long long kb;
    const char *at =
        read_of(agent, pid, "smaps_rollup", text, sizeof(text)) ? strstr(text, "\nPss:") : NULL;
    return at && sscanf(at, " Pss: %lld", &kb) == 1 ? (int64_t)kb : resident_kb(agent, pid);
}

/* ---- all of them ---- */

static struct pleat_run *live_run_of(struct pleat_agent *agent, struct pleat_tree_process *process)
{
    if (pleat_tree_is_dead(process) || process->exiting)
        return NULL;
    uint64_t owner = pleat_run_of_process(agent, process);
    struct pleat_run *run = owner ? pleat_run_find(agent, owner) : NULL;
    return run && pleat_run_is_live(run) ? run : NULL;
}

static void measure(struct pleat_agent *agent)
{
    for (size_t i = 0; i < agent->runs.count; i++)
        agent->runs.items[i]->memory.resident_kb = agent->runs.items[i]->memory.measured_kb = 0;
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_run *run = live_run_of(agent, &agent->tree.items[i]);
        if (run)
            run->memory.resident_kb += resident_kb(agent, agent->tree.items[i].pid);
    }
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_run *run = live_run_of(agent, &agent->tree.items[i]);
        if (run && run->memory.resident_kb > run->memory.peak_kb)
            run->memory.measured_kb += proportional_kb(agent, agent->tree.items[i].pid);
    }
}

static void raise_peak(struct pleat_memory *memory, int64_t kb)
{
    if (kb > memory->peak_kb)
        memory->peak_kb = kb;
}

void pleat_memory_largest(struct pleat_run *run, int64_t kb)
{
    raise_peak(&run->memory, kb);
}

void pleat_memory_report(struct pleat_run *run)
{
    struct pleat_memory *memory = &run->memory;
    if (memory->peak_kb == 0)
        return;
    memory->told_kb = memory->peak_kb;
    pleat_agent_notify(run->agent, "memory",
                       json_pack("{s:I, s:I}", "run", (json_int_t)run->id, "memory_kb",
                                 (json_int_t)memory->peak_kb));
}

static void tell_peak(struct pleat_run *run)
{
    const struct pleat_memory *memory = &run->memory;
    if (pleat_clock_monotonic_us() >= memory->since_us + PLEAT_US_PER_S &&
        memory->peak_kb >= memory->told_kb + memory->told_kb / NEWS_PART + NEWS_KB)
        pleat_memory_report(run);
}

/* ---- the limit ---- */

static void size_text(int64_t kb, char *text, size_t size)
{
    if (kb < 1024)
        snprintf(text, size, "%" PRId64 " KiB", kb);
    else if (kb < INT64_C(1024) * 1024)
        snprintf(text, size, "%.1f MiB", (double)kb / 1024);
    else
        snprintf(text, size, "%.2f GiB", (double)kb / 1024 / 1024);
}

/* used_kb 0: the kernel gave it no more, so what it would have used is not known */
static void set_over(struct pleat_run *run, int64_t used_kb)
{
    char limit[32], used[32];
    size_text(run->memory.limit_kb, limit, sizeof(limit));
    size_text(used_kb, used, sizeof(used));
    run->memory.over = true;
    if (used_kb)
        (void)pleat_error_set(&run->failure, PLEAT_E_TOOBIG, "memory: used %s, limit %s", used,
                              limit);
    else
        (void)pleat_error_set(&run->failure, PLEAT_E_TOOBIG,
                              "memory: used all of its limit of %s and wanted more", limit);
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, run->failure.text);
}

bool pleat_memory_is_over(struct pleat_run *run)
{
    struct pleat_memory *memory = &run->memory;
    char name[PLEAT_GROUP_NAME_SIZE];
    if (memory->over || memory->limit_kb == 0)
        return memory->over;
    if (memory->has_group) {
        pleat_bind_group_name(run, name);
        if (pleat_memgroup_ended(&run->agent->memgroups, name) > 0) {
            raise_peak(memory, memory->limit_kb);
            set_over(run, 0);
        }
    } else if (memory->peak_kb > memory->limit_kb) {
        set_over(run, memory->peak_kb);
    }
    return memory->over;
}

void pleat_memory_group(struct pleat_run *run, int *procs)
{
    const struct pleat_agent *agent = run->agent;
    char name[PLEAT_GROUP_NAME_SIZE];
    struct pleat_error err;
    *procs = -1;
    run->memory.since_us = pleat_clock_monotonic_us();
    if (!*agent->memgroups.path || run->memory.limit_kb == 0)
        return;
    pleat_bind_group_name(run, name);
    run->memory.has_group =
        pleat_memgroup_make(&agent->memgroups, name, run->memory.limit_kb, procs, &err) == 0;
    if (!run->memory.has_group)
        pleat_log("%s: its memory is measured instead", err.text);
}

void pleat_memory_over(struct pleat_run *run)
{
    char name[PLEAT_GROUP_NAME_SIZE];
    struct pleat_error err;
    if (!run->memory.has_group)
        return;
    pleat_bind_group_name(run, name);
    int result = pleat_cgroup_remove(&run->agent->memgroups, name, &err);
    run->memory.has_group = result == PLEAT_E_BUSY; /* until the run is forgotten */
    if (result && result != PLEAT_E_BUSY)
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

/* ---- the timer ---- */

/* Ends those that are over their limits. *measured: some limit is kept by measuring. */
static bool judge(struct pleat_agent *agent, bool *measured)
{
    bool ended = false;
    *measured = false;
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        if (!pleat_run_is_live(run))
            continue;
        raise_peak(&run->memory, run->memory.measured_kb);
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
    if (pleat_tree_read(agent->proc, &agent->tree, &err) == 0)
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

void pleat_memory_watch(struct pleat_agent *agent)
{
    agent->memory_wait_us = FIRST_MS * (PLEAT_US_PER_S / 1000);
    arm(agent);
}

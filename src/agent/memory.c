#include "agent/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/bind.h"
#include "agent/cgroup.h"
#include "agent/log.h"
#include "agent/memgroup.h"
#include "agent/notify.h"
#include "agent/run.h"
#include "base/clock.h"

#define ROLLUP_MAX 4096

/* ---- one process ---- */

/* Reads the start of a file of a process, and adds a NUL. False: the process is gone, or the file
 * may not be read. */
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

int64_t pleat_memory_resident_kb(const struct pleat_agent *agent, pid_t pid)
{
    char text[128];
    long long pages = 0;
    if (!read_of(agent, pid, "statm", text, sizeof(text)) || sscanf(text, "%*s %lld", &pages) != 1)
        return 0;
    return (int64_t)pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int64_t pleat_memory_proportional_kb(const struct pleat_agent *agent, pid_t pid)
{
    char text[ROLLUP_MAX];
    long long kb;
    const char *at =
        read_of(agent, pid, "smaps_rollup", text, sizeof(text)) ? strstr(text, "\nPss:") : NULL;
    return at && sscanf(at, " Pss: %lld", &kb) == 1 ? (int64_t)kb
                                                    : pleat_memory_resident_kb(agent, pid);
}

/* How many processes the kernel has ended since the machine was started because memory was used up,
 * of all users and groups. */
static int64_t oom_kills(const struct pleat_agent *agent)
{
    long long kills = pleat_cgroup_read_key(agent->proc, "vmstat", "oom_kill");
    return kills > 0 ? kills : 0;
}

/* ---- what is known of a run ---- */

static void raise_peak(struct pleat_run_memory *memory, int64_t kb)
{
    if (kb > memory->peak_kb)
        memory->peak_kb = kb;
}

void pleat_memory_largest(struct pleat_run *run, int64_t kb)
{
    raise_peak(&run->memory, kb);
}

void pleat_memory_explain(struct pleat_run *run)
{
    bool killed = run->signal == SIGKILL || run->code == 128 + SIGKILL;
    int64_t kills = oom_kills(run->agent) - run->memory.oom_kills;
    if (!killed || run->was_told || run->killing || run->failure.text[0] || kills <= 0)
        return;
    (void)pleat_error_set(&run->failure, PLEAT_E_NOMEM,
                          "memory was used up: the kernel ended %" PRId64 " process%s of this "
                          "machine while the job ran, %sof the job",
                          kills, kills == 1 ? "" : "es",
                          kills == 1 ? "most likely one " : "most likely also ");
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, run->failure.text);
}

void pleat_memory_report(struct pleat_run *run)
{
    struct pleat_run_memory *memory = &run->memory;
    if (memory->peak_kb == 0 || run->leader)
        return;
    memory->told_kb = memory->peak_kb;
    pleat_agent_notify(run->agent, "memory",
                       json_pack("{s:I, s:I}", "run", (json_int_t)run->id, "memory_kb",
                                 (json_int_t)memory->peak_kb));
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

/* used_kb: what the run had in memory; 0: the kernel refused it more, and how much it wanted is not
 * known. */
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
    struct pleat_run_memory *memory = &run->memory;
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
    run->memory.oom_kills = oom_kills(agent);
    if (run->leader && run->leader->memory.has_group) { /* which all its processes join */
        pleat_bind_group_name(run->leader, name);
        if (pleat_cgroup_open(&agent->memgroups, name, procs))
            pleat_log(
                "run %llu: a process of it does not join its group: its memory is not limited",
                (unsigned long long)run->leader->id);
        return;
    }
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
    /* a group that is busy is removed when the run is forgotten */
    run->memory.has_group = result == PLEAT_E_BUSY;
    if (result && result != PLEAT_E_BUSY)
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

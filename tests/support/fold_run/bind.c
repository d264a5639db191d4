/* The part of the work of pleat-agent's processor manager for a folded run that measuring needs. */
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "fold_run.h"

static cpu_set_t mask_of(const struct run *run, uint32_t first, uint32_t count)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (uint32_t i = first; i < first + count; i++)
        CPU_SET(run->options->cpus[i], &mask);
    return mask;
}

void run_bind(const struct run *run, pid_t pid, uint32_t first, uint32_t count)
{
    cpu_set_t mask = mask_of(run, first, count);
    (void)sched_setaffinity(pid, sizeof(mask), &mask);
}

/* Helper threads may be anywhere in the partition. One that has not all of the CPUs before the
 * change was given its place by the program, and keeps it. */
static void spread(struct run *run, uint32_t index)
{
    char path[64];
    const struct dirent *entry;
    pid_t pid = run->known[index];
    cpu_set_t old = mask_of(run, 0, run->spread[index]), mask = mask_of(run, 0, run->count), has;
    bool changed = run->spread[index] != run->count;
    run->spread[index] = run->count;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = changed ? opendir(path) : NULL;
    while (tasks && (entry = readdir(tasks))) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != pid && !sched_getaffinity(tid, sizeof(has), &has) &&
            CPU_EQUAL(&has, &old))
            (void)sched_setaffinity(tid, sizeof(mask), &mask);
    }
    if (tasks)
        closedir(tasks);
}

static int64_t process_us(pid_t pid)
{
    clockid_t clock;
    struct timespec time = {0};
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
        return 0;
    return (int64_t)time.tv_sec * PLEAT_US_PER_S + time.tv_nsec / 1000;
}

/* The time of starting the command does not count as work of others. */
static void begin(struct run *run, uint32_t index, pid_t pid)
{
    run_bind(run, pid, run->where[index], 1);
    run->known[index] = pid;
    run->spread[index] = run->begun;
    spread(run, index);
    run->came_with_us[index] = process_us(pid);
}

void run_bind_new(struct run *run)
{
    struct pleat_fold_process process;
    struct pleat_fold_status status;
    if (!run->fold)
        return;
    pleat_fold_status(run->fold, &status);
    if (status.attached > run->attached)
        run->attached = status.attached;
    for (uint32_t i = 0; i < status.processes; i++) {
        (void)pleat_fold_processes(run->fold, i, 1, &process);
        if (process.pid && process.pid != run->known[i])
            begin(run, i, process.pid);
        run->known[i] = process.pid;
    }
}

static void choose_queues(struct run *run)
{
    uint32_t processes = run->options->processes;
    for (uint32_t i = 0; i < processes; i++)
        run->where[i] = run->options->blockwise ? i * run->count / processes : i % run->count;
}

void run_repartition(struct run *run, uint32_t count)
{
    run->count = count;
    run->looked_us = 0; /* processes have moved */
    choose_queues(run);
    if (!run->fold) {
        if (run->command)
            run_bind(run, run->command, 0, count);
        return;
    }
    if (pleat_fold_partition(run->fold, run->options->cpus, count, run->where)) {
        fprintf(stderr, "fold-run: a partition of %u processors is not possible\n", count);
        exit(1);
    }
    for (uint32_t i = 0; i < run->options->processes; i++)
        if (run->known[i]) {
            run_bind(run, run->known[i], run->where[i], 1);
            spread(run, i);
        }
}

/* ---- others ---- */

/* Time that the processes of a processor (all: of any) have used since they came.
 */
static int64_t own_us(const struct run *run, uint32_t processor, bool all)
{
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < run->options->processes; i++)
        if (run->known[i] && (all || run->where[i] == processor))
            sum_us += process_us(run->known[i]) - run->came_with_us[i];
    return sum_us;
}

static bool is_contended(struct run *run, uint32_t processor, int64_t elapsed_us, int64_t busy_us,
                         int64_t used_us)
{
    struct pleat_contention *contention = &run->contention[processor];
    if (run->options->contended >= 0)
        return run->options->contended;
    (void)pleat_contention_look(contention, elapsed_us, busy_us, used_us);
    return contention->contended;
}

void run_look_for_others(struct run *run)
{
    static int64_t busy_us[CPU_SETSIZE], busy_before_us[CPU_SETSIZE], own_before_us[RUN_CPUS];
    int64_t now_us = pleat_clock_monotonic_us(), sum_us = 0;
    bool all = run->options->settings.queue == PLEAT_FOLD_QUEUE_GLOBAL;
    if (!run->fold || (!run->attached && run->options->contended < 0) ||
        pleat_contention_read("/proc", busy_us, CPU_SETSIZE, NULL))
        return;
    for (uint32_t i = 0; i < run->count; i++)
        sum_us += busy_us[run->options->cpus[i]] - busy_before_us[run->options->cpus[i]];
    for (uint32_t i = 0; i < run->count; i++) {
        uint32_t cpu = run->options->cpus[i];
        int64_t own = own_us(run, i, all);
        int64_t elapsed_us = run->looked_us ? now_us - run->looked_us : 0;
        pleat_fold_contended(run->fold, i,
                             is_contended(run, i, elapsed_us,
                                          all ? sum_us : busy_us[cpu] - busy_before_us[cpu],
                                          own - own_before_us[i]));
        own_before_us[i] = own;
    }
    memcpy(busy_before_us, busy_us, sizeof(busy_us));
    run->looked_us = now_us;
}

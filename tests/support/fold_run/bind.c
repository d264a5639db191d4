/* What the processor manager of pleat-agent does for a folded run, as far as measuring needs it. */
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "fold_run.h"

/* Somebody else computes where he uses more than this part of the processor, and does no more where
 * he uses less than that. */
#define OTHERS_MANY 0.15
#define OTHERS_FEW 0.07
#define TICKS_PER_S 100 /* of /proc/stat: USER_HZ */

static void set_mask(const struct run *run, pid_t tid, uint32_t first, uint32_t count)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (uint32_t i = first; i < first + count; i++)
        CPU_SET(run->options->cpus[i], &mask);
    (void)sched_setaffinity(tid, sizeof(mask), &mask);
}

void run_bind(const struct run *run, pid_t pid, uint32_t first, uint32_t count)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    set_mask(run, pid, first, count);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) { /* helper threads: anywhere in the partition */
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != pid)
            set_mask(run, tid, 0, run->count);
    }
    if (tasks)
        closedir(tasks);
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
            run_bind(run, process.pid, run->where[i], 1);
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
        if (run->known[i])
            run_bind(run, run->known[i], run->where[i], 1);
}

/* ---- others ---- */

/* Seconds that the CPU was busy since it started. */
static double busy_s(uint32_t cpu)
{
    char line[256], name[16];
    unsigned long user, nice, kernel, idle, wait, irq, soft;
    double sum = 0;
    FILE *file = fopen("/proc/stat", "re");
    int length = snprintf(name, sizeof(name), "cpu%u ", cpu);
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, name, (size_t)length) &&
            sscanf(line + length, "%lu %lu %lu %lu %lu %lu %lu", &user, &nice, &kernel, &idle,
                   &wait, &irq, &soft) == 7)
            sum = (double)(user + nice + kernel + irq + soft) / TICKS_PER_S;
    if (file)
        fclose(file);
    return sum;
}

static double process_s(pid_t pid)
{
    clockid_t clock;
    struct timespec time = {0};
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
        return 0;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double own_s(const struct run *run, uint32_t processor)
{
    double sum = 0;
    for (uint32_t i = 0; i < run->options->processes; i++)
        if (run->known[i] && run->where[i] == processor)
            sum += process_s(run->known[i]);
    return sum;
}

void run_look_for_others(struct run *run)
{
    static double busy_before[RUN_CPUS], own_before[RUN_CPUS];
    static bool contended[RUN_CPUS];
    static int64_t before_us;
    int64_t now_us = pleat_clock_monotonic_us();
    double elapsed_s = (double)(now_us - before_us) * 1e-6;
    for (uint32_t i = 0; run->fold && i < run->count; i++) {
        double busy = busy_s(run->options->cpus[i]), own = own_s(run, i);
        double others = (busy - busy_before[i] - (own - own_before[i])) / elapsed_s;
        if (before_us && elapsed_s < 1)
            contended[i] = others > (contended[i] ? OTHERS_FEW : OTHERS_MANY);
        if (run->options->contended >= 0)
            contended[i] = run->options->contended;
        pleat_fold_contended(run->fold, i, contended[i]);
        busy_before[i] = busy;
        own_before[i] = own;
    }
    before_us = now_us;
}

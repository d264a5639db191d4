#include "site/local_load.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cpus.h"
#include "site/local_split.h"

struct process {
    int pid, parent;
    int ours;
    uint64_t ticks; /* CPU time of the process and of its reaped children */
    uint64_t own;   /* of the process alone */
    int cpu;        /* the CPU on which it was last; -1: not known */
};

PLEAT_ARRAY(process_array, struct process);

struct pleat_local_load {
    char root[256];
    struct process_array processes;
    uint64_t busy, ours; /* clock ticks at the last sample */
    int64_t sampled_us;
    double average; /* processors busy with the work of others */
    int32_t background;
    long ticks_per_s;
    struct pleat_local_split *split; /* NULL: the machine is not divided */
};

int32_t pleat_local_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

int pleat_local_load_create(const char *root, struct pleat_local_load **out,
                            struct pleat_error *err)
{
    struct pleat_local_load *load = calloc(1, sizeof(*load));
    if (!load)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if ((size_t)snprintf(load->root, sizeof(load->root), "%s", root) >= sizeof(load->root)) {
        free(load);
        return pleat_error_set(err, PLEAT_E_TOOBIG, "root %s: too long", root);
    }
    load->sampled_us = -1;
    load->ticks_per_s = sysconf(_SC_CLK_TCK);
    *out = load;
    return 0;
}

void pleat_local_load_destroy(struct pleat_local_load *load)
{
    if (!load)
        return;
    pleat_array_finish(&load->processes);
    pleat_local_split_destroy(load->split);
    free(load);
}

int pleat_local_load_divide(struct pleat_local_load *load, const char *cpus, uint32_t nodes)
{
    struct pleat_cpu_list list = {0};
    cpu_set_t set;
    int rc = cpus ? pleat_cpu_list_parse(cpus, &list, NULL) : 0;
    CPU_ZERO(&set);
    if (!cpus && sched_getaffinity(0, sizeof(set), &set))
        CPU_SET(0, &set);
    for (uint32_t cpu = 0; !rc && !cpus && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            rc = pleat_array_push(&list, cpu);
    if (!rc)
        rc = pleat_local_split_create(&list, nodes, &load->split);
    pleat_array_finish(&list);
    return rc ? PLEAT_E_NOMEM : 0;
}

void pleat_local_load_parts(const struct pleat_local_load *load, int32_t *processors)
{
    pleat_local_split_parts(load->split, load->background, processors);
}

static int read_busy(const struct pleat_local_load *load, uint64_t *busy, struct pleat_error *err)
{
    char path[320];
    snprintf(path, sizeof(path), "%s/proc/stat", load->root);
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_sys(err, errno, "cannot read %s", path);
    unsigned long long user, nice, system, idle, wait, irq, soft;
    int fields = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                        &idle, &wait, &irq, &soft);
    if (load->split)
        pleat_local_split_begin(load->split, file);
    fclose(file);
    if (fields != 7)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s is not what it should be", path);
    *busy = user + nice + system + irq + soft;
    return 0;
}

/* Reads a process's line. 0: the process is gone, or the line makes no sense. */
static int read_process(const struct pleat_local_load *load, const char *pid,
                        struct process *process)
{
    char path[600], line[1024];
    snprintf(path, sizeof(path), "%s/proc/%s/stat", load->root, pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[length] = '\0';
    /* the name is in parentheses and may contain any characters, also a ')' */
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    if (!open || !close || close < open)
        return 0;
    *close = '\0';
    unsigned long long user, system;
    long long child_user, child_system;
    process->pid = atoi(pid);
    process->cpu = -1;
    if (sscanf(
            close + 1,
            " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*s %*s %*s %*s %*s "
            "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
            &process->parent, &user, &system, &child_user, &child_system, &process->cpu) < 5)
        return 0;
    process->own = user + system;
    process->ticks = user + system + (uint64_t)child_user + (uint64_t)child_system;
    process->ours = !strcmp(open + 1, "pleat-agent") || !strcmp(open + 1, "pleat-guard") ||
                    !strcmp(open + 1, "pleatd");
    return 1;
}

static int by_pid(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int read_processes(struct pleat_local_load *load, struct pleat_error *err)
{
    char path[320];
    snprintf(path, sizeof(path), "%s/proc", load->root);
    DIR *directory = opendir(path);
    if (!directory)
        return pleat_error_sys(err, errno, "cannot read %s", path);
    load->processes.count = 0;
    int rc = 0;
    for (struct dirent *entry; !rc && (entry = readdir(directory));) {
        struct process process;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(load, entry->d_name, &process))
            rc = pleat_array_push(&load->processes, process);
    }
    closedir(directory);
    if (rc)
        return pleat_error_set(err, rc, "out of memory");
    if (load->processes.count)
        qsort(load->processes.items, load->processes.count, sizeof(struct process), by_pid);
    return 0;
}

/* Clock ticks of all of Pleat's processes and their descendants. */
static uint64_t ticks_of_ours(struct pleat_local_load *load)
{
    struct process *items = load->processes.items;
    for (int again = 1; again;) { /* one round for each level of the process tree at most */
        again = 0;
        for (size_t i = 0; i < load->processes.count; i++) {
            struct process key = {.pid = items[i].parent};
            const struct process *parent =
                items[i].ours ? NULL
                              : bsearch(&key, items, load->processes.count, sizeof(key), by_pid);
            if (parent && parent->ours)
                items[i].ours = again = 1;
        }
    }
    uint64_t ticks = 0;
    for (size_t i = 0; i < load->processes.count; i++)
        if (items[i].ours)
            ticks += items[i].ticks;
    for (size_t i = 0; load->split && i < load->processes.count; i++)
        if (items[i].ours)
            pleat_local_split_ours(load->split, items[i].pid, items[i].cpu, items[i].own);
    return ticks;
}

int pleat_local_load_sample(struct pleat_local_load *load, int64_t now_us, int32_t *background,
                            struct pleat_error *err)
{
    uint64_t busy = 0;
    int rc = read_busy(load, &busy, err);
    if (!rc)
        rc = read_processes(load, err);
    if (rc)
        return rc;
    uint64_t ours = ticks_of_ours(load);
    double elapsed_s = (double)(now_us - load->sampled_us) / 1e6;
    if (load->sampled_us >= 0 && elapsed_s > 0) {
        double all = busy > load->busy ? (double)(busy - load->busy) : 0;
        double mine = ours > load->ours ? (double)(ours - load->ours) : 0;
        double others = all > mine ? (all - mine) / (double)load->ticks_per_s / elapsed_s : 0;
        double weight = 1 - exp(-elapsed_s / 10);
        load->average += weight * (others - load->average);
        if (fabs(load->average - load->background) > 0.75)
            load->background = (int32_t)lround(load->average);
    }
    if (load->split)
        pleat_local_split_end(load->split, load->sampled_us < 0 ? -1 : now_us - load->sampled_us);
    load->busy = busy;
    load->ours = ours;
    load->sampled_us = now_us;
    *background = load->background;
    return 0;
}

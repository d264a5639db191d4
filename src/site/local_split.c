#include "site/local_split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct used {
    int pid;
    uint64_t ticks;
};

PLEAT_ARRAY(used_array, struct used);

struct pleat_local_split {
    uint32_t nodes;
    int cpu_count;   /* above the highest number of a CPU of the nodes */
    double *shares;  /* [node * cpu_count + cpu]: of that CPU's slots, how many are the node's */
    uint64_t *busy;  /* of each CPU, at the last sample */
    double *fresh;   /* of each CPU: ticks of others since then */
    double *average; /* of each node: ticks of others in a microsecond */
    double *slots;   /* of each node */
    struct used_array known, seen; /* processes of ours: of the last sample, of this one */
    size_t at;                     /* position in `known` */
};

static bool share_out(struct pleat_local_split *split, const struct pleat_cpu_list *cpus)
{
    double *all = calloc((size_t)split->cpu_count, sizeof(*all));
    size_t next = 0;
    for (size_t i = 0; all && i < cpus->count; i++)
        all[cpus->items[i]]++;
    for (uint32_t node = 0; all && node < split->nodes; node++) {
        size_t own = pleat_share_of(cpus->count, node, split->nodes);
        split->slots[node] = (double)own;
        for (size_t i = 0; i < own; i++) {
            int cpu = (int)cpus->items[next++];
            split->shares[(size_t)node * (size_t)split->cpu_count + (size_t)cpu] += 1 / all[cpu];
        }
    }
    free(all);
    return all != NULL;
}

int pleat_local_split_create(const struct pleat_cpu_list *cpus, uint32_t nodes,
                             struct pleat_local_split **out)
{
    struct pleat_local_split *split = calloc(1, sizeof(*split));
    if (!split)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < cpus->count; i++)
        if ((int)cpus->items[i] >= split->cpu_count)
            split->cpu_count = (int)cpus->items[i] + 1;
    size_t count = (size_t)split->cpu_count;
    split->nodes = nodes;
    split->shares = calloc(count * nodes + 1, sizeof(*split->shares));
    split->busy = calloc(count + 1, sizeof(*split->busy));
    split->fresh = calloc(count + 1, sizeof(*split->fresh));
    split->average = calloc(nodes, sizeof(*split->average));
    split->slots = calloc(nodes, sizeof(*split->slots));
    *out = split;
    if (split->shares && split->busy && split->fresh && split->average && split->slots &&
        share_out(split, cpus))
        return 0;
    pleat_local_split_destroy(split);
    *out = NULL;
    return PLEAT_E_NOMEM;
}

void pleat_local_split_destroy(struct pleat_local_split *split)
{
    if (!split)
        return;
    pleat_array_finish(&split->known);
    pleat_array_finish(&split->seen);
    free(split->shares);
    free(split->busy);
    free(split->fresh);
    free(split->average);
    free(split->slots);
    free(split);
}

void pleat_local_split_begin(struct pleat_local_split *split, FILE *stat)
{
    char line[512];
    struct used_array seen = split->known; /* its memory is used again */
    split->known = split->seen;
    split->seen = seen;
    split->seen.count = 0;
    split->at = 0;
    memset(split->fresh, 0, (size_t)split->cpu_count * sizeof(*split->fresh));
    while (fgets(line, sizeof(line), stat)) {
        unsigned long long user, nice, system, idle, wait, irq, soft;
        int cpu;
        if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system,
                   &idle, &wait, &irq, &soft) != 8 ||
            cpu < 0 || cpu >= split->cpu_count)
            continue;
        uint64_t busy = user + nice + system + irq + soft;
        split->fresh[cpu] = busy > split->busy[cpu] ? (double)(busy - split->busy[cpu]) : 0;
        split->busy[cpu] = busy;
    }
}

void pleat_local_split_ours(struct pleat_local_split *split, int pid, int cpu, uint64_t ticks)
{
    const struct used now = {pid, ticks};
    uint64_t before = 0;
    while (split->at < split->known.count && split->known.items[split->at].pid < pid)
        split->at++;
    if (split->at < split->known.count && split->known.items[split->at].pid == pid)
        before = split->known.items[split->at].ticks;
    (void)!pleat_array_push(&split->seen, now); /* else its time counts as others' */
    if (cpu >= 0 && cpu < split->cpu_count && ticks > before)
        split->fresh[cpu] -= (double)(ticks - before);
}

void pleat_local_split_end(struct pleat_local_split *split, int64_t elapsed_us)
{
    double weight = 1 - exp(-(double)elapsed_us / 1e7);
    for (uint32_t node = 0; elapsed_us > 0 && node < split->nodes; node++) {
        const double *shares = &split->shares[(size_t)node * (size_t)split->cpu_count];
        double others = 0;
        for (int cpu = 0; cpu < split->cpu_count; cpu++)
            others += split->fresh[cpu] > 0 ? split->fresh[cpu] * shares[cpu] : 0;
        split->average[node] += weight * (others / (double)elapsed_us - split->average[node]);
    }
}

static double total(const double *numbers, uint32_t count)
{
    double sum = 0;
    for (uint32_t n = 0; n < count; n++)
        sum += numbers[n];
    return sum;
}

/* The largest remainders get what is left over. */
void pleat_local_split_parts(const struct pleat_local_split *split, int32_t whole,
                             int32_t *processors)
{
    double sum = total(split->average, split->nodes);
    const double *by = sum > 0 ? split->average : split->slots;
    int32_t left = whole;
    if (sum <= 0)
        sum = total(split->slots, split->nodes);
    for (uint32_t n = 0; n < split->nodes; n++) {
        processors[n] = sum > 0 ? (int32_t)(whole * by[n] / sum) : 0;
        left -= processors[n];
    }
    for (; left > 0; left--) {
        uint32_t most = 0;
        double best = -1e300;
        for (uint32_t n = 0; n < split->nodes; n++) {
            double lacks = sum > 0 ? whole * by[n] / sum - processors[n] : -processors[n];
            if (lacks > best) {
                best = lacks;
                most = n;
            }
        }
        processors[most]++;
    }
}

/* Which CPUs a process of the partition may use. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fold/turn_self.h"

#define CPUS 8192 /* as many as Linux can be built for */

struct cpus {
    unsigned long bits[CPUS / (8 * sizeof(unsigned long))];
};

static void add_cpu(struct cpus *cpus, uint32_t cpu)
{
    const uint32_t width = 8 * sizeof(cpus->bits[0]);
    if (cpu < CPUS)
        cpus->bits[cpu / width] |= 1ul << cpu % width;
}

static void set_cpus(pid_t tid, const struct cpus *cpus)
{
    /* A CPU that went offline, or that is not allowed: it stays where it is. */
    (void)sched_setaffinity(tid, sizeof(cpus->bits), (const cpu_set_t *)(const void *)cpus->bits);
}

/* With a global queue, and nobody who hands processors on, the kernel chooses of the partition. */
static bool is_bound_to_one(const struct turn_self *self)
{
    return self->settings.queue != PLEAT_FOLD_QUEUE_GLOBAL || turn_hands_over(self);
}

void turn_pin(struct turn_self *self)
{
    struct cpus cpus;
    memset(&cpus, 0, sizeof(cpus));
    int32_t wanted = -1;
    if (is_bound_to_one(self)) {
        wanted = (int32_t)(atomic_load(&self->fold->processors[self->processor].cpu) & INT32_MAX);
        add_cpu(&cpus, (uint32_t)wanted);
    } else {
        for (uint32_t i = 0; i < self->processors; i++)
            add_cpu(&cpus, atomic_load(&self->fold->processors[i].cpu));
    }
    self->pinned = wanted;
    set_cpus(0, &cpus);
}

/* Its number comes from memory that the program can write: only one of the same session is
 * moved, which is what its user could do as well. */
void turn_move(const struct turn_self *self, uint32_t index, uint32_t processor)
{
    const struct pleat_fold_slot *slot = &self->fold->slots[index];
    struct cpus cpus;
    int32_t tid = atomic_load(&slot->tid);
    if (tid <= 0 || getsid(tid) != getsid(0))
        return; /* it moves itself when it is awake */
    memset(&cpus, 0, sizeof(cpus));
    add_cpu(&cpus, atomic_load(&self->fold->processors[processor].cpu));
    set_cpus(tid, &cpus);
}

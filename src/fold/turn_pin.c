/* Which CPUs a process of the partition may use. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fold/turn_self.h"

static void add_cpu(struct turn_cpus *cpus, uint32_t cpu)
{
    const uint32_t width = 8 * sizeof(cpus->bits[0]);
    if (cpu < TURN_CPUS)
        cpus->bits[cpu / width] |= 1ul << cpu % width;
}

static void set_cpus(pid_t tid, const struct turn_cpus *cpus)
{
    /* Fails for a CPU that went offline or is not allowed: the thread stays where it is. */
    (void)sched_setaffinity(tid, sizeof(cpus->bits), (const cpu_set_t *)(const void *)cpus->bits);
}

void turn_add_all(const struct turn_self *self, struct turn_cpus *cpus)
{
    for (uint32_t i = 0; i < self->processors; i++)
        add_cpu(cpus, atomic_load(&self->fold->processors[i].cpu));
}

void turn_roam(const struct turn_cpus *cpus)
{
    set_cpus(0, cpus);
}

/* With a global queue, and if processes do not hand processors on, the kernel chooses among the
 * partition. */
static bool is_bound_to_one(const struct turn_self *self)
{
    return self->settings.queue != PLEAT_FOLD_QUEUE_GLOBAL || turn_hands_over(self);
}

/* The thread that attached; other threads are not bound. -1: it does not exist. */
static pid_t own_thread(const struct turn_self *self)
{
    pid_t tid = atomic_load(&self->slot->tid);
    return tid > 0 && !syscall(SYS_tgkill, self->pid, tid, 0) ? tid : -1;
}

void turn_pin(struct turn_self *self)
{
    struct turn_cpus cpus;
    memset(&cpus, 0, sizeof(cpus));
    int32_t wanted = -1;
    if (is_bound_to_one(self)) {
        wanted = (int32_t)(pleat_fold_cpu(self->fold, self->processor) & INT32_MAX);
        add_cpu(&cpus, (uint32_t)wanted);
    } else {
        turn_add_all(self, &cpus);
    }
    self->pinned = wanted;
    set_cpus(turn_is_mine() ? 0 : own_thread(self), &cpus);
}

void turn_stay(struct turn_self *self)
{
    if (!turn_is_mine() || !self->processors || self->astray == self->generation ||
        !is_bound_to_one(self))
        return;
    int cpu = (int)pleat_fold_cpu(self->fold, self->processor);
    if (sched_getcpu() == cpu)
        return;
    turn_pin(self);
    if (sched_getcpu() != cpu)
        /* the CPU may not be allowed: not tried at every turn */
        self->astray = self->generation;
}

/* ---- another process ---- */

/* Whether the process was started with `entry` in its environment. */
static bool began_with(pid_t pid, const char *entry)
{
    char path[64], part[1024];
    size_t at = 0;    /* the characters of the entry that match */
    bool fits = true; /* whether the current variable matches so far */
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 0; fd >= 0 && !found && (got = read(fd, part, sizeof(part))) > 0;)
        for (ssize_t i = 0; i < got && !found; i++) {
            fits = fits && part[i] == entry[at];
            found = fits && !part[i];
            at = part[i] ? at + fits : 0;
            fits = fits || !part[i];
        }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Whether `tid` is of this run. The number comes from memory that the program can write, and
 * another process may have it by now. */
static bool is_sibling(const struct turn_self *self, uint32_t index, pid_t tid)
{
    char entry[256];
    if (tid > 0 && self->siblings[index] == tid)
        return true;
    const char *path = getenv(PLEAT_FOLD_ENV);
    if (tid <= 0 || !path)
        return false;
    int length = snprintf(entry, sizeof(entry), "%s=%s", PLEAT_FOLD_ENV, path);
    if (length < 0 || (size_t)length >= sizeof(entry) || !began_with(tid, entry))
        return false;
    self->siblings[index] = tid;
    return true;
}

void turn_move(const struct turn_self *self, uint32_t index, uint32_t processor)
{
    struct turn_cpus cpus;
    int32_t tid = atomic_load(&turn_slot(self, index)->tid);
    if (!is_sibling(self, index, tid))
        return; /* the process moves itself once it is awake, which takes longer */
    memset(&cpus, 0, sizeof(cpus));
    add_cpu(&cpus, pleat_fold_cpu(self->fold, processor));
    set_cpus(tid, &cpus);
}

/* Processor time that was not spent waiting for messages, for the load-balance detector (Utrera
 * 2010, 4.4.4). Reading that clock is a system call, so short waits count as useful. */
#include <time.h>

#include "fold/turn_self.h"

/* From this poll in vain on a wait is measured: by then the two readings cost little beside it. */
#define MEASURED_POLLS 8
/* How often the sum is published where waits are not measured. */
#define TELL_NS UINT64_C(1000000)

static uint64_t thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void publish(struct turn_self *self, uint64_t cpu_ns)
{
    atomic_store_explicit(&self->slot->useful_ns, cpu_ns - self->waited_ns, memory_order_relaxed);
}

void turn_useful_wait(struct turn_self *self)
{
    if (self->polls != MEASURED_POLLS || self->episode_cpu_ns)
        return;
    self->episode_cpu_ns = thread_ns();
    publish(self, self->episode_cpu_ns);
}

void turn_useful_found(struct turn_self *self)
{
    if (!self->episode_cpu_ns)
        return;
    uint64_t cpu_ns = thread_ns();
    self->waited_ns += cpu_ns - self->episode_cpu_ns;
    self->episode_cpu_ns = 0;
    publish(self, cpu_ns);
}

void turn_useful_tell(struct turn_self *self, uint64_t now_ns)
{
    if (now_ns - self->told_ns < TELL_NS || self->episode_cpu_ns)
        return;
    self->told_ns = now_ns;
    publish(self, thread_ns());
}

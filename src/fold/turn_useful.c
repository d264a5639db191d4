/* Processor time that was not spent waiting for messages, for the load-balance detector (Utrera
 * 2010, 4.4.4). Reading that clock is a system call, so short waits are not measured, and count as
 * useful.
 */
#include <time.h>

#include "base/clock.h"
#include "fold/turn_self.h"

/* A wait is measured from this poll in vain on: by then the two readings are short compared with
 * it. */
#define MEASURED_POLLS 8
/* For a process with a processor to itself: polls that follow one another faster than this are one
 * wait; a longer time in between was work. A poll takes 0.1 to 0.5 us. */
#define POLL_NS UINT64_C(2000)
/* How often the sum is published if waits are not measured. */
#define TELL_NS UINT64_C(1000000)

static uint64_t thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void publish(struct turn_self *self, uint64_t cpu_ns)
{
    uint64_t useful_ns = cpu_ns - self->waited_ns;
    /* waits are measured by two clocks: the sum must never go back */
    if (cpu_ns > self->waited_ns &&
        useful_ns > atomic_load_explicit(&self->slot->useful_ns, memory_order_relaxed))
        atomic_store_explicit(&self->slot->useful_ns, useful_ns, memory_order_relaxed);
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

void turn_useful_alone(struct turn_self *self)
{
    uint64_t now_ns = (uint64_t)pleat_clock_monotonic_ns();
    turn_useful_found(self); /* ends what was measured while it shared its processor */
    if (now_ns - self->polled_ns < POLL_NS)
        self->waited_ns += now_ns - self->polled_ns;
    self->polled_ns = now_ns;
    turn_useful_tell(self, now_ns);
}

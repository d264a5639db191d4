/* Lets the kernel give the CPU to others. Where processes hand their processor on, each wakes the
 * next one and then sleeps, so there always is one of them that can run. Linux 6.18 then gives the
 * CPU to nobody else, for seconds: not to processes of other users, nor to its own threads. Seen
 * with three or more processes of a session that pass a token by futex, on all CPUs of a machine,
 * and without this library, too; a call of sched_yield now and then does not help. When none of
 * them can run for a moment, the kernel counts what they have used, and others get their share.
 *
 * A sleep takes some 60 us, or as long as others use the CPU. So sleeps are rare where nobody does.
 */
#include <time.h>

#include "base/clock.h"
#include "fold/turn_self.h"

/* The time between two sleeps. With others on the CPU 3 ms: about as long as the kernel lets each
 * of them run. Alone it grows up to 16 ms, of which a sleep takes 0.4 %. */
#define EACH_US_MIN 3000u
#define EACH_US_MAX 16000u
/* A sleep that took longer was lengthened by others. */
#define UNDISTURBED_NS UINT64_C(200000)

void turn_let_go(const struct turn_self *self, uint64_t now_ns)
{
    static const struct timespec shortest = {.tv_nsec = 1};
    struct pleat_fold_processor *line = turn_line(self, self->processor);
    uint32_t us = atomic_load_explicit(&line->let_go_us, memory_order_relaxed);
    uint64_t last_ns = atomic_load_explicit(&line->let_go_ns, memory_order_relaxed);
    if (us < EACH_US_MIN || us > EACH_US_MAX)
        us = EACH_US_MIN;
    if (now_ns - last_ns < 1000u * (uint64_t)us ||
        !atomic_compare_exchange_strong(&line->let_go_ns, &last_ns, now_ns))
        return;
    (void)nanosleep(&shortest, NULL);
    bool alone = (uint64_t)pleat_clock_monotonic_ns() - now_ns < UNDISTURBED_NS;
    uint32_t next_us = us * 2 < EACH_US_MAX ? us * 2 : EACH_US_MAX;
    atomic_store_explicit(&line->let_go_us, alone ? next_us : EACH_US_MIN, memory_order_relaxed);
}

/* Whether the process that has the processor is at work: no process must wait for one that is dead,
 * stopped, in a debugger, or blocked in the kernel.
 */
#include <time.h>

#include "fold/turn_self.h"

/* Time between two looks at the holder. A blocked holder keeps the others waiting for two of these
 * at most. With shorter ones a holder that only waits for the kernel, while others compete, would
 * seem blocked. */
#define LOOK_NS UINT64_C(4000000)
/* The holder is at work if it used this part (one in WORK_PART) of the time between two looks; it
 * is not all of it, since others may compete for the processor. */
#define WORK_PART 16
/* Without slices: a process that does not wait for this long computes, or waits in a way that
 * cannot be seen. Others then run beside it, and the kernel shares the processor. */
#define ALONE_NS UINT64_C(100000000)

static bool holder_of(const struct turn_self *self, uint32_t *index)
{
    uint32_t holder = atomic_load(&turn_line(self, self->processor)->holder);
    *index = holder - 1;
    return holder >= 1 && holder <= self->fold->turns.slot_count;
}

bool turn_is_held(const struct turn_self *self)
{
    uint32_t holder;
    return holder_of(self, &holder) && holder != self->index &&
           pleat_fold_word_runs_on(atomic_load(&turn_slot(self, holder)->word), self->processor);
}

/* *ns: processor time of a process. False: there is no such process. */
static bool processor_time(int32_t pid, uint64_t *ns)
{
    clockid_t clock;
    struct timespec time;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}

static void begin_watch(struct pleat_fold_processor *line, uint32_t holder, uint64_t switches,
                        uint64_t cpu_ns, uint64_t now_ns)
{
    atomic_store(&line->watch_switches, switches);
    atomic_store(&line->watch_since_ns, now_ns);
    atomic_store(&line->watch_cpu_ns, cpu_ns);
    atomic_store(&line->watch_at_ns, now_ns);
    atomic_store(&line->watch_holder, holder + 1);
}

static uint64_t turn_limit_ns(const struct turn_self *self)
{
    if (self->settings.give == PLEAT_FOLD_GIVE_SLICE)
        return (uint64_t)self->settings.slice_us * 1000u;
    return ALONE_NS;
}

bool turn_may_take(struct turn_self *self, uint64_t now_ns)
{
    struct pleat_fold_processor *line = turn_line(self, self->processor);
    uint32_t holder;
    if (!turn_is_held(self) || !holder_of(self, &holder))
        return true;
    struct pleat_fold_slot *slot = turn_slot(self, holder);
    uint64_t switches = atomic_load(&slot->switches);
    bool same = atomic_load(&line->watch_holder) == holder + 1 &&
                atomic_load(&line->watch_switches) == switches;
    uint64_t at_ns = atomic_load(&line->watch_at_ns);
    uint64_t elapsed_ns = now_ns - at_ns;
    if (same && now_ns >= at_ns && elapsed_ns < LOOK_NS)
        return false; /* another process has just looked */
    uint64_t cpu_ns;
    if (!processor_time(atomic_load(&slot->pid), &cpu_ns)) {
        atomic_store(&slot->away, 1);
        return true;
    }
    if (!same) {
        begin_watch(line, holder, switches, cpu_ns, now_ns);
        return false;
    }
    uint64_t used_ns = cpu_ns - atomic_load(&line->watch_cpu_ns);
    uint64_t since_ns = atomic_load(&line->watch_since_ns);
    atomic_store(&line->watch_cpu_ns, cpu_ns);
    atomic_store(&line->watch_at_ns, now_ns);
    if (used_ns < elapsed_ns / WORK_PART) {
        atomic_store(&slot->away, 1);
        return true;
    }
    return now_ns - since_ns > turn_limit_ns(self);
}

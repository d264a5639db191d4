/* Which process runs next: one function for each heuristic of Utrera (2010, 4.3.1 c). There a
 * process is blocked if the message for which it waits is not there; here, if nothing was sent to
 * it since it last looked.
 */
#include "fold/turn_self.h"

/* A process that ran on another processor must have waited this much longer than one that ran here:
 * moving it costs some 10 us, and its data in the other processor's cache. 5 to 30 us, and 100 us,
 * were slower (Open MPI, 8 processes on 2 processors). */
#define MOVE_NS UINT64_C(50000)

/* What a heuristic sees of a waiting process. */
struct candidate {
    uint32_t index, word;
    bool ready;          /* something was sent to it since it last looked */
    uint32_t unconsumed; /* number of messages that it has not received */
    uint64_t parked_ns;  /* since when it waits */
    uint64_t look_ns;    /* when it looks even if nothing was sent */
    bool due;            /* look_ns is over */
};

/* Whether `a` goes before `b`. */
typedef bool (*heuristic_fn)(const struct turn_self *self, const struct candidate *a,
                             const struct candidate *b);

/* The process that ran least recently, whether it has anything to do or not. */
static bool round_robin(const struct turn_self *self, const struct candidate *a,
                        const struct candidate *b)
{
    (void)self;
    return a->parked_ns < b->parked_ns;
}

/* The process with the most messages that it has not received. */
static bool unconsumed(const struct turn_self *self, const struct candidate *a,
                       const struct candidate *b)
{
    if (a->ready != b->ready)
        return a->ready;
    if (a->ready && a->unconsumed != b->unconsumed)
        return a->unconsumed > b->unconsumed;
    return round_robin(self, a, b);
}

/* The process whose message this process waits for, unless that process is blocked itself. */
static bool sender(const struct turn_self *self, const struct candidate *a,
                   const struct candidate *b)
{
    int64_t wanted = atomic_load_explicit(&self->slot->waits_for, memory_order_relaxed);
    if (wanted >= 0) /* of its run */
        wanted += self->fold->turns.first;
    if (a->ready && a->index == wanted)
        return true;
    if (b->ready && b->index == wanted)
        return false;
    return unconsumed(self, a, b);
}

/* A process that ran last on this processor, unless it is blocked. */
static bool affinity(const struct turn_self *self, const struct candidate *a,
                     const struct candidate *b)
{
    bool a_here = a->ready && pleat_fold_word_processor(a->word) == self->processor;
    bool b_here = b->ready && pleat_fold_word_processor(b->word) == self->processor;
    if (a_here != b_here)
        return a_here;
    return unconsumed(self, a, b);
}

static bool is_here(const struct turn_self *self, const struct candidate *a)
{
    return pleat_fold_word_processor(a->word) == self->processor;
}

static uint64_t waits_since(const struct turn_self *self, const struct candidate *a)
{
    return a->parked_ns + (is_here(self, a) ? 0 : MOVE_NS);
}

/* Processes with news before others, first those that ran here; without news the one that has
 * waited longest, less MOVE_NS if it must be moved. */
static bool nearest(const struct turn_self *self, const struct candidate *a,
                    const struct candidate *b)
{
    if (a->ready != b->ready)
        return a->ready;
    if (!a->ready)
        return waits_since(self, a) < waits_since(self, b);
    return is_here(self, a) != is_here(self, b) ? is_here(self, a) : sender(self, a, b);
}

static heuristic_fn heuristic_of(const struct turn_self *self)
{
    switch ((enum pleat_fold_next)self->settings.next) {
    case PLEAT_FOLD_NEXT_ROUND_ROBIN:
        return round_robin;
    case PLEAT_FOLD_NEXT_UNCONSUMED:
        return unconsumed;
    case PLEAT_FOLD_NEXT_AFFINITY:
        return affinity;
    case PLEAT_FOLD_NEXT_SENDER:
        return sender;
    case PLEAT_FOLD_NEXT_AUTO:
        break;
    }
    return nearest;
}

static struct candidate look_at(const struct turn_self *self, uint32_t index)
{
    const struct pleat_fold_slot *slot = turn_slot(self, index);
    uint64_t mail = atomic_load(&slot->mail);
    uint64_t look_ns = atomic_load_explicit(&slot->look_ns, memory_order_relaxed);
    return (struct candidate){.index = index,
                              .word = atomic_load(&slot->word),
                              .ready = (uint32_t)mail != atomic_load(&slot->seen),
                              .unconsumed = (uint32_t)(mail >> 32),
                              .parked_ns = atomic_load(&slot->parked_ns),
                              .look_ns = look_ns,
                              .due = look_ns <= self->now_ns};
}

/* A process whose time to look has come goes first: otherwise two that always have something for
 * each other would keep it waiting for ever. */
static bool goes_first(const struct turn_self *self, const struct candidate *a,
                       const struct candidate *b, heuristic_fn goes_before)
{
    if (a->due != b->due)
        return a->due;
    return a->due ? a->look_ns < b->look_ns : goes_before(self, a, b);
}

bool turn_next(const struct turn_self *self, bool only_ready, struct turn_choice *choice)
{
    heuristic_fn goes_before = heuristic_of(self);
    struct candidate best;
    bool found = false;
    for (uint32_t i = 0; i < self->member_count; i++) {
        struct candidate one = look_at(self, self->members[i]);
        if (!pleat_fold_word_waits(one.word) || (only_ready && !one.ready && !one.due))
            continue;
        if (!found || goes_first(self, &one, &best, goes_before))
            best = one;
        found = true;
    }
    if (found)
        *choice = (struct turn_choice){best.index, best.word};
    return found;
}

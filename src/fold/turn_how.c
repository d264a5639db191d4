/* turn_how.c - how a process waits: the settings in force, and what `auto` stands for. */
#include "fold/turn_self.h"

_Thread_local bool turn_attached_here;
static uint8_t auto_quiet = PLEAT_FOLD_WAIT_YIELD;
static uint8_t auto_contended = PLEAT_FOLD_WAIT_IMMEDIATE;

void turn_prefer(uint8_t quiet, uint8_t contended)
{
    auto_quiet = quiet;
    auto_contended = contended;
}

enum pleat_fold_wait turn_how_on(const struct turn_self *me, uint32_t processor)
{
    if (me->settings.wait != PLEAT_FOLD_WAIT_AUTO)
        return (enum pleat_fold_wait)me->settings.wait;
    if (turn_is_pooled(me)) /* who yields leaves it to the kernel which run is next */
        return PLEAT_FOLD_WAIT_IMMEDIATE;
    /* The reasons for auto. Where others compute, a process that yields waits for them, and handing
     * on took 0.2 to 0.5 of the time (Open MPI, 8 processes on 2 processors). Where nobody else
     * computes, a switch by the kernel takes 1.3 us and one by a futex 2.3 to 4.6 us; yielding took
     * 0.65 to 0.9 of the time. With a global queue processes must be moved, which yielding does not
     * do. */
    bool quiet =
        !atomic_load_explicit(&me->fold->processors[processor].contended, memory_order_relaxed) &&
        (me->processors == 1 || me->settings.queue != PLEAT_FOLD_QUEUE_GLOBAL);
    return (enum pleat_fold_wait)(quiet ? auto_quiet : auto_contended);
}

enum pleat_fold_wait turn_how(const struct turn_self *me)
{
    return turn_how_on(me, me->processor);
}

bool turn_hands_over(const struct turn_self *me)
{
    enum pleat_fold_wait how = turn_how(me);
    return how == PLEAT_FOLD_WAIT_IMMEDIATE || how == PLEAT_FOLD_WAIT_SPIN;
}

bool turn_is_alone(const struct turn_self *me)
{
    uint32_t at = turn_is_pooled(me) ? me->at : me->processor;
    if (at >= me->processors || (me->doubled && !turn_is_pooled(me)) ||
        atomic_load_explicit(&me->fold->processors[at].contended, memory_order_relaxed))
        return false;
    return turn_queue_is_global(me) ? me->processors >= me->fold->processes : me->member_count == 0;
}

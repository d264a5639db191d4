/* turn_partition.c - what the agent changed: settings, processors, the queue of the process. */
#include "fold/turn_self.h"

/* Whether nobody needs to know for whom there are messages: neither the agent, nor processes that
 * hand their processor on (if one does, all must tell). Telling of each message took 5 % of the
 * time of the 8 processes of `halo` on 1 processor. */
static bool is_untold(const struct turn_self *me)
{
    if (atomic_load_explicit(&me->fold->segment->counts, memory_order_relaxed))
        return false;
    if (turn_is_pooled(me))
        return false;
    for (uint32_t i = 0; i < me->processors; i++) {
        enum pleat_fold_wait how = turn_how_on(me, i);
        if (how != PLEAT_FOLD_WAIT_YIELD && how != PLEAT_FOLD_WAIT_NATIVE)
            return false;
    }
    return true;
}

static void find_members(struct turn_self *me)
{
    uint32_t used = pleat_fold_turns_used(me->fold);
    me->member_count = 0;
    for (uint32_t i = 0; i < used; i++)
        if (i != me->index &&
            (turn_queue_is_global(me) || atomic_load(&turn_slot(me, i)->queue) == me->processor))
            me->members[me->member_count++] = (uint16_t)i;
}

/* Changes the processor in the process's word, which tells others where it is. */
static void move_to(struct turn_self *me, uint32_t processor)
{
    uint32_t word = atomic_load(&me->slot->word), wanted;
    me->processor = processor;
    if (turn_is_pooled(me))
        me->at = pleat_fold_processor_of(me->fold, processor);
    do /* repeated only if another process changes the word */
        wanted = pleat_fold_word((enum pleat_fold_state)pleat_fold_word_state(word), processor);
    while (!atomic_compare_exchange_weak(&me->slot->word, &word, wanted));
}

static uint32_t queue_of(const struct turn_self *me)
{
    uint32_t queue = atomic_load(&me->slot->queue);
    return queue < turn_line_count(me) ? queue : pleat_fold_line(me->fold, 0);
}

void turn_refresh(struct turn_self *me)
{
    uint32_t generation = atomic_load(&me->fold->segment->generation);
    uint32_t pool = turn_is_pooled(me) ? atomic_load(&me->fold->pool->segment->generation) : 0;
    if (generation == me->generation && pool == me->pool_generation)
        return;
    me->generation = generation;
    me->pool_generation = pool;
    me->settings = pleat_fold_settings_of(me->fold);
    if (turn_is_pooled(me)) /* processes of other runs are not moved */
        me->settings.queue = PLEAT_FOLD_QUEUE_LOCAL;
    me->global = turn_queue_is_global(me);
    me->processors = pleat_fold_processor_count(me->fold);
    me->doubled = atomic_load(&me->fold->segment->doubled);
    if (!me->processors)
        return;
    bool was_untold = me->untold != 0;
    me->untold = is_untold(me) ? generation : 0;
    /* messages received from now on may not have been counted when they were sent */
    if (was_untold && !me->untold)
        atomic_fetch_and(&me->slot->mail, UINT32_MAX);
    if (!turn_queue_is_global(me) || me->processor >= me->processors)
        move_to(me, queue_of(me));
    find_members(me);
    me->yields =
        me->untold && !turn_is_alone(me) && turn_how(me) == PLEAT_FOLD_WAIT_YIELD ? generation : 0;
    turn_pin(me);
}

void turn_settle(struct turn_self *me)
{
    uint32_t at = pleat_fold_word_processor(atomic_load(&me->slot->word));
    if (at != me->processor) {
        if (turn_queue_is_global(me) && at < me->processors)
            me->processor = at;
        else /* the other process did not know the new partition yet */
            move_to(me, queue_of(me));
    }
    turn_stay(me);
}

/* fold-turns.c - who has a processor: what managers and processes do to words and holders. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/fold-layout.h"

bool pleat_fold_grant(const struct pleat_fold_turns *turns, uint32_t index, uint32_t word,
                      uint32_t line)
{
    _Atomic uint32_t *at = &turns->slots[index].word;
    return atomic_compare_exchange_strong(at, &word, pleat_fold_word(PLEAT_FOLD_RUNNING, line));
}

void pleat_fold_wake(const struct pleat_fold_turns *turns, uint32_t index)
{
    syscall(SYS_futex, &turns->slots[index].word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pleat_fold_own_turns(struct pleat_fold *fold)
{
    fold->pool = NULL;
    fold->slots = (struct pleat_fold_slot *)(void *)(fold->processors + fold->cpus_max);
    fold->turns = (struct pleat_fold_turns){.lines = fold->processors,
                                            .slots = fold->slots,
                                            .any_idle = &fold->segment->any_idle,
                                            .line_count = fold->cpus_max,
                                            .slot_count = fold->processes};
}

uint32_t pleat_fold_processor_of(const struct pleat_fold *fold, uint32_t line)
{
    uint32_t count = pleat_fold_processor_count(fold), index = 0;
    if (!fold->pool)
        return line < count ? line : count;
    while (index < count && atomic_load(&fold->processors[index].cpu) != line)
        index++;
    return index;
}

uint32_t pleat_fold_turns_used(const struct pleat_fold *fold)
{
    uint32_t used = fold->pool ? atomic_load(&fold->pool->segment->used) : fold->processes;
    return used < fold->turns.slot_count ? used : fold->turns.slot_count;
}

/* How good it is that this process has the processor: one that runs anyway, best the holder; else
 * one with new messages, else any that waits. 0: it cannot have it. */
static uint32_t rate(const struct pleat_fold_turns *turns, uint32_t index, uint32_t line)
{
    const struct pleat_fold_slot *slot = &turns->slots[index];
    uint32_t word = atomic_load(&slot->word);
    if (atomic_load(&slot->queue) != line)
        return 0;
    if (pleat_fold_word_state(word) == PLEAT_FOLD_RUNNING && !atomic_load(&slot->away))
        return atomic_load(&turns->lines[line].holder) == index + 1 ? 4 : 3;
    if (!pleat_fold_word_waits(word))
        return 0;
    return (uint32_t)atomic_load(&slot->mail) != atomic_load(&slot->seen) ? 2 : 1;
}

void pleat_fold_start(const struct pleat_fold *fold, uint32_t line)
{
    const struct pleat_fold_turns *turns = &fold->turns;
    struct pleat_fold_processor *at = &turns->lines[line];
    uint32_t best = UINT32_MAX, best_rating = 0, used = pleat_fold_turns_used(fold);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t rating = rate(turns, i, line);
        if (rating > best_rating) {
            best = i;
            best_rating = rating;
        }
    }
    atomic_store(&at->vain, 0);
    atomic_store(&at->idle, 0);
    atomic_store(&at->holder, best == UINT32_MAX ? 0 : best + 1);
    if (best == UINT32_MAX)
        return;
    uint32_t word = atomic_load(&turns->slots[best].word);
    if (pleat_fold_word_waits(word) && pleat_fold_grant(turns, best, word, line))
        pleat_fold_wake(turns, best);
}

/* mailbox-nodes.c - the mailbox of one node of several: the agents' part of the agreement. */
#include "shm/mailbox-word.h"

void pleat_mailbox_place(struct pleat_mailbox *mailbox, uint32_t node, uint32_t nodes)
{
    mailbox->node = node;
    mailbox->nodes = nodes;
    atomic_store(&mailbox->segment->node, node);
    atomic_store(&mailbox->segment->nodes, nodes);
}

void pleat_mailbox_node(const struct pleat_mailbox *mailbox, uint32_t *node, uint32_t *nodes)
{
    *node = mailbox->node;
    *nodes = mailbox->nodes;
}

bool pleat_mailbox_held(const struct pleat_mailbox *mailbox, uint64_t *k)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    *k = pleat_word_iteration(word);
    return pleat_word_state(word) == PLEAT_WORD_HELD;
}

int pleat_mailbox_settle(struct pleat_mailbox *mailbox, uint64_t k)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    if (pleat_word_state(word) != PLEAT_WORD_HELD)
        return PLEAT_E_STATE;
    if (k < pleat_word_iteration(word) || k > PLEAT_WORD_ITERATION_MAX)
        return PLEAT_E_INVALID;
    uint64_t next = pleat_word_make(pleat_word_sequence(word), k, PLEAT_WORD_COMMITTED);
    if (!atomic_compare_exchange_strong(&mailbox->segment->word, &word, next))
        return PLEAT_E_STATE; /* the application has overwritten the word */
    mailbox->was_settled = true;
    pleat_word_wake_settled(mailbox);
    return 0;
}

int pleat_mailbox_hold_again(struct pleat_mailbox *mailbox)
{
    uint64_t word = atomic_load(&mailbox->segment->word);
    while (mailbox->nodes > 1 && (pleat_word_state(word) == PLEAT_WORD_COMMITTED ||
                                  pleat_word_state(word) == PLEAT_WORD_ANNOUNCED))
        if (atomic_compare_exchange_strong(&mailbox->segment->word, &word,
                                           pleat_word_become(word, PLEAT_WORD_HELD)))
            return 0;
    return PLEAT_E_STATE;
}

void pleat_word_wake_settled(struct pleat_mailbox *mailbox)
{
    atomic_fetch_add(&mailbox->segment->settled, 1);
    pleat_word_wake(&mailbox->segment->settled);
}

/* The word decides. The futex is read before it, so that no wake-up is missed. */
uint64_t pleat_word_await_settled(struct pleat_mailbox *mailbox)
{
    struct pleat_mailbox_segment *segment = mailbox->segment;
    for (;;) {
        uint32_t settled = atomic_load(&segment->settled);
        uint64_t word = atomic_load(&segment->word);
        if (pleat_word_state(word) != PLEAT_WORD_HELD)
            return word;
        pleat_word_sleep(&segment->settled, settled);
    }
}

/* mailbox-word.h - the word on which ranks and agent agree, for mailbox.c and mailbox-rank.c
 * (mailbox-rank.h has its layout).
 */
#ifndef PLEAT_SHM_MAILBOX_WORD_H
#define PLEAT_SHM_MAILBOX_WORD_H

#include "base/clock.h"
#include "shm/mailbox-rank.h"

#define PLEAT_WORD_STATE_BITS 4
#define PLEAT_WORD_SEQUENCE_BITS 16
#define PLEAT_WORD_ITERATION_SHIFT (PLEAT_WORD_STATE_BITS + PLEAT_WORD_SEQUENCE_BITS)
#define PLEAT_WORD_SEQUENCE_MASK ((UINT64_C(1) << PLEAT_WORD_SEQUENCE_BITS) - 1)

/* No rank gets this far (at a million iterations a second it would take half a year). A larger
 * value is damage, and must not make a later K wrap around to an earlier one. */
#define PLEAT_WORD_ITERATION_MAX ((UINT64_C(1) << (64 - PLEAT_WORD_ITERATION_SHIFT)) - 256)

struct pleat_mailbox {
    struct pleat_mailbox_segment *segment;
    size_t bytes;
    uint32_t max_ranks;   /* not read again from the segment, where a process could change it; */
    uint32_t node, nodes; /* nor are these */
    bool was_settled;     /* the agent's: the held word was settled before */
};

static inline uint64_t pleat_word_make(uint64_t sequence, uint64_t iteration,
                                       enum pleat_word_state state)
{
    return iteration << PLEAT_WORD_ITERATION_SHIFT |
           (sequence & PLEAT_WORD_SEQUENCE_MASK) << PLEAT_WORD_STATE_BITS | (uint64_t)state;
}

static inline enum pleat_word_state pleat_word_state(uint64_t word)
{
    uint64_t state = word & ((1u << PLEAT_WORD_STATE_BITS) - 1);
    /* Pleat writes no other values. */
    return state <= PLEAT_WORD_PUT_OFF ||
                   (state >= PLEAT_WORD_ANNOUNCED && state <= PLEAT_WORD_HELD)
               ? (enum pleat_word_state)state
               : PLEAT_WORD_IDLE;
}

static inline uint64_t pleat_word_sequence(uint64_t word)
{
    return word >> PLEAT_WORD_STATE_BITS & PLEAT_WORD_SEQUENCE_MASK;
}

static inline uint64_t pleat_word_iteration(uint64_t word)
{
    return word >> PLEAT_WORD_ITERATION_SHIFT;
}

/* The same sequence and K with another state. */
static inline uint64_t pleat_word_become(uint64_t word, enum pleat_word_state state)
{
    return pleat_word_make(pleat_word_sequence(word), pleat_word_iteration(word), state);
}

static inline uint64_t pleat_word_now_ns(void)
{
    return (uint64_t)pleat_clock_monotonic_ns();
}

static inline uint32_t pleat_mailbox_size(const struct pleat_mailbox *mailbox)
{
    uint32_t size = atomic_load(&mailbox->segment->size);
    return size <= mailbox->max_ranks ? size : mailbox->max_ranks;
}

/* The number of adaptation points by which ranks know of a resize ahead: 0 or 1. */
static inline uint64_t pleat_mailbox_ahead(const struct pleat_mailbox *mailbox)
{
    return atomic_load(&mailbox->segment->announces) != 0;
}

/* Whether a rank is on this mailbox's node, as far as is known. */
static inline bool pleat_mailbox_is_here(const struct pleat_mailbox *mailbox, uint32_t rank)
{
    return mailbox->nodes == 1 || atomic_load(&mailbox->segment->slots[rank].pid) != 0;
}

/* The iteration of the slowest rank on this node; UINT64_MAX: no rank is there. */
static inline uint64_t pleat_mailbox_slowest(const struct pleat_mailbox *mailbox)
{
    uint64_t least = UINT64_MAX;
    uint32_t size = pleat_mailbox_size(mailbox);
    for (uint32_t rank = 0; rank < size; rank++) {
        if (!pleat_mailbox_is_here(mailbox, rank))
            continue;
        uint64_t iteration = atomic_load(&mailbox->segment->slots[rank].iteration);
        if (iteration < least)
            least = iteration;
    }
    return least;
}

static inline uint64_t pleat_mailbox_fastest(const struct pleat_mailbox *mailbox)
{
    uint64_t most = 0;
    uint32_t size = pleat_mailbox_size(mailbox);
    for (uint32_t rank = 0; rank < size; rank++) {
        uint64_t iteration = atomic_load(&mailbox->segment->slots[rank].iteration);
        if (iteration > most)
            most = iteration;
    }
    return most < PLEAT_WORD_ITERATION_MAX ? most : PLEAT_WORD_ITERATION_MAX;
}

/* The number of ranks in a section in which nothing may change. *longest_ns, which may be NULL: how
 * long the longest of these has lasted. */
static inline uint32_t pleat_mailbox_sections(const struct pleat_mailbox *mailbox,
                                              uint64_t *longest_ns)
{
    uint32_t count = 0;
    uint32_t size = pleat_mailbox_size(mailbox);
    uint64_t now_ns = longest_ns ? pleat_word_now_ns() : 0, first_ns = now_ns;
    for (uint32_t rank = 0; rank < size; rank++) {
        const struct pleat_mailbox_slot *slot = &mailbox->segment->slots[rank];
        if (atomic_load(&slot->not_now) != 1)
            continue;
        uint64_t since_ns = atomic_load(&slot->section_ns);
        first_ns = since_ns < first_ns ? since_ns : first_ns;
        count++;
    }
    if (longest_ns)
        *longest_ns = now_ns - first_ns;
    return count;
}

/* How often rank 0 has passed its named adaptation points. */
uint64_t pleat_mailbox_passages(const struct pleat_mailbox *mailbox);

/* Moves a resize that was agreed on, or is under way, to a later K: either no rank is inside, or
 * all ranks are. Returns whether the word was still what was judged. */
bool pleat_word_put_off(struct pleat_mailbox *mailbox, uint64_t word);

/* Advances a proposal: commits it (on several nodes: holds it) if no rank has reached its K and
 * none is in a section in which nothing may change, else proposes a later K where it has to. The
 * word must be a proposal, so that iterations are read after it was visible. Returns the word as
 * last seen; it may still be a proposal, which the ranks then advance. */
uint64_t pleat_word_help(struct pleat_mailbox *mailbox, uint64_t word);

/* Sleeps as long as the word on which the ranks of this node agreed is held. Returns the word. */
uint64_t pleat_word_await_settled(struct pleat_mailbox *mailbox);
/* The agent, when the word is not held any more. */
void pleat_word_wake_settled(struct pleat_mailbox *mailbox);

/* ---- mailbox-sleep.c ---- */

/* Sleeps while *word has that value, and returns now and then without reason, after a second at the
 * latest: if the application has overwritten the word, a lost wake-up only causes a delay. */
void pleat_word_sleep(_Atomic uint32_t *word, uint32_t value);
/* The same, for that many nanoseconds at most. */
void pleat_word_sleep_for(_Atomic uint32_t *word, uint32_t value, int64_t most_ns);
/* Wakes all processes that sleep there. */
void pleat_word_wake(_Atomic uint32_t *word);

#endif

/* mailbox-meet.c - the ranks meet, asleep while they wait. */
#include <string.h>

#include "shm/mailbox-word.h"

#define WORDS (PLEAT_MAILBOX_TOLD / 8)

static void write_words(_Atomic uint64_t *to, const void *data, size_t bytes)
{
    uint64_t copy[WORDS] = {0};
    memcpy(copy, data, bytes);
    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        atomic_store_explicit(&to[i], copy[i], memory_order_relaxed);
}

static void read_words(_Atomic uint64_t *from, void *data, size_t bytes)
{
    uint64_t copy[WORDS];
    for (size_t i = 0; i < (bytes + 7) / 8; i++)
        copy[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
    memcpy(data, copy, bytes);
}

void pleat_mailbox_forget_meetings(struct pleat_mailbox *mailbox)
{
    struct pleat_mailbox_segment *segment = mailbox->segment;
    atomic_store(&segment->met, 0);
    atomic_store(&segment->worst, 0);
    atomic_store(&segment->unread, 0);
}

/* The outcome of a meeting stays until all ranks that came have read it. After a shrink some of
 * them are not needed at the next meeting, and may be slow. */
int pleat_mailbox_meet(struct pleat_mailbox_rank *self, uint32_t ranks, int code, void *data,
                       size_t bytes)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    for (uint32_t unread; (unread = atomic_load(&segment->unread)) != 0;)
        pleat_word_sleep(&segment->unread, unread);
    const uint32_t meeting = atomic_load(&segment->meeting);
    if (self->rank == 0 && bytes)
        write_words(segment->told, data, bytes);
    int32_t worst = atomic_load(&segment->worst);
    while (code < worst && !atomic_compare_exchange_weak(&segment->worst, &worst, code)) {
    }
    if (atomic_fetch_add(&segment->met, 1) + 1 >= ranks) {
        atomic_store(&segment->outcome, atomic_exchange(&segment->worst, 0));
        atomic_store(&segment->met, 0);
        atomic_store(&segment->unread, ranks);
        atomic_store(&segment->meeting, meeting + 1);
        pleat_word_wake(&segment->meeting);
    } else {
        do
            pleat_word_sleep(&segment->meeting, meeting);
        while (atomic_load(&segment->meeting) == meeting);
    }
    if (self->rank != 0 && bytes)
        read_words(segment->told, data, bytes);
    int outcome = atomic_load(&segment->outcome);
    if (atomic_fetch_sub(&segment->unread, 1) == 1)
        pleat_word_wake(&segment->unread);
    return outcome;
}

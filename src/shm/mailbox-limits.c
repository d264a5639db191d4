/* mailbox-limits.c - the numbers of ranks that the application can use, as it says itself. */
#include <string.h>

#include "shm/mailbox-word.h"

#define WORDS (PLEAT_MAILBOX_SIZES / 8)
#define LOOKS 8

void pleat_mailbox_limit(struct pleat_mailbox_rank *self, uint32_t most)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    if (atomic_exchange(&segment->limit, most) == most)
        return;
    atomic_fetch_add(&segment->limits, 2);
    pleat_mailbox_ring(self);
}

void pleat_mailbox_limits(struct pleat_mailbox_rank *self, uint32_t least, uint32_t most,
                          const char *sizes)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    uint64_t copy[WORDS] = {0};
    size_t length = strlen(sizes);
    memcpy(copy, sizes, length < sizeof(copy) ? length : sizeof(copy) - 1);
    atomic_fetch_add(&segment->limits,
                     1); /* odd: what follows is half of one and half of another */
    bool news = atomic_exchange(&segment->least, least) != least;
    news |= atomic_exchange(&segment->limit, most) != most;
    for (size_t i = 0; i < WORDS; i++)
        news |= atomic_exchange(&segment->sizes[i], copy[i]) != copy[i];
    atomic_fetch_add(&segment->limits, 1);
    if (news)
        pleat_mailbox_ring(self);
}

void pleat_mailbox_fit(struct pleat_mailbox_rank *self, uint32_t size, uint32_t surplus)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    atomic_store(&segment->surplus, surplus);
    atomic_store(&segment->size, size);
}

uint32_t pleat_mailbox_room(const struct pleat_mailbox *mailbox)
{
    return mailbox->max_ranks;
}

int pleat_mailbox_get_limits(const struct pleat_mailbox *mailbox,
                             struct pleat_mailbox_limits *limits)
{
    const struct pleat_mailbox_segment *segment = mailbox->segment;
    uint64_t copy[WORDS];
    for (int look = 0; look < LOOKS; look++) {
        uint32_t before = atomic_load(&segment->limits);
        limits->least = atomic_load(&segment->least);
        limits->most = atomic_load(&segment->limit);
        for (size_t i = 0; i < WORDS; i++)
            copy[i] = atomic_load(&segment->sizes[i]);
        if (before % 2 == 0 && atomic_load(&segment->limits) == before) {
            memcpy(limits->sizes, copy, sizeof(copy));
            limits->sizes[sizeof(copy) - 1] = '\0';
            return 0;
        }
    }
    return PLEAT_E_BUSY;
}

/* mailbox-meet.c - the ranks meet, asleep while they wait. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* Sleeps while *word has that value. A wake-up that is lost, since the application wrote there,
 * only delays. */
static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec longest = {.tv_sec = 1};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &longest, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void pleat_mailbox_forget_meetings(struct pleat_mailbox *mailbox)
{
    struct pleat_mailbox_segment *segment = mailbox->segment;
    atomic_store(&segment->met, 0);
    atomic_store(&segment->worst, 0);
    atomic_store(&segment->unread, 0);
}

/* What comes of a meeting stays until all who came have read it: some may not be needed at the next
 * one, after a shrink, and be slow. */
int pleat_mailbox_meet(struct pleat_mailbox_rank *self, uint32_t ranks, int code, void *data,
                       size_t bytes)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    for (uint32_t unread; (unread = atomic_load(&segment->unread)) != 0;)
        sleep_on(&segment->unread, unread);
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
        wake(&segment->meeting);
    } else {
        do
            sleep_on(&segment->meeting, meeting);
        while (atomic_load(&segment->meeting) == meeting);
    }
    if (self->rank != 0 && bytes)
        read_words(segment->told, data, bytes);
    int outcome = atomic_load(&segment->outcome);
    if (atomic_fetch_sub(&segment->unread, 1) == 1)
        wake(&segment->unread);
    return outcome;
}

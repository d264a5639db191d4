/* mailbox-meet.c - the ranks meet, asleep while they wait. */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm/mailbox-word.h"

#define WORDS (PLEAT_MAILBOX_TOLD / 8)

/* Rank 0's words have a place for odd meetings and one for even ones: it may write those of the
 * next meeting while a slow rank still reads those of this one. It does not get farther ahead,
 * since that rank has to come to the next meeting, too. */
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
}

int pleat_mailbox_meet(struct pleat_mailbox_rank *self, uint32_t ranks, int code, void *data,
                       size_t bytes)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    /* a wake-up that is lost, since the application wrote there, only delays */
    const struct timespec longest = {.tv_sec = 1};
    const uint32_t meeting = atomic_load(&segment->meeting);
    _Atomic uint64_t *told = segment->told[meeting & 1];
    if (self->rank == 0 && bytes)
        write_words(told, data, bytes);
    int32_t worst = atomic_load(&segment->worst);
    while (code < worst && !atomic_compare_exchange_weak(&segment->worst, &worst, code)) {
    }
    if (atomic_fetch_add(&segment->met, 1) + 1 >= ranks) {
        atomic_store(&segment->outcome, atomic_exchange(&segment->worst, 0));
        atomic_store(&segment->met, 0);
        atomic_store(&segment->meeting, meeting + 1);
        (void)syscall(SYS_futex, &segment->meeting, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    } else {
        do
            (void)syscall(SYS_futex, &segment->meeting, FUTEX_WAIT, meeting, &longest, NULL, 0);
        while (atomic_load(&segment->meeting) == meeting);
    }
    if (self->rank != 0 && bytes)
        read_words(told, data, bytes);
    return atomic_load(&segment->outcome);
}

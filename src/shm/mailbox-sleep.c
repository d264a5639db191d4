/* mailbox-sleep.c - waits for a word of the mailbox to change, asleep. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shm/mailbox-word.h"

void pleat_word_sleep_for(_Atomic uint32_t *word, uint32_t value, int64_t most_ns)
{
    const int64_t second = 1000000000;
    const struct timespec longest = {.tv_sec = most_ns < second ? 0 : 1,
                                     .tv_nsec = most_ns < second ? most_ns : 0};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &longest, NULL, 0);
}

void pleat_word_sleep(_Atomic uint32_t *word, uint32_t value)
{
    pleat_word_sleep_for(word, value, INT64_MAX);
}

void pleat_word_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

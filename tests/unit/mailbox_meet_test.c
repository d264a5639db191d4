/* Ranks meet in the mailbox: all get what rank 0 tells and the smallest code, however fast each is;
 * and what a program left that ended in the middle of a meeting does not reach the next program. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "shm/mailbox-word.h"

#define RANKS 6
#define MEETINGS 3000

static struct pleat_mailbox *mailbox;
static atomic_int errors;

static struct pleat_mailbox *make(void)
{
    struct pleat_mailbox *made = NULL;
    int fd = -1;
    assert_int_equal(pleat_mailbox_create(RANKS, &made, &fd, NULL), 0);
    close(fd);
    return made;
}

/* The code of a rank at a meeting: mostly 0, and every seventh time one of them has an error. */
static int code_of(uint32_t rank, unsigned meeting)
{
    return meeting % 7 == 0 && meeting / 7 % RANKS == rank ? -1 - (int)rank : 0;
}

static int worst_of(uint32_t ranks, unsigned meeting)
{
    int worst = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        worst = code_of(rank, meeting) < worst ? code_of(rank, meeting) : worst;
    return worst;
}

static size_t bytes_of(unsigned meeting)
{
    return meeting % 3 ? meeting * 13 % PLEAT_MAILBOX_TOLD : PLEAT_MAILBOX_TOLD;
}

/* Later meetings are of fewer ranks, as after a shrink. */
static uint32_t ranks_of(unsigned meeting)
{
    return RANKS - meeting * (RANKS - 1) / MEETINGS;
}

static void *rank_main(void *arg)
{
    struct pleat_mailbox_rank self;
    struct pleat_random random;
    const uint32_t rank = *(const uint32_t *)arg;
    unsigned char data[PLEAT_MAILBOX_TOLD];
    unsigned char wanted[PLEAT_MAILBOX_TOLD];
    pleat_random_init(&random, 500 + rank);
    if (pleat_mailbox_attach(mailbox, rank, 0, -1, &self))
        atomic_fetch_add(&errors, 1);
    for (unsigned meeting = 0; meeting < MEETINGS && rank < ranks_of(meeting); meeting++) {
        size_t bytes = bytes_of(meeting);
        memset(wanted, (int)(meeting % 251), bytes);
        memset(data, rank == 0 ? (int)(meeting % 251) : 0xff, sizeof(data));
        if (pleat_random_below(&random, 3) == 0)
            sched_yield();
        int outcome =
            pleat_mailbox_meet(&self, ranks_of(meeting), code_of(rank, meeting), data, bytes);
        if (outcome != worst_of(ranks_of(meeting), meeting) || memcmp(data, wanted, bytes) != 0)
            atomic_fetch_add(&errors, 1);
    }
    return NULL;
}

static void test_all_get_the_same(void **state)
{
    (void)state;
    pthread_t threads[RANKS];
    uint32_t ranks[RANKS];
    mailbox = make();
    atomic_store(&errors, 0);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        ranks[rank] = rank;
        assert_int_equal(pthread_create(&threads[rank], NULL, rank_main, &ranks[rank]), 0);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++)
        assert_int_equal(pthread_join(threads[rank], NULL), 0);
    assert_int_equal(atomic_load(&errors), 0);
    pleat_mailbox_close(mailbox);
}

static void test_a_program_that_ended_in_a_meeting(void **state)
{
    (void)state;
    struct pleat_mailbox_rank self;
    mailbox = make();
    assert_int_equal(pleat_mailbox_attach(mailbox, 0, 0, -1, &self), 0);
    /* shared with a child: the segment is a memfd's */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pleat_mailbox_rank other;
        if (pleat_mailbox_attach(mailbox, 1, 0, -1, &other) == 0)
            (void)pleat_mailbox_meet(&other, 2, PLEAT_E_NOMEM, NULL, 0);
        _exit(1); /* it never gets here */
    }
    while (atomic_load(&mailbox->segment->met) == 0)
        sched_yield();
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(pleat_mailbox_set_size(&self, 1), 0);
    assert_int_equal(pleat_mailbox_meet(&self, 1, 0, NULL, 0), 0);
    assert_int_equal(pleat_mailbox_meet(&self, 1, PLEAT_E_BUSY, NULL, 0), PLEAT_E_BUSY);
    assert_int_equal(pleat_mailbox_meet(&self, 1, 0, NULL, 0), 0);
    pleat_mailbox_close(mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_get_the_same),
        cmocka_unit_test(test_a_program_that_ended_in_a_meeting),
    };
    return cmocka_run_group_tests_name("mailbox-meet", tests, NULL, NULL);
}

/* Two runs that share processors in time: a process hands its processor to one of either run, and
 * what happens to one run does not stop the other. */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "fold/turn.h"
#include "fold/turn_self.h"
#include "fold_children.h"

#define RUNS 2
#define TOO_LONG_S 60 /* far longer than a processor takes to come round */
#define ROUNDS 300    /* where something happens to a run meanwhile */

/* As table 4.4 (Utrera 2010) has them. */
static const char *const settings[] = {"share=time,wait=immediate,next=round-robin",
                                       "share=time,wait=immediate,next=unconsumed",
                                       "share=time,wait=immediate,next=sender",
                                       "share=time,wait=spin,next=round-robin",
                                       "share=time,wait=spin,next=unconsumed",
                                       ("share=time,wait=spin,spin=1ms,give=slice,"
                                        "slice=1ms,next=unconsumed"),
                                       "share=time"};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static struct pleat_fold_pool *pool;
static int pool_fd;
static struct children runs[RUNS];

static int begin(void **state)
{
    (void)state;
    return pleat_fold_pool_create(&pool, &pool_fd, NULL);
}

static int end(void **state)
{
    (void)state;
    pleat_fold_pool_close(pool);
    close(pool_fd);
    return 0;
}

static void prepare(struct children *run, uint32_t count, uint32_t processors, const char *text)
{
    children_prepare_pooled(run, count, processors, text, pool, pool_fd);
}

/* ---- places ---- */

static void new_run(struct pleat_fold **fold, int *fd, uint32_t processes)
{
    assert_int_equal(pleat_fold_create(processes, 2, fold, fd, NULL), 0);
}

static void end_run(struct pleat_fold *fold, int fd)
{
    pleat_fold_pool_leave(fold);
    pleat_fold_close(fold);
    close(fd);
}

static void places_are_given_and_given_back(void **state)
{
    (void)state;
    struct pleat_fold *some[4];
    struct pleat_error err;
    int fds[4];
    for (int i = 0; i < 4; i++)
        new_run(&some[i], &fds[i], i == 3 ? PLEAT_FOLD_POOL_SLOTS - 20 : 10);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pleat_fold_pool_join(some[i], pool, pool_fd, &err), 0);
    assert_int_equal(pleat_fold_pool_runs(pool), 3);
    assert_int_equal(some[1]->turns.first, 10);
    assert_int_equal(pleat_fold_pool_join(some[3], pool, pool_fd, &err), PLEAT_E_TOOBIG);
    assert_non_null(strstr(err.text, "share=time"));
    assert_int_equal(pleat_fold_pool_runs(pool), 3);
    end_run(some[1], fds[1]); /* its places are between those of others */
    assert_int_equal(pleat_fold_pool_join(some[3], pool, pool_fd, &err), PLEAT_E_TOOBIG);
    end_run(some[2], fds[2]);
    assert_int_equal(pleat_fold_pool_join(some[3], pool, pool_fd, &err), 0);
    assert_int_equal(some[3]->turns.first, 10);
    end_run(some[3], fds[3]);
    end_run(some[0], fds[0]);
    assert_int_equal(pleat_fold_pool_runs(pool), 0);
}

static void only_its_owner_can_open_it(void **state)
{
    (void)state;
    struct stat about;
    assert_int_equal(fstat(pool_fd, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(about.st_uid, geteuid());
    assert_true(fcntl(pool_fd, F_GETFD) & FD_CLOEXEC);
}

static void what_cannot_be_a_partition(void **state)
{
    (void)state;
    const uint32_t cpus[] = {0, 8192}, where[] = {0, 0};
    struct pleat_fold *fold;
    int fd;
    new_run(&fold, &fd, 2);
    assert_int_equal(pleat_fold_pool_join(fold, pool, pool_fd, NULL), 0);
    assert_int_equal(pleat_fold_partition(fold, cpus, 2, where), PLEAT_E_INVALID);
    assert_int_equal(pleat_fold_partition(fold, cpus, 1, where), 0);
    end_run(fold, fd);
}

/* In a child, since a process attaches for itself. */
static void in_a_child(int (*what)(void))
{
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(what());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int attach_nowhere(void)
{
    return turn_attach(0, 0) ? 1 : 0;
}

static void without_its_pool_a_process_is_not_folded(void **state)
{
    (void)state;
    prepare(&runs[0], 2, 1, settings[0]);
    runs[0].fold->segment->pool_fd = (uint32_t)runs[0].fd + 1; /* no pool */
    in_a_child(attach_nowhere);
    runs[0].fold->segment->pool_fd = (uint32_t)pool_fd + 1;
    runs[0].fold->segment->pool_first = PLEAT_FOLD_POOL_SLOTS - 1;
    in_a_child(attach_nowhere);
    children_finish(&runs[0]);
}

/* ---- who is next ---- */

static uint32_t first_line(const struct children *run)
{
    return pleat_fold_line(run->fold, 0);
}

static void park(const struct children *run, uint32_t index, uint64_t since_us, uint64_t mail)
{
    struct pleat_fold_slot *slot = &run->fold->slots[index];
    atomic_store(&slot->parked_ns, 1000 * since_us);
    atomic_store(&slot->look_ns, UINT64_MAX);
    atomic_store(&slot->seen, 0);
    atomic_store(&slot->mail, mail);
    atomic_store(&slot->word, pleat_fold_word(PLEAT_FOLD_PARKED, first_line(run)));
}

/* Process 0 of the first run gives way; of each run one waits. Returns the run of the next one. */
static uint32_t next_of(const char *text, uint64_t own_mail, uint64_t other_mail)
{
    uint16_t members[2];
    struct turn_choice choice;
    for (int i = 0; i < RUNS; i++)
        prepare(&runs[i], 2, 1, text);
    struct pleat_fold *fold = runs[0].fold;
    park(&runs[0], 1, 200, own_mail);
    park(&runs[1], 0, 100, other_mail);
    members[0] = (uint16_t)(fold->turns.first + 1);
    members[1] = (uint16_t)runs[1].fold->turns.first;
    struct turn_self self = {.fold = fold,
                             .slot = &fold->slots[0],
                             .index = fold->turns.first,
                             .settings = pleat_fold_settings_of(fold),
                             .processors = 1,
                             .processor = first_line(&runs[0]),
                             .members = members,
                             .member_count = 2,
                             .now_ns = 1000000};
    atomic_store(&self.slot->waits_for, 1);
    assert_true(turn_next(&self, false, &choice));
    for (int i = 0; i < RUNS; i++)
        children_finish(&runs[i]);
    return choice.index == members[0] ? 0 : 1;
}

static void the_next_one_is_of_any_run(void **state)
{
    const uint64_t one = (UINT64_C(1) << 32) + 1, two = (UINT64_C(2) << 32) + 2;
    (void)state;
    assert_int_equal(next_of(settings[0], one, one), 1); /* it waits longer */
    assert_int_equal(next_of(settings[1], two, one), 0);
    assert_int_equal(next_of(settings[1], one, two), 1);
    assert_int_equal(next_of(settings[2], one, two), 0); /* the sender, who is of the own run */
    assert_int_equal(next_of(settings[2], 0, one), 1);   /* who is blocked */
}

static int wait_once(void)
{
    if (!turn_attach(0, 0))
        return 1;
    if (!turn_is_on() || !turn_is_told())
        return 2; /* also if each process of the run has a processor */
    (void)turn_wait();
    turn_leave();
    return 0;
}

static int leave(void)
{
    if (!turn_attach(0, 0))
        return 1;
    turn_leave();
    return 0;
}

/* A process of the first run does that. This test plays the one of the second run, which waits on
 * the same processor, and checks that it is given the processor. */
static void it_is_handed_on_by(int (*what)(void))
{
    int status;
    char path[64];
    for (int i = 0; i < RUNS; i++)
        prepare(&runs[i], 1, 1, settings[0]);
    const struct pleat_fold_slot *own = &runs[0].fold->slots[0];
    struct pleat_fold_slot *other = &runs[1].fold->slots[0];
    uint32_t line = first_line(&runs[1]), word;
    atomic_store(&other->pid, (int32_t)getpid());
    park(&runs[1], 0, 0, 0);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), runs[0].fd);
    assert_int_equal(setenv(PLEAT_FOLD_ENV, path, 1), 0);
    alarm(TOO_LONG_S);
    pid_t pid = fork();
    if (!pid)
        _exit(what());
    while (!pleat_fold_word_runs_on(atomic_load(&other->word), line))
        ;
    atomic_store(&other->word, pleat_fold_word(PLEAT_FOLD_ABSENT, line)); /* and leaves */
    while (waitpid(pid, &status, WNOHANG) == 0) {
        word = atomic_load(&own->word);
        if (pleat_fold_word_waits(word) &&
            pleat_fold_grant(&runs[0].fold->turns, runs[0].fold->turns.first, word, line))
            pleat_fold_wake(&runs[0].fold->turns, runs[0].fold->turns.first);
    }
    alarm(0);
    assert_int_equal(status, 0);
    for (int i = 0; i < RUNS; i++)
        children_finish(&runs[i]);
}

static void a_processor_is_handed_to_another_run(void **state)
{
    (void)state;
    it_is_handed_on_by(wait_once);
    it_is_handed_on_by(leave);
}

/* ---- at work ---- */

static void start(uint32_t processors, const char *text, uint32_t rounds)
{
    for (int i = 0; i < RUNS; i++) {
        prepare(&runs[i], 4, processors, text);
        children_start(&runs[i], rounds);
    }
}

static void finish(void)
{
    for (int i = 0; i < RUNS; i++)
        children_finish(&runs[i]);
}

static void both_come_to_an_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETTINGS; i++)
        for (uint32_t processors = 1; processors <= 4; processors *= 2) {
            start(processors, settings[i], 100);
            for (int r = 0; r < RUNS; r++)
                children_wait_all(&runs[r]);
            for (uint32_t p = 0; p < 4; p++)
                for (int r = 0; r < RUNS; r++)
                    assert_int_equal(atomic_load(&runs[r].boxes[p].received), 100);
            finish();
        }
}

/* Each run is told of its own processes alone. */
static void each_knows_its_own(void **state)
{
    (void)state;
    struct pleat_fold_process all[4];
    struct pleat_fold_status status;
    start(1, settings[0], UINT32_MAX);
    for (int r = 0; r < RUNS; r++) {
        pleat_fold_status(runs[r].fold, &status);
        assert_int_equal(status.attached, 4);
        assert_int_equal(pleat_fold_processes(runs[r].fold, 0, 4, all), 4);
        for (int p = 0; p < 4; p++) {
            assert_int_equal(all[p].pid, runs[r].pids[p]);
            assert_int_equal(all[p].rank, p);
            assert_int_equal(all[p].queue, 0);
        }
    }
    finish();
}

static void wait_for_more(const struct children *run, uint32_t more)
{
    for (uint32_t i = 0; i < run->count; i++) {
        uint32_t before = atomic_load(&run->boxes[i].received);
        while (atomic_load(&run->boxes[i].received) < before + more)
            sched_yield();
    }
}

static void partitions_change_under_load(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 5);
    start(1, settings[0], UINT32_MAX);
    for (int change = 0; change < 500; change++) {
        children_partition(&runs[change % RUNS], 1 + (uint32_t)pleat_random_below(&random, 4));
        for (uint64_t pause = pleat_random_below(&random, 4); pause; pause--)
            sched_yield();
    }
    for (int r = 0; r < RUNS; r++)
        wait_for_more(&runs[r], 10);
    finish();
}

/* ---- harm ---- */

static void kill_one(struct children *run, uint32_t victim, int with)
{
    assert_int_equal(kill(run->pids[victim], with), 0);
    if (with != SIGKILL)
        return;
    assert_int_equal(waitpid(run->pids[victim], NULL, 0), run->pids[victim]);
    run->pids[victim] = 0;
    atomic_store(&run->boxes[victim].gone, 1);
}

static void pause_for_a_moment(struct pleat_random *random)
{
    uint64_t balls = pleat_random_below(random, ROUNDS / 2);
    while (atomic_load(&runs[0].boxes[0].received) < balls)
        sched_yield();
    for (uint64_t pause = pleat_random_below(random, 2000); pause; pause--)
        atomic_thread_fence(memory_order_seq_cst);
}

/* Its own run and the other one go on. */
static void one_process_is_killed_at_any_moment(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 3);
    for (uint32_t i = 0; i < 14; i++) {
        start(1 + i % 2, settings[i % SETTINGS], ROUNDS);
        pause_for_a_moment(&random);
        kill_one(&runs[0], (uint32_t)pleat_random_below(&random, 4), SIGKILL);
        for (int r = 0; r < RUNS; r++)
            children_wait_all(&runs[r]);
        finish();
    }
}

/* With its manager, or without. */
static void a_whole_run_is_killed_at_any_moment(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 4);
    for (uint32_t i = 0; i < 14; i++) {
        start(1 + i % 2, settings[i / 2 % SETTINGS], ROUNDS);
        pause_for_a_moment(&random);
        for (uint32_t victim = 0; victim < 4; victim++)
            kill_one(&runs[0], victim, SIGKILL);
        if (i % 4 < 2)
            pleat_fold_pool_leave(runs[0].fold);
        children_wait_all(&runs[1]);
        finish();
    }
}

/* Also what a debugger does. */
static void a_whole_run_is_stopped_at_any_moment(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 6);
    for (uint32_t i = 0; i < 7; i++) {
        start(1 + i % 2, settings[i], ROUNDS);
        pause_for_a_moment(&random);
        for (uint32_t victim = 0; victim < 4; victim++)
            kill_one(&runs[0], victim, SIGSTOP);
        children_wait_all(&runs[1]);
        for (uint32_t victim = 0; victim < 4; victim++)
            kill_one(&runs[0], victim, SIGCONT);
        children_wait_all(&runs[0]);
        finish();
    }
}

static void one_computes_and_tells_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETTINGS; i++) {
        for (int r = 0; r < RUNS; r++)
            prepare(&runs[r], 4, 1, settings[i]);
        atomic_store(&runs[0].boxes[0].held, CHILD_COMPUTES);
        char path[64];
        for (int r = 0; r < RUNS; r++) {
            snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), runs[r].fd);
            assert_int_equal(setenv(PLEAT_FOLD_ENV, path, 1), 0);
            children_start(&runs[r], 100);
        }
        children_wait_all(&runs[1]);
        atomic_store(&runs[0].boxes[0].held, CHILD_FREE);
        children_wait_all(&runs[0]);
        finish();
    }
}

static int use_garbage(void)
{
    if (!turn_attach(0, 0))
        return 1;
    for (size_t at = PLEAT_FOLD_LINE; at < pool->bytes; at++)
        ((unsigned char *)pool->segment)[at] = 0xff;
    for (int i = 0; i < 20; i++) {
        turn_call();
        turn_sent(1);
        turn_receiving(INT32_MAX);
        (void)turn_wait();
        turn_received(INT32_MAX);
        turn_activity();
        turn_progressed();
        atomic_fetch_add(&pool->segment->generation, 1);
    }
    for (size_t at = PLEAT_FOLD_LINE; at < runs[0].fold->bytes; at++)
        ((unsigned char *)runs[0].fold->segment)[at] = 0xff;
    for (int i = 0; i < 20; i++) {
        turn_call();
        turn_sent(1);
        (void)turn_wait();
        turn_activity();
        atomic_fetch_add(&pool->segment->generation, 1);
    }
    turn_leave();
    return 0;
}

static void garbage_harms_nobody(void **state)
{
    (void)state;
    prepare(&runs[0], 4, 2, settings[0]);
    in_a_child(use_garbage);
    children_finish(&runs[0]); /* its manager, too */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_are_given_and_given_back, begin, end),
        cmocka_unit_test_setup_teardown(only_its_owner_can_open_it, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_a_partition, begin, end),
        cmocka_unit_test_setup_teardown(without_its_pool_a_process_is_not_folded, begin, end),
        cmocka_unit_test_setup_teardown(the_next_one_is_of_any_run, begin, end),
        cmocka_unit_test_setup_teardown(a_processor_is_handed_to_another_run, begin, end),
        cmocka_unit_test_setup_teardown(both_come_to_an_end, begin, end),
        cmocka_unit_test_setup_teardown(each_knows_its_own, begin, end),
        cmocka_unit_test_setup_teardown(partitions_change_under_load, begin, end),
        cmocka_unit_test_setup_teardown(one_process_is_killed_at_any_moment, begin, end),
        cmocka_unit_test_setup_teardown(a_whole_run_is_killed_at_any_moment, begin, end),
        cmocka_unit_test_setup_teardown(a_whole_run_is_stopped_at_any_moment, begin, end),
        cmocka_unit_test_setup_teardown(one_computes_and_tells_nobody, begin, end),
        cmocka_unit_test_setup_teardown(garbage_harms_nobody, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

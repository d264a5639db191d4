/* Whatever happens to one process, at whatever moment, the others go on: it is killed, stopped,
 * sleeps in the kernel, or computes for ever without waiting. */
#include "test.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "fold_children.h"

#define ROUNDS 300

static const char *const settings[] = {"wait=immediate", "wait=immediate,queue=global",
                                       "wait=spin",      "wait=yield",
                                       "wait=block",     "wait=immediate,give=slice,slice=1ms"};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static void wait_for_balls(struct children *children, uint32_t index, uint64_t count)
{
    while (atomic_load(&children->boxes[index].received) < count)
        sched_yield();
}

static void one_is_killed_at_any_moment(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 3);
    for (int i = 0; i < 48; i++) {
        struct children children;
        uint32_t victim = (uint32_t)pleat_random_below(&random, 8);
        children_prepare(&children, 8, 1 + (uint32_t)i % 2, settings[(size_t)i / 2 % SETTINGS]);
        children_start(&children, ROUNDS);
        wait_for_balls(&children, victim, pleat_random_below(&random, ROUNDS / 2));
        for (uint64_t pause = pleat_random_below(&random, 2000); pause; pause--)
            atomic_thread_fence(memory_order_seq_cst);
        assert_int_equal(kill(children.pids[victim], SIGKILL), 0);
        assert_int_equal(waitpid(children.pids[victim], NULL, 0), children.pids[victim]);
        children.pids[victim] = 0;
        atomic_store(&children.boxes[victim].gone, 1);
        children_wait_all(&children);
        children_finish(&children);
    }
}

/* Also what a debugger does. */
static void one_is_stopped_at_any_moment(void **state)
{
    (void)state;
    struct pleat_random random;
    pleat_random_init(&random, 4);
    for (int i = 0; i < 24; i++) {
        struct children children;
        uint32_t victim = (uint32_t)pleat_random_below(&random, 8);
        children_prepare(&children, 8, 1 + (uint32_t)i % 2, settings[(size_t)i / 2 % SETTINGS]);
        children_start(&children, ROUNDS);
        wait_for_balls(&children, victim, pleat_random_below(&random, ROUNDS / 2));
        assert_int_equal(kill(children.pids[victim], SIGSTOP), 0);
        for (uint32_t other = 0; other < 8; other++)
            if (other / 2 != victim / 2)
                children_wait(&children, other);
        assert_int_equal(kill(children.pids[victim], SIGCONT), 0);
        children_wait_all(&children);
        children_finish(&children);
    }
}

static void hold_one(enum child_hold how)
{
    for (size_t i = 0; i < 2 * SETTINGS; i++) {
        struct children children;
        children_prepare(&children, 8, 1 + (uint32_t)i % 2, settings[i / 2]);
        atomic_store(&children.boxes[2].held, how);
        children_start(&children, ROUNDS);
        for (uint32_t other = 0; other < 8; other++)
            if (other / 2 != 1)
                children_wait(&children, other);
        atomic_store(&children.boxes[2].held, CHILD_FREE);
        assert_int_equal(write(children.pipe[1], "x", 1), 1);
        children_wait_all(&children);
        children_finish(&children);
    }
}

static void one_sleeps_in_the_kernel(void **state)
{
    (void)state;
    hold_one(CHILD_SLEEPS);
}

static void one_computes_and_tells_nobody(void **state)
{
    (void)state;
    hold_one(CHILD_COMPUTES);
}

/* All die but one: nobody is left to give it the processor. */
static void the_last_one_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * SETTINGS; i++) {
        struct children children;
        children_prepare(&children, 8, 1 + (uint32_t)i % 2, settings[i / 2]);
        children_start(&children, 1000000);
        for (uint32_t one = 0; one < 7; one++) {
            kill(children.pids[one], SIGKILL);
            waitpid(children.pids[one], NULL, 0);
            children.pids[one] = 0;
        }
        atomic_store(&children.boxes[6].gone, 1);
        children_wait_all(&children);
        children_finish(&children);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_killed_at_any_moment),
        cmocka_unit_test(one_is_stopped_at_any_moment),
        cmocka_unit_test(one_sleeps_in_the_kernel),
        cmocka_unit_test(one_computes_and_tells_nobody),
        cmocka_unit_test(the_last_one_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

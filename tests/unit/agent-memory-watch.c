/* When the memory of runs is looked at, with a loop of its own and a made-up clock, tree of
 * processes and runs: however starts of runs and looks fall together, the loop goes on between two
 * looks. Else the agent would hear nothing meanwhile, of the end of its runs neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/ending.h"
#include "agent/memory.h"
#include "agent/owner.h"
#include "agent/run.h"
#include "base/clock.h"

/* More looks than this without a turn of the loop between them do not end by themselves. */
enum { LOOKS_MANY = 1000, TURN_US = 2000 };

static struct {
    struct pleat_agent agent;
    struct pleat_run run;
    int64_t now_us;
    int looks, reads; /* looks begun; how many more reads of the list the present one takes */
} made;

/* ---- what the watch calls ---- */

int64_t pleat_clock_monotonic_us(void)
{
    return made.now_us;
}

/* Ends the test where nothing else would. */
static void count_look(struct pleat_agent *agent)
{
    made.looks++;
    agent->closing = made.looks == LOOKS_MANY;
}

int pleat_process_tree_begin(const char *proc, struct pleat_process_tree *tree,
                             struct pleat_process_reading *reading, struct pleat_error *err)
{
    (void)proc;
    (void)tree;
    (void)reading;
    (void)err;
    count_look(&made.agent);
    return 0;
}

/* Each read but the last one takes a whole turn of the look. */
int pleat_process_tree_more(const char *proc, struct pleat_process_tree *tree,
                            struct pleat_process_reading *reading, size_t most,
                            struct pleat_error *err)
{
    (void)proc;
    (void)tree;
    (void)reading;
    (void)most;
    (void)err;
    if (made.reads == 0)
        return 0;
    made.reads--;
    made.now_us += TURN_US;
    return 1;
}

void pleat_process_tree_stop(struct pleat_process_reading *reading)
{
    (void)reading;
}

void pleat_process_tree_finish(struct pleat_process_tree *tree)
{
    (void)tree;
}

bool pleat_process_tree_is_dead(const struct pleat_process_entry *process)
{
    (void)process;
    return true;
}

uint64_t pleat_run_of_process(struct pleat_agent *agent, struct pleat_process_entry *process)
{
    (void)agent;
    (void)process;
    return 0;
}

struct pleat_run *pleat_run_find(const struct pleat_agent *agent, uint64_t id)
{
    (void)agent;
    return id == made.run.id ? &made.run : NULL;
}

bool pleat_run_is_live(const struct pleat_run *run)
{
    return run == &made.run;
}

size_t pleat_runs_live(const struct pleat_agent *agent)
{
    return agent->runs.count;
}

void pleat_run_end(struct pleat_run *run, int64_t grace_us)
{
    (void)run;
    (void)grace_us;
}

void pleat_runs_sweep(struct pleat_agent *agent)
{
    (void)agent;
}

void pleat_memory_largest(struct pleat_run *run, int64_t resident_kb)
{
    (void)run;
    (void)resident_kb;
}

bool pleat_memory_is_over(struct pleat_run *run)
{
    (void)run;
    return false;
}

void pleat_memory_report(struct pleat_run *run)
{
    (void)run;
}

int64_t pleat_memory_resident_kb(const struct pleat_agent *agent, pid_t pid)
{
    (void)agent;
    (void)pid;
    return 0;
}

int64_t pleat_memory_proportional_kb(const struct pleat_agent *agent, pid_t pid)
{
    (void)agent;
    (void)pid;
    return 0;
}

/* ---- the tests ---- */

static int set_up(void **state)
{
    static struct pleat_run *runs[] = {&made.run};
    (void)state;
    made.looks = made.reads = 0;
    made.run.id = 1;
    made.agent = (struct pleat_agent){.runs = {.items = runs, .count = 1}};
    if (uv_loop_init(&made.agent.loop) || uv_timer_init(&made.agent.loop, &made.agent.measuring))
        return -1;
    made.agent.measuring.data = &made.agent;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pleat_memory_finish(&made.agent);
    uv_close((uv_handle_t *)&made.agent.measuring, NULL);
    (void)uv_run(&made.agent.loop, UV_RUN_DEFAULT);
    return uv_loop_close(&made.agent.loop);
}

/* As where a run has been started (life.c). */
static void start_run(void)
{
    made.agent.memory_wait_us = 0;
}

/* Until one more look has begun, and ended. */
static void run_to_end_of_look(void)
{
    const int before = made.looks;
    while (made.looks == before || made.agent.memory_look.stage != PLEAT_MEMORY_RESTS)
        (void)uv_run(&made.agent.loop, UV_RUN_ONCE);
}

/* So many looks were begun, and the next one is not due before the loop has turned. */
static void assert_looked(int looks)
{
    assert_int_equal(made.looks, looks);
    assert_int_equal(uv_is_active((uv_handle_t *)&made.agent.measuring), 1);
    assert_true(uv_timer_get_due_in(&made.agent.measuring) > 0);
    assert_true(made.agent.memory_wait_us > 0);
}

static void test_later_looks_are_further_apart(void **state)
{
    (void)state;
    pleat_memory_arm(&made.agent);
    const int64_t first_us = made.agent.memory_wait_us;
    assert_true(first_us > 0);
    run_to_end_of_look();
    assert_looked(1);
    assert_int_equal(made.agent.memory_wait_us, 2 * first_us);
}

static void test_a_run_is_started_during_a_look(void **state)
{
    (void)state;
    pleat_memory_arm(&made.agent);
    const int64_t first_us = made.agent.memory_wait_us;
    made.reads = 1;
    while (made.looks == 0)
        (void)uv_run(&made.agent.loop, UV_RUN_ONCE);
    assert_int_equal(made.agent.memory_look.stage, PLEAT_MEMORY_LISTS); /* under way */
    start_run();
    pleat_memory_arm(&made.agent);
    while (made.agent.memory_look.stage != PLEAT_MEMORY_RESTS)
        (void)uv_run(&made.agent.loop, UV_RUN_ONCE);
    assert_looked(1);
    assert_true(made.agent.memory_wait_us >= first_us);
    run_to_end_of_look();
    assert_looked(2);
}

/* The look is due in the turn of the loop in which the run is started: before the agent arms what
 * is to be done after that. */
static void test_a_run_is_started_when_a_look_is_due(void **state)
{
    (void)state;
    pleat_memory_arm(&made.agent);
    const int64_t first_us = made.agent.memory_wait_us;
    start_run();
    run_to_end_of_look();
    assert_looked(1);
    assert_int_equal(made.agent.memory_wait_us, first_us);
    run_to_end_of_look();
    assert_looked(2);
}

/* Where they follow one another faster than looks are due, there would be none. */
static void test_starts_do_not_put_off_a_look(void **state)
{
    (void)state;
    pleat_memory_arm(&made.agent);
    const uint64_t first_ms = uv_timer_get_due_in(&made.agent.measuring);
    uv_sleep(2);
    uv_update_time(&made.agent.loop);
    start_run();
    pleat_memory_arm(&made.agent);
    assert_true(uv_timer_get_due_in(&made.agent.measuring) < first_ms);
    run_to_end_of_look();
    assert_looked(1);
    /* the next one is due later than a first one: that is brought forward */
    assert_true(uv_timer_get_due_in(&made.agent.measuring) > first_ms);
    start_run();
    pleat_memory_arm(&made.agent);
    assert_int_equal(uv_timer_get_due_in(&made.agent.measuring), first_ms);
}

/* Starts do not have the agent look more often than it is to, if a look takes long. */
static void test_looks_take_a_share_of_the_time(void **state)
{
    enum { SHARE = 50, READS = 100 };
    (void)state;
    pleat_memory_arm(&made.agent);
    made.reads = READS;
    run_to_end_of_look();
    assert_looked(1);
    start_run();
    pleat_memory_arm(&made.agent);
    const int64_t took_us = (int64_t)READS * TURN_US;
    assert_int_equal(made.agent.memory_wait_us, took_us * SHARE);
    assert_int_equal(uv_timer_get_due_in(&made.agent.measuring), took_us * SHARE / 1000);
    made.now_us += took_us * SHARE - 1; /* that time has passed */
    start_run();
    pleat_memory_arm(&made.agent);
    assert_true(made.agent.memory_wait_us < took_us * SHARE / 10);
    assert_true(uv_timer_get_due_in(&made.agent.measuring) < (uint64_t)(took_us * SHARE / 10000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_later_looks_are_further_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_run_is_started_during_a_look, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_run_is_started_when_a_look_is_due, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_starts_do_not_put_off_a_look, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_looks_take_a_share_of_the_time, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

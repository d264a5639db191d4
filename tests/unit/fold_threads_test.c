/* Several threads of a process that wait: whichever of them does, the process gives its processor
 * away and gets it back, and all of its threads get on. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fold/turn.h"
#include "fold_children.h"

#define THREADS 3
#define TOO_LONG_S 120
#define ROUNDS 100

static struct children children;

/* ---- in a child ---- */

struct player {
    uint32_t process, thread;
};

/* The balls that this thread of a process has. */
static _Atomic uint32_t *balls(uint32_t process, uint32_t thread)
{
    return &children.boxes[process * THREADS + thread].received;
}

/* As the wrappers do it in any thread. */
static void wait_for(const _Atomic uint32_t *count, uint32_t wanted)
{
    turn_activity();
    while (atomic_load(count) < wanted)
        if (!turn_wait())
            sched_yield();
    turn_activity();
}

/* Thread by thread the processes 2i and 2i+1 play ping-pong. Those of higher number end sooner. */
static void *play(void *arg)
{
    const struct player *me = arg;
    uint32_t partner = me->process ^ 1;
    for (uint32_t round = 1; round <= ROUNDS / (me->thread + 1); round++) {
        if (me->process < partner)
            atomic_fetch_add(balls(partner, me->thread), 1);
        wait_for(balls(me->process, me->thread), round);
        if (me->process > partner)
            atomic_fetch_add(balls(partner, me->thread), 1);
    }
    return NULL;
}

static int play_in_threads(uint32_t index, uint32_t threads, bool several)
{
    pthread_t ids[THREADS];
    struct player players[THREADS];
    if (!turn_attach((int32_t)index, (int32_t)index))
        return 2;
    turn_threads(several);
    atomic_fetch_add(children.all_attached, 1);
    for (uint32_t i = 0; i < threads; i++) {
        players[i] = (struct player){index, i};
        if (pthread_create(&ids[i], NULL, play, &players[i]))
            return 3;
    }
    for (uint32_t i = 0; i < threads; i++)
        (void)pthread_join(ids[i], NULL); /* outside of MPI */
    struct pleat_fold_process all[CHILDREN_MAX];
    (void)pleat_fold_processes(children.fold, 0, children.count, all);
    atomic_fetch_add(&children.boxes[index].held, (uint32_t)all[index].switches);
    turn_leave();
    return 0;
}

/* ---- the test's side ---- */

static void start(int (*what)(uint32_t index))
{
    for (uint32_t i = 0; i < children.count; i++) {
        children.pids[i] = fork();
        assert_true(children.pids[i] >= 0);
        if (children.pids[i])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(TOO_LONG_S);
        _exit(what(i));
    }
}

static int all_threads(uint32_t index)
{
    return play_in_threads(index, THREADS, true);
}

static void all_threads_get_on(void **state)
{
    static const char *const settings[] = {"wait=immediate",
                                           "wait=spin",
                                           "wait=block",
                                           "wait=yield",
                                           "wait=auto",
                                           "wait=immediate,give=slice,slice=1ms",
                                           "wait=immediate,queue=global",
                                           "wait=block,queue=global"};
    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        for (uint32_t processors = 1; processors <= 2; processors++) {
            children_prepare(&children, 4, processors, settings[i]);
            start(all_threads);
            children_wait_all(&children);
            children_finish(&children);
        }
}

static void all_threads_get_on_while_the_partition_changes(void **state)
{
    (void)state;
    children_prepare(&children, 4, 1, "wait=immediate,queue=global");
    start(all_threads);
    while (atomic_load(balls(0, 0)) < ROUNDS) {
        children_partition(&children, 1 + atomic_load(balls(0, 0)) % 2);
        sched_yield();
    }
    children_wait_all(&children);
    children_finish(&children);
}

static int one_thread(uint32_t index)
{
    return play_in_threads(index, 1, true);
}

static int one_thread_that_takes_no_part(uint32_t index)
{
    return play_in_threads(index, 1, false);
}

/* The one that attached only waits for the other thread. */
static void the_thread_that_waits_gives_the_processor_away(void **state)
{
    (void)state;
    for (int several = 0; several <= 1; several++) {
        children_prepare(&children, 2, 1, "wait=immediate");
        start(several ? one_thread : one_thread_that_takes_no_part);
        children_wait_all(&children);
        uint32_t given =
            atomic_load(&children.boxes[0].held) + atomic_load(&children.boxes[1].held);
        if (several)
            assert_true(given > 0);
        else
            assert_int_equal(given, 0);
        children_finish(&children);
    }
}

/* ---- fork ---- */

static _Atomic bool forked;

static void *wait_until_forked(void *arg)
{
    (void)arg;
    while (!atomic_load(&forked))
        if (!turn_wait())
            sched_yield();
    return NULL;
}

/* A thread may be giving the processor away at that moment: its child is not held up by that. */
static int fork_beside_a_waiting_thread(uint32_t index)
{
    pthread_t one;
    int status = 0;
    if (!turn_attach((int32_t)index, (int32_t)index))
        return 2;
    turn_threads(true);
    if (pthread_create(&one, NULL, wait_until_forked, NULL))
        return 3;
    for (int i = 0; !status && i < 50; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(TOO_LONG_S);
            turn_leave();
            if (turn_wait() || turn_is_for_all())
                _exit(4);
            _exit(0);
        }
        (void)turn_wait();
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 5;
    }
    atomic_store(&forked, true);
    (void)pthread_join(one, NULL);
    turn_leave();
    return status ? 6 : 0;
}

static void a_forked_child_is_not_held_up(void **state)
{
    (void)state;
    children_prepare(&children, 2, 1, "wait=immediate");
    start(fork_beside_a_waiting_thread);
    children_wait_all(&children);
    children_finish(&children);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_get_on),
        cmocka_unit_test(all_threads_get_on_while_the_partition_changes),
        cmocka_unit_test(the_thread_that_waits_gives_the_processor_away),
        cmocka_unit_test(a_forked_child_is_not_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Taking turns, with every setting, and while settings and partition change: whoever can go on
 * does, and nobody waits for ever. */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "fold/turn.h"
#include "fold/turn_self.h"
#include "fold_children.h"

static const char *const settings[] = {
    "wait=native",
    "wait=yield",
    "wait=immediate",
    "wait=immediate,next=round-robin",
    "wait=immediate,next=unconsumed",
    "wait=immediate,next=affinity",
    "wait=immediate,give=slice,slice=1ms",
    "wait=spin",
    "wait=block",
    "wait=auto",
    "wait=yield,queue=global",
    "wait=immediate,queue=global",
    "wait=immediate,queue=global,next=affinity",
    "wait=immediate,queue=global,next=round-robin",
    "wait=spin,queue=global,give=slice,slice=1ms",
    "wait=block,queue=global",
    "wait=auto,queue=global",
};
#define SETTINGS (sizeof(settings) / sizeof(*settings))

static void every_setting_brings_all_to_an_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < SETTINGS; i++)
        for (uint32_t processors = 1; processors <= 8; processors *= 2) {
            struct children children;
            children_prepare(&children, 8, processors, settings[i]);
            children_start(&children, 100);
            children_wait_all(&children);
            children_finish(&children);
        }
}

static void messages_and_switches_are_counted(void **state)
{
    (void)state;
    struct children children;
    struct pleat_fold_process all[4];
    struct pleat_fold_status status;
    children_prepare(&children, 4, 1, "wait=immediate");
    children_start(&children, 200);
    children_wait_all(&children);
    assert_int_equal(pleat_fold_traffic(children.fold, 0, 1), 200);
    assert_int_equal(pleat_fold_traffic(children.fold, 1, 0), 200);
    assert_int_equal(pleat_fold_traffic(children.fold, 0, 2), 0);
    assert_int_equal(pleat_fold_processes(children.fold, 0, 4, all), 4);
    for (uint32_t i = 0; i < 4; i++) {
        /* each waits for each ball, but for what came before it looked */
        assert_in_range(all[i].switches, 1, 100000);
        assert_int_equal(all[i].rank, i);
        assert_int_equal(all[i].unconsumed, 0);
        assert_int_equal(all[i].pid, 0);
        assert_false(all[i].waiting);
    }
    pleat_fold_status(children.fold, &status);
    assert_int_equal(status.attached, 0);
    children_finish(&children);
}

/* Process 2 gets its messages from another node, which this test plays: nobody tells of them. The
 * others always have something for one another. */
static void what_nobody_tells_of_is_found(void **state)
{
    static const char *const some[] = {"wait=immediate", "wait=immediate,queue=global", "wait=spin",
                                       "wait=immediate,next=unconsumed",
                                       "wait=immediate,next=affinity"};
    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
        struct children children;
        children_prepare(&children, 3, 1, some[i]);
        struct child_box *boxes = children.boxes;
        children_start(&children, UINT32_MAX);
        for (uint32_t round = 1; round <= 50; round++) {
            uint32_t others = atomic_load(&boxes[0].received);
            while (atomic_load(&boxes[3].received) < round ||
                   atomic_load(&boxes[0].received) == others)
                sched_yield();
            atomic_fetch_add(&boxes[2].received, 1);
        }
        children_finish(&children);
    }
}

/* This process sleeps again and again on the CPU on which the others hand their processor on. Some
 * kernels would wake it only when they have ended (turn_let_go.c). */
static void others_on_the_cpu_get_on(void **state)
{
    enum { ROUNDS = 50000 };
    const struct timespec moment = {.tv_nsec = 1000000};
    cpu_set_t allowed, one;
    uint32_t sleeps = 0;
    struct children children;
    (void)state;
    children_prepare(&children, 4, 1, "wait=immediate");
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    CPU_ZERO(&one);
    CPU_SET(atomic_load(&children.fold->processors[0].cpu), &one);
    children_start(&children, ROUNDS);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    for (; atomic_load(&children.boxes[0].received) < ROUNDS; sleeps++)
        nanosleep(&moment, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
    children_wait_all(&children);
    assert_in_range(sleeps, 20, UINT32_MAX);
    assert_int_not_equal(atomic_load(&children.fold->processors[0].let_go_ns), 0);
    children_finish(&children);
}

/* ---- changes ---- */

static bool any_is_left(struct children *children)
{
    bool left = false;
    for (uint32_t i = 0; i < children->count; i++) {
        int status;
        if (children->pids[i] && waitpid(children->pids[i], &status, WNOHANG) > 0) {
            assert_int_equal(status, 0);
            children->pids[i] = 0;
        }
        left = left || children->pids[i];
    }
    return left;
}

static void partition_changes_under_load(void **state)
{
    static const char *const some[] = {"wait=immediate", "wait=immediate,queue=global", "wait=auto",
                                       "wait=block"};
    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
        struct children children;
        struct pleat_random random;
        pleat_random_init(&random, 7 + i);
        children_prepare(&children, 8, 1, some[i]);
        children_start(&children, UINT32_MAX);
        for (int change = 0; change < 1000; change++) {
            children_partition(&children, 1 + (uint32_t)pleat_random_below(&random, 4));
            /* some of them while all are at work, others one after the other */
            for (uint64_t pause = pleat_random_below(&random, 4); pause; pause--)
                sched_yield();
        }
        /* all still get their turn: each receives some more */
        uint32_t before[8];
        for (uint32_t j = 0; j < 8; j++)
            before[j] = atomic_load(&children.boxes[j].received);
        for (uint32_t j = 0; j < 8; j++)
            while (atomic_load(&children.boxes[j].received) < before[j] + 10)
                sched_yield();
        children_finish(&children);
    }
}

static void settings_change_under_load(void **state)
{
    (void)state;
    struct children children;
    struct pleat_random random;
    pleat_random_init(&random, 11);
    children_prepare(&children, 8, 2, "");
    children_start(&children, 5000);
    while (any_is_left(&children)) {
        struct pleat_fold_settings one = {.spin_us = 20, .slice_us = 1000};
        const char *text = settings[pleat_random_below(&random, SETTINGS)];
        assert_int_equal(pleat_fold_settings_parse(text, &one, NULL), 0);
        if (one.wait == PLEAT_FOLD_WAIT_NATIVE)
            one.wait = PLEAT_FOLD_WAIT_YIELD; /* what polls without yielding takes its time */
        assert_int_equal(pleat_fold_configure(children.fold, &one), 0);
        pleat_fold_contended(children.fold, (uint32_t)pleat_random_below(&random, 2),
                             pleat_random_below(&random, 2));
        sched_yield();
    }
    children_finish(&children);
}

/* ---- coming and going ---- */

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

static int attach_without_a_segment(void)
{
    if (turn_is_on() || turn_wait())
        return 1;
    turn_sent(0); /* without effect */
    turn_leave();
    return turn_attach(0, 0) ? 1 : 0;
}

static void without_a_segment_nothing_happens(void **state)
{
    (void)state;
    static const char *const paths[] = {"", "/nonexistent", "/dev/zero", "/proc/self/exe", "/"};
    unsetenv(PLEAT_FOLD_ENV);
    in_a_child(attach_without_a_segment);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        setenv(PLEAT_FOLD_ENV, paths[i], 1);
        in_a_child(attach_without_a_segment);
    }
    unsetenv(PLEAT_FOLD_ENV);
}

static struct children shared;

static int take_places(void)
{
    if (!turn_attach(1, 5) || turn_attach(0, 6))
        return 1; /* once only */
    pid_t child = fork();
    int status;
    if (!child) {
        turn_leave(); /* only forgets */
        if (turn_is_on() || !turn_attach(1, 7))
            _exit(1);
        /* its wish was taken: it got the other one; a third finds none */
        pid_t third = fork();
        if (!third) {
            turn_leave();
            _exit(turn_attach(TURN_NOBODY, 8) ? 1 : 0);
        }
        _exit(waitpid(third, &status, 0) != third || status ? 1 : 0);
    }
    if (waitpid(child, &status, 0) != child || status)
        return 2;
    struct pleat_fold_process both[2];
    (void)pleat_fold_processes(shared.fold, 0, 2, both);
    if (both[0].rank != 7 || both[1].rank != 5 || both[1].pid != getpid())
        return 3;
    turn_leave();
    return turn_is_on() ? 4 : 0;
}

static int take_place_of_a_dead_one(void)
{
    return turn_attach(0, 0) && turn_attach(0, 0) == false ? 0 : 1;
}

static void places_are_taken_once(void **state)
{
    (void)state;
    children_prepare(&shared, 2, 1, "wait=immediate");
    in_a_child(take_places);
    in_a_child(take_place_of_a_dead_one); /* twice: neither left */
    in_a_child(take_place_of_a_dead_one);
    children_finish(&shared);
}

static int wait_alone(void)
{
    struct pleat_fold_process self;
    if (!turn_attach(0, 0) || turn_is_on())
        return 1;
    for (int i = 0; i < 1000; i++)
        if (!turn_wait())
            return 2;
    (void)pleat_fold_processes(shared.fold, 0, 1, &self);
    turn_leave();
    return self.switches ? 3 : 0;
}

static void one_alone_polls(void **state)
{
    (void)state;
    children_prepare(&shared, 1, 1, "wait=immediate");
    in_a_child(wait_alone);
    children_finish(&shared);
}

/* ---- a global queue ---- */

/* Process 0 on processor 0 gives way; the others wait since then, there or on processor 1, and were
 * told of something or not. Returns who is next. */
static uint32_t next_of(const char *text, const uint32_t where[3], const bool told[3],
                        const uint64_t since_us[3])
{
    struct children children;
    struct turn_choice choice = {0};
    uint16_t members[3] = {1, 2, 3};
    children_prepare(&children, 4, 2, text);
    struct turn_self self = {.fold = children.fold,
                             .slot = &children.fold->slots[0],
                             .settings = pleat_fold_settings_of(children.fold),
                             .processors = 2,
                             .members = members,
                             .member_count = 3,
                             .now_ns = 1000000};
    atomic_store(&self.slot->waits_for, -1);
    for (uint32_t i = 0; i < 3; i++) {
        struct pleat_fold_slot *slot = &children.fold->slots[i + 1];
        atomic_store(&slot->word, pleat_fold_word(PLEAT_FOLD_PARKED, where[i]));
        atomic_store(&slot->mail, told[i]);
        atomic_store(&slot->parked_ns, 1000 * since_us[i]);
        atomic_store(&slot->look_ns, UINT64_MAX);
    }
    assert_true(turn_next(&self, false, &choice));
    children_finish(&children);
    return choice.index;
}

static void who_ran_here_goes_before_others(void **state)
{
    static const uint32_t where[3] = {1, 0, 1};
    static const bool all[3] = {true, true, true}, nobody[3], one[3] = {true, false, false};
    static const uint64_t a_little[3] = {100, 140, 120}, much[3] = {100, 190, 120};
    static const char text[] = "wait=immediate,queue=global";
    (void)state;
    assert_int_equal(next_of(text, where, all, much), 2);     /* told, and here */
    assert_int_equal(next_of(text, where, one, a_little), 1); /* told goes before here */
    assert_int_equal(next_of(text, where, nobody, a_little), 2);
    assert_int_equal(next_of(text, where, nobody, much), 1); /* long enough to be moved */
    assert_int_equal(next_of("wait=immediate,queue=global,next=round-robin", where, all, a_little),
                     1);
}

/* Another program, with that environment. */
static pid_t begin_with(char *variable)
{
    char *const arguments[] = {(char *)(uintptr_t) "sleep", (char *)(uintptr_t) "60", NULL};
    char *const environment[] = {(char *)(uintptr_t) "A=1", variable, NULL};
    pid_t pid = 0;
    char path[64], byte;
    assert_int_equal(posix_spawnp(&pid, "sleep", NULL, NULL, arguments, environment), 0);
    /* the kernel lets this process go on before it has laid out the new one's environment */
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    for (ssize_t got = 0; got <= 0; sched_yield()) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        got = read(fd, &byte, 1);
        close(fd);
    }
    return pid;
}

static bool is_moved(struct children *children, pid_t pid)
{
    int32_t siblings[4] = {0};
    cpu_set_t now;
    struct turn_self self = {.fold = children->fold, .siblings = siblings};
    uint32_t cpu = atomic_load(&children->fold->processors[1].cpu);
    atomic_store(&children->fold->slots[3].tid, pid);
    turn_move(&self, 3, 1);
    assert_int_equal(sched_getaffinity(pid, sizeof(now), &now), 0);
    return CPU_COUNT(&now) == 1 && CPU_ISSET(cpu, &now);
}

/* Numbers of processes come from memory that any of them can write, and may be used again. */
static void only_those_of_the_run_are_moved(void **state)
{
    (void)state;
    struct children children;
    cpu_set_t mine;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    if (CPU_COUNT(&mine) < 2)
        skip(); /* all are bound to the same one anyway */
    children_prepare(&children, 4, 2, "wait=immediate,queue=global");
    char own[96], longer[sizeof(own) + 1];
    snprintf(own, sizeof(own), "%s=%s", PLEAT_FOLD_ENV, getenv(PLEAT_FOLD_ENV));
    snprintf(longer, sizeof(longer), "%s0", own);
    char *const environments[] = {own, longer, (char *)(uintptr_t) "PLEAT_FOLD=/proc/1/fd/3", NULL};
    for (int i = 0; i < 4; i++) {
        pid_t pid = begin_with(environments[i]);
        assert_int_equal(is_moved(&children, pid), i == 0);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    children_finish(&children);
}

static int wait_for_a_deserted_one(void)
{
    if (!turn_attach(0, 0))
        return 1;
    (void)turn_wait();
    return atomic_load(&shared.fold->slots[0].word) == pleat_fold_word(PLEAT_FOLD_RUNNING, 1) ? 0
                                                                                              : 2;
}

/* Processor 1 is nobody's: the process that slept there was called to processor 0, where it
 * computes. A process that waits on processor 1 finds that out, and takes the processor. */
static void a_deserted_processor_is_taken(void **state)
{
    (void)state;
    int status = 0;
    children_prepare(&shared, 3, 2, "wait=immediate,queue=global");
    atomic_store(&shared.fold->slots[1].pid, (int32_t)getpid());
    atomic_store(&shared.fold->slots[1].word, pleat_fold_word(PLEAT_FOLD_RUNNING, 0));
    atomic_store(&shared.fold->processors[0].holder, 2);
    atomic_store(&shared.fold->processors[1].holder, 2);
    atomic_store(&shared.fold->processors[1].idle, 1);
    pid_t pid = fork();
    if (pid == 0)
        _exit(wait_for_a_deserted_one());
    while (waitpid(pid, &status, WNOHANG) == 0) {
        /* at work, so that its own processor is not taken */
    }
    assert_int_equal(status, 0);
    children_finish(&shared);
}

static int is_told(void)
{
    return turn_attach(0, 0) && turn_is_told() ? 0 : 1;
}

static int is_not_told(void)
{
    return turn_attach(0, 0) && turn_is_on() && !turn_is_told() ? 0 : 1;
}

static int say_when_to_tell(void)
{
    struct pleat_fold *fold = shared.fold;
    if (!turn_attach(0, 0))
        return 1;
    if (turn_is_told()) /* both processors are quiet, so both yield */
        return 2;
    pleat_fold_contended(fold, 1, true); /* there they hand over, and have to know for whom */
    if (!turn_is_told())
        return 3; /* at once, not only when this one has waited */
    (void)turn_wait();
    if (!turn_is_told())
        return 4;
    atomic_store(&fold->slots[0].mail, (UINT64_C(5) << 32) + 5);
    pleat_fold_contended(fold, 1, false);
    (void)turn_wait();
    if (turn_is_told())
        return 5;
    pleat_fold_count(fold, true); /* the agent wants to know */
    (void)turn_wait();
    if (!turn_is_told())
        return 6;
    /* of those sent before nobody noted when they were received */
    return atomic_load(&fold->slots[0].mail) == 5 ? 0 : 7;
}

static void nothing_is_told_while_all_yield(void **state)
{
    static const struct {
        const char *settings;
        uint32_t processors;
        bool told;
    } cases[] = {{"wait=yield", 2, false},
                 {"wait=yield,queue=global", 2, false},
                 {"wait=native", 2, false},
                 {"wait=auto,queue=global", 1, false},
                 {"wait=auto,queue=global", 2, true},
                 {"wait=immediate", 1, true},
                 {"wait=spin", 2, true},
                 {"wait=block", 2, true}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        children_prepare(&shared, 4, cases[i].processors, cases[i].settings);
        in_a_child(cases[i].told ? is_told : is_not_told);
        children_finish(&shared);
    }
    children_prepare(&shared, 4, 2, "wait=auto");
    in_a_child(say_when_to_tell);
    children_finish(&shared);
}

static int use_garbage(void)
{
    struct pleat_fold *fold = shared.fold;
    if (!turn_attach(0, 0))
        return 1;
    for (size_t at = PLEAT_FOLD_LINE; at < fold->bytes; at++)
        ((unsigned char *)fold->segment)[at] = 0xff;
    for (int i = 0; i < 20; i++) {
        turn_call();
        turn_sent(1);
        turn_sent(INT32_MAX);
        turn_sent(INT32_MIN);
        turn_receiving(INT32_MAX);
        (void)turn_wait();
        turn_received(INT32_MAX);
        turn_activity();
        turn_progressed();
        atomic_fetch_add(&fold->segment->generation, 1);
    }
    turn_leave();
    return 0;
}

static void garbage_harms_nobody(void **state)
{
    (void)state;
    children_prepare(&shared, 4, 2, "wait=immediate");
    in_a_child(use_garbage);
    children_finish(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_brings_all_to_an_end),
        cmocka_unit_test(messages_and_switches_are_counted),
        cmocka_unit_test(what_nobody_tells_of_is_found),
        cmocka_unit_test(others_on_the_cpu_get_on),
        cmocka_unit_test(partition_changes_under_load),
        cmocka_unit_test(settings_change_under_load),
        cmocka_unit_test(without_a_segment_nothing_happens),
        cmocka_unit_test(places_are_taken_once),
        cmocka_unit_test(one_alone_polls),
        cmocka_unit_test(who_ran_here_goes_before_others),
        cmocka_unit_test(only_those_of_the_run_are_moved),
        cmocka_unit_test(a_deserted_processor_is_taken),
        cmocka_unit_test(nothing_is_told_while_all_yield),
        cmocka_unit_test(garbage_harms_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

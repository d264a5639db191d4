#include "test.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fold/turn.h"
#include "fold_children.h"

/* Far longer than any of them takes: one that still runs waits for ever. */
#define TOO_LONG_S 120

static uint32_t cpus_of_this_process(uint32_t cpus[CHILDREN_MAX])
{
    cpu_set_t allowed;
    uint32_t count = 0;
    CPU_ZERO(&allowed);
    assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE && count < CHILDREN_MAX; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            cpus[count++] = cpu;
    for (uint32_t i = count; i < CHILDREN_MAX; i++)
        cpus[i] = cpus[i % count];
    return count;
}

void children_partition(struct children *children, uint32_t processors)
{
    uint32_t cpus[CHILDREN_MAX], where[CHILDREN_MAX];
    (void)cpus_of_this_process(cpus);
    for (uint32_t i = 0; i < children->count; i++)
        where[i] = i % processors;
    assert_int_equal(pleat_fold_partition(children->fold, cpus, processors, where), 0);
}

void children_prepare(struct children *children, uint32_t count, uint32_t processors,
                      const char *text)
{
    children_prepare_pooled(children, count, processors, text, NULL, -1);
}

void children_prepare_pooled(struct children *children, uint32_t count, uint32_t processors,
                             const char *text, struct pleat_fold_pool *pool, int fd)
{
    struct pleat_fold_settings settings = {
        .queue = PLEAT_FOLD_QUEUE_LOCAL, .spin_us = 20, .slice_us = 1000};
    char path[64];
    memset(children, 0, sizeof(*children));
    children->count = count;
    assert_int_equal(pleat_fold_create(count, CHILDREN_MAX, &children->fold, &children->fd, NULL),
                     0);
    assert_int_equal(pleat_fold_settings_parse(text, &settings, NULL), 0);
    assert_int_equal(pleat_fold_configure(children->fold, &settings), 0);
    if (pool)
        assert_int_equal(pleat_fold_pool_join(children->fold, pool, fd, NULL), 0);
    children_partition(children, processors);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), children->fd);
    assert_int_equal(setenv(PLEAT_FOLD_ENV, path, 1), 0);
    void *memory = mmap(NULL, sizeof(*children->boxes) * (CHILDREN_MAX + 1), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    children->boxes = memory;
    children->all_attached = &children->boxes[CHILDREN_MAX].received;
    assert_int_equal(pipe(children->pipe), 0);
}

/* ---- in a child ---- */

static void obey(const struct children *children, struct child_box *box)
{
    char byte;
    if (atomic_load(&box->held) == CHILD_SLEEPS)
        (void)!read(children->pipe[0], &byte, 1);
    while (atomic_load(&box->held) == CHILD_COMPUTES)
        ; /* as a library that polls by itself, and tells nobody */
}

/* As the wrappers do it. */
static void send_ball(const struct children *children, uint32_t to)
{
    bool told = turn_is_told();
    if (told)
        turn_call();
    atomic_fetch_add(&children->boxes[to].received, 1);
    if (told)
        turn_sent((int32_t)to);
}

static void receive_ball(const struct children *children, uint32_t index, uint32_t from,
                         uint32_t number)
{
    bool told = turn_is_told();
    if (told) {
        turn_call();
        turn_receiving((int32_t)from);
    }
    while (atomic_load(&children->boxes[index].received) < number &&
           !atomic_load(&children->boxes[from].gone))
        if (!turn_wait())
            sched_yield();
    if (told)
        turn_received((int32_t)from);
    else
        turn_progressed();
}

static int play(const struct children *children, uint32_t index)
{
    struct child_box *box = &children->boxes[index];
    uint32_t partner = index ^ 1;
    if (!turn_attach((int32_t)index, (int32_t)index))
        return 2;
    atomic_fetch_add(children->all_attached, 1);
    for (uint32_t round = 1; round <= children->rounds; round++) {
        if (index < partner)
            send_ball(children, partner);
        receive_ball(children, index, partner, round);
        if (index > partner)
            send_ball(children, partner);
        if (atomic_load(&box->held))
            obey(children, box);
    }
    turn_leave();
    return 0;
}

/* ---- the test's side ---- */

void children_start(struct children *children, uint32_t rounds)
{
    children->rounds = rounds;
    for (uint32_t i = 0; i < children->count; i++) {
        children->pids[i] = fork();
        assert_true(children->pids[i] >= 0);
        if (children->pids[i])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(TOO_LONG_S);
        _exit(play(children, i));
    }
    while (atomic_load(children->all_attached) < children->count)
        sched_yield();
}

void children_wait(struct children *children, uint32_t index)
{
    int status;
    assert_int_equal(waitpid(children->pids[index], &status, 0), children->pids[index]);
    children->pids[index] = 0;
    if (status)
        fail_msg("process %u ended with %s %d", index, WIFSIGNALED(status) ? "signal" : "code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void children_wait_all(struct children *children)
{
    for (uint32_t i = 0; i < children->count; i++)
        if (children->pids[i])
            children_wait(children, i);
}

void children_finish(struct children *children)
{
    for (uint32_t i = 0; i < children->count; i++) {
        if (!children->pids[i])
            continue;
        kill(children->pids[i], SIGKILL);
        waitpid(children->pids[i], NULL, 0);
    }
    unsetenv(PLEAT_FOLD_ENV);
    munmap(children->boxes, sizeof(*children->boxes) * (CHILDREN_MAX + 1));
    close(children->pipe[0]);
    close(children->pipe[1]);
    close(children->fd);
    pleat_fold_pool_leave(children->fold);
    pleat_fold_close(children->fold);
}

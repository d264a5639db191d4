/* standin_app SIZE - a malleable application that is not there: it tells its progress and changes
 * its size through the mailbox, as libpleat does, but computes nothing and has no MPI. So hundreds
 * of them fit on a machine (scale.py).
 *
 * One process comes to the adaptation points for all ranks, and each rank but the first has a
 * process of its own, since the agent waits for those that leave. It ends by a signal only.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/mailbox-rank.h"

#define RANKS_MAX 64
#define ITERATION_NS 200000000

static struct pleat_mailbox *mailbox;
static struct pleat_mailbox_rank ranks[RANKS_MAX];
static pid_t pids[RANKS_MAX];
static uint32_t size;
static int doorbell;
static uint64_t busy_ns, iterations; /* at this size */

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "standin_app: %s\n", what);
    exit(1);
}

/* A rank's own process, which ends with the first one. */
static _Noreturn void be_rank(uint32_t rank, uint64_t iteration, pid_t first)
{
    struct pleat_mailbox_rank self;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != first ||
        pleat_mailbox_attach(mailbox, rank, iteration, -1, &self))
        _exit(1);
    for (;;)
        pause();
}

static void add_rank(uint64_t iteration)
{
    const uint32_t rank = size++;
    const pid_t first = getpid();
    if (pleat_mailbox_attach(mailbox, rank, iteration, doorbell, &ranks[rank]))
        give_up("a rank cannot attach");
    if (rank == 0)
        return;
    pids[rank] = fork();
    if (pids[rank] < 0)
        give_up("no process for a rank");
    if (pids[rank] == 0)
        be_rank(rank, iteration, first);
    /* the agent asks for it as soon as the rank is there */
    for (int32_t told = 0;
         pleat_mailbox_pids(mailbox, rank, 1, &told) != 1 || told != pids[rank];) {
        const struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
        if (waitpid(pids[rank], NULL, WNOHANG))
            give_up("a rank has ended");
    }
}

static void remove_rank(void)
{
    const pid_t pid = pids[--size];
    if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
        give_up("a rank had ended");
}

static void resize(void)
{
    struct pleat_mailbox_request request;
    struct pleat_mailbox_cost cost = {0};
    const uint32_t before = size;
    uint64_t iteration = 0;
    const int64_t begun = pleat_clock_monotonic_ns();
    if (pleat_mailbox_request(&ranks[0], &request) || pleat_mailbox_entered(mailbox, &iteration))
        give_up("it is to be resized, and there is no request");
    if (request.relaunch || request.target < 1 || request.target > RANKS_MAX) {
        pleat_mailbox_failed(&ranks[0], "this can only grow and shrink by merging and splitting");
        return;
    }
    while (size < request.target)
        add_rank(iteration);
    while (size > request.target)
        remove_rank();
    cost.total_ns = cost.processes_ns = (uint64_t)(pleat_clock_monotonic_ns() - begun);
    busy_ns = iterations = 0;
    pleat_mailbox_applied(&ranks[0], before, size, &cost, "");
}

/* All ranks come to an adaptation point. */
static void arrive(void)
{
    uint32_t entered = 0;
    for (uint32_t rank = 0; rank < size; rank++) {
        pleat_mailbox_publish(&ranks[rank], busy_ns, iterations);
        const int arrival = pleat_mailbox_arrive(&ranks[rank]);
        if (arrival < 0)
            give_up("the mailbox is corrupt");
        if (arrival == PLEAT_ARRIVAL_ANSWER) {
            struct pleat_mailbox_request request;
            if (pleat_mailbox_request(&ranks[0], &request))
                give_up("it is asked, and there is no request");
            pleat_mailbox_answer(&ranks[0], request.target);
        }
        entered += arrival == PLEAT_ARRIVAL_ENTER;
    }
    if (entered && entered != size)
        give_up("not all ranks entered");
    if (entered)
        resize();
}

int main(int argc, char **argv)
{
    struct pleat_error err;
    const int initial = argc == 2 ? atoi(argv[1]) : 0;
    const char *path = getenv(PLEAT_MAILBOX_ENV);
    const char *bell = getenv(PLEAT_DOORBELL_ENV);
    if (!path || !bell || initial < 1 || initial > RANKS_MAX)
        give_up("usage, in a malleable job of Pleat: standin_app SIZE");
    if (pleat_mailbox_open(path, &mailbox, &err))
        give_up(err.text);
    doorbell = open(bell, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (doorbell < 0)
        give_up("no doorbell");
    while (size < (uint32_t)initial)
        add_rank(0);
    if (pleat_mailbox_set_size(&ranks[0], size))
        give_up("the mailbox refuses the size");
    pleat_mailbox_begun(&ranks[0], NULL);
    for (;;) {
        const struct timespec iteration = {0, ITERATION_NS};
        nanosleep(&iteration, NULL);
        busy_ns += ITERATION_NS;
        iterations++;
        arrive();
    }
}

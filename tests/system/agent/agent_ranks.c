/* agent_ranks.c - plays a malleable application of several ranks, without MPI: one process arrives
 * for all ranks in turn, and each rank but the first has a process of its own, that ends when its
 * rank leaves (once the file DIR/leave exists, so that a test can look before).
 *
 *   agent-ranks SIZE DIR
 *
 * DIR/attach: it waits for this file before it attaches. DIR/fail: it cannot resize.
 * DIR/finish: it ends its session. DIR/stop: it exits with code 0.
 *
 * Its state is one number, how often it was started; it is saved in every resize, and loaded at the
 * start, which prints "start SIZE NUMBER". DIR/unsaved: it does not save. In a resize, once it has
 * saved: DIR/hang: it says so and goes no further; DIR/die: it kills itself. DIR/stay: it does not
 * leave when it is to be relaunched; DIR/slow: it prints "saved", and leaves when that file is
 * gone, whatever it is sent. DIR/lost: it cannot load its state, and exits with 3.
 *
 * Where new ones wait already it stays until it is dismissed, and prints "dismissed".
 *
 * Started to take over from another one, it prints "waits SIZE PID". DIR/early: it exits with 4
 * instead (DIR/wait: those before it come to no adaptation point); DIR/never: it comes no further;
 * DIR/few: it has a rank too few; DIR/hasty: it does not wait.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/mailbox-rank.h"
#include "shm/state.h"

#define RANKS_MAX 64
#define ACCEPTS_AT_MOST 3
#define DISMISSAL_MOST_NS ((int64_t)100000000000)

static const char *directory;
static struct pleat_mailbox *mailbox;
static int doorbell;
static struct pleat_mailbox_rank ranks[RANKS_MAX];
static int leave_pipe[RANKS_MAX];
static int initial;
static uint32_t size;
static struct pleat_state *held;
static uint64_t starts; /* the state */
static bool waits;      /* to take over */

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "agent-ranks: %s\n", what);
    exit(99);
}

static int has_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

static void nap(void)
{
    struct timespec time = {0, 1000000};
    nanosleep(&time, NULL);
}

/* A rank's own process: there until its rank leaves or the first process ends. */
static _Noreturn void be_rank(uint32_t rank, uint64_t iteration, int told)
{
    char byte;
    struct pleat_mailbox_rank self;
    if (pleat_mailbox_attach(mailbox, rank, iteration, -1, &self))
        give_up("a rank cannot attach");
    if (waits)
        (void)pleat_mailbox_wait_for(&self, PLEAT_NO_LIMIT);
    if (read(told, &byte, 1) == 1)
        while (!has_file("leave") && getppid() != 1)
            nap();
    _exit(0);
}

static void add_rank(uint32_t rank, uint64_t iteration)
{
    int ends[2];
    if (pleat_mailbox_attach(mailbox, rank, iteration, doorbell, &ranks[rank]))
        give_up("cannot attach");
    if (rank == 0)
        return;
    if (pipe2(ends, O_CLOEXEC))
        give_up("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        for (uint32_t other = 1; other < rank; other++)
            close(leave_pipe[other]); /* else a rank would keep others' pipes open */
        be_rank(rank, iteration, ends[0]);
    }
    close(ends[0]);
    leave_pipe[rank] = ends[1];
    int32_t published = 0; /* the child's pid must be there before anybody asks for it */
    while (pleat_mailbox_pids(mailbox, rank, 1, &published) != 1 || published != pid)
        nap();
}

static void check(int code, const struct pleat_error *err)
{
    if (code)
        give_up(err->text);
}

static void save(uint64_t iteration)
{
    struct pleat_error err;
    uint64_t generation;
    const struct pleat_state_header header = {
        .shape = 5, .iteration = iteration, .bytes = sizeof(starts)};
    check(pleat_state_begin(held, &header, false, &generation, &err), &err);
    check(pleat_state_write(held, 0, &starts, sizeof(starts), &err), &err);
    check(pleat_state_commit(held, &err), &err);
}

/* All leave; the other ranks' processes end with this one. */
static _Noreturn void be_relaunched(bool beside)
{
    const struct pleat_mailbox_cost cost = {.save_ns = 1000000, .total_ns = 1500000, .bytes = 8};
    pleat_mailbox_saved(&ranks[0], size, &cost);
    if (beside) {
        puts(pleat_mailbox_await_dismissal(&ranks[0], DISMISSAL_MOST_NS) ? "dismissed"
                                                                         : "forgotten");
        fflush(stdout);
    }
    if (has_file("slow")) {
        (void)signal(SIGTERM, SIG_IGN);
        puts("saved");
        fflush(stdout);
    }
    while (has_file("stay") || has_file("slow"))
        nap();
    exit(0);
}

static void resize(void)
{
    struct pleat_mailbox_request request;
    struct pleat_mailbox_cost cost = {
        .processes_ns = 2000000, .redistribute_ns = 3000000, .total_ns = 5000000, .bytes = 4096};
    uint64_t iteration = 0;
    if (pleat_mailbox_request(&ranks[0], &request) || pleat_mailbox_entered(mailbox, &iteration))
        give_up("no request");
    if (has_file("fail")) {
        pleat_mailbox_failed(&ranks[0], "no memory for more ranks");
        return;
    }
    if (!has_file("unsaved"))
        save(iteration);
    if (has_file("hang"))
        puts("hangs");
    fflush(stdout);
    while (has_file("hang"))
        nap();
    if (has_file("die"))
        raise(SIGKILL);
    if (request.relaunch)
        be_relaunched(request.beside);
    uint32_t before = size;
    if (request.target > RANKS_MAX)
        give_up("too many ranks");
    for (; size < request.target; size++)
        add_rank(size, iteration);
    for (; size > request.target; size--) {
        if (write(leave_pipe[size - 1], "x", 1) != 1)
            give_up("cannot tell a rank to leave");
        close(leave_pipe[size - 1]);
    }
    pleat_mailbox_applied(&ranks[0], before, size, &cost, "");
}

static void iterate(void)
{
    uint32_t entered = 0;
    for (uint32_t rank = 0; rank < size; rank++) {
        int arrival = pleat_mailbox_arrive(&ranks[rank]);
        if (arrival < 0)
            give_up("the mailbox is corrupt");
        if (arrival == PLEAT_ARRIVAL_ANSWER) {
            struct pleat_mailbox_request request;
            if (pleat_mailbox_request(&ranks[0], &request))
                give_up("no request");
            pleat_mailbox_answer(&ranks[0], request.target < ACCEPTS_AT_MOST ? request.target
                                                                             : ACCEPTS_AT_MOST);
        }
        entered += arrival == PLEAT_ARRIVAL_ENTER;
    }
    if (entered && entered != size)
        give_up("not all ranks entered");
    if (entered)
        resize();
}

/* Comes as far as the beginning, and sleeps there until the one before has saved its state. */
static void wait_for_the_other(void)
{
    int claimed = pleat_mailbox_claim(mailbox);
    if (claimed < 0)
        give_up("another program waits");
    if (claimed == 0)
        return;
    if (has_file("early"))
        exit(4);
    while (has_file("never"))
        nap();
    initial -= has_file("few");
    waits = !has_file("hasty");
    while (size < (uint32_t)initial)
        add_rank(size++, 0);
    if (pleat_mailbox_set_size(&ranks[0], size))
        give_up("cannot set the size");
    printf("waits %u %d\n", size, (int)getpid());
    fflush(stdout);
    if (waits)
        (void)pleat_mailbox_wait_for(&ranks[0], PLEAT_NO_LIMIT);
}

static void begin(void)
{
    struct pleat_error err;
    struct pleat_state_header header = {0};
    struct pleat_mailbox_cost cost = {.load_ns = 700000, .total_ns = 700000, .bytes = 8};
    uint64_t generation = pleat_mailbox_take_resume(mailbox);
    bool loads = generation != 0;
    if (loads)
        check(pleat_state_find(held, &header, &err), &err);
    if (loads && header.generation != generation)
        give_up("another state is held than the one to go on from");
    if (loads)
        check(pleat_state_read(held, 0, &starts, sizeof(starts), &err), &err);
    starts++;
    for (uint32_t rank = 0; rank < size; rank++) {
        ranks[rank].iteration = ranks[rank].entered = header.iteration;
        atomic_store(&ranks[rank].slot->iteration, header.iteration);
    }
    while (size < (uint32_t)initial)
        add_rank(size++, header.iteration);
    if (pleat_mailbox_set_size(&ranks[0], size))
        give_up("cannot set the size");
    if (has_file("lost") && loads) {
        pleat_mailbox_cannot_begin(&ranks[0], "the state has another shape");
        exit(3);
    }
    pleat_mailbox_begun(&ranks[0], loads ? &cost : NULL);
    printf("start %u %llu\n", size, (unsigned long long)starts);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct pleat_error err;
    if (argc != 3)
        give_up("usage: agent-ranks SIZE DIR");
    initial = atoi(argv[1]);
    directory = argv[2];
    const char *path = getenv(PLEAT_MAILBOX_ENV);
    const char *bell = getenv(PLEAT_DOORBELL_ENV);
    const char *state = getenv(PLEAT_STATE_ENV);
    if (!path || !bell || !state || initial < 1 || initial > RANKS_MAX)
        give_up("no mailbox");
    while (!has_file("attach"))
        nap();
    if (pleat_mailbox_open(path, &mailbox, &err))
        give_up(err.text);
    check(pleat_state_open(state, &held, &err), &err);
    doorbell = open(bell, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (doorbell < 0)
        give_up("no doorbell");
    wait_for_the_other();
    begin();
    while (!has_file("finish") && !has_file("stop")) {
        if (!has_file("wait"))
            iterate();
        nap();
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    pleat_mailbox_finish(&ranks[0]);
    while (!has_file("stop"))
        nap();
    pleat_state_close(held);
    pleat_mailbox_close(mailbox);
    return 0;
}

/* joined [--ranks N] [--rounds N] [--lose N] - a communicator that grows as processes are added,
 * and shrinks as they are given back (docs/processes.md, "Beside MPI"). Process 0 asks for
 * processes until there are N ranks (4), joins each, and lets them leave one by one, as often as
 * --rounds says (1). After each change all ranks add up their numbers, and process 0 compares the
 * sum with what it knows. --lose N: process N ends before it joins, as one that crashes would;
 * another one is asked for in its place. */
#include <getopt.h>
#include <mpi.h>
#include <pleat.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_MAX 64
#define WAIT_MS 120000

enum order { JOIN = 1, LEAVE, END };

struct joined {
    struct pleat_processes *all;
    MPI_Comm comm;
    int32_t self;
    int ranks, rounds, lose;
    int32_t members[RANKS_MAX]; /* of process 0: the process of each rank */
    int size;
    int joins, leaves, lost;
};

static struct pleat_error err;

/* Ends this process; if it is process 0, the run. */
static _Noreturn void give_up(const struct joined *joined, const char *what)
{
    printf("RESULT wrong process %d: %s: %s\n", (int)joined->self, what, err.text);
    fflush(stdout);
    exit(1);
}

/* Tells all ranks what comes next, or is told. */
static void tell(struct joined *joined, int order[2])
{
    MPI_Bcast(order, 2, MPI_INT, 0, joined->comm);
}

/* All ranks add up the numbers of their processes. */
static void add_up(struct joined *joined)
{
    int sum = 0, expected = 0, own = joined->self;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, joined->comm);
    for (int i = 0; i < joined->size; i++)
        expected += joined->members[i];
    if (joined->self != 0)
        return;
    if (sum != expected) {
        printf("RESULT wrong %d ranks: the sum is %d, not %d\n", joined->size, sum, expected);
        fflush(stdout);
        exit(1);
    }
}

/* ---- process 0 ---- */

static void join(struct joined *joined, int32_t process)
{
    int order[2] = {JOIN, process};
    tell(joined, order);
    int code = pleat_process_mpi_join(joined->all, &joined->comm, process, WAIT_MS, &err);
    if (code == PLEAT_E_CLOSED && process == joined->lose) {
        printf("%s\n", err.text);
        joined->lost++;
        return;
    }
    if (code)
        give_up(joined, "join");
    joined->members[joined->size++] = process;
    joined->joins++;
    add_up(joined);
}

static void grow(struct joined *joined)
{
    while (joined->size < joined->ranks) {
        int32_t process = PLEAT_PROCESS_NONE;
        if (pleat_process_add(joined->all, NULL, &process, &err) < 0)
            give_up(joined, "add");
        join(joined, process); /* also one that comes */
    }
}

static void shrink(struct joined *joined)
{
    while (joined->size > 1) {
        int order[2] = {LEAVE, joined->size - 1};
        tell(joined, order);
        if (pleat_process_mpi_leave(&joined->comm, 0, &err))
            give_up(joined, "leave");
        int32_t process = joined->members[--joined->size];
        joined->leaves++;
        if (pleat_process_stop(joined->all, process, &err))
            give_up(joined, "stop");
        add_up(joined);
    }
}

static void lead(struct joined *joined)
{
    int32_t there[RANKS_MAX];
    int count = pleat_process_list(joined->all, there, RANKS_MAX);
    joined->size = 1;
    for (int i = 0; i < count && i < RANKS_MAX; i++)
        if (there[i] != 0) /* others of the start */
            join(joined, there[i]);
    for (int round = 0; round < joined->rounds; round++) {
        grow(joined);
        if (round + 1 < joined->rounds)
            shrink(joined);
    }
    int order[2] = {END, 0};
    tell(joined, order);
    printf("RESULT ok joins=%d leaves=%d lost=%d\n", joined->joins, joined->leaves, joined->lost);
}

/* ---- the others ---- */

/* Does as it is told. Returns whether it has left. */
static int follow(struct joined *joined)
{
    for (;;) {
        int order[2], rank = 0;
        tell(joined, order);
        if (order[0] == END)
            return 0;
        if (order[0] == JOIN) {
            int code = pleat_process_mpi_join(joined->all, &joined->comm, order[1], WAIT_MS, &err);
            if (code == PLEAT_E_CLOSED && order[1] == joined->lose)
                continue;
            if (code)
                give_up(joined, "join");
        } else {
            MPI_Comm_rank(joined->comm, &rank);
            if (pleat_process_mpi_leave(&joined->comm, rank == order[1], &err))
                give_up(joined, "leave");
            if (joined->comm == MPI_COMM_NULL)
                return 1;
        }
        add_up(joined);
    }
}

static void take_part(struct joined *joined)
{
    int32_t inviter = pleat_process_parent(joined->all);
    if (joined->self == joined->lose)
        raise(SIGKILL);
    if (pleat_process_mpi_join(joined->all, &joined->comm, inviter < 0 ? 0 : inviter, WAIT_MS,
                               &err))
        give_up(joined, "join");
    add_up(joined);
    if (!follow(joined))
        return;
    MPI_Finalize();
    while (!pleat_process_leaving(joined->all)) { /* until it is stopped */
        struct pleat_process_message message;
        if (pleat_process_probe(joined->all, 0, 0, &message, 1000, &err) == PLEAT_E_CLOSED)
            break;
    }
}

static int number(const char *text, int least, int most)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < least || value > most) {
        fprintf(stderr, "joined: '%s' is no number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)value;
}

static void read_options(struct joined *joined, int argc, char **argv)
{
    static const struct option options[] = {{"ranks", required_argument, NULL, 'n'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {"lose", required_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (option == 'n') {
            joined->ranks = number(optarg, 1, RANKS_MAX);
        } else if (option == 'r') {
            joined->rounds = number(optarg, 1, 10000);
        } else if (option == 'l') {
            joined->lose = number(optarg, 1, 1000000);
        } else {
            fputs("usage: joined [--ranks N] [--rounds N] [--lose N]\n",
                  option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
}

/* The run ends with process 0: the others are to end by themselves before that. */
static void wait_for_others(const struct joined *joined)
{
    for (int i = 0; i < WAIT_MS / 10 && pleat_process_list(joined->all, NULL, 0) > 1; i++)
        usleep(10000);
}

int main(int argc, char **argv)
{
    struct joined joined = {.ranks = 4, .rounds = 1, .comm = MPI_COMM_NULL};
    read_options(&joined, argc, argv);
    int begun = pleat_processes_begin(&joined.all, NULL, &err);
    if (begun < 0)
        give_up(&joined, "begin");
    joined.self = pleat_process_self(joined.all);
    if (begun != PLEAT_PROCESS_LEAVE) {
        if (pleat_process_mpi_prepare(joined.all, &err))
            give_up(&joined, "prepare");
        MPI_Init(&argc, &argv);
        if (joined.self == 0) {
            joined.comm = MPI_COMM_SELF;
            lead(&joined);
        } else {
            take_part(&joined);
        }
        int over = 0;
        if (joined.comm != MPI_COMM_NULL && joined.comm != MPI_COMM_SELF)
            MPI_Comm_free(&joined.comm);
        MPI_Finalized(&over);
        if (!over)
            MPI_Finalize();
        if (joined.self == 0)
            wait_for_others(&joined);
    }
    return pleat_processes_finish(joined.all, &err) ? 1 : 0;
}

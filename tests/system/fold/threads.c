/* threads MODE... - MPI programs whose threads call MPI, in the ways that threads do, one after the
 * other; `threads modes` prints which there are, each with the level of threads that it asks for.
 *
 * The messages of every thread are known beforehand and checked, so a mode ends with "MODE is
 * right" or the program fails, however processes share their processors. No thread waits for a
 * time.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define THREADS_MAX 32

int rank, size;

void must(bool good, const char *what, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s:%d: %s is not so\n", rank, file, line, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static void in_threads(int count, void *(*work)(void *))
{
    pthread_t ids[THREADS_MAX];
    for (int i = 0; i < count; i++)
        MUST(!pthread_create(&ids[i], NULL, work, (void *)(intptr_t)i));
    for (int i = 0; i < count; i++)
        MUST(!pthread_join(ids[i], NULL));
}

/* About 1 ns for each unit. */
static uint64_t compute(uint64_t units)
{
    uint64_t sum = 1;
    for (uint64_t i = 0; i < units; i++)
        sum = sum * UINT64_C(6364136223846793005) + i;
    return sum | 1;
}

/* What thread `id` of `from` sends in a round. */
static int word(int from, int id, int round)
{
    return (round * 1000 + from) * 100 + id;
}

/* ---- all threads at once ---- */

static void *exchange_all(void *arg)
{
    int id = (int)(intptr_t)arg;
    int *in = calloc((size_t)size, sizeof(*in)), *out = calloc((size_t)size, sizeof(*out));
    MPI_Request *requests = calloc(2 * (size_t)size, sizeof(*requests));
    MUST(in && out && requests);
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < size; i++) {
            out[i] = word(rank, id, round);
            DO(MPI_Irecv(&in[i], 1, MPI_INT, i, id, MPI_COMM_WORLD, &requests[i]));
        }
        for (int i = 0; i < size; i++)
            DO(MPI_Isend(&out[i], 1, MPI_INT, i, id, MPI_COMM_WORLD, &requests[size + i]));
        DO(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < size; i++)
            MUST(in[i] == word(i, id, round));
    }
    free(in);
    free(out);
    free(requests);
    return NULL;
}

/* Each with each in turn, blocking, with short messages and with such as are fetched. */
static void *exchange_pairs(void *arg)
{
    enum { LONG = 20000 };
    int id = (int)(intptr_t)arg;
    int *in = calloc(LONG, sizeof(*in)), *out = calloc(LONG, sizeof(*out));
    MUST(in && out);
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < size; i++) {
            int other = (round + 2 * size - i - rank) % size; /* of whom this one is the other */
            int count = round % 8 ? 1 : LONG;
            if (other == rank)
                continue;
            out[count - 1] = word(rank, id, round);
            if (rank < other)
                DO(MPI_Send(out, count, MPI_INT, other, id, MPI_COMM_WORLD));
            DO(MPI_Recv(in, count, MPI_INT, other, id, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (rank > other)
                DO(MPI_Send(out, count, MPI_INT, other, id, MPI_COMM_WORLD));
            MUST(in[count - 1] == word(other, id, round));
        }
    free(in);
    free(out);
    return NULL;
}

static void alltoall(void)
{
    in_threads(4, exchange_all);
}

static void pairs(void)
{
    in_threads(8, exchange_pairs);
}

/* The thread that called MPI_Init takes part, too; there are more threads than processors. */
static void *exchange_beside(void *arg)
{
    return (intptr_t)arg % 2 ? exchange_all(arg) : exchange_pairs(arg);
}

static void main_too(void)
{
    pthread_t one;
    MUST(!pthread_create(&one, NULL, exchange_pairs, (void *)1));
    exchange_all((void *)2);
    MUST(!pthread_join(one, NULL));
}

static void many(void)
{
    in_threads(24, exchange_beside);
}

/* ---- each in another call, on a communicator of its own ---- */

static MPI_Comm comms[6];

static void *wait_somewhere(void *arg)
{
    int id = (int)(intptr_t)arg, left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Comm comm = comms[id];
    for (int round = 0; round < 60; round++) {
        int in = -1, sum = 0, index = 0, flag = 0, out = word(rank, id, round);
        MPI_Request two[2];
        MPI_Status status;
        if (id == 0) {
            DO(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
            MUST(sum == size * (size - 1) / 2);
            continue;
        }
        if (id == 1) {
            in = rank == round % size ? out : 0;
            DO(MPI_Bcast(&in, 1, MPI_INT, round % size, comm));
            MUST(in == word(round % size, id, round));
            continue;
        }
        DO(MPI_Isend(&out, 1, MPI_INT, right, 0, comm, &two[0]));
        if (id == 2) {
            DO(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            MUST(status.MPI_SOURCE == left);
            DO(MPI_Recv(&in, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE));
        } else if (id == 3) {
            two[1] = two[0];
            DO(MPI_Irecv(&in, 1, MPI_INT, left, 0, comm, &two[0]));
            DO(MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE));
            DO(MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE));
        } else if (id == 4) {
            two[1] = two[0];
            DO(MPI_Irecv(&in, 1, MPI_INT, left, 0, comm, &two[0]));
            while (!flag)
                DO(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE));
        } else {
            while (!flag)
                DO(MPI_Iprobe(left, 0, comm, &flag, MPI_STATUS_IGNORE));
            DO(MPI_Recv(&in, 1, MPI_INT, left, 0, comm, MPI_STATUS_IGNORE));
        }
        if (id == 2 || id == 5)
            DO(MPI_Wait(&two[0], MPI_STATUS_IGNORE));
        MUST(in == word(left, id, round));
    }
    return NULL;
}

static void everywhere(void)
{
    const int count = sizeof(comms) / sizeof(comms[0]);
    for (int i = 0; i < count; i++)
        DO(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    in_threads(count, wait_somewhere);
    for (int i = 0; i < count; i++)
        DO(MPI_Comm_free(&comms[i]));
}

/* ---- some compute ---- */

static _Atomic bool computed;

static void *compute_or_wait(void *arg)
{
    int id = (int)(intptr_t)arg;
    if (id % 2 == 0)
        return exchange_all(arg);
    for (int i = 0; i < 20; i++)
        MUST(compute(1000000));
    atomic_store(&computed, true);
    return NULL;
}

static void computing(void)
{
    in_threads(4, compute_or_wait);
    MUST(atomic_load(&computed));
}

/* One thread computes until another one, which waits in MPI, tells it to stop: if either kept the
 * processor from the other, neither would end. */
static _Atomic int tokens;

static void *pass_tokens(void *arg)
{
    int id = (int)(intptr_t)arg, token = 0;
    if (id == 0) {
        while (atomic_load(&tokens) < 20)
            MUST(compute(1000));
        return NULL;
    }
    for (int i = 0; i < 20; i++) {
        if (rank == 0)
            DO(MPI_Send(&i, 1, MPI_INT, 1 % size, 9, MPI_COMM_WORLD));
        DO(MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        MUST(token == i);
        if (rank > 0)
            DO(MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD));
        atomic_fetch_add(&tokens, 1);
    }
    return NULL;
}

static void spinning(void)
{
    in_threads(2, pass_tokens);
}

/* ---- waiting for one another outside of MPI ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int received = -1;

static void *receive_for_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < 60; i++) {
        int value = -1;
        DO(MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
        pthread_mutex_lock(&lock);
        while (received >= 0)
            pthread_cond_wait(&changed, &lock);
        received = value;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int take_received(void)
{
    pthread_mutex_lock(&lock);
    while (received < 0)
        pthread_cond_wait(&changed, &lock);
    int value = received;
    received = -1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return value;
}

/* The thread that called MPI_Init waits on a condition variable for one that is in MPI_Recv. */
static void condition(void)
{
    pthread_t one;
    MUST(!pthread_create(&one, NULL, receive_for_all, NULL));
    for (int i = 0; i < 60; i++) {
        DO(MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD));
        MUST(take_received() == i);
    }
    MUST(!pthread_join(one, NULL));
}

/* A thread for each message, which ends when it has it: the processor may just be its process's. */
static void *receive_one(void *arg)
{
    int value = -1;
    DO(MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, (int)(intptr_t)arg, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE));
    MUST(value == (int)(intptr_t)arg);
    return NULL;
}

static void ending(void)
{
    for (int i = 0; i < 30; i++) {
        pthread_t one;
        MUST(!pthread_create(&one, NULL, receive_one, (void *)(intptr_t)i));
        DO(MPI_Send(&i, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD));
        MUST(!pthread_join(one, NULL));
    }
}

/* ---- one at a time ---- */

static void *call_in_turn(void *arg)
{
    int id = (int)(intptr_t)arg, left = (rank + size - 1) % size;
    for (int round = 0; round < 40; round++) {
        int out = word(rank, id, round), in = -1, done = 0;
        MPI_Request request;
        pthread_mutex_lock(&lock);
        DO(MPI_Irecv(&in, 1, MPI_INT, left, id, MPI_COMM_WORLD, &request));
        DO(MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, id, MPI_COMM_WORLD));
        pthread_mutex_unlock(&lock);
        while (!done) {
            pthread_mutex_lock(&lock);
            DO(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            pthread_mutex_unlock(&lock);
        }
        MUST(in == word(left, id, round));
    }
    return NULL;
}

static void serialized(void)
{
    in_threads(4, call_in_turn);
}

/* ---- only the thread that called MPI_Init ---- */

static pthread_t early;
static _Atomic int wanted, made;

static void *work_early(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    for (int i = 1; i <= 40; i++) {
        while (atomic_load(&wanted) < i)
            pthread_cond_wait(&changed, &lock);
        MUST(compute(100000));
        atomic_store(&made, i);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* A thread that was there before MPI_Init works while this one waits for it, or in MPI. */
static void funneled(void)
{
    for (int i = 1; i <= 40; i++) {
        int in = -1;
        pthread_mutex_lock(&lock);
        atomic_store(&wanted, i);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        DO(MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 4, &in, 1, MPI_INT,
                        (rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MUST(in == i);
        pthread_mutex_lock(&lock);
        while (atomic_load(&made) < i)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    MUST(!pthread_join(early, NULL));
}

/* ---- OpenMP ---- */

#ifdef _OPENMP
static void openmp_funneled(void)
{
    for (int round = 0; round < 40; round++) {
        uint64_t sum = 0;
        int all = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
        for (int i = 0; i < 12; i++)
            sum += compute(20000) & 1;
        int mine = (int)sum;
        DO(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        MUST(all == 12 * size);
    }
}

static void openmp_multiple(void)
{
#pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int i = 0; i < 4; i++)
        exchange_beside((void *)(intptr_t)i);
}
#endif

/* ---- */

static const struct mode {
    const char *name;
    int level;
    void (*run)(void);
} modes[] = {{"alltoall", MPI_THREAD_MULTIPLE, alltoall},
             {"pairs", MPI_THREAD_MULTIPLE, pairs},
             {"main-too", MPI_THREAD_MULTIPLE, main_too},
             {"many", MPI_THREAD_MULTIPLE, many},
             {"everywhere", MPI_THREAD_MULTIPLE, everywhere},
             {"computing", MPI_THREAD_MULTIPLE, computing},
             {"spinning", MPI_THREAD_MULTIPLE, spinning},
             {"condition", MPI_THREAD_MULTIPLE, condition},
             {"ending", MPI_THREAD_MULTIPLE, ending},
             {"serialized", MPI_THREAD_SERIALIZED, serialized},
             {"funneled", MPI_THREAD_FUNNELED, funneled},
#ifdef _OPENMP
             {"openmp-funneled", MPI_THREAD_FUNNELED, openmp_funneled},
             {"openmp-multiple", MPI_THREAD_MULTIPLE, openmp_multiple},
#endif
             {NULL, 0, NULL}};

static const struct mode *mode_of(const char *name)
{
    for (const struct mode *mode = modes; mode->name; mode++)
        if (!strcmp(mode->name, name))
            return mode;
    return NULL;
}

static const char *name_of(int level)
{
    return level == MPI_THREAD_MULTIPLE     ? "multiple"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
                                            : "funneled";
}

/* The highest level that a mode of the command line needs; -1: there is no such mode. */
static int level_of(int count, char **names)
{
    int level = count ? MPI_THREAD_SINGLE : -1;
    for (int i = 0; i < count; i++) {
        const struct mode *mode = mode_of(names[i]);
        if (!mode)
            return -1;
        level = mode->level > level ? mode->level : level;
        if (mode->run == funneled)
            MUST(!pthread_create(&early, NULL, work_early, NULL));
    }
    return level;
}

static void run(const struct mode *mode)
{
    mode->run();
    DO(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        printf("%s is right\n", mode->name);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int provided = 0, wanted_level = level_of(argc - 1, argv + 1);
    if (wanted_level < 0) {
        for (const struct mode *mode = modes; mode->name; mode++)
            printf("%s %s\n", mode->name, name_of(mode->level));
        return argc == 2 && !strcmp(argv[1], "modes") ? 0 : 2;
    }
    DO(MPI_Init_thread(&argc, &argv, wanted_level, &provided));
    DO(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DO(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MUST(provided >= wanted_level);
    for (int i = 1; i < argc; i++)
        run(mode_of(argv[i]));
    DO(MPI_Finalize());
    return 0;
}

/* lives MODE - MPI programs that live in unusual ways:
 *   threads   several threads of each rank call MPI
 *   fork      a rank forks, and both go on
 *   spawn     the ranks spawn others and talk to them
 *   yield     yields on its own, outside MPI
 *   tool      sends messages, counted by a tool that stands before MPI (tool.c)
 *   session   without MPI_COMM_WORLD (MPI 4)
 *   leave     ends without MPI_Finalize
 *   places    says how many CPUs threads may use
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define ROUNDS 200

static int rank, size;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

/* A number around `comm`, ROUNDS times. */
static long ring(MPI_Comm comm, int tag, int rounds)
{
    int self;
    int count;
    long value;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &count);
    value = self;
    for (int i = 0; i < rounds; i++) {
        long next = 0;
        MPI_Request request;
        MPI_Irecv(&next, 1, MPI_LONG, (self + count - 1) % count, tag, comm, &request);
        MPI_Send(&value, 1, MPI_LONG, (self + 1) % count, tag, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        value = next + 1;
    }
    return value;
}

static long expected(int self, int count, int rounds)
{
    return ((self - rounds) % count + count) % count + rounds;
}

/* ---- threads ---- */

struct thread {
    pthread_t id;
    MPI_Comm comm;
    long value;
};

static void *thread_main(void *context)
{
    struct thread *thread = context;
    thread->value = ring(thread->comm, 1, ROUNDS);
    MPI_Comm_free(&thread->comm);
    return NULL;
}

static void threads(void)
{
    struct thread all[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm);
        check(!pthread_create(&all[i].id, NULL, thread_main, &all[i]), "no thread");
    }
    long mine = ring(MPI_COMM_WORLD, 2, ROUNDS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].id, NULL);
        check(all[i].value == expected(rank, size, ROUNDS), "a thread got something else");
    }
    check(mine == expected(rank, size, ROUNDS), "the main thread got something else");
}

/* ---- places ---- */

static int cpus_of_caller(void)
{
    cpu_set_t cpus;
    check(!sched_getaffinity(0, sizeof(cpus), &cpus), "no CPUs");
    return CPU_COUNT(&cpus);
}

static void *count_cpus(void *count)
{
    *(int *)count = cpus_of_caller();
    return NULL;
}

static int cpus_of_thread(const pthread_attr_t *attributes)
{
    pthread_t id;
    int count = 0;
    check(!pthread_create(&id, attributes, count_cpus, &count), "no thread");
    pthread_join(id, NULL);
    return count;
}

/* One that starts another one: that inherits what it has. */
static void *start_another(void *count)
{
    *(int *)count = cpus_of_thread(NULL);
    return NULL;
}

/* It is told in the order of: this thread, those that it starts without attributes, with some that
 * say nothing of CPUs, with CPUs, and one that another thread started. */
static void places(void)
{
    pthread_attr_t attributes;
    pthread_t id;
    cpu_set_t mine;
    int found[5], least[5], most[5];
    check(!pthread_attr_init(&attributes), "no attributes");
    ring(MPI_COMM_WORLD, 1, ROUNDS); /* until it is bound */
    found[0] = cpus_of_caller();
    found[1] = cpus_of_thread(NULL);
    found[2] = cpus_of_thread(&attributes);
    check(!sched_getaffinity(0, sizeof(mine), &mine), "no CPUs");
    check(!pthread_attr_setaffinity_np(&attributes, sizeof(mine), &mine), "no place");
    found[3] = cpus_of_thread(&attributes);
    pthread_attr_destroy(&attributes);
    check(!pthread_create(&id, NULL, start_another, &found[4]), "no thread");
    pthread_join(id, NULL);
    MPI_Reduce(found, least, 5, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(found, most, 5, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    check(rank || !memcmp(least, most, sizeof(least)), "the ranks differ");
    for (int i = 0; rank == 0 && i < 5; i++)
        printf("%d%c", least[i], i < 4 ? ' ' : '\n');
}

/* ---- processes ---- */

static void forks(void)
{
    int status = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    pid_t child = fork();
    check(child >= 0, "no child");
    if (child == 0) {
        /* far from MPI, but it may yield, and end as programs do */
        for (int i = 0; i < 100; i++)
            sched_yield();
        _exit(7);
    }
    check(ring(MPI_COMM_WORLD, 1, ROUNDS) == expected(rank, size, ROUNDS), "the ring is wrong");
    check(waitpid(child, &status, 0) == child, "the child is lost");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ended in another way");
    check(system("exit 0") == 0, "no other program runs");
}

static void spawned(MPI_Comm parents)
{
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, rank, 5, parents, MPI_STATUS_IGNORE);
    value++;
    MPI_Send(&value, 1, MPI_INT, rank, 6, parents);
    check(ring(MPI_COMM_WORLD, 1, 20) == expected(rank, size, 20), "the children's ring is wrong");
    MPI_Comm_disconnect(&parents);
}

static void spawn(char *program)
{
    char mode[] = "spawn";
    char *arguments[] = {mode, NULL};
    MPI_Comm children;
    int value = rank;
    MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    if (rank < 2) {
        MPI_Send(&value, 1, MPI_INT, rank, 5, children);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, children, MPI_STATUS_IGNORE);
        check(value == rank + 1, "the child answered something else");
    }
    check(ring(MPI_COMM_WORLD, 1, 20) == expected(rank, size, 20), "the parents' ring is wrong");
    MPI_Comm_disconnect(&children);
}

#if MPI_VERSION >= 4
static void session(void)
{
    MPI_Session made;
    MPI_Group group;
    MPI_Comm comm;
    check(!MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made), "no session");
    MPI_Group_from_session_pset(made, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "lives", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    check(ring(comm, 1, ROUNDS) == expected(rank, size, ROUNDS), "the ring is wrong");
    if (rank == 0)
        puts("session is right");
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&made);
}
#endif

static void live(const char *mode, char **argv)
{
    if (!strcmp(mode, "threads"))
        threads();
    else if (!strcmp(mode, "fork"))
        forks();
    else if (!strcmp(mode, "spawn"))
        spawn(argv[0]);
    else if (!strcmp(mode, "yield"))
        for (int i = 0; i < 1000; i++)
            sched_yield();
    else if (!strcmp(mode, "places"))
        places();
    else if (!strcmp(mode, "tool") || !strcmp(mode, "leave"))
        check(ring(MPI_COMM_WORLD, 1, ROUNDS) == expected(rank, size, ROUNDS), "the ring is wrong");
    else
        check(0, "no such mode");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int provided = 0;
    MPI_Comm parents;
#if MPI_VERSION >= 4
    if (!strcmp(mode, "session")) {
        session();
        return 0;
    }
#endif
    MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(strcmp(mode, "threads") != 0 || provided == MPI_THREAD_MULTIPLE, "not for threads");
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL)
        spawned(parents);
    else
        live(mode, argv);
    if (rank == 0 && parents == MPI_COMM_NULL) {
        printf("%s is right\n", mode);
        fflush(stdout);
    }
    if (!strcmp(mode, "leave")) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(0);
    }
    MPI_Finalize();
    return 0;
}

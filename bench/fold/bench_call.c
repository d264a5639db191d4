/* bench_call [--blocks N] - what an MPI call costs more because libpleat-fold stands before it, in
 * a process that is folded with nobody (as it is while its partition has a processor for each).
 *
 * Every call is made both ways in turn, in blocks: as the program's own (which the library has),
 * and as the MPI library's function itself. Prints a line for each kind of call: call NAME, then
 * nanoseconds of processor time: through the library, without, and quartiles and median of the
 * difference It is started by bench_fold, once under each MPI.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report.h"

#define BLOCK 2000 /* calls */

typedef int test_call(MPI_Request *request, int *flag, MPI_Status *status);
typedef int probe_call(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
typedef int send_call(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm, MPI_Request *request);
typedef int receive_call(void *buffer, int count, MPI_Datatype type, int from, int tag,
                         MPI_Comm comm, MPI_Request *request);
typedef int wait_call(MPI_Request *request, MPI_Status *status);

/* One way to reach MPI. */
struct way {
    test_call *test;
    probe_call *probe;
    send_call *send;
    receive_call *receive;
    wait_call *wait;
};

enum kind { TEST, PROBE, MESSAGE, KINDS };
static const char *const names[KINDS] = {"test", "probe", "message"};
static const int calls_of[KINDS] = {1, 1, 4}; /* intercepted, for each of a block */

static void *library_of_mpi(void)
{
    static const char *const libraries[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof(libraries) / sizeof(libraries[0]); i++)
        library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
    return library;
}

static void find(void *function, void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "bench_call: no %s: %s\n", name, dlerror());
        exit(1);
    }
    memcpy(function, &found, sizeof(found));
}

static struct way way_through(void *library)
{
    struct way way;
    find(&way.test, library, "MPI_Test");
    find(&way.probe, library, "MPI_Iprobe");
    find(&way.send, library, "MPI_Isend");
    find(&way.receive, library, "MPI_Irecv");
    find(&way.wait, library, "MPI_Wait");
    return way;
}

static void tests(const struct way *way)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int flag;
    for (int i = 0; i < BLOCK; i++)
        way->test(&request, &flag, MPI_STATUS_IGNORE);
}

static void probes(const struct way *way)
{
    int flag;
    for (int i = 0; i < BLOCK; i++)
        way->probe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* To itself: the shortest way that a message can take. */
static void messages(const struct way *way)
{
    char in, out = 0;
    for (int i = 0; i < BLOCK; i++) {
        MPI_Request requests[2];
        way->receive(&in, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[0]);
        way->send(&out, 1, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[1]);
        way->wait(&requests[0], MPI_STATUS_IGNORE);
        way->wait(&requests[1], MPI_STATUS_IGNORE);
    }
}

static double block_ns(enum kind kind, const struct way *way)
{
    static void (*const blocks[KINDS])(const struct way *) = {tests, probes, messages};
    struct timespec begun, ended;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    blocks[kind](way);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    return ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) /
           BLOCK / calls_of[kind];
}

static void measure(enum kind kind, int count, const struct way *through, const struct way *direct)
{
    static struct bench_series wrapped, bare, more;
    wrapped.count = bare.count = more.count = 0;
    (void)block_ns(kind, through);
    (void)block_ns(kind, direct);
    for (int i = 0; i < count; i++) {
        bool first = i % 2 == 0;
        double one = block_ns(kind, first ? through : direct);
        double other = block_ns(kind, first ? direct : through);
        bench_add(&wrapped, first ? one : other);
        bench_add(&bare, first ? other : one);
        bench_add(&more, first ? one - other : other - one);
    }
    printf("call %s %.2f %.2f %.2f %.2f %.2f\n", names[kind], bench_median(&wrapped),
           bench_median(&bare), bench_quantile(&more, 0.25), bench_median(&more),
           bench_quantile(&more, 0.75));
}

int main(int argc, char **argv)
{
    int blocks = BENCH_REPEATS_MAX;
    MPI_Init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "--blocks"))
        blocks = atoi(argv[2]);
    struct way through = way_through(RTLD_DEFAULT);
    struct way direct = way_through(library_of_mpi());
    /* else there is nothing to compare */
    if (through.test == direct.test) {
        fprintf(stderr, "bench_call: libpleat-fold is not there\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (enum kind kind = TEST; kind < KINDS; kind++)
        measure(kind, blocks, &through, &direct);
    MPI_Finalize();
    return 0;
}

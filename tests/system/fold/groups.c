/* groups THREADS PART... - MPI programs by the groups of a conformance test, one part after the
 * other; prints a line for each, the same however the processes share their processors.
 *
 *   groups 0 PART...        only the thread that called MPI_Init
 *   groups N PART...        N threads at once (MPI_THREAD_MULTIPLE), all with the same part, each
 *                           with a communicator of its own
 *   groups N mixed PART...  a thread for each of the parts, all at once
 *   groups list             the parts, and who may do them: all threads, a program alone, or
 *                           nobody
 */
#include "groups.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 32

int rank, size;
const char *program_path;

void must(bool good, const char *what, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s:%d: %s is not so\n", rank, file, line, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

int64_t mix(int64_t sum, int64_t value)
{
    return (sum * 31 + value) % 1000000007;
}

/* Who may do it, for what an MPI cannot do in threads, whether it is folded or not. Files: two
 * threads of MPICH 4.0 that use files wait for each other for ever, and Open MPI 4.1 fails now and
 * then. Open MPI refuses memory that is attached; its threads may wait for ever at ports, in
 * spawning, and where they make distributed graphs again and again. MPICH as Debian builds it has
 * no ports, and spawns nothing. */
enum who { ALL, ALONE, NOBODY };
#ifdef OPEN_MPI
enum { LATER = ALONE, UNSAFE = ALONE };
#else
enum { LATER = NOBODY, UNSAFE = ALL };
#endif
static const char *const names_of_who[] = {"all", "alone", "nobody"};

static const struct part {
    const char *name;
    group_part *run;
    int who;
} parts[] = {
    {"window-fence", window_fence, ALL},
    {"window-group", window_group, ALL},
    {"window-shared", window_shared, ALL},
    {"window-locks", window_locks, ALL},
    {"window-swap", window_swap, ALL},
    {"window-queue-lock", window_queue_lock, ALL},
    {"window-flags", window_flags, ALL},
    {"window-dynamic", window_dynamic, UNSAFE},
    {"shape-grid", shape_grid, ALL},
    {"shape-graph", shape_graph, ALL},
    {"shape-neighbours", shape_neighbours, UNSAFE},
    {"shape-begun", shape_begun, ALL},
    {"file-own", file_own, ALONE},
    {"file-shared", file_shared, ALONE},
    {"file-together", file_together, ALONE},
    {"file-begun", file_begun, ALONE},
    {"file-views", file_views, ALONE},
    {"between-halves", between_halves, ALL},
    {"between-ports", between_ports, LATER},
    {"between-spawned", between_spawned, LATER},
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

struct thread {
    pthread_t id;
    const struct part *part;
    MPI_Comm comm;
    int number; /* from 1: 0 is a program without threads */
    int64_t result;
};

static void *thread_main(void *context)
{
    struct thread *thread = context;
    thread->result = thread->part->run(thread->comm, thread->number);
    return NULL;
}

/* Open MPI 4.1 opens what topologies need at their first use, and does not mind that two threads do
 * so at once: it crashes now and then. */
static void prepare_topologies(void)
{
    const int one = 1, none = 0;
    MPI_Comm comm;
    DO(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &none, 0, &comm));
    DO(MPI_Comm_free(&comm));
}

/* Thread i does `of[i]`. */
static int64_t in_threads(int count, const struct part *const *of)
{
    struct thread threads[THREADS_MAX];
    int64_t sum = 0;
    prepare_topologies();
    for (int i = 0; i < count; i++) {
        threads[i] = (struct thread){.part = of[i], .number = i + 1};
        DO(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
    }
    for (int i = 0; i < count; i++)
        MUST(!pthread_create(&threads[i].id, NULL, thread_main, &threads[i]));
    for (int i = 0; i < count; i++) {
        MUST(!pthread_join(threads[i].id, NULL));
        sum = mix(sum, threads[i].result);
        DO(MPI_Comm_free(&threads[i].comm));
    }
    return sum;
}

/* Every rank's result, in the order of ranks. */
static void report(const char *name, int64_t mine)
{
    int64_t all[1024], sum = 0;
    MUST(size <= 1024);
    DO(MPI_Gather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < size; i++)
        sum = mix(sum, all[i]);
    if (rank == 0) {
        printf("%s %lld\n", name, (long long)sum);
        fflush(stdout);
    }
}

static const struct part *part_of(const char *name)
{
    for (int i = 0; i < PARTS; i++)
        if (!strcmp(parts[i].name, name))
            return &parts[i];
    fprintf(stderr, "there is no part '%s'\n", name);
    exit(2);
}

static void run_alone(const char *name)
{
    MPI_Comm comm;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    int64_t result = part_of(name)->run(comm, 0);
    DO(MPI_Comm_free(&comm));
    report(name, result);
}

int main(int argc, char **argv)
{
    const struct part *chosen[THREADS_MAX];
    int threads = argc > 1 ? atoi(argv[1]) : 0, provided = 0;
    MPI_Comm parents;
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (int i = 0; i < PARTS; i++)
            printf("%s %s\n", parts[i].name, names_of_who[parts[i].who]);
        return 0;
    }
    program_path = argv[0];
    DO(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    DO(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DO(MPI_Comm_size(MPI_COMM_WORLD, &size));
    DO(MPI_Comm_get_parent(&parents));
    MUST(!threads || provided == MPI_THREAD_MULTIPLE);
    if (parents != MPI_COMM_NULL)
        between_child(parents);
    else if (argc > 2 && !strcmp(argv[2], "mixed")) {
        MUST(argc - 3 <= THREADS_MAX);
        for (int i = 3; i < argc; i++)
            chosen[i - 3] = part_of(argv[i]);
        report("mixed", in_threads(argc - 3, chosen));
    } else
        for (int i = 2; i < argc; i++) {
            for (int k = 0; k < threads && k < THREADS_MAX; k++)
                chosen[k] = part_of(argv[i]);
            if (threads)
                report(argv[i], in_threads(threads, chosen));
            else
                run_alone(argv[i]);
        }
    DO(MPI_Finalize());
    return 0;
}

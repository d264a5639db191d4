/* resize_bare loop BYTES ROWS SIZE... | heat N SIZE... - the programs that Pleat's loop and heat
 * are measured against: the same state, the same computing, the same ranks, with the resizes
 * written into the program.
 *
 * Prints "TIME from to seconds" per resize: rank 0's, from its arrival until every rank has its
 * data, which is also what libpleat reports. After a shrink the next step waits until the processes
 * that left are gone, as the program with Pleat does. "HOSTS n" at the end, of its ranks, and
 * "RESULT ok" when the state is right.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare.h"

#define SWEEPS 3 /* between two resizes of heat */
#define RANKS_MAX 64

struct program {
    struct bare bare;
    int heat;
    double *scratch; /* heat: two rows */
};

/* ---- heat ---- */

static double exact(long long n, long long sweeps, long long i, long long j)
{
    double h = acos(-1.0) / (double)(n + 1);
    return pow(cos(h), (double)sweeps) * sin(h * (double)(i + 1)) * sin(h * (double)(j + 1));
}

static double *plate_of(const struct bare *bare)
{
    return (double *)(void *)bare->data;
}

static void fill_heat(const struct bare *bare)
{
    for (long long i = 0; i < bare->count; i++)
        for (long long j = 0; j < bare->rows; j++)
            plate_of(bare)[i * bare->rows + j] = exact(bare->rows, 0, bare->first + i, j);
}

static void exchange_halo(const struct bare *bare)
{
    double *plate = plate_of(bare);
    int n = (int)bare->rows;
    int above = bare->rank > 0 ? bare->rank - 1 : MPI_PROC_NULL;
    int below = bare->rank + 1 < bare->size ? bare->rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(plate, n, MPI_DOUBLE, above, 1, plate + bare->count * n, n, MPI_DOUBLE, below, 1,
                 bare->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate + (bare->count - 1) * n, n, MPI_DOUBLE, below, 2, plate - n, n, MPI_DOUBLE,
                 above, 2, bare->comm, MPI_STATUS_IGNORE);
}

static void sweep_heat(const struct bare *bare, double *scratch)
{
    long long n = bare->rows;
    double *above = scratch;
    double *old = scratch + n;
    memcpy(above, plate_of(bare) - n, (size_t)n * sizeof(double));
    for (long long i = 0; i < bare->count; i++) {
        double *row = plate_of(bare) + i * n;
        memcpy(old, row, (size_t)n * sizeof(double));
        for (long long j = 0; j < n; j++) {
            double left = j > 0 ? old[j - 1] : 0;
            double right = j < n - 1 ? old[j + 1] : 0;
            row[j] = 0.25 * (left + right + above[j] + row[j + n]);
        }
        double *swap = above;
        above = old;
        old = swap;
    }
}

static long long wrong_points(const struct bare *bare, long long sweeps)
{
    long long wrong = 0;
    long long all = 0;
    for (long long i = 0; i < bare->count; i++)
        for (long long j = 0; j < bare->rows; j++)
            wrong += !(fabs(plate_of(bare)[i * bare->rows + j] -
                            exact(bare->rows, sweeps, bare->first + i, j)) < 1e-8);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, bare->comm);
    return all;
}

/* ---- either ---- */

static int read_arguments(struct program *program, int argc, char **argv)
{
    struct bare *bare = &program->bare;
    program->heat = argc > 3 && !strcmp(argv[1], "heat");
    if (!program->heat && !(argc > 4 && !strcmp(argv[1], "loop")))
        return 0;
    bare->comm = MPI_COMM_NULL;
    bare->rows = atoll(argv[program->heat ? 2 : 3]);
    if (bare->rows < RANKS_MAX || bare->rows > 1 << 20)
        return 0;
    bare->words = program->heat ? bare->rows : atoll(argv[2]) / bare->rows / 8;
    program->scratch = malloc(2 * (size_t)bare->rows * sizeof(double));
    return bare->words >= 1 && program->scratch ? program->heat ? 3 : 4 : 0;
}

static void compute(const struct program *program)
{
    for (int i = 0; program->heat && i < SWEEPS; i++) {
        exchange_halo(&program->bare);
        sweep_heat(&program->bare, program->scratch);
    }
    if (!program->heat)
        MPI_Barrier(program->bare.comm);
}

/* Collective; rank 0 gets something to wait on for each rank from `to` on. */
static int watch_leavers(const struct bare *bare, int to, struct pollfd *watches)
{
    int pid = (int)getpid();
    int pids[RANKS_MAX];
    int count = 0;
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, bare->comm);
    for (int i = to; bare->rank == 0 && i < bare->size; i++)
        watches[count++] =
            (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, pids[i], 0), .events = POLLIN};
    return count;
}

static void wait_for_leavers(struct pollfd *watches, int count)
{
    for (int i = 0; i < count; i++) {
        if (watches[i].fd < 0)
            continue;
        poll(&watches[i], 1, 10000);
        close(watches[i].fd);
    }
}

/* Resizes; false in a rank that left. */
static int step_to(struct program *program, int to, long long step, char **argv)
{
    struct bare *bare = &program->bare;
    struct pollfd watches[RANKS_MAX];
    int from = bare->size;
    int leaving = to < from ? watch_leavers(bare, to, watches) : 0;
    compute(program);
    double begun = MPI_Wtime();
    if (to > from)
        bare_grow(bare, to, step, argv);
    else
        bare_shrink(bare, to);
    if (bare->comm == MPI_COMM_NULL)
        return 0;
    if (to > from)
        MPI_Barrier(bare->comm); /* done when every rank has its data */
    double seconds = MPI_Wtime() - begun;
    if (bare->rank == 0)
        printf("TIME %d %d %.9f\n", from, to, seconds);
    wait_for_leavers(watches, leaving);
    MPI_Barrier(bare->comm);
    return 1;
}

static void tell_hosts(const struct bare *bare)
{
    enum { NAME = MPI_MAX_PROCESSOR_NAME };
    static char names[RANKS_MAX][NAME];
    char name[NAME] = "";
    int length;
    int hosts = 0;
    MPI_Get_processor_name(name, &length);
    MPI_Gather(name, NAME, MPI_CHAR, names, NAME, MPI_CHAR, 0, bare->comm);
    for (int i = 0; bare->rank == 0 && i < bare->size; i++) {
        int same = 0;
        while (strcmp(names[same], names[i]))
            same++;
        hosts += same == i;
    }
    if (bare->rank == 0)
        printf("HOSTS %d\n", hosts);
}

int main(int argc, char **argv)
{
    struct program program = {0};
    struct bare *bare = &program.bare;
    long long step = 0;
    MPI_Comm parent;
    int sizes = read_arguments(&program, argc, argv);
    if (!sizes) {
        fputs("usage: resize_bare loop BYTES ROWS SIZE... | heat N SIZE...\n", stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        bare_join(bare, parent, &step);
        MPI_Barrier(bare->comm); /* the one in which the time ends */
        MPI_Barrier(bare->comm);
        step++;
    } else {
        bare_start(bare);
        if (program.heat)
            fill_heat(bare);
        else
            bare_fill_words(bare);
    }
    for (int left = 0; !left && step < argc - sizes; step++)
        left = !step_to(&program, atoi(argv[sizes + step]), step, argv);
    long long wrong = 0;
    if (bare->comm != MPI_COMM_NULL) {
        wrong = program.heat ? wrong_points(bare, SWEEPS * step) : bare_wrong_words(bare);
        tell_hosts(bare);
        if (bare->rank == 0)
            printf("RESULT %s\n", wrong ? "wrong" : "ok");
    }
    bare_finish(bare);
    free(program.scratch);
    MPI_Finalize();
    return wrong != 0;
}

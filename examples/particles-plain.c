/* particles [N [STEPS]] - N particles that drift round a ring, each on the rank that has its part
 * of the ring. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    double x, speed; /* x: 0 to 1, round the ring */
};

/* The particles of this rank. */
static struct particle *particles;
static long count;

static int owner(const struct particle *p, int size)
{
    int rank = (int)(p->x * size);
    return rank < size ? rank : size - 1;
}

static void make(long n, int rank, int size)
{
    particles = calloc(n, sizeof(*particles));
    for (long i = 0; i < n; i++) {
        struct particle p = {fmod(i * 0.618033988749895, 1), 1e-3 * (i % 7)};
        if (owner(&p, size) == rank)
            particles[count++] = p;
    }
}

static void drift(void)
{
    for (long i = 0; i < count; i++)
        particles[i].x = fmod(particles[i].x + particles[i].speed, 1);
}

/* Sends each particle to its rank. */
static void migrate(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    int *to = calloc(4 * size, sizeof(int)), *from = to + size, *at = from + size, *in = at + size;
    for (long i = 0; i < count; i++)
        to[owner(&particles[i], size)] += sizeof(struct particle);
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm);
    for (int r = 1; r < size; r++) {
        at[r] = at[r - 1] + to[r - 1];
        in[r] = in[r - 1] + from[r - 1];
    }
    long bytes = in[size - 1] + from[size - 1];
    char *sorted = malloc(count * sizeof(struct particle) + 1);
    for (long i = 0; i < count; i++) {
        int *next = &at[owner(&particles[i], size)];
        memcpy(sorted + *next, &particles[i], sizeof(struct particle));
        *next += sizeof(struct particle);
    }
    for (int r = 0; r < size; r++)
        at[r] -= to[r];
    count = bytes / sizeof(struct particle);
    particles = realloc(particles, bytes + 1);
    MPI_Alltoallv(sorted, to, at, MPI_BYTE, particles, from, in, MPI_BYTE, comm);
    free(sorted);
    free(to);
}

static void report(MPI_Comm comm)
{
    double mine[2] = {count, 0}, all[2];
    int rank, size;
    for (long i = 0; i < count; i++)
        mine[1] += particles[i].x;
    MPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank == 0)
        printf("%.0f particles, mean %.6f, on %d ranks\n", all[0], all[1] / all[0], size);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000, steps = argc > 2 ? atol(argv[2]) : 1000;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make(n, rank, size);

    for (long k = 0; k < steps; k++) {
        drift();
        migrate(MPI_COMM_WORLD);
    }
    report(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

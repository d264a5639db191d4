/* particles [N [STEPS]] - N particles that drift round a ring, each on the rank that has its part
 * of the ring. */
#include <math.h>
#include <mpi.h>
#include <pleat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct particle {
    double x, speed; /* x: 0 to 1, round the ring */
};

/* The particles of this rank. */
static struct pleat_particles *handle;

/* Makes room for `count` particles. */
static struct particle *resize(long count)
{
    struct pleat_error err;
    pleat_or_abort(pleat_particles_set_count(handle, count, &err), &err);
    return pleat_particles_data(handle);
}

static int owner(const struct particle *p, int size)
{
    int rank = (int)(p->x * size);
    return rank < size ? rank : size - 1;
}

static void make(long n, int rank, int size)
{
    struct particle *particles = resize(n);
    long count = 0;
    for (long i = 0; i < n; i++) {
        struct particle p = {fmod(i * 0.618033988749895, 1), 1e-3 * (i % 7)};
        if (owner(&p, size) == rank)
            particles[count++] = p;
    }
    resize(count);
}

static void drift(void)
{
    struct particle *particles = pleat_particles_data(handle);
    long count = pleat_particles_count(handle);
    for (long i = 0; i < count; i++)
        particles[i].x = fmod(particles[i].x + particles[i].speed, 1);
}

/* Sends each particle to its rank. */
static void migrate(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    struct particle *particles = pleat_particles_data(handle);
    long count = pleat_particles_count(handle);
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
    particles = resize(bytes / sizeof(struct particle));
    MPI_Alltoallv(sorted, to, at, MPI_BYTE, particles, from, in, MPI_BYTE, comm);
    free(sorted);
    free(to);
}

static void report(MPI_Comm comm)
{
    struct particle *particles = pleat_particles_data(handle);
    long count = pleat_particles_count(handle);
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

/* As `owner`, for the library. */
static int owner_of(const void *particle, int size, void *arg)
{
    (void)arg;
    return owner(particle, size);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 10000, steps = argc > 2 ? atol(argv[2]) : 1000;
    long k = 0;
    struct pleat_session *session;
    struct pleat_error err;

    MPI_Init(&argc, &argv);
    pleat_or_abort(pleat_session_create(&session, &err), &err);
    pleat_or_abort(pleat_value_register(session, "k", &k, sizeof(k), &err), &err);
    pleat_or_abort(
        pleat_particles_create(session, "particles", sizeof(struct particle), &handle, &err), &err);
    pleat_particles_on_owner(handle, owner_of, NULL);
    int what = pleat_or_abort(pleat_session_begin(session, &err), &err);
    if (what == PLEAT_STARTED)
        make(n, pleat_session_rank(session), pleat_session_size(session));

    while (k < steps && what != PLEAT_LEAVE) {
        drift();
        migrate(pleat_session_comm(session));
        k++;
        what = pleat_or_abort(pleat_session_adapt(session, &err), &err);
    }
    if (what != PLEAT_LEAVE)
        report(pleat_session_comm(session));
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}

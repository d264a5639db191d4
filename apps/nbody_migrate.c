#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbody.h"

void *nbody_allocate(long long count, size_t bytes)
{
    void *memory = calloc((size_t)(count ? count : 1), bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

_Noreturn void nbody_give_up(const char *why)
{
    fprintf(stderr, "nbody: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

struct particle *nbody_set_count(struct nbody *nbody, long long count)
{
    struct pleat_error err;
    if (pleat_particles_set_count(nbody->handle, count, &err))
        app_give_up("cannot make room for particles", &err);
    return pleat_particles_data(nbody->handle);
}

/* All ranks get what is to be known of all particles, in nbody->seen. */
static void gather(struct nbody *nbody)
{
    MPI_Comm comm = pleat_session_comm(nbody->session);
    int ranks = pleat_session_size(nbody->session);
    long long count = pleat_particles_count(nbody->handle);
    const struct particle *particles = pleat_particles_data(nbody->handle);
    int bytes = (int)(count * (long long)sizeof(struct seen)), all = 0;
    int *counts = nbody_allocate(2LL * ranks, sizeof(int)), *starts = counts + ranks;
    struct seen *mine = nbody_allocate(count, sizeof(*mine));
    for (long long i = 0; i < count; i++) {
        mine[i] = (struct seen){particles[i].id, particles[i].work, {0}, particles[i].mass};
        memcpy(mine[i].x, particles[i].x, sizeof(mine[i].x));
    }
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) {
        starts[r] = all;
        all += counts[r];
    }
    if (all != (int)(nbody->options.n * (long long)sizeof(struct seen)))
        nbody_give_up("there are more or fewer particles than at the beginning");
    MPI_Allgatherv(mine, bytes, MPI_BYTE, nbody->seen, counts, starts, MPI_BYTE, comm);
    free(mine);
    free(counts);
}

void nbody_look(struct nbody *nbody)
{
    long long n = nbody->options.n;
    gather(nbody);
    for (long long i = 0; i < n; i++)
        nbody->work[i] = 0;
    for (long long i = 0; i < n; i++) {
        const struct seen *seen = &nbody->seen[i];
        if (seen->id < 0 || seen->id >= n || nbody->work[seen->id])
            nbody_give_up("a particle is there twice");
        nbody->work[seen->id] = seen->work;
        nbody->mass[seen->id] = seen->mass;
        memcpy(nbody->x[seen->id], seen->x, sizeof(seen->x));
    }
    if (!tree_build(&nbody->tree, (const double(*)[3])nbody->x, nbody->mass))
        nbody_give_up("there is no memory for the tree");
    for (int i = 0; i < n; i++)
        nbody->place[nbody->tree.order[i]] = i;
}

/* Where the parts of the tree's order begin that the ranks get, each with as much work; and the
 * end. */
static int *cut(const struct nbody *nbody)
{
    int ranks = pleat_session_size(nbody->session), rank = 0, n = (int)nbody->options.n;
    int *starts = nbody_allocate(ranks + 1LL, sizeof(int));
    double all = 0, before = 0;
    for (int i = 0; i < n; i++)
        all += (double)nbody->work[i];
    for (int i = 0; i < n; i++) {
        double work = (double)nbody->work[nbody->tree.order[i]];
        while (rank < ranks && before + work / 2 >= all * rank / ranks)
            starts[rank++] = i;
        before += work;
    }
    while (rank <= ranks)
        starts[rank++] = n;
    return starts;
}

static int owner(const int *starts, int ranks, int place)
{
    int low = 0, high = ranks;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sends `count` particles, sorted by the rank to which to[r] of them go. Those that come are put
 * into the tree's order, this rank's part of which begins at `first`. Returns how many changed
 * rank. */
static long long send(struct nbody *nbody, const struct particle *sorted, const int *to, int first)
{
    int ranks = pleat_session_size(nbody->session), rank = pleat_session_rank(nbody->session);
    const int bytes = (int)sizeof(struct particle);
    int *counts = nbody_allocate(4LL * ranks, sizeof(int));
    int *from = counts + ranks, *out = from + ranks, *in = out + ranks, count = 0;
    for (int r = 0; r < ranks; r++)
        counts[r] = to[r] * bytes;
    MPI_Comm comm = pleat_session_comm(nbody->session);
    MPI_Alltoall(counts, 1, MPI_INT, from, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) {
        count += from[r] / bytes;
        out[r] = r ? out[r - 1] + counts[r - 1] : 0;
        in[r] = r ? in[r - 1] + from[r - 1] : 0;
    }
    struct particle *received = nbody_allocate(count, sizeof(*received));
    MPI_Alltoallv(sorted, counts, out, MPI_BYTE, received, from, in, MPI_BYTE, comm);
    struct particle *particles = nbody_set_count(nbody, count);
    for (int i = 0; i < count; i++)
        particles[nbody->place[received[i].id] - first] = received[i];
    long long moved = count - from[rank] / bytes;
    free(received);
    free(counts);
    return moved;
}

void nbody_migrate(struct nbody *nbody)
{
    int ranks = pleat_session_size(nbody->session), rank = pleat_session_rank(nbody->session);
    long long count = pleat_particles_count(nbody->handle), moved, all;
    const struct particle *particles = pleat_particles_data(nbody->handle);
    int *starts = cut(nbody), *to = nbody_allocate(2LL * ranks, sizeof(int)), *next = to + ranks;
    struct particle *sorted = nbody_allocate(count, sizeof(*sorted));
    for (long long i = 0; i < count; i++)
        to[owner(starts, ranks, nbody->place[particles[i].id])]++;
    for (int r = 1; r < ranks; r++)
        next[r] = next[r - 1] + to[r - 1];
    for (long long i = 0; i < count; i++)
        sorted[next[owner(starts, ranks, nbody->place[particles[i].id])]++] = particles[i];
    moved = send(nbody, sorted, to, starts[rank]);
    MPI_Allreduce(&moved, &all, 1, MPI_LONG_LONG, MPI_SUM, pleat_session_comm(nbody->session));
    nbody->progress.moved += all;
    free(sorted);
    free(to);
    free(starts);
}

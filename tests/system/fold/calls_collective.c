/* calls_collective.c - calls in which all processes of a communicator take part. */
#include <mpi.h>
#include <stdlib.h>

#include "calls.h"

#define MOST 64 /* ranks */

/* What one rank brings to all calls of a round, and what it gets. */
struct data {
    int out[MOST], in[MOST], one;
    int counts[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
};

static void fill(struct data *data, int64_t sum)
{
    MUST(size <= MOST);
    data->one = (int)(sum % 1000);
    for (int i = 0; i < size; i++) {
        data->out[i] = (int)((sum + i) % 1000);
        data->in[i] = 0;
        data->counts[i] = 1;
        data->places[i] = i;
        data->bytes[i] = i * (int)sizeof(int);
        data->types[i] = MPI_INT;
    }
}

static int64_t gathered(const struct data *data, int64_t sum)
{
    for (int i = 0; i < size; i++)
        sum = mix(sum, data->in[i]);
    return mix(sum, data->one);
}

static void move_all(struct data *d)
{
    MPI_Comm all = MPI_COMM_WORLD;
    DO(MPI_Bcast(&d->one, 1, MPI_INT, size - 1, all));
    d->one += rank;
    DO(MPI_Allgather(&d->one, 1, MPI_INT, d->in, 1, MPI_INT, all));
    DO(MPI_Alltoall(d->in, 1, MPI_INT, d->out, 1, MPI_INT, all));
    DO(MPI_Gather(&d->out[0], 1, MPI_INT, d->in, 1, MPI_INT, 0, all));
    DO(MPI_Scatter(d->in, 1, MPI_INT, &d->one, 1, MPI_INT, 0, all));
    DO(MPI_Allgatherv(&d->one, 1, MPI_INT, d->in, d->counts, d->places, MPI_INT, all));
    DO(MPI_Alltoallv(d->in, d->counts, d->places, MPI_INT, d->out, d->counts, d->places, MPI_INT,
                     all));
    DO(MPI_Gatherv(&d->out[1 % size], 1, MPI_INT, d->in, d->counts, d->places, MPI_INT, 0, all));
    DO(MPI_Scatterv(d->in, d->counts, d->places, MPI_INT, &d->one, 1, MPI_INT, 0, all));
    DO(MPI_Alltoallw(d->out, d->counts, d->bytes, d->types, d->in, d->counts, d->bytes, d->types,
                     all));
    DO(MPI_Barrier(all));
}

static void combine_all(struct data *d)
{
    MPI_Comm all = MPI_COMM_WORLD;
    int got = 0;
    DO(MPI_Allreduce(d->in, d->out, size, MPI_INT, MPI_MAX, all));
    DO(MPI_Reduce(&d->one, &d->in[0], 1, MPI_INT, MPI_SUM, 0, all));
    DO(MPI_Reduce_scatter(d->out, &got, d->counts, MPI_INT, MPI_SUM, all));
    d->one = got % 1000;
    DO(MPI_Reduce_scatter_block(d->out, &got, 1, MPI_INT, MPI_MIN, all));
    d->one += got % 1000;
    DO(MPI_Scan(&d->one, &got, 1, MPI_INT, MPI_SUM, all));
    d->one = got % 1000;
    got = 0;
    DO(MPI_Exscan(&d->one, &got, 1, MPI_INT, MPI_SUM, all));
    d->one = rank ? got % 1000 : d->one;
}

int64_t do_collectives(void)
{
    static struct data data;
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        fill(&data, sum);
        move_all(&data);
        combine_all(&data);
        sum = gathered(&data, sum);
    }
    return sum;
}

/* ---- begun, then waited for or looked for ---- */

static void finish(MPI_Request *request)
{
    static unsigned turn;
    int flag = 0;
    if (turn++ % 2)
        DO(MPI_Wait(request, MPI_STATUS_IGNORE));
    else
        while (!flag)
            DO(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    MUST(*request == MPI_REQUEST_NULL);
}

static void begin_moves(struct data *d)
{
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request r;
    DO(MPI_Ibcast(&d->one, 1, MPI_INT, size - 1, all, &r));
    finish(&r);
    d->one += rank;
    DO(MPI_Iallgather(&d->one, 1, MPI_INT, d->in, 1, MPI_INT, all, &r));
    finish(&r);
    DO(MPI_Ialltoall(d->in, 1, MPI_INT, d->out, 1, MPI_INT, all, &r));
    finish(&r);
    DO(MPI_Igather(&d->out[0], 1, MPI_INT, d->in, 1, MPI_INT, 0, all, &r));
    finish(&r);
    DO(MPI_Iscatter(d->in, 1, MPI_INT, &d->one, 1, MPI_INT, 0, all, &r));
    finish(&r);
    DO(MPI_Iallgatherv(&d->one, 1, MPI_INT, d->in, d->counts, d->places, MPI_INT, all, &r));
    finish(&r);
    DO(MPI_Ialltoallv(d->in, d->counts, d->places, MPI_INT, d->out, d->counts, d->places, MPI_INT,
                      all, &r));
    finish(&r);
    DO(MPI_Igatherv(&d->out[0], 1, MPI_INT, d->in, d->counts, d->places, MPI_INT, 0, all, &r));
    finish(&r);
    DO(MPI_Iscatterv(d->in, d->counts, d->places, MPI_INT, &d->one, 1, MPI_INT, 0, all, &r));
    finish(&r);
    DO(MPI_Ialltoallw(d->out, d->counts, d->bytes, d->types, d->in, d->counts, d->bytes, d->types,
                      all, &r));
    finish(&r);
    DO(MPI_Ibarrier(all, &r));
    finish(&r);
}

static void begin_combinations(struct data *d)
{
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request r;
    int got = 0;
    int before = 0;
    DO(MPI_Iallreduce(d->in, d->out, size, MPI_INT, MPI_MAX, all, &r));
    finish(&r);
    DO(MPI_Ireduce(&d->one, &got, 1, MPI_INT, MPI_SUM, 0, all, &r));
    finish(&r);
    d->in[0] += got % 1000;
    DO(MPI_Ireduce_scatter(d->out, &got, d->counts, MPI_INT, MPI_SUM, all, &r));
    finish(&r);
    d->one = got % 1000;
    DO(MPI_Ireduce_scatter_block(d->out, &got, 1, MPI_INT, MPI_MIN, all, &r));
    finish(&r);
    d->one += got % 1000;
    DO(MPI_Iscan(&d->one, &got, 1, MPI_INT, MPI_SUM, all, &r));
    finish(&r);
    DO(MPI_Iexscan(&d->one, &before, 1, MPI_INT, MPI_SUM, all, &r));
    finish(&r);
    d->one = (got + (rank ? before : 0)) % 1000;
}

int64_t do_begun_collectives(void)
{
    static struct data data;
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        fill(&data, sum);
        begin_moves(&data);
        begin_combinations(&data);
        sum = gathered(&data, sum);
    }
    return sum;
}

/* ---- neighbours on a ring ---- */

struct ring {
    int out[2], in[2], counts[2], places[2];
    MPI_Aint bytes[2];
    MPI_Datatype types[2];
};

static int64_t ring_calls(MPI_Comm ring, int64_t sum)
{
    struct ring d = {.out = {(int)(sum % 1000), rank},
                     .counts = {1, 1},
                     .places = {0, 1},
                     .bytes = {0, sizeof(int)},
                     .types = {MPI_INT, MPI_INT}};
    DO(MPI_Neighbor_allgather(d.out, 1, MPI_INT, d.in, 1, MPI_INT, ring));
    DO(MPI_Neighbor_allgatherv(d.in, 1, MPI_INT, d.out, d.counts, d.places, MPI_INT, ring));
    DO(MPI_Neighbor_alltoall(d.out, 1, MPI_INT, d.in, 1, MPI_INT, ring));
    DO(MPI_Neighbor_alltoallv(d.in, d.counts, d.places, MPI_INT, d.out, d.counts, d.places, MPI_INT,
                              ring));
    DO(MPI_Neighbor_alltoallw(d.out, d.counts, d.bytes, d.types, d.in, d.counts, d.bytes, d.types,
                              ring));
    return mix(mix(sum, d.in[0]), d.in[1]);
}

static int64_t ring_calls_begun(MPI_Comm ring, int64_t sum)
{
    MPI_Request r;
    struct ring d = {.out = {(int)(sum % 1000), rank},
                     .counts = {1, 1},
                     .places = {0, 1},
                     .bytes = {0, sizeof(int)},
                     .types = {MPI_INT, MPI_INT}};
    DO(MPI_Ineighbor_allgather(d.out, 1, MPI_INT, d.in, 1, MPI_INT, ring, &r));
    finish(&r);
    DO(MPI_Ineighbor_allgatherv(d.in, 1, MPI_INT, d.out, d.counts, d.places, MPI_INT, ring, &r));
    finish(&r);
    DO(MPI_Ineighbor_alltoall(d.out, 1, MPI_INT, d.in, 1, MPI_INT, ring, &r));
    finish(&r);
    DO(MPI_Ineighbor_alltoallv(d.in, d.counts, d.places, MPI_INT, d.out, d.counts, d.places,
                               MPI_INT, ring, &r));
    finish(&r);
    DO(MPI_Ineighbor_alltoallw(d.out, d.counts, d.bytes, d.types, d.in, d.counts, d.bytes, d.types,
                               ring, &r));
    finish(&r);
    return mix(mix(sum, d.in[0]), d.in[1]);
}

int64_t do_neighbours(void)
{
    int64_t sum = rank;
    const int periodic = 1;
    int neighbours[] = {(rank + size - 1) % size, (rank + 1) % size};
    MPI_Comm rings[2];
    DO(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &rings[0]));
    DO(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbours, MPI_UNWEIGHTED, 2, neighbours,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &rings[1]));
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 2; k++) {
            sum = ring_calls(rings[k], sum);
            sum = ring_calls_begun(rings[k], sum);
        }
    DO(MPI_Comm_free(&rings[0]));
    DO(MPI_Comm_free(&rings[1]));
    return sum;
}

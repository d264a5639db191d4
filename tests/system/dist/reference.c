/* reference CASES - under mpirun: matrices are redistributed by ScaLAPACK's pdgemr2d, and by plans
 * of src/dist with MPI datatypes made of them; every byte of all local arrays must be the same.
 * Prints the seed (PLEAT_TEST_SEED) and how many redistributions were compared.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "dist/copy.h"
#include "dist/descriptor.h"
#include "support/dist_elements.h"

/* The BLACS and ScaLAPACK, as their C interfaces are: they have no headers. */
extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridexit(int context);
extern void Cpdgemr2d(int m, int n, const double *a, int ia, int ja, const int *desca, double *b,
                      int ib, int jb, const int *descb, int context);
extern int numroc_(const int *n, const int *nb, const int *iproc, const int *isrcproc,
                   const int *nprocs);

#define RANKS_MAX 64
#define NOTHING 0xEE

static int rank, ranks;
static struct pleat_random random_numbers; /* the same on all ranks */

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "reference: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static int below(int bound)
{
    return (int)pleat_random_below(&random_numbers, (uint64_t)bound);
}

/* ---- a matrix on a grid ---- */

struct side {
    struct pleat_dist dist;
    int context; /* -1 where this rank is not in the grid */
    int descriptor[PLEAT_DESCRIPTOR_SIZE];
    int64_t allocated[2];
    size_t bytes;
    double *memory;
};

static struct pleat_dim choose_dim(int extent, int processes)
{
    return (struct pleat_dim){.extent = extent,
                              .format = PLEAT_DIM_BLOCK_CYCLIC,
                              .processes = processes,
                              .block = 1 + below(below(2) ? 8 : 64),
                              .first = below(processes)};
}

/* ScaLAPACK itself says how many rows there are. */
static void check_rows(const struct side *side)
{
    int at[PLEAT_DIST_DIMS];
    pleat_dist_coordinates(&side->dist, rank, at);
    for (int d = 0; d < 2; d++) {
        const struct pleat_dim *dim = &side->dist.dim[d];
        int extent = (int)dim->extent;
        int block = (int)dim->block;
        if (numroc_(&extent, &block, &at[d], &dim->first, &dim->processes) !=
            pleat_dim_count(dim, at[d]))
            give_up("numroc says otherwise");
    }
}

static void set_up(struct side *side, int m, int n, int rows, int columns)
{
    struct pleat_error err;
    int at[PLEAT_DIST_DIMS];
    *side =
        (struct side){.dist = {.name = "A",
                               .dims = 2,
                               .ranks = rows * columns,
                               .element_bytes = sizeof(double),
                               .storage = PLEAT_DIST_COLUMN_MAJOR,
                               .grid = below(2) ? PLEAT_DIST_COLUMN_MAJOR : PLEAT_DIST_ROW_MAJOR,
                               .dim = {choose_dim(m, rows), choose_dim(n, columns)}}};
    struct pleat_descriptor_grid grid = {rows, columns, side->dist.grid};
    int more = below(4);
    Cblacs_get(-1, 0, &side->context);
    Cblacs_gridinit(&side->context, grid.order == PLEAT_DIST_ROW_MAJOR ? "R" : "C", rows, columns);
    if (pleat_dist_coordinates(&side->dist, rank, at) != (side->context >= 0))
        give_up("the BLACS see another grid");
    if (side->context >= 0)
        check_rows(side);
    if (pleat_descriptor_write(&side->dist, rank, side->context, 0, side->descriptor, &err))
        give_up(err.text);
    side->descriptor[PLEAT_LLD] += more;
    /* and back: from here on everything is as the descriptor says */
    if (pleat_descriptor_read(side->descriptor, &grid, rank, "A", sizeof(double), &side->dist,
                              side->allocated, &err))
        give_up(err.text);
    struct pleat_layout layout;
    if (pleat_dist_layout(&side->dist, rank, side->allocated, &layout, &err))
        give_up(err.text);
    side->bytes = (size_t)layout.bytes;
    side->memory = malloc(side->bytes + sizeof(double));
    if (!side->memory)
        give_up("out of memory");
    memset(side->memory, NOTHING, side->bytes);
}

static void take_down(struct side *side)
{
    free(side->memory);
    if (side->context >= 0)
        Cblacs_gridexit(side->context);
}

static void fill(struct side *side)
{
    struct pleat_layout layout;
    if (pleat_dist_layout(&side->dist, rank, side->allocated, &layout, NULL))
        give_up("no layout");
    for (int64_t j = 0; j < layout.owned[1]; j++)
        for (int64_t i = 0; i < layout.owned[0]; i++) {
            const int64_t local[] = {i, j};
            int64_t global[2] = {0};
            dist_global(&side->dist, rank, local, global);
            side->memory[dist_offset(&side->dist, &layout, local) / (int)sizeof(double)] =
                (double)(global[0] * 4096 + global[1]);
        }
}

/* ---- by datatypes ---- */

/* A type of `inner` at every index of a list: vectors in a struct. */
static MPI_Datatype type_of(const struct pleat_runs *runs, int64_t stride, MPI_Datatype inner)
{
    int count = 0;
    int *lengths = calloc(2 * runs->count, sizeof(*lengths));
    MPI_Aint *places = calloc(2 * runs->count, sizeof(*places));
    MPI_Datatype *types = calloc(2 * runs->count, sizeof(MPI_Datatype));
    if (!lengths || !places || !types)
        give_up("out of memory");
    for (size_t i = 0; i < runs->count; i++) {
        struct vector vectors[2];
        int some = dist_vectors(runs, i, vectors);
        for (int v = 0; v < some; v++) {
            MPI_Datatype piece;
            MPI_Type_create_hvector((int)vectors[v].length, 1, stride, inner, &piece);
            MPI_Type_create_hvector((int)vectors[v].count, 1, vectors[v].step * stride, piece,
                                    &types[count]);
            MPI_Type_free(&piece);
            lengths[count] = 1;
            places[count++] = vectors[v].first * stride;
        }
    }
    MPI_Datatype all;
    MPI_Type_create_struct(count, lengths, places, types, &all);
    while (count > 0)
        MPI_Type_free(&types[--count]);
    free(lengths);
    free(places);
    free(types);
    return all;
}

/* Types for all ranks: of what is exchanged with each. */
static void make_types(const struct pleat_dist_plan *plan, int *counts, MPI_Datatype *types)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = 0;
        types[i] = MPI_BYTE;
    }
    for (size_t i = 0; i < plan->peers; i++) {
        struct pleat_dist_plan_peer peer;
        pleat_dist_plan_peer(plan, i, &peer);
        MPI_Datatype inner = MPI_DOUBLE;
        for (int step = 0; step < 2; step++) {
            int d = pleat_dist_plan_order(plan, step);
            MPI_Datatype outer = type_of(peer.part[d], plan->mine.stride[d], inner);
            if (inner != MPI_DOUBLE)
                MPI_Type_free(&inner);
            inner = outer;
        }
        MPI_Type_commit(&inner);
        types[peer.rank] = inner;
        counts[peer.rank] = 1;
    }
}

static void redistribute(const struct side *old, const struct side *new, void *to)
{
    static int counts[2][RANKS_MAX];
    static const int zeros[RANKS_MAX];
    static MPI_Datatype types[2][RANKS_MAX];
    struct pleat_dist_plan plans[2];
    struct pleat_error err;
    if (pleat_dist_plan_send(&old->dist, &new->dist, rank, old->allocated, 0, &plans[0], &err) ||
        pleat_dist_plan_receive(&old->dist, &new->dist, rank, new->allocated, 0, &plans[1], &err))
        give_up(err.text);
    for (int i = 0; i < 2; i++)
        make_types(&plans[i], counts[i], types[i]);
    MPI_Alltoallw(old->memory, counts[0], zeros, types[0], to, counts[1], zeros, types[1],
                  MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        for (int peer = 0; peer < ranks; peer++)
            if (counts[i][peer])
                MPI_Type_free(&types[i][peer]);
        pleat_dist_plan_finish(&plans[i]);
    }
}

/* ---- the comparison ---- */

static void choose_grid(int fixed, int *rows, int *columns)
{
    int size = fixed && fixed <= ranks ? fixed : 1 + below(ranks);
    do
        *rows = 1 + below(size);
    while (size % *rows != 0);
    *columns = size / *rows;
}

static void compare(int number)
{
    static const int sizes[] = {2, 4, 8, 6, 4, 2}; /* and then any */
    int m = below(10) ? 1 + below(200) : 0;
    int n = below(10) ? 1 + below(150) : 1;
    int grid[4];
    int all;
    struct side old, new;
    choose_grid(number < 5 ? sizes[number] : 0, &grid[0], &grid[1]);
    choose_grid(number < 5 ? sizes[number + 1] : 0, &grid[2], &grid[3]);
    set_up(&old, m, n, grid[0], grid[1]);
    set_up(&new, m, n, grid[2], grid[3]);
    Cblacs_get(-1, 0, &all);
    Cblacs_gridinit(&all, "R", 1, ranks);
    fill(&old);
    double *mine = malloc(new.bytes + sizeof(double));
    if (!mine)
        give_up("out of memory");
    memset(mine, NOTHING, new.bytes);
    redistribute(&old, &new, mine);
    if (m > 0) /* ScaLAPACK takes no matrix without elements */
        Cpdgemr2d(m, n, old.memory, 1, 1, old.descriptor, new.memory, 1, 1, new.descriptor, all);
    if (memcmp(mine, new.memory, new.bytes) != 0) {
        fprintf(stderr, "%d x %d, grid %d x %d -> %d x %d: ", m, n, grid[0], grid[1], grid[2],
                grid[3]);
        give_up("pdgemr2d gives something else");
    }
    free(mine);
    Cblacs_gridexit(all);
    take_down(&old);
    take_down(&new);
}

int main(int argc, char **argv)
{
    int cases = argc > 1 ? atoi(argv[1]) : 0;
    const char *given = getenv("PLEAT_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20261123;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (cases < 1 || ranks > RANKS_MAX)
        give_up("usage: reference CASES, on at most 64 ranks");
    if (rank == 0)
        printf("seed %llu\n", (unsigned long long)seed);
    pleat_random_init(&random_numbers, seed);
    for (int i = 0; i < cases; i++)
        compare(i);
    if (rank == 0)
        printf("%d redistributions on %d ranks: the same\n", cases, ranks);
    MPI_Finalize();
    return 0;
}

/* alltoall - a square matrix, whose rows are spread over the ranks, is changed and transposed in
 * each iteration, as in the Fourier transform of the NAS benchmarks (FT): every rank sends to every
 * other.
 */
#include <stdlib.h>

#include "plain.h"

static const char usage[] =
    "usage: mpirun ... alltoall [options]\n"
    "Changes every value of a matrix and transposes it, again and again.\n"
    "  --iterations N   transpositions (default 1000)\n"
    "  --work N         units of computing besides, for a rank and iteration, about 1 us each\n"
    "  --size N         edge of the blocks that two ranks exchange (default 16)\n" PLAIN_USAGE;

struct alltoall {
    struct plain plain;
    long long edge;          /* of the matrix: size times the number of ranks */
    uint64_t *rows;          /* of this rank, `size` of them */
    uint64_t *out, *in;      /* a block for each rank */
    struct plain_jump round; /* what an iteration does to a value */
};

/* The value at (i, j) of the matrix after `iterations`, each of which has transposed it. */
static uint64_t expected(const struct alltoall *a, long long iterations, struct plain_jump jump,
                         long long i, long long j)
{
    long long was = iterations % 2 ? j * a->edge + i : i * a->edge + j;
    return plain_jump_apply(jump, plain_seed((uint64_t)was));
}

static void fill(struct alltoall *a)
{
    struct plain_jump none = {1, 0};
    for (long long i = 0; i < a->plain.size; i++)
        for (long long j = 0; j < a->edge; j++)
            a->rows[i * a->edge + j] = expected(a, 0, none, a->plain.rank * a->plain.size + i, j);
}

static void check(struct alltoall *a, long long iterations)
{
    struct plain_jump jump = plain_jump_rounds((uint64_t)iterations);
    for (long long i = 0; i < a->plain.size; i++)
        for (long long j = 0; j < a->edge; j++)
            a->plain.wrong += a->rows[i * a->edge + j] !=
                              expected(a, iterations, jump, a->plain.rank * a->plain.size + i, j);
}

/* Sends block b to rank b, transposed; the block that comes from rank b has the columns of block b.
 */
static void transpose(struct alltoall *a)
{
    long long n = a->plain.size;
    for (int b = 0; b < a->plain.ranks; b++)
        for (long long i = 0; i < n; i++)
            for (long long j = 0; j < n; j++)
                a->out[(b * n + j) * n + i] =
                    plain_jump_apply(a->round, a->rows[i * a->edge + b * n + j]);
    MPI_Alltoall(a->out, (int)(n * n), MPI_UINT64_T, a->in, (int)(n * n), MPI_UINT64_T,
                 MPI_COMM_WORLD);
    for (int b = 0; b < a->plain.ranks; b++)
        for (long long i = 0; i < n; i++)
            for (long long j = 0; j < n; j++)
                a->rows[i * a->edge + b * n + j] = a->in[(b * n + i) * n + j];
}

int main(int argc, char **argv)
{
    struct alltoall a = {.plain = {.name = "alltoall", .iterations = 1000, .size = 16}};
    const struct plain_option more[] = {{"size", &a.plain.size, 1, 4096, NULL},
                                        {NULL, NULL, 0, 0, NULL}};
    plain_begin(&a.plain, argc, argv, usage, more);
    a.edge = a.plain.size * a.plain.ranks;
    a.round = plain_jump_rounds(1);
    size_t values = (size_t)(a.plain.size * a.edge);
    a.rows = plain_allocate(values, 8);
    a.out = plain_allocate(values, 8);
    a.in = plain_allocate(values, 8);
    fill(&a);
    uint64_t seed = plain_seed((uint64_t)a.plain.rank);
    uint64_t value = seed;
    for (long long i = 0; i < a.plain.iterations; i++) {
        transpose(&a);
        value = plain_work(value, a.plain.work);
        a.rows[0] += i == a.plain.corrupt && a.plain.rank == 0;
        if (a.plain.verify)
            check(&a, i + 1);
        plain_iterated(&a.plain);
    }
    check(&a, a.plain.iterations);
    a.plain.wrong += value != plain_jump_apply(plain_jump(a.plain.work * a.plain.iterations), seed);
    uint64_t sum = 0;
    for (size_t i = 0; i < values; i++)
        sum += a.rows[i] * (2 * i + 1);
    free(a.rows);
    free(a.out);
    free(a.in);
    return plain_end(&a.plain, sum);
}

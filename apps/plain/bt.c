/* bt - an implicit solver with 5 x 5 blocks, of the class of the NAS benchmark BT: in each
 * iteration the residual of five coupled diffusion equations in a cube is divided by three
 * factors, one for each direction, each of which is a block-tridiagonal system along every line of
 * points (alternating directions, in the form for changes). On a square number of ranks with
 * multi-partitioning (multi.h).
 *
 * With K, which couples the equations, and D, the second difference in a direction, a step solves
 *   (1 - t K Dx) (1 - t K Dy) (1 - t K Dz) change = t (source + K (Dx + Dy + Dz) u).
 * All of them have the same eigenvectors, so what u has to be is known after any number of steps.
 * The program does not use that its blocks are the same everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "blocks.h"
#include "multi.h"

#define STEP 0.05 /* t */
#define SMALL 12
#define LARGE 24
#define FORWARD_WORDS (BLOCK_WORDS + BLOCK)

static const char usage[] = "usage: mpirun ... bt [options]\n"
                            "Block-tridiagonal systems along all lines of a cube; on a square "
                            "number of ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct bt {
    struct plain plain;
    struct multi multi;
    struct modes modes;
    double source[BLOCK];                              /* of the mode that stays */
    double diagonal[BLOCK_WORDS], beside[BLOCK_WORDS]; /* of each factor */
    double **upper; /* for each cell: what elimination keeps of its points */
};

static void begin(struct bt *bt)
{
    static const int number[MODES] = {[MODE_STAYS] = 2, [MODE_FADES] = 1}; /* of K's eigenvectors */
    long long n = bt->plain.size ? LARGE : SMALL;
    multi_begin(&bt->multi, &bt->plain, n, 1);
    modes_begin(&bt->modes, (long long[3]){n, n, n});
    double sum[MODES], product = 1;
    for (int m = 0; m < MODES; m++) {
        sum[m] = 0;
        for (int d = 0; d < 3; d++)
            sum[m] += block_coupling_value(number[m]) * bt->modes.eigenvalue[m][d];
        for (int c = 0; c < BLOCK; c++)
            bt->modes.amplitude[m][c] = block_coupling_vector(number[m], c);
    }
    for (int d = 0; d < 3; d++)
        product *= 1 + STEP * block_coupling_value(number[MODE_FADES]) *
                           bt->modes.eigenvalue[MODE_FADES][d];
    for (int c = 0; c < BLOCK; c++) {
        bt->modes.factor[c] = 1 - STEP * sum[MODE_FADES] / product;
        bt->source[c] = sum[MODE_STAYS] * bt->modes.amplitude[MODE_STAYS][c];
    }
    for (int i = 0; i < BLOCK_WORDS; i++) {
        bt->beside[i] = -STEP * block_coupling[i];
        bt->diagonal[i] = (i % (BLOCK + 1) == 0) + 2 * STEP * block_coupling[i];
    }
    bt->upper = plain_allocate((size_t)bt->multi.q, sizeof(*bt->upper));
    for (int c = 0; c < bt->multi.q; c++)
        bt->upper[c] =
            plain_allocate((size_t)(bt->multi.cell[c].points * BLOCK_WORDS), sizeof(double));
    multi_fill(&bt->multi, &bt->modes);
}

/* t (source + K (Dx + Dy + Dz) u) */
static void right_hand_side(void *data, struct multi_cell *cell, long long x, long long y,
                            long long z)
{
    const struct bt *bt = data;
    long long at = multi_offset(&bt->multi, cell, x, y, z);
    const double *u = cell->u + at;
    double around[BLOCK], *rhs = cell->rhs + at;
    double shape = modes_shape(&bt->modes, MODE_STAYS, cell->first[0] + x, cell->first[1] + y,
                               cell->first[2] + z);
    for (int c = 0; c < BLOCK; c++) {
        around[c] = 6 * u[c];
        for (int d = 0; d < 3; d++)
            around[c] -= u[c - cell->stride[d]] + u[c + cell->stride[d]];
        around[c] *= STEP;
        rhs[c] = STEP * shape * bt->source[c];
    }
    block_subtract(rhs, block_coupling, around);
}

static struct block_line line_of(const struct bt *bt, struct multi_cell *cell, int direction,
                                 long long offset)
{
    long long stride = cell->stride[direction];
    return (struct block_line){.count = cell->count[direction],
                               .stride = stride,
                               .upper_stride = stride * BLOCK,
                               .r = cell->rhs + offset,
                               .upper = bt->upper[cell->at[2]] + offset * BLOCK};
}

static void forward(void *data, struct multi_cell *cell, int direction, long long offset,
                    const double *in, double *out)
{
    const struct bt *bt = data;
    struct block_line line = line_of(bt, cell, direction, offset);
    block_forward(&line, bt->diagonal, bt->beside, in, in ? in + BLOCK_WORDS : NULL);
    long long last = line.count - 1;
    memcpy(out, line.upper + last * line.upper_stride, sizeof(bt->diagonal));
    memcpy(out + BLOCK_WORDS, line.r + last * line.stride, BLOCK * sizeof(double));
}

static void backward(void *data, struct multi_cell *cell, int direction, long long offset,
                     const double *in, double *out)
{
    struct block_line line = line_of(data, cell, direction, offset);
    block_backward(&line, in);
    memcpy(out, line.r, BLOCK * sizeof(double));
}

int main(int argc, char **argv)
{
    struct bt bt = {.plain = {.name = "bt"}};
    plain_begin_sized(&bt.plain, argc, argv, usage, 400, 600);
    begin(&bt);
    const struct multi_scheme scheme = {right_hand_side,
                                        {forward, backward, FORWARD_WORDS, BLOCK, &bt}};
    uint64_t sum = multi_run(&bt.multi, &bt.modes, &scheme);
    for (int c = 0; c < bt.multi.q; c++)
        free(bt.upper[c]);
    free(bt.upper);
    modes_end(&bt.modes);
    multi_end(&bt.multi);
    return plain_end(&bt.plain, sum);
}

/* sp - an implicit solver with scalar pentadiagonal systems, of the class of the NAS benchmark SP:
 * as bt, but the five equations are not coupled, and a fourth difference damps short waves, so that
 * in every direction each equation gives a pentadiagonal system along each line. On a square number
 * of ranks with multi-partitioning (multi.h): less computing than bt between messages of about the
 * same size.
 *
 * With L = -D + E D^2, where D is the second difference in a direction, a step solves for each
 * equation, which has its own k,
 *   (1 + t k Lx) (1 + t k Ly) (1 + t k Lz) change = t (source - k (Lx + Ly + Lz) u).
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "multi.h"

#define C MULTI_COMPONENTS
#define STEP 0.05   /* t */
#define DAMPING 0.1 /* E */
#define SMALL 24
#define LARGE 40
#define ROW 3 /* what is kept of a row: factors of the next two points, value */
#define FORWARD_WORDS (2 * ROW * C) /* of the two rows before */
#define BACKWARD_WORDS (2 * C)

static const char usage[] = "usage: mpirun ... sp [options]\n"
                            "Pentadiagonal systems along all lines of a cube; on a square number "
                            "of ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct sp {
    struct plain plain;
    struct multi multi;
    struct modes modes;
    double rate[C]; /* t k */
    double source[C];
    double **factors; /* for each cell: two for each value */
};

/* The eigenvalue of L in a direction. */
static double damped(const struct sp *sp, int mode, int d)
{
    double value = sp->modes.eigenvalue[mode][d];
    return value + DAMPING * value * value;
}

static void begin(struct sp *sp)
{
    long long n = sp->plain.size ? LARGE : SMALL;
    multi_begin(&sp->multi, &sp->plain, n, 2);
    modes_begin(&sp->modes, (long long[3]){n, n, n});
    for (int c = 0; c < C; c++) {
        double stays = 0, fades = 0, product = 1;
        sp->rate[c] = STEP * (1 + 0.5 * c);
        for (int d = 0; d < 3; d++) {
            stays += sp->rate[c] * damped(sp, MODE_STAYS, d);
            fades += sp->rate[c] * damped(sp, MODE_FADES, d);
            product *= 1 + sp->rate[c] * damped(sp, MODE_FADES, d);
        }
        sp->modes.amplitude[MODE_STAYS][c] = 1 - 0.1 * c;
        sp->modes.amplitude[MODE_FADES][c] = 0.5 + 0.1 * c;
        sp->modes.factor[c] = 1 - fades / product;
        sp->source[c] = stays * sp->modes.amplitude[MODE_STAYS][c];
    }
    sp->factors = plain_allocate((size_t)sp->multi.q, sizeof(*sp->factors));
    for (int c = 0; c < sp->multi.q; c++)
        sp->factors[c] = plain_allocate((size_t)(sp->multi.cell[c].points * 2 * C), sizeof(double));
    multi_fill(&sp->multi, &sp->modes);
}

static void right_hand_side(void *data, struct multi_cell *cell, long long x, long long y,
                            long long z)
{
    const struct sp *sp = data;
    long long at = multi_offset(&sp->multi, cell, x, y, z);
    double shape = modes_shape(&sp->modes, MODE_STAYS, cell->first[0] + x, cell->first[1] + y,
                               cell->first[2] + z);
    for (int c = 0; c < C; c++) {
        const double *u = cell->u + at + c;
        double sum = 3 * (2 + 6 * DAMPING) * u[0];
        for (int d = 0; d < 3; d++) {
            long long s = cell->stride[d];
            sum += DAMPING * (u[-2 * s] + u[2 * s]) - (1 + 4 * DAMPING) * (u[-s] + u[s]);
        }
        cell->rhs[at + c] = sp->source[c] * shape - sp->rate[c] * sum;
    }
}

/* Eliminates what is before the diagonal. A row that is done says: its point's value, and factors
 * of the next two points' ones, whose sum is `value`. `rows`: the two before this one. */
static void eliminate(double rate, bool is_end, double *value, double *factors, double rows[2][ROW])
{
    double far = rate * DAMPING, near = -rate * (1 + 4 * DAMPING);
    double diagonal = 1 + rate * (2 + (is_end ? 5 : 6) * DAMPING);
    double before = near - far * rows[0][0];
    double inverse = 1 / (diagonal - far * rows[0][1] - before * rows[1][0]);
    double done[ROW] = {(near - before * rows[1][1]) * inverse, far * inverse,
                        (*value - far * rows[0][2] - before * rows[1][2]) * inverse};
    factors[0] = done[0];
    factors[1] = done[1];
    *value = done[2];
    memcpy(rows[0], rows[1], sizeof(rows[0]));
    memcpy(rows[1], done, sizeof(rows[1]));
}

static void forward(void *data, struct multi_cell *cell, int direction, long long offset,
                    const double *in, double *out)
{
    const struct sp *sp = data;
    double *rhs = cell->rhs + offset, *factors = sp->factors[cell->at[2]] + 2 * offset;
    long long stride = cell->stride[direction], first = cell->first[direction];
    for (int c = 0; c < C; c++) {
        double rows[2][ROW] = {{0}};
        if (in)
            memcpy(rows, in + (size_t)c * 2 * ROW, sizeof(rows));
        for (long long k = 0; k < cell->count[direction]; k++) {
            bool is_end = first + k == 0 || first + k == sp->multi.n - 1;
            eliminate(sp->rate[c], is_end, &rhs[k * stride + c], &factors[2 * (k * stride + c)],
                      rows);
        }
        memcpy(out + (size_t)c * 2 * ROW, rows, sizeof(rows));
    }
}

static void backward(void *data, struct multi_cell *cell, int direction, long long offset,
                     const double *in, double *out)
{
    const struct sp *sp = data;
    double *rhs = cell->rhs + offset;
    const double *factors = sp->factors[cell->at[2]] + 2 * offset;
    long long stride = cell->stride[direction];
    for (int c = 0; c < C; c++) {
        double next = in ? in[2 * c] : 0, after = in ? in[2 * c + 1] : 0;
        for (long long k = cell->count[direction] - 1; k >= 0; k--) {
            long long at = k * stride + c;
            rhs[at] -= factors[2 * at] * next + factors[2 * at + 1] * after;
            after = next;
            next = rhs[at];
        }
        out[2 * c] = next;
        out[2 * c + 1] = after;
    }
}

int main(int argc, char **argv)
{
    struct sp sp = {.plain = {.name = "sp"}};
    plain_begin_sized(&sp.plain, argc, argv, usage, 250, 500);
    begin(&sp);
    const struct multi_scheme scheme = {right_hand_side,
                                        {forward, backward, FORWARD_WORDS, BACKWARD_WORDS, &sp}};
    uint64_t sum = multi_run(&sp.multi, &sp.modes, &scheme);
    for (int c = 0; c < sp.multi.q; c++)
        free(sp.factors[c]);
    free(sp.factors);
    modes_end(&sp.modes);
    multi_end(&sp.multi);
    return plain_end(&sp.plain, sum);
}

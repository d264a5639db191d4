#include "blocks.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const double block_coupling[BLOCK_WORDS] = {2,  -1, 0, 0, 0,  -1, 2,  -1, 0, 0, 0,  -1, 2,
                                            -1, 0,  0, 0, -1, 2,  -1, 0,  0, 0, -1, 2};

double block_coupling_vector(int number, int component)
{
    return sin(acos(-1.0) * number * (component + 1) / (BLOCK + 1));
}

double block_coupling_value(int number)
{
    return 2 - 2 * cos(acos(-1.0) * number / (BLOCK + 1));
}

void block_subtract(double *r, const double *a, const double *x)
{
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++)
            r[i] -= a[i * BLOCK + j] * x[j];
}

void block_subtract_product(double *b, const double *a, const double *c)
{
    for (int i = 0; i < BLOCK; i++)
        for (int k = 0; k < BLOCK; k++)
            for (int j = 0; j < BLOCK; j++)
                b[i * BLOCK + j] -= a[i * BLOCK + k] * c[k * BLOCK + j];
}

/* row[to] -= factor * row[from] */
static void subtract_row(double *c, int to, int from, double factor)
{
    for (int j = 0; j < BLOCK; j++)
        c[to * BLOCK + j] -= factor * c[from * BLOCK + j];
}

void block_solve(double *b, double *c, double *r)
{
    for (int p = 0; p < BLOCK; p++) {
        double inverse = 1 / b[p * BLOCK + p];
        for (int j = p + 1; j < BLOCK; j++)
            b[p * BLOCK + j] *= inverse;
        for (int j = 0; c && j < BLOCK; j++)
            c[p * BLOCK + j] *= inverse;
        r[p] *= inverse;
        for (int i = 0; i < BLOCK; i++) {
            if (i == p)
                continue;
            double factor = b[i * BLOCK + p];
            for (int j = p + 1; j < BLOCK; j++)
                b[i * BLOCK + j] -= factor * b[p * BLOCK + j];
            if (c)
                subtract_row(c, i, p, factor);
            r[i] -= factor * r[p];
        }
    }
}

void block_forward(const struct block_line *line, const double *diagonal, const double *beside,
                   const double *before_upper, const double *before_r)
{
    for (long long k = 0; k < line->count; k++) {
        double b[BLOCK_WORDS];
        double *upper = line->upper + k * line->upper_stride, *r = line->r + k * line->stride;
        memcpy(b, diagonal, sizeof(b));
        memcpy(upper, beside, sizeof(b));
        if (before_r) {
            block_subtract_product(b, beside, before_upper);
            block_subtract(r, beside, before_r);
        }
        block_solve(b, upper, r);
        before_upper = upper;
        before_r = r;
    }
}

void block_backward(const struct block_line *line, const double *after)
{
    for (long long k = line->count - 1; k >= 0; k--) {
        double *r = line->r + k * line->stride;
        if (after)
            block_subtract(r, line->upper + k * line->upper_stride, after);
        after = r;
    }
}

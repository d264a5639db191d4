/* blocks.h - blocks of 5 x 5 numbers, row by row, as equations of five quantities have them (bt,
 * lu, mz).
 */
#ifndef PLEAT_APPS_BLOCKS_H
#define PLEAT_APPS_BLOCKS_H

#define BLOCK 5
#define BLOCK_WORDS (BLOCK * BLOCK)

/* How the five quantities are coupled: 2 in the diagonal, -1 beside it. */
extern const double block_coupling[BLOCK_WORDS];
/* Its eigenvector `number` (1 to 5), and the eigenvalue. */
double block_coupling_vector(int number, int component);
double block_coupling_value(int number);

/* r -= a x */
void block_subtract(double *r, const double *a, const double *x);
/* b -= a c */
void block_subtract_product(double *b, const double *a, const double *c);
/* Makes b^-1 c of c (which may be NULL) and b^-1 r of r; b is lost. For b in which no pivoting is
 * needed, such as positive definite ones. */
void block_solve(double *b, double *c, double *r);

/* A line of a block-tridiagonal system with the same block `beside` below and above the diagonal.
 * `stride` is the distance of the right-hand sides of its points in `r`, `upper_stride` of what is
 * kept of them for the way back. */
struct block_line {
    long long count, stride, upper_stride;
    double *r, *upper;
};

/* Eliminates forward. `before` is what the point before the line's first one has: its `upper` and
 * right-hand side; NULL: there is none. */
void block_forward(const struct block_line *line, const double *diagonal, const double *beside,
                   const double *before_upper, const double *before_r);
/* Puts in backward: r becomes the solution. `after`: of the point after the last one; NULL: none.
 */
void block_backward(const struct block_line *line, const double *after);

#endif

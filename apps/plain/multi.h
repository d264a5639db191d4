/* multi.h - a cube of points with five quantities each, cut for line solves in all three directions
 * so that every rank always has something to do (multi-partitioning): q x q ranks cut each edge
 * into q parts, and of the q^3 cells each rank has q, no two of which lie in the same slab of any
 * direction. A sweep goes slab by slab: in each, every rank has one cell. The rank of the next cell
 * is always the same one.
 */
#ifndef PLEAT_APPS_MULTI_H
#define PLEAT_APPS_MULTI_H

#include "modes.h"

#define MULTI_COMPONENTS MODES_COMPONENTS

struct multi_cell {
    int at[3]; /* which of the q parts of each direction */
    long long first[3], count[3];
    long long stride[3]; /* in doubles */
    long long points;    /* of the arrays: with what lies around the cell */
    double *u, *rhs;     /* values, and right-hand sides which become solutions */
};

struct multi {
    struct plain *plain;
    int q, halo;             /* halo: layers of points around a cell */
    long long n;             /* points along an edge */
    int rank_of[3][2];       /* who has the cells before and after */
    struct multi_cell *cell; /* q of them; cell[c].at[2] == c */
    double *in, *out, *faces[3][2][2];
};

/* A line of a cell: `offset` of its first point in the cell's arrays. `in`: what the line's
 * neighbour in the cell before gave (for the way back: in the cell after); NULL: there is none.
 * `out`: for the next one. */
typedef void multi_line(void *data, struct multi_cell *cell, int direction, long long offset,
                        const double *in, double *out);

struct multi_sweep {
    multi_line *forward, *backward;
    int forward_words, backward_words; /* of what is given on, by line */
    void *data;
};

/* Refuses ranks whose number is no square, or too large. */
void multi_begin(struct multi *multi, struct plain *plain, long long n, int halo);
void multi_end(struct multi *multi);
/* Offset of a point; 0 is the cell's first one. */
long long multi_offset(const struct multi *multi, const struct multi_cell *cell, long long x,
                       long long y, long long z);
/* Exchanges the halos of the cells. The value at a wall is 0; behind it values are mirrored with
 * the other sign. */
void multi_exchange(struct multi *multi);
/* Solves all lines of a direction. */
void multi_solve(struct multi *multi, int direction, const struct multi_sweep *sweep);

/* What an iteration does with the values: the right-hand side at each point, then the lines. */
struct multi_scheme {
    void (*right_hand_side)(void *data, struct multi_cell *cell, long long x, long long y,
                            long long z);
    struct multi_sweep sweep; /* its data is that of right_hand_side, too */
};

/* Runs the program's iterations, and checks what comes of them. Returns multi_sum(). */
uint64_t multi_run(struct multi *multi, const struct modes *modes,
                   const struct multi_scheme *scheme);

/* Sets all values to those at the beginning. */
void multi_fill(struct multi *multi, const struct modes *modes);
/* Counts values that differ from those after `steps` steps. */
void multi_check(struct multi *multi, const struct modes *modes, long long steps);
/* Adds the solutions to the values. */
void multi_add(struct multi *multi);
/* The bits of all values. */
uint64_t multi_sum(const struct multi *multi);

#endif

/* A box of cells, periodic, cut into pencils: blocks in x and y, whole in z. Each pencil has a halo
 * in x and in y. */
#ifndef GRID_H
#define GRID_H

#include <mpi.h>
#include <pleat.h>

#define HALO 2 /* what a stencil of fourth order reaches */

struct grid {
    MPI_Comm comm;
    int n[3];               /* cells of the box */
    int first[2], count[2]; /* of this pencil, in x and y */
    int below[2], above[2]; /* neighbours */
    MPI_Datatype face[2];   /* HALO layers of a pencil, in x and in y */
};

/* The shape of a field, and whether this number of processes can have pencils. */
struct pleat_array_shape grid_shape(const struct grid *grid);
int grid_fits(const struct grid *grid, const struct pleat_array *field, int processes);

/* Cuts the box as a field is cut at the present size. */
void grid_open(struct grid *grid, struct pleat_array *field);
void grid_close(struct grid *grid);

/* Where cell (x, y, 0) of a pencil is; 0 is the first one behind the halo. */
static inline long grid_at(const struct grid *grid, int x, int y)
{
    return ((long)(x + HALO) * (grid->count[1] + 2 * HALO) + y + HALO) * grid->n[2];
}

/* Fetches the halo. */
void grid_exchange(const struct grid *grid, double *u);

#endif

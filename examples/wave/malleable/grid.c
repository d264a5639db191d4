#include "grid.h"

struct pleat_array_shape grid_shape(const struct grid *grid)
{
    struct pleat_array_shape shape = {.dims = 3, .element_bytes = sizeof(double)};
    for (int d = 0; d < 2; d++)
        shape.dim[d] = (struct pleat_dimension){.extent = grid->n[d],
                                                .format = PLEAT_BLOCK,
                                                .halo_low = HALO,
                                                .halo_high = HALO,
                                                .periodic = 1};
    shape.dim[2] = (struct pleat_dimension){.extent = grid->n[2], .format = PLEAT_COLLAPSED};
    return shape;
}

int grid_fits(const struct grid *grid, const struct pleat_array *field, int processes)
{
    int dims[3];
    return pleat_array_grid(field, processes, dims, NULL) == 0 && grid->n[0] / dims[0] >= HALO &&
           grid->n[1] / dims[1] >= HALO;
}

void grid_open(struct grid *grid, struct pleat_array *field)
{
    int nz = grid->n[2];
    if (pleat_array_comm(field, &grid->comm, NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int d = 0; d < 2; d++) {
        grid->first[d] = pleat_array_global(field, d, 0);
        grid->count[d] = pleat_array_count(field, d);
        MPI_Cart_shift(grid->comm, d, 1, &grid->below[d], &grid->above[d]);
    }
    int wide = grid->count[0] + 2 * HALO, high = grid->count[1] + 2 * HALO;
    MPI_Type_contiguous(HALO * high * nz, MPI_DOUBLE, &grid->face[0]);
    MPI_Type_vector(wide, HALO * nz, high * nz, MPI_DOUBLE, &grid->face[1]);
    for (int d = 0; d < 2; d++)
        MPI_Type_commit(&grid->face[d]);
}

void grid_close(struct grid *grid)
{
    for (int d = 0; d < 2; d++)
        MPI_Type_free(&grid->face[d]);
}

void grid_exchange(const struct grid *grid, double *u)
{
    for (int d = 0; d < 2; d++) {
        /* the first layers of the halo, of the pencil, and of what comes after it */
        int end = grid->count[d];
        double *low = u + grid_at(grid, -HALO, -HALO);
        double *own = d ? u + grid_at(grid, -HALO, 0) : u + grid_at(grid, 0, -HALO);
        double *last =
            d ? u + grid_at(grid, -HALO, end - HALO) : u + grid_at(grid, end - HALO, -HALO);
        double *high = d ? u + grid_at(grid, -HALO, end) : u + grid_at(grid, end, -HALO);
        MPI_Request request[4];
        MPI_Status status[4];
        MPI_Irecv(low, 1, grid->face[d], grid->below[d], 0, grid->comm, &request[0]);
        MPI_Irecv(high, 1, grid->face[d], grid->above[d], 1, grid->comm, &request[1]);
        MPI_Isend(last, 1, grid->face[d], grid->above[d], 0, grid->comm, &request[2]);
        MPI_Isend(own, 1, grid->face[d], grid->below[d], 1, grid->comm, &request[3]);
        MPI_Waitall(4, request, status);
    }
}

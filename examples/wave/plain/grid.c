#include "grid.h"

#include <stdio.h>
#include <stdlib.h>

static void cut(int n, int place, int parts, int *first, int *count)
{
    *first = (int)((long)n * place / parts);
    *count = (int)((long)n * (place + 1) / parts) - *first;
}

void grid_open(struct grid *grid, int nx, int ny, int nz, MPI_Comm world)
{
    int size, rank, dims[2] = {0, 0}, periods[2] = {1, 1}, place[2];
    MPI_Comm_size(world, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(world, 2, dims, periods, 0, &grid->comm);
    MPI_Comm_rank(grid->comm, &rank);
    MPI_Cart_coords(grid->comm, rank, 2, place);
    grid->n[0] = nx, grid->n[1] = ny, grid->n[2] = nz;
    for (int d = 0; d < 2; d++) {
        cut(grid->n[d], place[d], dims[d], &grid->first[d], &grid->count[d]);
        MPI_Cart_shift(grid->comm, d, 1, &grid->below[d], &grid->above[d]);
        if (grid->n[d] / dims[d] < HALO) {
            fprintf(stderr, "wave: the box is too small for %d processes\n", size);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
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
    MPI_Comm_free(&grid->comm);
}

double *grid_field(const struct grid *grid)
{
    long cells = (long)(grid->count[0] + 2 * HALO) * (grid->count[1] + 2 * HALO) * grid->n[2];
    return calloc((size_t)cells, sizeof(double));
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

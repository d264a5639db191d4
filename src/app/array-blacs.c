/* BLACS contexts of arrays. The BLACS are those of the program, if it is linked with them: libpleat
 * needs none. */
#include <stdlib.h>

#include "app/array-part.h"

/* The BLACS have no header. Weak: the address of a function that the program does not have is
 * NULL. */
#pragma GCC visibility push(default)
extern int BI_Np __attribute__((weak)); /* the BLACS' own: processes in MPI_COMM_WORLD */
extern int Csys2blacs_handle(MPI_Comm comm) __attribute__((weak));
extern void Cfree_blacs_system_handle(int handle) __attribute__((weak));
extern void Cblacs_gridmap(int *context, int *ranks, int leading, int rows, int columns)
    __attribute__((weak));
extern void Cblacs_gridexit(int context) __attribute__((weak));
#pragma GCC visibility pop

static bool has_blacs(void)
{
    return &BI_Np && Csys2blacs_handle && Cfree_blacs_system_handle && Cblacs_gridmap &&
           Cblacs_gridexit;
}

/* The BLACS refuse a grid of more processes than MPI_COMM_WORLD has, whatever the communicator. A
 * program that has grown by merging has more. The BLACS ask for that number when they make their
 * first grid. */
static void allow_grids_of(int size)
{
    const int handle = Csys2blacs_handle(MPI_COMM_SELF);
    int first = handle;
    int nobody_else = 0;
    Cblacs_gridmap(&first, &nobody_else, 1, 1, 1);
    Cblacs_gridexit(first);
    Cfree_blacs_system_handle(handle);
    if (BI_Np < size)
        BI_Np = size;
}

/* ranks[i + j * rows]: the rank in row i and column j of the grid. */
static int find_ranks(const struct pleat_array *array, int *places, int *ranks,
                      struct pleat_error *err)
{
    const struct pleat_array_part *now = &array->now;
    const int rows = now->dist.dim[0].processes;
    const int mine = now->is_in_grid ? now->coordinates[0] + now->coordinates[1] * rows : -1;
    int code =
        pleat_mpi_check(MPI_Allgather(&mine, 1, MPI_INT, places, 1, MPI_INT, array->session->comm),
                        "making the BLACS context of an array", err);
    for (int rank = 0; !code && rank < array->session->size; rank++)
        if (places[rank] >= 0)
            ranks[places[rank]] = rank;
    return code;
}

static int make_context(struct pleat_array *array, struct pleat_error *err)
{
    const int size = array->session->size;
    int *places = calloc((size_t)size, sizeof(*places));
    int *ranks = calloc((size_t)size, sizeof(*ranks));
    int agreed = 0;
    int code =
        pleat_mpi_agree(array->session->comm, places && ranks ? 0 : PLEAT_E_NOMEM, &agreed, err);
    if (!code && agreed)
        code = pleat_error_set(err, agreed, "no memory for a BLACS context of array '%s'",
                               array->object.name);
    if (!code)
        code = find_ranks(array, places, ranks, err);
    if (!code) {
        allow_grids_of(size);
        const int handle = Csys2blacs_handle(array->session->comm);
        array->context = handle;
        Cblacs_gridmap(&array->context, ranks, array->now.dist.dim[0].processes,
                       array->now.dist.dim[0].processes, array->now.dist.dim[1].processes);
        Cfree_blacs_system_handle(handle);
        array->has_context = true;
    }
    free(places);
    free(ranks);
    return code;
}

int pleat_array_context(struct pleat_array *handle, int *context, struct pleat_error *err)
{
    struct pleat_array *array = handle;
    while (array->shape.same_grid_as)
        array = array->shape.same_grid_as;
    if (array->session->state != PLEAT_SESSION_RUNNING)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "array '%s' has a BLACS context from pleat_session_begin on until "
                               "the rank leaves",
                               handle->object.name);
    if (array->shape.dims != 2 || pleat_dist_is_replicated(&array->now.dist))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "array '%s' is not distributed over a grid of two dimensions, as a "
                               "BLACS context needs it",
                               handle->object.name);
    if (!has_blacs())
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the program has no BLACS: link it with the ScaLAPACK of its MPI");
    int code = array->has_context ? 0 : make_context(array, err);
    if (!code)
        *context = array->context;
    return code;
}

void pleat_array_end_context(struct pleat_array *array)
{
    if (array->has_context && array->context >= 0)
        Cblacs_gridexit(array->context);
    array->has_context = false;
}

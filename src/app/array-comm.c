/* Cartesian communicators of arrays. */
#include "app/array-part.h"

/* A rank's number if the last coordinate is the fastest, as MPI counts in its grids. */
static int place_of(const struct pleat_array_part *part)
{
    int place = 0;
    for (int d = 0; d < part->dist.dims; d++)
        place = place * part->dist.dim[d].processes + part->coordinates[d];
    return place;
}

static int make_comm(struct pleat_array *array, struct pleat_error *err)
{
    const struct pleat_array_part *now = &array->now;
    int processes[PLEAT_DIST_DIMS];
    int periodic[PLEAT_DIST_DIMS];
    MPI_Comm members = MPI_COMM_NULL;
    for (int d = 0; d < now->dist.dims; d++) {
        processes[d] = now->dist.dim[d].processes;
        periodic[d] = array->shape.dim[d].periodic != 0;
    }
    int code =
        pleat_mpi_check(MPI_Comm_split(array->session->comm, now->is_in_grid ? 0 : MPI_UNDEFINED,
                                       place_of(now), &members),
                        "making the communicator of an array", err);
    if (code || members == MPI_COMM_NULL)
        return code;
    code = pleat_mpi_check(
        MPI_Cart_create(members, now->dist.dims, processes, periodic, 0, &array->comm),
        "making the communicator of an array", err);
    MPI_Comm_free(&members);
    return code;
}

int pleat_array_comm(struct pleat_array *handle, MPI_Comm *comm, struct pleat_error *err)
{
    struct pleat_array *array = handle;
    while (array->shape.same_grid_as)
        array = array->shape.same_grid_as;
    if (array->session->state != PLEAT_SESSION_RUNNING)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "array '%s' has a communicator from pleat_session_begin on until "
                               "the rank leaves",
                               handle->object.name);
    if (pleat_dist_is_replicated(&array->now.dist))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "array '%s' is replicated: it has no process grid",
                               handle->object.name);
    int code = array->has_comm ? 0 : make_comm(array, err);
    if (code)
        return code;
    array->has_comm = true;
    *comm = array->comm;
    return 0;
}

int pleat_array_comm_fortran(struct pleat_array *handle, MPI_Fint *comm, struct pleat_error *err)
{
    MPI_Comm made = MPI_COMM_NULL;
    int code = pleat_array_comm(handle, &made, err);
    if (!code)
        *comm = MPI_Comm_c2f(made);
    return code;
}

void pleat_array_release(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    pleat_array_end_context(array);
    if (array->comm != MPI_COMM_NULL)
        MPI_Comm_free(&array->comm);
    array->has_comm = false;
}

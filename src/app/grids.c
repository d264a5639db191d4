/* grids.c - on which process grid the program computes, so that times are kept by it. */
#include "app/session.h"
#include "base/grid.h"

_Static_assert(PLEAT_ARRAY_DIMS == PLEAT_GRID_DIMS, "grids of arrays have room in a packed one");

void pleat_session_count_anew(struct pleat_session *session)
{
    session->busy_ns = 0;
    session->busy_count = 0;
    session->counted_ns = 0;
    session->busy_squares = 0;
    pleat_points_restart(session);
    if (!session->mailbox)
        return;
    pleat_mailbox_publish_squares(&session->self, 0);
    pleat_mailbox_publish(&session->self, 0, 0);
}

/* That of the first object that is distributed in at least two dimensions; 0: there is none. */
static uint64_t grid_of_objects(const struct pleat_session *session)
{
    for (const struct pleat_object *object = session->objects; object; object = object->next) {
        int grid[PLEAT_GRID_DIMS];
        int dims = object->ops->grid ? object->ops->grid(object, session->size, grid) : 0;
        if (dims > 0)
            return pleat_grid_pack(dims, grid);
    }
    return 0;
}

void pleat_session_tell_grid(struct pleat_session *session)
{
    session->grid = 0; /* what the program has said was about its size before */
    if (!session->mailbox || session->rank != 0)
        return;
    session->grid = grid_of_objects(session);
    pleat_mailbox_publish_grid(&session->self, session->grid);
}

int pleat_session_grid(struct pleat_session *session, int dims, const int *grid,
                       struct pleat_error *err)
{
    int code = pleat_session_check_running(session, "pleat_session_grid", err);
    uint64_t packed = 0;
    int64_t ranks = 1;
    if (code)
        return code;
    if (dims != 0) {
        packed = pleat_grid_pack(dims, grid);
        for (int d = 0; packed && d < dims && ranks <= session->size; d++)
            ranks *= grid[d];
        if (!packed || ranks > session->size)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "a process grid has 1 to %d dimensions of 1 to %d processes, "
                                   "and no more processes than there are ranks, here %d",
                                   PLEAT_GRID_DIMS, PLEAT_GRID_MOST, session->size);
    }
    if (!session->mailbox || session->rank != 0)
        return 0;
    if (!packed)
        packed = grid_of_objects(session);
    if (packed == session->grid)
        return 0;
    session->grid = packed;
    pleat_session_count_anew(
        session); /* before the grid is told: see read_times in shm/mailbox.c */
    pleat_mailbox_publish_grid(&session->self, packed);
    return 0;
}

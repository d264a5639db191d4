/* Saving and loading an array: in the data file it stays where it is, in a copy it lies in one
 * piece. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "app/array-part.h"
#include "app/nodes.h"
#include "dist/copy.h"

uint64_t pleat_array_stored(const struct pleat_object *object)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    uint64_t bytes = array->shape.element_bytes;
    for (int d = 0; d < array->shape.dims; d++)
        bytes *= (uint64_t)array->shape.dim[d].extent;
    return bytes;
}

/* The array as it lies in a copy. */
static int in_one_piece(const struct pleat_array *array, struct pleat_dist *dist,
                        struct pleat_error *err)
{
    static const int grid[PLEAT_DIST_DIMS] = {1, 1, 1, 1};
    struct pleat_array_part part;
    int code = pleat_array_part_describe(array, 1, 0, grid, &part, err);
    if (code)
        return code;
    *dist = part.dist;
    for (int d = 0; d < array->shape.dims; d++)
        dist->dim[d] = (struct pleat_dim){
            .extent = array->shape.dim[d].extent, .format = PLEAT_DIM_COLLAPSED, .processes = 1};
    return 0;
}

int pleat_array_save(const struct pleat_object *object, struct pleat_state *state,
                     struct pleat_error *err)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    const struct pleat_array_part *now = &array->now;
    if (pleat_state_is_data(state))
        return pleat_session_leads(array->session) ? pleat_mark_write(array, now, err) : 0;
    struct pleat_dist one;
    struct pleat_dist_plan plan = {0};
    void *whole = NULL;
    const size_t bytes = (size_t)pleat_array_stored(object);
    if (!now->memory || !bytes)
        return 0;
    int code = in_one_piece(array, &one, err);
    if (!code)
        code = pleat_dist_plan_receive(&now->dist, &one, 0, NULL, 0, &plan, err);
    size_t me = code ? SIZE_MAX : pleat_dist_plan_find(&plan, now->rank);
    if (me != SIZE_MAX) {
        const struct pleat_copy_source source = {.base = now->memory};
        code = pleat_state_map(state, object->offset, bytes, true, &whole, err);
        if (!code)
            code = pleat_copy_peer(&plan, me, &source, whole, err);
    }
    if (whole)
        munmap(whole, bytes);
    pleat_dist_plan_finish(&plan);
    return code;
}

/* In the data file: the marks, which the first rank of each node writes and needs, and this rank's
 * area. Areas of other ranks are not brought as a whole, but only the elements that this rank needs
 * (array-gather.c). */
int pleat_array_parts(const struct pleat_object *object, bool in_data, bool loading,
                      struct pleat_stretches *list, struct pleat_error *err)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    const struct pleat_array_part *now = &array->now;
    if (!in_data && !pleat_array_stored(object))
        return 0; /* this rank has no element */
    /* a copy has it in one piece, in which this rank's elements are anywhere */
    if (!in_data && loading)
        return pleat_stretches_add(list, object->offset,
                                   object->offset + pleat_array_stored(object));
    if (!in_data)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "array '%s' cannot be saved as a copy while the program is on "
                               "several nodes",
                               object->name);
    int code = pleat_session_leads(array->session)
                   ? pleat_stretches_add(list, array->window, array->window + PLEAT_MARKS_BYTES)
                   : 0;
    if (code || loading || !now->layout.bytes)
        return code;
    const uint64_t at = pleat_array_part_offset(array, now, now->rank);
    return pleat_stretches_add(list, at, at + (uint64_t)now->layout.bytes);
}

/* ---- loading ---- */

static int load_copy(struct pleat_array *array, struct pleat_state *state, struct pleat_error *err)
{
    struct pleat_array_part *now = &array->now;
    struct pleat_dist one;
    struct pleat_dist_plan plan = {0};
    void *whole = NULL;
    const size_t bytes = (size_t)pleat_array_stored(&array->object);
    int code = pleat_array_part_check_room(array, now->half, (uint64_t)now->layout.bytes, err);
    if (!code)
        code = pleat_array_part_reserve(array, now, err);
    if (!code)
        code = pleat_array_part_fill(array, now, true, err);
    if (code || !now->memory || !bytes)
        return code;
    code = in_one_piece(array, &one, err);
    if (!code)
        code = pleat_dist_plan_receive(&one, &now->dist, now->rank, NULL, 0, &plan, err);
    if (!code)
        code = pleat_state_map(state, array->object.offset, bytes, false, &whole, err);
    const struct pleat_copy_source source = {.base = whole};
    if (!code)
        code = pleat_copy_all(&plan, &source, now->memory, err);
    if (whole)
        munmap(whole, bytes);
    pleat_dist_plan_finish(&plan);
    return code;
}

/* Gives this rank's part its memory in that half of the window, unless it has it. */
static int take_memory(struct pleat_array *array, unsigned half, struct pleat_error *err)
{
    struct pleat_array_part *now = &array->now;
    if (array->ahead.has_memory && now->half == half) {
        pleat_array_part_free_rest(array, now);
        int code = 0;
        if (pleat_memory_there(now->memory, now->mapped) < now->mapped) /* freed since */
            code = pleat_array_part_populate(array, now, err);
        if (!code)
            pleat_array_part_zero_halos(now);
        return code;
    }
    pleat_array_part_close(now);
    now->half = half;
    /* old memory of earlier arrays is freed first: none needs more than the largest one */
    pleat_freeing_end(&array->session->freeing);
    int code = pleat_array_part_check_room(array, half, (uint64_t)now->layout.bytes, err);
    if (!code)
        code = pleat_array_part_reserve(array, now, err);
    return code ? code : pleat_array_part_fill(array, now, true, err);
}

bool pleat_array_is_here(const struct pleat_array *array, int old_rank)
{
    const struct pleat_nodes *nodes = array->session->nodes;
    return !nodes || pleat_nodes_with(array->session,
                                      pleat_array_part_offset(array, &array->loaded, old_rank)) ==
                         nodes->node;
}

/* Copies the elements of the old array that are in the memory of this node. */
static int copy_what_is_here(struct pleat_array *array, const struct pleat_dist_plan *plan,
                             const struct pleat_old_parts *old, struct pleat_error *err)
{
    int code = 0;
    for (size_t i = 0; i < plan->peers && !code; i++) {
        struct pleat_dist_plan_peer peer;
        pleat_dist_plan_peer(plan, i, &peer);
        const struct pleat_copy_source source = {.base =
                                                     old->memory + (size_t)peer.rank * old->stride};
        if (pleat_array_is_here(array, peer.rank))
            code = pleat_copy_peer(plan, i, &source, array->now.memory, err);
    }
    return code;
}

/* Copies this rank's part from where the array was, with its old distribution. On several nodes the
 * rest comes when all have done this. */
static int load_from_old(struct pleat_array *array, struct pleat_error *err)
{
    struct pleat_array_part *now = &array->now;
    struct pleat_old_parts old = {0};
    struct pleat_dist_plan plan = {0};
    const unsigned half = 1 - array->loaded.half;
    int code = take_memory(array, half, err);
    if (!code)
        code = pleat_dist_plan_receive(&array->loaded.dist, &now->dist, now->rank, NULL, 0, &plan,
                                       err);
    if (!code && plan.peers)
        code = pleat_array_sources(array, &array->loaded, &old, err);
    if (!code && !array->session->nodes)
        code = pleat_array_copy(&plan, &old, now, err);
    else if (!code)
        code = copy_what_is_here(array, &plan, &old, err);
    pleat_old_parts_close_later(array, &old);
    if (!code && array->session->nodes)
        array->receive = plan;
    else
        pleat_dist_plan_finish(&plan);
    return code;
}

/* Whether each rank finds its part where it was, on all nodes. */
static bool stays_in_place(const struct pleat_array *array)
{
    const struct pleat_nodes *nodes = array->session->nodes;
    const struct pleat_array_part *loaded = &array->loaded;
    bool stays = pleat_array_part_grid(loaded) == pleat_array_part_grid(&array->now);
    for (int rank = 0; stays && nodes && rank < loaded->dist.ranks; rank++) {
        struct pleat_layout layout;
        stays = !pleat_dist_layout(&loaded->dist, rank, NULL, &layout, NULL) &&
                (!layout.bytes || pleat_nodes_has(array->session, nodes->of[rank],
                                                  pleat_array_part_offset(array, loaded, rank)));
    }
    return stays;
}

/* Takes the part over from the window, or copies it where the array was distributed otherwise. */
static int load_window(struct pleat_array *array, struct pleat_error *err)
{
    struct pleat_array_part *now = &array->now;
    int code = pleat_mark_read(array, now->rank, &array->loaded, err);
    if (code)
        return code;
    if (!stays_in_place(array))
        return load_from_old(array, err);
    pleat_array_part_close(now);
    now->half = array->loaded.half;
    memset(&array->loaded, 0, sizeof(array->loaded));
    code = pleat_array_part_reserve(array, now, err);
    if (!code)
        pleat_array_part_zero_halos(now); /* halos are no part of the state */
    return code;
}

int pleat_array_load(struct pleat_object *object, struct pleat_state *state, int data,
                     struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    const bool in_window = data >= 0 && pleat_state_is_data(state);
    if (!in_window || !array->ahead.has_memory) {
        pleat_array_part_close(&array->now);
        array->now.half = 0;
    }
    array->fd = data;
    int code = in_window ? load_window(array, err) : load_copy(array, state, err);
    pleat_array_drop_ahead(array);
    return code;
}

int pleat_array_fits(const struct pleat_object *object, int size, struct pleat_error *err)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    struct pleat_array_part then;
    int code = pleat_array_part_describe(array, size, 0, NULL, &then, err);
    if (code || pleat_array_part_grid(&then) == pleat_array_part_grid(&array->now))
        return code;
    return pleat_array_part_check_room(array, 1 - array->now.half,
                                       pleat_array_part_bytes_of_all(&then), err);
}

int pleat_array_settle(const struct pleat_object *object, struct pleat_error *err)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    return array->loaded.dist.dims ? pleat_mark_write(array, &array->now, err) : 0;
}

void pleat_array_tidy(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    const struct pleat_array_part *now = &array->now;
    if (array->session->nodes) {
        /* only parts of this node are in its memory */
        if (array->fd >= 0 && pleat_session_leads(array->session))
            pleat_array_part_free_other_half(array, now);
        memset(&array->loaded, 0, sizeof(array->loaded));
        return;
    }
    for (int rank = now->rank; rank < array->loaded.dist.ranks; rank += now->dist.ranks)
        pleat_array_part_free_area_later(array, &array->loaded, rank);
    /* memory that an incomplete resize has left */
    if (!array->loaded.dist.dims && array->fd >= 0 && now->rank == 0)
        pleat_array_part_free_other_half(array, now);
    memset(&array->loaded, 0, sizeof(array->loaded));
}

/* A resize of an array: in the data file each rank copies its new part from the old ones, otherwise
 * parts are sent. What can fail for want of address space or of memory is tried in prepare. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/array-part.h"
#include "dist/copy.h"

/* Size of one message at most. */
#define PIECE_BYTES ((int64_t)16 << 20)
#define ARRAY_TAG 0x504d

/* ---- preparing ---- */

static int prepare_plans(struct pleat_array *array, const struct pleat_change *change,
                         struct pleat_error *err)
{
    const struct pleat_dist *old = &array->now.dist;
    const struct pleat_dist *new = &array->coming.dist;
    if (change->rank < change->new_size) {
        int code = pleat_dist_plan_receive(old, new, change->rank, NULL, 0, &array->receive, err);
        if (code)
            return code;
    }
    if (change->in_data || change->rank >= change->old_size)
        return 0;
    return pleat_dist_plan_send(old, new, change->rank, NULL, 0, &array->send, err);
}

/* The array as it is before the resize, which a rank that joins has not seen yet. */
static int find_old(struct pleat_array *array, const struct pleat_change *change,
                    struct pleat_error *err)
{
    if (array->now.dist.dims)
        return 0;
    if (change->in_data)
        return pleat_mark_read(array, change->rank, &array->now, err);
    return pleat_array_part_describe(array, change->old_size, change->rank, NULL, &array->now, err);
}

int pleat_array_prepare(struct pleat_object *object, const struct pleat_change *change,
                        struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    array->fd = change->in_data ? change->data : -1;
    int code = find_old(array, change, err);
    if (!code)
        code = pleat_array_part_describe(array, change->new_size, change->rank, NULL,
                                         &array->coming, err);
    if (code)
        return code;
    array->coming.half = 1 - array->now.half;
    code = pleat_array_part_check_room(array, array->coming.half,
                                       pleat_array_part_bytes_of_all(&array->coming), err);
    if (!code)
        code = prepare_plans(array, change, err);
    if (!code)
        code = pleat_array_part_reserve(array, &array->coming, err);
    if (!code && change->in_data && array->receive.peers)
        code = pleat_old_parts_open(array, &array->now, &array->old, err);
    if (code)
        pleat_array_cancel(object);
    return code;
}

static void drop_plans(struct pleat_array *array)
{
    pleat_dist_plan_finish(&array->send);
    pleat_dist_plan_finish(&array->receive);
    memset(&array->send, 0, sizeof(array->send));
    memset(&array->receive, 0, sizeof(array->receive));
}

void pleat_array_cancel(struct pleat_object *object)
{
    struct pleat_array *array = pleat_array_of(object);
    drop_plans(array);
    pleat_old_parts_close(&array->old);
    pleat_array_part_close(&array->coming);
}

/* ---- copying ---- */

int pleat_array_copy(const struct pleat_dist_plan *plan, const struct pleat_old_parts *old,
                     struct pleat_array_part *new, struct pleat_error *err)
{
    if (!new->memory || !plan->peers)
        return 0;
    struct pleat_copy_source *sources = calloc(plan->peers, sizeof(*sources));
    if (!sources)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to copy an array");
    for (size_t i = 0; i < plan->peers; i++) {
        struct pleat_dist_plan_peer peer;
        pleat_dist_plan_peer(plan, i, &peer);
        sources[i].base = old->memory + (size_t)peer.rank * old->stride;
    }
    int code = pleat_copy_all(plan, sources, new->memory, err);
    free(sources);
    return code;
}

/* ---- sending ---- */

/* What is on its way between this rank and two others: one that it sends to, one that it receives
 * from. */
struct traffic {
    size_t to, from; /* peers of the plans; SIZE_MAX: none */
    int to_rank, from_rank;
    unsigned char *out, *in;
};

static int64_t bytes_of_peer(const struct pleat_dist_plan *plan, size_t index)
{
    struct pleat_dist_plan_peer peer;
    if (index == SIZE_MAX)
        return 0;
    pleat_dist_plan_peer(plan, index, &peer);
    return peer.bytes;
}

/* Whole elements in a piece. */
static int64_t piece_of(const struct pleat_array *array)
{
    int64_t element = (int64_t)array->shape.element_bytes;
    return element >= PIECE_BYTES ? element : PIECE_BYTES / element * element;
}

static int exchange_piece(MPI_Comm comm, const struct traffic *traffic, int64_t out, int64_t in,
                          struct pleat_error *err)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int code = 0;
    if (in)
        code = pleat_mpi_check(MPI_Irecv(traffic->in, (int)in, MPI_BYTE, traffic->from_rank,
                                         ARRAY_TAG, comm, &request[0]),
                               "moving an array", err);
    if (!code && out)
        code = pleat_mpi_check(MPI_Isend(traffic->out, (int)out, MPI_BYTE, traffic->to_rank,
                                         ARRAY_TAG, comm, &request[1]),
                               "moving an array", err);
    /* MPI_Wait, unlike MPI_Waitall, gives each message's own error. */
    for (int i = 0; i < 2 && !code; i++)
        code = pleat_mpi_check(MPI_Wait(&request[i], MPI_STATUS_IGNORE), "moving an array", err);
    return code;
}

/* Exchanges with a pair of ranks, a piece at a time, so that the buffers are small. */
static int exchange_pair(struct pleat_array *array, MPI_Comm comm, const struct traffic *traffic,
                         struct pleat_error *err)
{
    const int64_t piece = piece_of(array);
    int64_t leaving = bytes_of_peer(&array->send, traffic->to);
    int64_t arriving = bytes_of_peer(&array->receive, traffic->from);
    int64_t sent = 0;
    int64_t taken = 0;
    int code = 0;
    while (!code && (leaving > 0 || arriving > 0)) {
        int64_t in = arriving < piece ? arriving : piece;
        int64_t out = leaving < piece ? leaving : piece;
        if (out)
            (void)pleat_copy_pack(&array->send, traffic->to, array->now.memory, &sent, traffic->out,
                                  out);
        code = exchange_piece(comm, traffic, out, in, err);
        if (!code && in)
            (void)pleat_copy_unpack(&array->receive, traffic->from, array->coming.memory, &taken,
                                    traffic->in, in);
        arriving -= in;
        leaving -= out;
    }
    return code;
}

static size_t find_peer(const struct pleat_dist_plan *plan, int rank)
{
    return plan->peers ? pleat_dist_plan_find(plan, rank) : SIZE_MAX;
}

static int send_parts(struct pleat_array *array, const struct pleat_change *change,
                      struct pleat_error *err)
{
    int most = change->old_size > change->new_size ? change->old_size : change->new_size;
    struct traffic traffic = {0};
    int code = pleat_array_part_fill(array, &array->coming, true, err);
    traffic.out = malloc((size_t)piece_of(array));
    traffic.in = malloc((size_t)piece_of(array));
    if (!code && (!traffic.out || !traffic.in))
        code =
            pleat_error_set(err, PLEAT_E_NOMEM, "no memory to send array '%s'", array->object.name);
    /* All or none go on: a rank that is short of memory must not leave others waiting. */
    int agreed = 0;
    int failed = pleat_mpi_agree(change->comm, code, &agreed, err);
    if (!failed && agreed && !code)
        code = pleat_error_set(err, agreed, "another rank could not take its part of array '%s'",
                               array->object.name);
    for (int shift = 0; shift < most && !code && !failed; shift++) {
        traffic.to_rank = (change->rank + shift) % most;
        traffic.from_rank = (change->rank - shift + most) % most;
        traffic.to = find_peer(&array->send, traffic.to_rank);
        traffic.from = find_peer(&array->receive, traffic.from_rank);
        code = exchange_pair(array, change->comm, &traffic, err);
    }
    free(traffic.out);
    free(traffic.in);
    return failed ? failed : code;
}

/* ---- the exchange ---- */

/* All ranks have their new parts: rank 0 says so in the window. */
static int move_mark(struct pleat_array *array, const struct pleat_change *change, int code,
                     struct pleat_error *err)
{
    int agreed = 0;
    int failed = pleat_mpi_agree(change->comm, code, &agreed, err);
    if (failed || code)
        return failed ? failed : code;
    if (agreed)
        return pleat_error_set(err, agreed, "another rank could not take its part of array '%s'",
                               array->object.name);
    if (change->rank == 0)
        code = pleat_mark_write(array, &array->coming, err);
    failed = pleat_mpi_check(MPI_Bcast(&code, 1, MPI_INT, 0, change->comm), "moving an array", err);
    if (!failed && code && change->rank != 0)
        pleat_error_set(err, code, "rank 0 could not mark array '%s'", array->object.name);
    return failed ? failed : code;
}

/* The new part is used from now on. */
static void take_coming(struct pleat_array *array)
{
    drop_plans(array);
    pleat_old_parts_close_later(array, &array->old);
    pleat_array_part_close_later(array, &array->now);
    array->now = array->coming;
    memset(&array->coming, 0, sizeof(array->coming));
}

int pleat_array_exchange(struct pleat_object *object, const struct pleat_change *change,
                         struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    if (array->fd < 0) {
        int code = send_parts(array, change, err);
        if (!code)
            take_coming(array);
        return code;
    }
    int code = 0;
    /* old memory of earlier arrays is freed first: none needs more than the largest one */
    pleat_freeing_end(&array->session->freeing);
    if (change->rank < change->new_size)
        code = pleat_array_part_fill(array, &array->coming, true, err);
    if (!code)
        code = pleat_array_copy(&array->receive, &array->old, &array->coming, err);
    code = move_mark(array, change, code, err);
    if (code)
        return code;
    const struct pleat_array_part old = array->now;
    take_coming(array);
    if (change->rank < change->old_size)
        pleat_array_part_free_area_later(array, &old, change->rank);
    return 0;
}

uint64_t pleat_array_moved(const struct pleat_object *object, const struct pleat_change *change)
{
    const struct pleat_array *array = pleat_array_of_const(object);
    struct pleat_array_part old, new;
    int64_t moved = 0;
    if (pleat_array_part_describe(array, change->old_size, 0, NULL, &old, NULL) ||
        pleat_array_part_describe(array, change->new_size, 0, NULL, &new, NULL) ||
        pleat_dist_plan_moved(&old.dist, &new.dist, &moved, NULL))
        return 0;
    return (uint64_t)moved;
}

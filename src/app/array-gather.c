/* On several nodes: what a rank needs of an array comes from other nodes, element by element, in
 * messages between a rank of the node that has an old part and the rank that gets something of it.
 */
#include <stdlib.h>

#include "app/array-part.h"
#include "app/nodes.h"
#include "dist/copy.h"

#define PIECE_BYTES ((int64_t)16 << 20)
#define GATHER_TAG 0x504f

/* What one rank needs for it. */
struct gathering {
    struct pleat_array *array;
    struct pleat_old_parts old;
    unsigned char *buffer;
    int64_t room; /* of the buffer: whole elements */
};

/* The rank that sends the old part of `old_rank`; -1: no node has that part. */
static int sender_of(const struct pleat_array *array, int old_rank)
{
    const struct pleat_session *session = array->session;
    const int node =
        pleat_nodes_with(session, pleat_array_part_offset(array, &array->loaded, old_rank));
    return pleat_spread_rank(session->nodes->of, session->size, node, (size_t)old_rank);
}

static int send_part(struct gathering *gathering, const struct pleat_dist_plan *plan, size_t peer,
                     int to, int old_rank, struct pleat_error *err)
{
    const unsigned char *base = gathering->old.memory + (size_t)old_rank * gathering->old.stride;
    int64_t done = 0;
    int64_t bytes;
    int code = 0;
    while (!code && (bytes = pleat_copy_pack(plan, peer, base, &done, gathering->buffer,
                                             gathering->room)) > 0)
        code = pleat_mpi_check(MPI_Send(gathering->buffer, (int)bytes, MPI_BYTE, to, GATHER_TAG,
                                        gathering->array->session->comm),
                               "moving an array to another node", err);
    return code;
}

static int receive_part(struct gathering *gathering, size_t peer, int from, struct pleat_error *err)
{
    struct pleat_array *array = gathering->array;
    struct pleat_dist_plan_peer part;
    int64_t done = 0;
    int code = 0;
    pleat_dist_plan_peer(&array->receive, peer, &part);
    for (int64_t left = part.bytes; left > 0 && !code;) {
        const int64_t bytes = left < gathering->room ? left : gathering->room;
        code = pleat_mpi_check(MPI_Recv(gathering->buffer, (int)bytes, MPI_BYTE, from, GATHER_TAG,
                                        array->session->comm, MPI_STATUS_IGNORE),
                               "moving an array to another node", err);
        if (!code)
            (void)pleat_copy_unpack(&array->receive, peer, array->now.memory, &done,
                                    gathering->buffer, bytes);
        left -= bytes;
    }
    array->session->nodes->brought += (uint64_t)part.bytes;
    return code;
}

/* Sends an old part to all ranks on other nodes that need something of it. *code: this rank has
 * failed; it cannot tell the others, which wait for its messages. */
static int send_old(struct gathering *gathering, int old_rank, struct pleat_error *err)
{
    struct pleat_array *array = gathering->array;
    struct pleat_session *session = array->session;
    struct pleat_dist_plan plan = {0};
    int code =
        pleat_dist_plan_send(&array->loaded.dist, &array->now.dist, old_rank, NULL, 0, &plan, err);
    for (int to = 0; to < array->now.dist.ranks && !code && plan.peers; to++) {
        const size_t peer = session->nodes->of[to] == session->nodes->node
                                ? SIZE_MAX
                                : pleat_dist_plan_find(&plan, to);
        if (peer != SIZE_MAX)
            code = send_part(gathering, &plan, peer, to, old_rank, err);
    }
    pleat_dist_plan_finish(&plan);
    return code;
}

/* All ranks go through the old parts in the same order: the sender of one sends to all in order,
 * each of which waits for it only. */
static int exchange(struct gathering *gathering, struct pleat_error *err)
{
    struct pleat_array *array = gathering->array;
    int code = 0;
    for (int old = 0; old < array->loaded.dist.ranks && !code; old++) {
        const int sender = sender_of(array, old);
        const size_t peer =
            array->receive.peers ? pleat_dist_plan_find(&array->receive, old) : SIZE_MAX;
        if (sender == array->session->rank)
            code = send_old(gathering, old, err);
        else if (peer != SIZE_MAX && !pleat_array_is_here(array, old))
            code = receive_part(gathering, peer, sender, err);
    }
    return code;
}

/* Does everything that can fail before anything is sent. */
static int prepare(struct gathering *gathering, struct pleat_error *err)
{
    struct pleat_array *array = gathering->array;
    const int64_t element = (int64_t)array->shape.element_bytes;
    for (int old = 0; old < array->loaded.dist.ranks; old++) {
        struct pleat_layout layout;
        int code = pleat_dist_layout(&array->loaded.dist, old, NULL, &layout, err);
        if (code)
            return code;
        if (layout.bytes && sender_of(array, old) == PLEAT_SPREAD_NOBODY)
            return pleat_error_set(err, PLEAT_E_CORRUPT,
                                   "what rank %d had of array '%s' is on no node that this program "
                                   "has ranks on",
                                   old, array->object.name);
    }
    gathering->room = element >= PIECE_BYTES ? element : PIECE_BYTES / element * element;
    gathering->buffer = malloc((size_t)gathering->room);
    if (!gathering->buffer)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to bring array '%s'",
                               array->object.name);
    return pleat_old_parts_open(array, &array->loaded, &gathering->old, err);
}

int pleat_array_gather(struct pleat_object *object, int *code, struct pleat_error *err)
{
    struct pleat_array *array = pleat_array_of(object);
    struct pleat_session *session = array->session;
    struct gathering gathering = {.array = array};
    const bool moves = !*code && array->loaded.dist.dims;
    int agreed = 0;
    if (moves)
        *code = prepare(&gathering, err);
    int failed = pleat_mpi_agree(session->comm, *code, &agreed, err);
    if (!failed && agreed && !*code)
        *code = pleat_error_set(err, agreed, "another rank could not load '%s'", object->name);
    if (!failed && !agreed && moves)
        failed = exchange(&gathering, err);
    free(gathering.buffer);
    pleat_old_parts_close(&gathering.old);
    pleat_dist_plan_finish(&array->receive);
    array->receive = (struct pleat_dist_plan){0};
    return failed;
}

/* moving.c - moves what is registered at a resize, once old and new ranks have a communicator. */
#include <stdlib.h>
#include <string.h>

#include "app/session.h"

static void cancel_objects(struct pleat_session *session, const struct pleat_object *until)
{
    for (struct pleat_object *object = session->objects; object != until; object = object->next)
        object->ops->cancel(object);
    free(session->packed);
    session->packed = NULL;
}

static int prepare_objects(struct pleat_session *session, const struct pleat_change *change,
                           struct pleat_error *err)
{
    session->packed = malloc(session->values_bytes ? session->values_bytes : 1);
    if (!session->packed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to send %zu bytes of values",
                               session->values_bytes);
    for (struct pleat_object *object = session->objects; object; object = object->next) {
        int code = object->ops->prepare(object, change, err);
        if (code) {
            cancel_objects(session, object);
            return code;
        }
    }
    return 0;
}

/* Sends rank 0's values to the new ranks; the others have the same values already. */
static int send_values(struct pleat_session *session, const struct pleat_change *change,
                       struct pleat_error *err)
{
    if (change->new_size <= change->old_size || !session->values_bytes)
        return 0;
    size_t at = 0;
    for (size_t i = 0; change->rank == 0 && i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        memcpy(session->packed + at, value->ptr, value->bytes);
        at += value->bytes;
    }
    int code = pleat_mpi_check(
        MPI_Bcast(session->packed, (int)session->values_bytes, MPI_BYTE, 0, change->comm),
        "sending values to new ranks", err);
    at = 0;
    for (size_t i = 0; !code && change->rank >= change->old_size && i < session->values.count;
         i++) {
        const struct pleat_value *value = &session->values.items[i];
        memcpy(value->ptr, session->packed + at, value->bytes);
        at += value->bytes;
    }
    return code;
}

/* Has the ranks tell one another what they must know to make room. Returns a negative code if this
 * rank cannot take part. *failed: the communication has failed. */
static int measure_objects(struct pleat_session *session, const struct pleat_change *change,
                           int *failed, struct pleat_error *err)
{
    int code = 0;
    for (struct pleat_object *object = session->objects; object && !*failed;
         object = object->next) {
        if (!object->tail)
            continue;
        int got = object->tail->measure(object, change, code ? NULL : err);
        *failed = got == PLEAT_E_MPI ? got : 0;
        code = code ? code : got;
    }
    return code;
}

/* In the data file objects are copied into new memory, one after the other: none before all ranks
 * have freed the old memory of the one before. A rank alone may have none to free. */
static int exchange_objects(struct pleat_session *session, const struct pleat_change *change,
                            struct pleat_error *err)
{
    int code = 0;
    bool is_first = true;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next) {
        const bool is_copied = change->in_data && object->ops->settle;
        int agreed = 0;
        if (is_copied && !is_first) {
            pleat_freeing_end(&session->freeing);
            code = pleat_mpi_agree(change->comm, 0, &agreed, err);
        }
        is_first = is_first && !is_copied;
        if (!code)
            code = object->ops->exchange(object, change, err);
    }
    return code;
}

int pleat_move_all(struct pleat_session *session, const struct pleat_change *change, int code,
                   struct pleat_error *err)
{
    int agreed = 0;
    bool prepared = false;
    struct pleat_error grids = {0};
    int failed = pleat_mpi_agree(change->comm, code, &agreed, err);
    if (!failed && !agreed) {
        code = measure_objects(session, change, &failed, err);
        if (!failed && !code)
            code = prepare_objects(session, change, err);
        prepared = !failed && !code;
    }
    if (!failed && !agreed) {
        failed =
            pleat_mpi_agree_on(change->comm, code, pleat_session_grids(session), &agreed, &grids);
        if (failed && err)
            *err = grids;
    }
    if (failed)
        return failed;
    if (agreed) {
        if (prepared)
            cancel_objects(session, NULL);
        if (!code && grids.code)
            pleat_error_set(err, agreed, "%s", grids.text);
        else if (!code)
            pleat_error_set(err, agreed, "another rank could not take part (%s)",
                            pleat_error_name(agreed));
        return PLEAT_RESIZE_REFUSED;
    }
    pleat_registry_release(session);
    code = exchange_objects(session, change, err);
    if (!code)
        code = send_values(session, change, err);
    free(session->packed);
    session->packed = NULL;
    for (struct pleat_object *object = session->objects; object && !code; object = object->next)
        code = object->ops->commit(object, change, err);
    if (!code)
        code = pleat_sums_compare(session, change->comm, change->rank < change->new_size, err);
    if (code)
        return code;
    /* The resize is applied only once every rank has its data. */
    return pleat_mpi_agree(change->comm, 0, &agreed, err);
}

uint64_t pleat_moved_bytes(const struct pleat_session *session, const struct pleat_change *change)
{
    uint64_t bytes = 0;
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        bytes += object->ops->moved(object, change);
    return bytes;
}

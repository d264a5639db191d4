/* Parts of a state go from the files of one node to those of another, in messages between ranks. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "app/nodes.h"

/* Size of a message; two buffers of this size are all the memory that carrying takes. */
#define PIECE_BYTES ((uint64_t)16 << 20)
#define NODES_TAG 0x504e

static int agree(struct pleat_session *session, int *code, struct pleat_error *err)
{
    int agreed = 0;
    int failed = pleat_mpi_agree(session->comm, *code, &agreed, err);
    if (!failed && agreed && !*code)
        *code = pleat_error_set(err, agreed, "another rank could not do its part (%s)",
                                pleat_error_name(agreed));
    return failed;
}

/* Room for what all ranks have, of whose counts the displacements are made. */
static int make_room(const int *counts, int *bytes, int *at, int ranks, struct pleat_stretches *all,
                     struct pleat_error *err)
{
    size_t total = 0;
    for (int rank = 0; rank < ranks; rank++) {
        at[rank] = (int)(total * sizeof(struct pleat_stretch));
        bytes[rank] = counts[rank] * (int)sizeof(struct pleat_stretch);
        total += (size_t)counts[rank];
        if (total > INT_MAX / sizeof(struct pleat_stretch))
            return pleat_error_set(err, PLEAT_E_TOOBIG,
                                   "the state is in too many parts to tell all ranks of them");
    }
    if (total && pleat_array_reserve(all, total))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the parts of the state");
    all->count = total;
    return 0;
}

static int gather(struct pleat_session *session, const struct pleat_stretches *mine, int *numbers,
                  int *code, struct pleat_stretches *all, struct pleat_error *err)
{
    const int ranks = session->size;
    int *counts = numbers;
    int *bytes = numbers + ranks;
    int *at = bytes + ranks;
    const int count = (int)mine->count;
    int failed =
        pleat_mpi_check(MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, session->comm),
                        "telling of parts", err);
    if (failed)
        return failed;
    *code = make_room(counts, bytes, at, ranks, all, err);
    failed = agree(session, code, err);
    if (failed || *code)
        return failed;
    failed = pleat_mpi_check(MPI_Allgatherv(mine->items, bytes[session->rank], MPI_BYTE, all->items,
                                            bytes, at, MPI_BYTE, session->comm),
                             "telling of parts", err);
    for (int rank = 0, i = 0; rank < ranks; rank++)
        for (int n = 0; n < counts[rank] && !failed; n++, i++) {
            all->items[i].rank = rank;
            all->items[i].node = session->nodes->of[rank];
        }
    return failed;
}

int pleat_nodes_gather(struct pleat_session *session, const struct pleat_stretches *mine, int *code,
                       struct pleat_stretches *all, struct pleat_error *err)
{
    int *numbers = calloc(3 * (size_t)session->size, sizeof(int));
    if (!*code && (!numbers || mine->count > PLEAT_STATE_PARTS_MAX))
        *code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to tell of parts of the state");
    all->count = 0;
    int failed = agree(session, code, err);
    if (!failed && !*code)
        failed = gather(session, mine, numbers, code, all, err);
    free(numbers);
    return failed;
}

/* ---- carrying ---- */

/* Two pieces may be on their way from this rank. */
struct sending {
    unsigned char *buffer[2];
    MPI_Request request[2];
    int next;
};

/* A piece that cannot be read is sent nevertheless, since another rank waits for it. */
static int send_piece(struct pleat_session *session, const struct pleat_parcel_of_state *one,
                      uint64_t at, size_t bytes, struct sending *sending, int *code,
                      struct pleat_error *err)
{
    const int i = sending->next;
    sending->next = 1 - i;
    int failed = pleat_mpi_check(MPI_Wait(&sending->request[i], MPI_STATUS_IGNORE),
                                 "moving data to another node", err);
    if (failed)
        return failed;
    int got = pleat_state_take(session->saved, at, sending->buffer[i], bytes, *code ? NULL : err);
    *code = *code ? *code : got;
    return pleat_mpi_check(MPI_Isend(sending->buffer[i], (int)bytes, MPI_BYTE, one->to, NODES_TAG,
                                     session->comm, &sending->request[i]),
                           "moving data to another node", err);
}

static int receive_piece(struct pleat_session *session, const struct pleat_parcel_of_state *one,
                         uint64_t at, size_t bytes, unsigned char *buffer, int *code,
                         struct pleat_error *err)
{
    int failed = pleat_mpi_check(MPI_Recv(buffer, (int)bytes, MPI_BYTE, one->from, NODES_TAG,
                                          session->comm, MPI_STATUS_IGNORE),
                                 "moving data to another node", err);
    if (!failed && !*code)
        *code = pleat_state_fill(session->saved, at, buffer, bytes, err);
    session->nodes->brought += bytes;
    return failed;
}

/* All ranks go through the same list in the same order. So they never wait in a circle: the two
 * ranks of the first parcel can always go on. */
static int carry_all(struct pleat_session *session, const struct pleat_carrying *list,
                     struct sending *sending, unsigned char *incoming, int *code,
                     struct pleat_error *err)
{
    int failed = 0;
    for (size_t i = 0; i < list->count && !failed; i++) {
        const struct pleat_parcel_of_state *one = &list->items[i];
        for (uint64_t at = one->first; at < one->end && !failed;) {
            const uint64_t left = one->end - at;
            const size_t bytes = (size_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
            if (one->from == session->rank)
                failed = send_piece(session, one, at, bytes, sending, code, err);
            else
                failed = receive_piece(session, one, at, bytes, incoming, code, err);
            at += bytes;
        }
    }
    for (int i = 0; i < 2 && !failed; i++)
        failed = pleat_mpi_check(MPI_Wait(&sending->request[i], MPI_STATUS_IGNORE),
                                 "moving data to another node", err);
    return failed;
}

/* The largest piece that the list sends, and receives: most moves are small. */
static void measure(const struct pleat_session *session, const struct pleat_carrying *list,
                    size_t *out, size_t *in)
{
    *out = *in = 1;
    for (size_t i = 0; i < list->count; i++) {
        const struct pleat_parcel_of_state *one = &list->items[i];
        const uint64_t bytes = one->end - one->first;
        const size_t piece = (size_t)(bytes < PIECE_BYTES ? bytes : PIECE_BYTES);
        size_t *most = one->from == session->rank ? out : in;
        *most = piece > *most ? piece : *most;
    }
}

int pleat_nodes_carry(struct pleat_session *session, const struct pleat_carrying *list, int *code,
                      struct pleat_error *err)
{
    struct sending sending = {.request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    size_t out, in;
    measure(session, list, &out, &in);
    unsigned char *incoming = malloc(in);
    sending.buffer[0] = malloc(out);
    sending.buffer[1] = malloc(out);
    if (!*code && (!incoming || !sending.buffer[0] || !sending.buffer[1]))
        *code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory to move data to another node");
    int failed = agree(session, code, err);
    if (!failed && !*code) {
        failed = carry_all(session, list, &sending, incoming, code, err);
        if (!failed)
            failed = agree(session, code, err);
    }
    free(incoming);
    if (!failed) { /* otherwise MPI may still read there */
        free(sending.buffer[0]);
        free(sending.buffer[1]);
    }
    return failed;
}

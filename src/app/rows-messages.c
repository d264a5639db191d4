#include "app/rows-messages.h"

#include <limits.h>
#include <stdlib.h>

#include "app/rows-block.h"

/* Size of one message at most: MPI counts are int, and larger messages are no faster. */
#define PIECE_BYTES ((size_t)16 << 20)
#define ROWS_TAG 0x504c

/* A message of this rank in a resize: to or from which rank, and which rows. */
struct message {
    int peer;
    bool send;
    struct pleat_block block;
};

/* Gets the next message of this rank from *cursor on, first those to send. False: there are no
 * more. */
static bool next_message(const struct pleat_rows *rows, const struct pleat_change *change,
                         int *cursor, struct message *message)
{
    const struct pleat_block before = pleat_rows_block(rows, change->old_size, change->rank);
    const struct pleat_block after = pleat_rows_block(rows, change->new_size, change->rank);
    for (; *cursor < change->new_size + change->old_size; (*cursor)++) {
        bool send = *cursor < change->new_size;
        int peer = send ? *cursor : *cursor - change->new_size;
        if (peer == change->rank)
            continue;
        struct pleat_block theirs =
            pleat_rows_block(rows, send ? change->new_size : change->old_size, peer);
        struct pleat_block common = pleat_block_common(send ? before : after, theirs);
        if (!pleat_block_count(common))
            continue;
        *message = (struct message){.peer = peer, .send = send, .block = common};
        (*cursor)++;
        return true;
    }
    return false;
}

int pleat_rows_messages_begin(struct pleat_rows *rows, const struct pleat_change *change,
                              struct pleat_error *err)
{
    size_t count = 0;
    struct message message;
    for (int cursor = 0; next_message(rows, change, &cursor, &message);)
        count += (pleat_rows_bytes(rows, message.block) + PIECE_BYTES - 1) / PIECE_BYTES;
    if (count > INT_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "rows '%s' would need %zu messages",
                               rows->object.name, count);
    rows->requests = malloc((count ? count : 1) * sizeof(MPI_Request));
    if (!rows->requests)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to move rows '%s'",
                               rows->object.name);
    return 0;
}

static int start_message(struct pleat_rows *rows, const struct pleat_change *change,
                         const struct message *message, int *used, struct pleat_error *err)
{
    unsigned char *at = rows->memory.base + pleat_rows_offset(rows, message->block.first);
    size_t left = pleat_rows_bytes(rows, message->block);
    while (left) {
        int piece = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
        MPI_Request *request = &rows->requests[*used];
        int result =
            message->send
                ? MPI_Isend(at, piece, MPI_BYTE, message->peer, ROWS_TAG, change->comm, request)
                : MPI_Irecv(at, piece, MPI_BYTE, message->peer, ROWS_TAG, change->comm, request);
        int code = pleat_mpi_check(result, "moving rows", err);
        if (code)
            return code;
        (*used)++;
        at += piece;
        left -= (size_t)piece;
    }
    return 0;
}

int pleat_rows_messages_exchange(struct pleat_rows *rows, const struct pleat_change *change,
                                 struct pleat_error *err)
{
    int code = 0, used = 0;
    struct message message;
    for (int cursor = 0; !code && next_message(rows, change, &cursor, &message);)
        code = start_message(rows, change, &message, &used, err);
    /* After a failure the other messages are not waited for: that could last for ever, and the
     * session is broken anyway. MPI_Wait, unlike MPI_Waitall, gives each message's own error. */
    for (int i = 0; i < used && !code; i++)
        code = pleat_mpi_check(MPI_Wait(&rows->requests[i], MPI_STATUS_IGNORE), "moving rows", err);
    return code;
}

void pleat_rows_messages_end(struct pleat_rows *rows)
{
    free(rows->requests);
    rows->requests = NULL;
}

/* groups_files.c - files of all ranks: each with a place of its own in them, a place that they
 * share, together, and begun. Each thread has files of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"

enum { TURNS = 6, WORD = sizeof(int64_t) };

static MPI_File open_file(MPI_Comm comm, const char *name, int id, char *path, size_t room)
{
    const char *directory = getenv("FOLD_CALLS_DIRECTORY");
    MPI_File file;
    MUST(directory);
    (void)snprintf(path, room, "%s/%s.%d", directory, name, id);
    DO(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    DO(MPI_File_set_size(file, 0));
    DO(MPI_Barrier(comm));
    return file;
}

static void close_file(MPI_Comm comm, MPI_File *file, const char *path)
{
    DO(MPI_File_close(file));
    DO(MPI_Barrier(comm));
    if (rank == 0)
        DO(MPI_File_delete(path, MPI_INFO_NULL));
}

/* What was written is there for all. */
static void settle(MPI_Comm comm, MPI_File file)
{
    DO(MPI_File_sync(file));
    DO(MPI_Barrier(comm));
    DO(MPI_File_sync(file));
}

static MPI_Offset place(int of, int round)
{
    return (MPI_Offset)WORD * (round * size + of);
}

/* Each by itself: at a place that it names, or where it is. */
int64_t file_own(MPI_Comm comm, int id)
{
    char path[4096];
    int64_t sum = rank;
    MPI_File file = open_file(comm, "own", id, path, sizeof(path));
    MPI_Offset end = 0;
    DO(MPI_File_preallocate(file, (MPI_Offset)WORD * TURNS * size));
    DO(MPI_File_set_atomicity(file, id % 2));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round), in = 0;
        MPI_Status status;
        int count = 0;
        if (round % 2) {
            DO(MPI_File_seek(file, place(rank, round), MPI_SEEK_SET));
            DO(MPI_File_write(file, &out, 1, MPI_INT64_T, &status));
        } else {
            DO(MPI_File_write_at(file, place(rank, round), &out, 1, MPI_INT64_T, &status));
        }
        DO(MPI_Get_count(&status, MPI_INT64_T, &count));
        MUST(count == 1);
        settle(comm, file);
        if (round % 2) {
            DO(MPI_File_read_at(file, place(next_rank(), round), &in, 1, MPI_INT64_T, &status));
        } else {
            DO(MPI_File_seek(file, place(next_rank(), round), MPI_SEEK_SET));
            DO(MPI_File_read(file, &in, 1, MPI_INT64_T, &status));
        }
        MUST(in == saying(next_rank(), id, round));
        sum = mix(sum, in);
    }
    DO(MPI_File_get_size(file, &end));
    MUST(end == (MPI_Offset)WORD * TURNS * size);
    close_file(comm, &file, path);
    return sum;
}

/* Each write gets the next place; the order is not known, but nothing may be lost or written
 * twice. */
int64_t file_shared(MPI_Comm comm, int id)
{
    char path[4096];
    int64_t total = 0, expected = 0, all = 0;
    MPI_File file = open_file(comm, "shared", id, path, sizeof(path));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round);
        MPI_Request request;
        if (round % 2) {
            DO(MPI_File_iwrite_shared(file, &out, 1, MPI_INT64_T, &request));
            DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            DO(MPI_File_write_shared(file, &out, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
        }
    }
    settle(comm, file);
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int round = 0; round < TURNS; round++) {
        int64_t in = 0;
        DO(MPI_File_read_shared(file, &in, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
        total += in;
        for (int i = 0; i < size; i++)
            expected += saying(i, id, round);
    }
    DO(MPI_Allreduce(&total, &all, 1, MPI_INT64_T, MPI_SUM, comm));
    MUST(all == expected);
    /* in the order of ranks */
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round);
        if (round % 2) {
            DO(MPI_File_write_ordered_begin(file, &out, 1, MPI_INT64_T));
            DO(MPI_File_write_ordered_end(file, &out, MPI_STATUS_IGNORE));
        } else {
            DO(MPI_File_write_ordered(file, &out, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
        }
    }
    settle(comm, file);
    DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int round = 0; round < TURNS; round++) {
        int64_t in = 0;
        DO(MPI_File_read_ordered(file, &in, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
        MUST(in == saying(rank, id, round));
    }
    close_file(comm, &file, path);
    return mix(id, all);
}

/* All at once, in one call or in two. */
int64_t file_together(MPI_Comm comm, int id)
{
    char path[4096];
    int64_t sum = rank;
    MPI_File file = open_file(comm, "together", id, path, sizeof(path));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round), in = 0;
        if (round % 2) {
            DO(MPI_File_write_at_all(file, place(rank, round), &out, 1, MPI_INT64_T,
                                     MPI_STATUS_IGNORE));
        } else {
            DO(MPI_File_write_at_all_begin(file, place(rank, round), &out, 1, MPI_INT64_T));
            DO(MPI_File_write_at_all_end(file, &out, MPI_STATUS_IGNORE));
        }
        settle(comm, file);
        DO(MPI_File_seek(file, place(next_rank(), round), MPI_SEEK_SET));
        if (round % 3) {
            DO(MPI_File_read_all(file, &in, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
        } else {
            DO(MPI_File_read_all_begin(file, &in, 1, MPI_INT64_T));
            DO(MPI_File_read_all_end(file, &in, MPI_STATUS_IGNORE));
        }
        MUST(in == saying(next_rank(), id, round));
        sum = mix(sum, in);
    }
    close_file(comm, &file, path);
    return sum;
}

/* Begun, alone and by all, beside a message. */
int64_t file_begun(MPI_Comm comm, int id)
{
    char path[4096];
    int64_t sum = rank;
    MPI_File file = open_file(comm, "begun", id, path, sizeof(path));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round), in = 0, told = 0;
        MPI_Request requests[3];
        if (round % 2)
            DO(MPI_File_iwrite_at_all(file, place(rank, round), &out, 1, MPI_INT64_T,
                                      &requests[0]));
        else
            DO(MPI_File_iwrite_at(file, place(rank, round), &out, 1, MPI_INT64_T, &requests[0]));
        DO(MPI_Irecv(&told, 1, MPI_INT64_T, previous_rank(), 0, comm, &requests[1]));
        DO(MPI_Isend(&out, 1, MPI_INT64_T, next_rank(), 0, comm, &requests[2]));
        /* one by one: MPI_Testall of MPICH 4.0.2 fails when a file's request is done before the
         * others */
        for (int i = 0, flag = 0; i < 3; i += flag)
            DO(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        settle(comm, file);
        if (round % 2)
            DO(MPI_File_iread_at_all(file, place(previous_rank(), round), &in, 1, MPI_INT64_T,
                                     &requests[0]));
        else
            DO(MPI_File_iread_at(file, place(previous_rank(), round), &in, 1, MPI_INT64_T,
                                 &requests[0]));
        DO(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        MUST(in == told && in == saying(previous_rank(), id, round));
        sum = mix(sum, in);
    }
    close_file(comm, &file, path);
    return sum;
}

/* Each sees its own column of a table. */
int64_t file_views(MPI_Comm comm, int id)
{
    char path[4096];
    const int whole[2] = {TURNS, size}, part[2] = {TURNS, 1}, from[2] = {0, rank},
              after[2] = {0, next_rank()};
    int64_t out[TURNS], in[TURNS], sum = rank;
    MPI_Datatype mine, theirs;
    MPI_File file = open_file(comm, "views", id, path, sizeof(path));
    DO(MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_INT64_T, &mine));
    DO(MPI_Type_create_subarray(2, whole, part, after, MPI_ORDER_C, MPI_INT64_T, &theirs));
    DO(MPI_Type_commit(&mine));
    DO(MPI_Type_commit(&theirs));
    for (int round = 0; round < TURNS; round++)
        out[round] = saying(rank, id, round);
    DO(MPI_File_set_view(file, 0, MPI_INT64_T, mine, "native", MPI_INFO_NULL));
    DO(MPI_File_write_all(file, out, TURNS, MPI_INT64_T, MPI_STATUS_IGNORE));
    settle(comm, file);
    DO(MPI_File_set_view(file, 0, MPI_INT64_T, theirs, "native", MPI_INFO_NULL));
    DO(MPI_File_read_all(file, in, TURNS, MPI_INT64_T, MPI_STATUS_IGNORE));
    for (int round = 0; round < TURNS; round++) {
        MUST(in[round] == saying(next_rank(), id, round));
        sum = mix(sum, in[round]);
    }
    DO(MPI_Type_free(&theirs));
    DO(MPI_Type_free(&mine));
    close_file(comm, &file, path);
    return sum;
}

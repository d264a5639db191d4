/* calls_windows.c - one-sided access, and files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "calls.h"

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

/* Into the right neighbour's words 0 and 1, between two fences. */
static int64_t fences(MPI_Win win, int64_t *words, int64_t sum)
{
    int64_t got = 0;
    DO(MPI_Win_fence(0, win));
    DO(MPI_Put(&sum, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, win));
    DO(MPI_Win_fence(0, win));
    DO(MPI_Accumulate(&sum, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, MPI_SUM, win));
    DO(MPI_Win_fence(0, win));
    DO(MPI_Get(&got, 1, MPI_INT64_T, left(), 0, 1, MPI_INT64_T, win));
    DO(MPI_Win_fence(0, win));
    return mix(mix(sum, words[0]), got);
}

/* The same with neighbours only: exposed to the left, accessed on the right. */
static int64_t epochs(MPI_Win win, int64_t *words, int64_t sum, bool look)
{
    int neighbour = right();
    int flag = 0;
    MPI_Group world;
    MPI_Group to;
    MPI_Group from;
    DO(MPI_Comm_group(MPI_COMM_WORLD, &world));
    DO(MPI_Group_incl(world, 1, &neighbour, &to));
    neighbour = left();
    DO(MPI_Group_incl(world, 1, &neighbour, &from));
    DO(MPI_Win_post(from, 0, win));
    DO(MPI_Win_start(to, 0, win));
    DO(MPI_Put(&sum, 1, MPI_INT64_T, right(), 1, 1, MPI_INT64_T, win));
    DO(MPI_Win_complete(win));
    if (look)
        while (!flag)
            DO(MPI_Win_test(win, &flag));
    else
        DO(MPI_Win_wait(win));
    DO(MPI_Group_free(&from));
    DO(MPI_Group_free(&to));
    DO(MPI_Group_free(&world));
    return mix(sum, words[1]);
}

int64_t do_one_sided(void)
{
    int64_t sum = rank;
    int64_t mine[2] = {0, 0};
    int64_t *words = NULL;
    MPI_Win wins[2];
    DO(MPI_Win_create(mine, sizeof(mine), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                      &wins[0]));
    DO(MPI_Win_allocate(sizeof(mine), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &words,
                        &wins[1]));
    words[0] = words[1] = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum = fences(wins[0], mine, sum);
        sum = fences(wins[1], words, sum);
        sum = epochs(wins[0], mine, sum, i % 2);
        sum = epochs(wins[1], words, sum, i % 2);
    }
    DO(MPI_Win_free(&wins[0]));
    DO(MPI_Win_free(&wins[1]));
    return sum;
}

/* ---- locks: everybody adds to rank 0's words ---- */

static void add_with_locks(MPI_Win win, int64_t value, int64_t one)
{
    int64_t before = 0;
    int64_t seen = -1;
    int64_t taken = 0;
    DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    DO(MPI_Accumulate(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win));
    DO(MPI_Win_flush(0, win));
    DO(MPI_Win_unlock(0, win));
    DO(MPI_Win_lock_all(0, win));
    DO(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 1, MPI_SUM, win));
    DO(MPI_Win_flush_local(0, win));
    DO(MPI_Get_accumulate(&one, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T,
                          MPI_SUM, win));
    DO(MPI_Win_flush_local_all(win));
    /* not to itself: there Open MPI 4.1.4 crashes (osc rdma over vader) */
    DO(MPI_Compare_and_swap(&taken, &seen, &before, MPI_INT64_T, right(), 2, win));
    DO(MPI_Win_flush_all(win));
    DO(MPI_Win_sync(win));
    DO(MPI_Win_unlock_all(win));
}

int64_t do_locks(void)
{
    int64_t *words = NULL;
    int64_t result[2];
    MPI_Win win;
    DO(MPI_Win_allocate(3 * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &words,
                        &win));
    DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    words[0] = words[1] = words[2] = 0;
    DO(MPI_Win_unlock(rank, win));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS; i++)
        add_with_locks(win, rank + i, 1);
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    DO(MPI_Get(result, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, win));
    DO(MPI_Win_unlock(0, win));
    MUST(result[1] == 2 * (int64_t)ROUNDS * size);
    DO(MPI_Win_free(&win));
    return mix(result[0], result[1]);
}

static int64_t shared_words(int64_t sum)
{
    int64_t *mine = NULL;
    int64_t *theirs = NULL;
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win win;
    MPI_Comm node;
    DO(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    DO(MPI_Win_allocate_shared(sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, node, &mine, &win));
    DO(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    *mine = sum;
    DO(MPI_Win_sync(win));
    DO(MPI_Barrier(node));
    DO(MPI_Win_sync(win));
    DO(MPI_Win_shared_query(win, 0, &bytes, &unit, &theirs));
    sum = mix(sum, *theirs);
    DO(MPI_Barrier(node));
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Win_free(&win));
    DO(MPI_Comm_free(&node));
    return sum;
}

/* Each access with a request, to memory that was attached. */
int64_t do_requests_one_sided(void)
{
    int64_t sum = rank;
    int64_t word = 0;
    MPI_Aint mine;
    MPI_Aint theirs;
    MPI_Win win;
    DO(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    DO(MPI_Win_attach(win, &word, sizeof(word)));
    DO(MPI_Get_address(&word, &mine));
    DO(MPI_Sendrecv(&mine, 1, MPI_AINT, left(), 0, &theirs, 1, MPI_AINT, right(), 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    DO(MPI_Win_lock_all(0, win));
    for (int i = 0; i < ROUNDS; i++) {
        int64_t got[2] = {0, 0};
        MPI_Request r;
        DO(MPI_Rput(&sum, 1, MPI_INT64_T, right(), theirs, 1, MPI_INT64_T, win, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        DO(MPI_Win_flush(right(), win));
        DO(MPI_Raccumulate(&sum, 1, MPI_INT64_T, right(), theirs, 1, MPI_INT64_T, MPI_SUM, win,
                           &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        DO(MPI_Win_flush(right(), win));
        DO(MPI_Rget_accumulate(&sum, 1, MPI_INT64_T, &got[0], 1, MPI_INT64_T, right(), theirs, 1,
                               MPI_INT64_T, MPI_SUM, win, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        DO(MPI_Win_flush(right(), win));
        DO(MPI_Rget(&got[1], 1, MPI_INT64_T, right(), theirs, 1, MPI_INT64_T, win, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
        MUST(got[0] == 2 * sum && got[1] == 3 * sum);
        sum = mix(sum, got[1]);
    }
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Win_detach(win, &word));
    DO(MPI_Win_free(&win));
    return shared_words(sum);
}

/* ---- files ---- */

static void write_all_ways(MPI_File file, int64_t sum, int round)
{
    MPI_Offset mine = (MPI_Offset)sizeof(int64_t) * (round * size + rank);
    MPI_Request r;
    if (round % 5 == 0)
        DO(MPI_File_write_at_all(file, mine, &sum, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
    else if (round % 5 == 1)
        DO(MPI_File_write_at(file, mine, &sum, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
    else if (round % 5 == 2)
        DO(MPI_File_write_ordered(file, &sum, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
    else if (round % 5 == 3) {
        DO(MPI_File_iwrite_at(file, mine, &sum, 1, MPI_INT64_T, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        DO(MPI_File_write_at_all_begin(file, mine, &sum, 1, MPI_INT64_T));
        DO(MPI_File_write_at_all_end(file, &sum, MPI_STATUS_IGNORE));
    }
    if (round % 5 == 2) /* where the ordered words went */
        DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    DO(MPI_File_sync(file));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_File_sync(file));
}

static int64_t read_all_ways(MPI_File file, int64_t sum, int round)
{
    MPI_Offset theirs =
        (MPI_Offset)sizeof(int64_t) * ((round % 5 == 2 ? 0 : round * size) + right());
    int64_t got = 0;
    MPI_Request r;
    if (round % 3 == 0) {
        DO(MPI_File_read_at_all(file, theirs, &got, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
    } else if (round % 3 == 1) {
        DO(MPI_File_iread_at(file, theirs, &got, 1, MPI_INT64_T, &r));
        DO(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        DO(MPI_File_seek(file, theirs, MPI_SEEK_SET));
        DO(MPI_File_read_all(file, &got, 1, MPI_INT64_T, MPI_STATUS_IGNORE));
    }
    return mix(sum, got);
}

int64_t do_files(void)
{
    const char *directory = getenv("FOLD_CALLS_DIRECTORY");
    char path[4096];
    int64_t sum = rank;
    MPI_File file;
    MUST(directory);
    (void)snprintf(path, sizeof(path), "%s/calls.data", directory);
    DO(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    DO(MPI_File_set_size(file, 0));
    for (int i = 0; i < ROUNDS; i++) {
        write_all_ways(file, sum, i);
        sum = read_all_ways(file, sum, i);
    }
    DO(MPI_File_close(&file));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        DO(MPI_File_delete(path, MPI_INFO_NULL));
    return sum;
}

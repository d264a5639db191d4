/* groups_windows.c - one-sided access: every way to make a window, and every way to agree on when
 * it may be used. */
#include <stdlib.h>

#include "groups.h"

enum { WORDS = 16, TURNS = 12 };

/* Open MPI's windows over memory of the program's own are not for several threads (its osc pt2pt
 * says so). */
static MPI_Win make_window(MPI_Comm comm, bool own, int64_t **words)
{
    MPI_Win win;
    if (own) {
        *words = calloc(WORDS, sizeof(**words));
        MUST(*words);
        DO(MPI_Win_create(*words, WORDS * sizeof(**words), sizeof(**words), MPI_INFO_NULL, comm,
                          &win));
        return win;
    }
    DO(MPI_Win_allocate(WORDS * sizeof(**words), sizeof(**words), MPI_INFO_NULL, comm, words,
                        &win));
    DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < WORDS; i++)
        (*words)[i] = 0;
    DO(MPI_Win_unlock(rank, win));
    DO(MPI_Barrier(comm));
    return win;
}

static void free_window(MPI_Win *win, bool own, int64_t *words)
{
    DO(MPI_Win_free(win));
    if (own)
        free(words);
}

/* Everybody puts, adds, and takes with every rank; a strided type on one side. */
static int64_t fence(MPI_Comm comm, int id, bool own)
{
    int64_t *words, sum = rank, got[4];
    MPI_Win win = make_window(comm, own, &words);
    MPI_Datatype every_other;
    DO(MPI_Type_vector(2, 1, 2, MPI_INT64_T, &every_other));
    DO(MPI_Type_commit(&every_other));
    for (int round = 0; round < TURNS; round++) {
        int64_t out[2] = {saying(rank, id, round), -saying(rank, id, round)};
        int64_t most = saying(rank, id, round), one = 1;
        DO(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        words[8] = words[9] = 0;
        DO(MPI_Win_fence(MPI_MODE_NOPUT, win));
        DO(MPI_Put(out, 2, MPI_INT64_T, next_rank(), 4, 1, every_other, win));
        for (int i = 0; i < size; i++) {
            DO(MPI_Accumulate(&one, 1, MPI_INT64_T, i, 8, 1, MPI_INT64_T, MPI_SUM, win));
            DO(MPI_Accumulate(&most, 1, MPI_INT64_T, i, 9, 1, MPI_INT64_T, MPI_MAX, win));
        }
        DO(MPI_Win_fence(0, win));
        MUST(words[4] == saying(previous_rank(), id, round) && words[6] == -words[4]);
        MUST(words[8] == size && words[9] == saying(size - 1, id, round));
        DO(MPI_Win_fence(0, win));
        DO(MPI_Get(got, 1, every_other, previous_rank(), 4, 1, every_other, win));
        DO(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        MUST(got[0] == saying((rank + 2 * size - 2) % size, id, round) && got[2] == -got[0]);
        sum = mix(sum, got[0]);
    }
    DO(MPI_Type_free(&every_other));
    free_window(&win, own, words);
    return sum;
}

int64_t window_fence(MPI_Comm comm, int id)
{
    return fence(comm, id, id == 0);
}

/* Post, start, complete, wait: with both neighbours, who come when they like. */
int64_t window_group(MPI_Comm comm, int id)
{
    int64_t *words, sum = rank;
    MPI_Win win = make_window(comm, id == 0, &words);
    MPI_Group world, beside;
    int neighbours[2] = {next_rank(), previous_rank()};
    DO(MPI_Comm_group(comm, &world));
    DO(MPI_Group_incl(world, neighbours[0] == neighbours[1] ? 1 : 2, neighbours, &beside));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round);
        int flag = 0;
        DO(MPI_Win_post(beside, 0, win));
        DO(MPI_Win_start(beside, 0, win));
        DO(MPI_Put(&out, 1, MPI_INT64_T, next_rank(), 1, 1, MPI_INT64_T, win));
        DO(MPI_Put(&out, 1, MPI_INT64_T, previous_rank(), 2, 1, MPI_INT64_T, win));
        DO(MPI_Win_complete(win));
        if (round % 2)
            DO(MPI_Win_wait(win));
        else
            while (!flag)
                DO(MPI_Win_test(win, &flag));
        MUST(words[1] == saying(previous_rank(), id, round) &&
             words[2] == saying(next_rank(), id, round));
        sum = mix(sum, words[1] + words[2]);
    }
    DO(MPI_Group_free(&beside));
    DO(MPI_Group_free(&world));
    free_window(&win, id == 0, words);
    return sum;
}

/* Memory that all of a node load from and store to. */
int64_t window_shared(MPI_Comm comm, int id)
{
    int64_t *mine, *theirs, sum = rank;
    MPI_Aint bytes;
    MPI_Win win;
    int unit;
    DO(MPI_Win_allocate_shared(WORDS * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL, comm, &mine,
                               &win));
    DO(MPI_Win_shared_query(win, next_rank(), &bytes, &unit, &theirs));
    MUST(bytes >= (MPI_Aint)(WORDS * sizeof(*mine)) && unit == sizeof(*mine));
    DO(MPI_Win_lock_all(0, win));
    for (int round = 0; round < TURNS; round++) {
        theirs[round % WORDS] = saying(rank, id, round);
        DO(MPI_Win_sync(win));
        DO(MPI_Barrier(comm));
        DO(MPI_Win_sync(win));
        MUST(mine[round % WORDS] == saying(previous_rank(), id, round));
        sum = mix(sum, mine[round % WORDS]);
        DO(MPI_Barrier(comm));
    }
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Win_free(&win));
    return sum;
}

/* Reads, adds and writes at every rank in turn: right only if nobody is between. */
int64_t window_locks(MPI_Comm comm, int id)
{
    int64_t *words, sum = 0;
    MPI_Win win = make_window(comm, id == 0, &words);
    for (int round = 0; round < TURNS; round++)
        for (int i = 0; i < size; i++) {
            int64_t value = 0;
            DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win));
            DO(MPI_Get(&value, 1, MPI_INT64_T, i, 0, 1, MPI_INT64_T, win));
            DO(MPI_Win_flush(i, win));
            value += rank + 1;
            DO(MPI_Put(&value, 1, MPI_INT64_T, i, 0, 1, MPI_INT64_T, win));
            DO(MPI_Win_unlock(i, win));
        }
    DO(MPI_Barrier(comm));
    for (int i = 0; i < size; i++) {
        int64_t value = 0;
        DO(MPI_Win_lock(MPI_LOCK_SHARED, i, 0, win));
        DO(MPI_Get(&value, 1, MPI_INT64_T, i, 0, 1, MPI_INT64_T, win));
        DO(MPI_Win_unlock(i, win));
        MUST(value == (int64_t)TURNS * size * (size + 1) / 2);
        sum = mix(sum, value);
    }
    DO(MPI_Barrier(comm));
    free_window(&win, id == 0, words);
    return sum;
}

static int64_t at(MPI_Win win, int target, int word, MPI_Op op, int64_t value)
{
    int64_t before = 0;
    DO(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, target, word, op, win));
    DO(MPI_Win_flush(target, win));
    return before;
}

/* A lock made of a swapped word: a process that does not get it tries again. */
int64_t window_swap(MPI_Comm comm, int id)
{
    const int64_t none = 0, me = rank + 1;
    const int keeper = size - 1;
    int64_t *words;
    MPI_Win win = make_window(comm, false, &words);
    DO(MPI_Win_lock_all(0, win));
    for (int round = 0; round < TURNS; round++) {
        int64_t before;
        do {
            DO(MPI_Compare_and_swap(&me, &none, &before, MPI_INT64_T, keeper, 0, win));
            DO(MPI_Win_flush(keeper, win));
        } while (before != none);
        int64_t value = at(win, keeper, 1, MPI_NO_OP, 0);
        (void)at(win, keeper, 1, MPI_REPLACE, value + me);
        MUST(at(win, keeper, 0, MPI_REPLACE, none) == me);
    }
    DO(MPI_Barrier(comm));
    int64_t value = at(win, keeper, 1, MPI_NO_OP, 0);
    MUST(value == (int64_t)TURNS * size * (size + 1) / 2);
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Win_free(&win));
    return mix(id, value);
}

/* A lock with a queue: a waiting process reads only a word of its own, until another process
 * changes it. */
int64_t window_queue_lock(MPI_Comm comm, int id)
{
    enum { NEXT, BLOCKED, TAIL, VALUE };
    int64_t *words;
    MPI_Win win = make_window(comm, false, &words);
    DO(MPI_Win_lock_all(0, win));
    for (int round = 0; round < TURNS; round++) {
        const int64_t me = rank + 1, none = 0;
        int64_t before, tail;
        (void)at(win, rank, NEXT, MPI_REPLACE, 0);
        (void)at(win, rank, BLOCKED, MPI_REPLACE, 1);
        before = at(win, 0, TAIL, MPI_REPLACE, me);
        if (before) {
            (void)at(win, (int)before - 1, NEXT, MPI_REPLACE, me);
            while (at(win, rank, BLOCKED, MPI_NO_OP, 0))
                ;
        }
        (void)at(win, 0, VALUE, MPI_REPLACE, at(win, 0, VALUE, MPI_NO_OP, 0) + me);
        DO(MPI_Compare_and_swap(&none, &me, &tail, MPI_INT64_T, 0, TAIL, win));
        DO(MPI_Win_flush(0, win));
        if (tail != me) {
            int64_t next;
            while (!(next = at(win, rank, NEXT, MPI_NO_OP, 0)))
                ;
            (void)at(win, (int)next - 1, BLOCKED, MPI_REPLACE, 0);
        }
    }
    DO(MPI_Barrier(comm));
    int64_t value = at(win, 0, VALUE, MPI_NO_OP, 0);
    MUST(value == (int64_t)TURNS * size * (size + 1) / 2);
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Win_free(&win));
    return mix(id, value);
}

/* A word goes around; no process calls a function that looks for messages, only memory changes. */
int64_t window_flags(MPI_Comm comm, int id)
{
    int64_t *mine, *theirs;
    MPI_Aint bytes;
    MPI_Win win;
    int unit;
    DO(MPI_Win_allocate_shared(sizeof(*mine), sizeof(*mine), MPI_INFO_NULL, comm, &mine, &win));
    DO(MPI_Win_shared_query(win, next_rank(), &bytes, &unit, &theirs));
    __atomic_store_n(mine, 0, __ATOMIC_RELAXED);
    DO(MPI_Win_lock_all(0, win));
    DO(MPI_Barrier(
        comm)); /* a lock may need the others' MPI calls, and MPI_Win_sync looks for nothing */
    for (int round = 1; round <= 3; round++) {
        if (rank == 0)
            __atomic_store_n(theirs, round, __ATOMIC_RELAXED);
        while (__atomic_load_n(mine, __ATOMIC_RELAXED) < round)
            DO(MPI_Win_sync(win));
        if (rank > 0)
            __atomic_store_n(theirs, round, __ATOMIC_RELAXED);
        DO(MPI_Win_sync(win));
    }
    DO(MPI_Win_unlock_all(win));
    DO(MPI_Barrier(comm));
    int64_t value = __atomic_load_n(mine, __ATOMIC_RELAXED);
    DO(MPI_Win_free(&win));
    return mix(id, value);
}

/* Memory that is attached to a window while it is there; each access has a request. */
int64_t window_dynamic(MPI_Comm comm, int id)
{
    int64_t word = 0, sum = rank;
    MPI_Aint mine, theirs;
    MPI_Win win;
    DO(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    DO(MPI_Win_attach(win, &word, sizeof(word)));
    DO(MPI_Get_address(&word, &mine));
    DO(MPI_Sendrecv(&mine, 1, MPI_AINT, previous_rank(), 0, &theirs, 1, MPI_AINT, next_rank(), 0,
                    comm, MPI_STATUS_IGNORE));
    for (int round = 0; round < TURNS; round++) {
        int64_t out = saying(rank, id, round), got = 0;
        MPI_Request request;
        DO(MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, win));
        DO(MPI_Rput(&out, 1, MPI_INT64_T, next_rank(), theirs, 1, MPI_INT64_T, win, &request));
        DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
        DO(MPI_Win_flush(next_rank(), win));
        DO(MPI_Rget_accumulate(&out, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, next_rank(), theirs, 1,
                               MPI_INT64_T, MPI_SUM, win, &request));
        DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
        DO(MPI_Win_unlock(next_rank(), win));
        MUST(got == out);
        sum = mix(sum, got);
    }
    DO(MPI_Barrier(comm));
    DO(MPI_Win_detach(win, &word));
    DO(MPI_Win_free(&win));
    return sum;
}

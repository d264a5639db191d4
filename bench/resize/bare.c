#include "bare.h"

#include <stdlib.h>
#include <string.h>

void bare_block(long long rows, int size, int rank, long long *first, long long *count)
{
    long long base = rows / size;
    long long more = rows % size;
    *first = *count = 0;
    if (rank >= size)
        return;
    *first = rank * base + (rank < more ? rank : more);
    *count = base + (rank < more);
}

/* The memory of a block with its halo, of which only the halo is touched. */
static unsigned long long *new_data(const struct bare *bare, long long count)
{
    size_t words = (size_t)bare->words;
    unsigned long long *fresh = malloc((size_t)(count + 2) * words * 8);
    if (!fresh)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(fresh, 0, words * 8);
    memset(fresh + (size_t)(count + 1) * words, 0, words * 8);
    return fresh + words;
}

static void free_data(struct bare *bare)
{
    if (bare->data)
        free(bare->data - bare->words);
    bare->data = NULL;
}

static long long common(long long a, long long a_count, long long b, long long b_count,
                        long long *first)
{
    long long end = a + a_count < b + b_count ? a + a_count : b + b_count;
    *first = a > b ? a : b;
    return end > *first ? end - *first : 0;
}

/* From blocks over `from` ranks to blocks over `to` ranks, on a communicator that holds both. */
static void redistribute(struct bare *bare, MPI_Comm comm, int from, int to)
{
    int rank;
    int used = 0;
    long long first, new_first, new_count;
    MPI_Comm_rank(comm, &rank);
    bare_block(bare->rows, to, rank, &new_first, &new_count);
    unsigned long long *fresh = new_data(bare, new_count);
    MPI_Request *requests = malloc((size_t)(from + to) * sizeof(MPI_Request));
    /* MPI_STATUSES_IGNORE of MPICH makes gcc complain. */
    MPI_Status *statuses = malloc((size_t)(from + to) * sizeof(MPI_Status));
    MPI_Datatype row;
    if (!requests || !statuses)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_contiguous((int)bare->words, MPI_UNSIGNED_LONG_LONG, &row);
    MPI_Type_commit(&row);
    for (int peer = 0; peer < from; peer++) {
        long long peer_first, peer_count;
        bare_block(bare->rows, from, peer, &peer_first, &peer_count);
        long long n = common(peer_first, peer_count, new_first, new_count, &first);
        if (n && peer != rank)
            MPI_Irecv(fresh + (first - new_first) * bare->words, (int)n, row, peer, 0, comm,
                      &requests[used++]);
    }
    for (int peer = 0; peer < to; peer++) {
        long long peer_first, peer_count;
        bare_block(bare->rows, to, peer, &peer_first, &peer_count);
        long long n = common(peer_first, peer_count, bare->first, bare->count, &first);
        if (n && peer != rank)
            MPI_Isend(bare->data + (first - bare->first) * bare->words, (int)n, row, peer, 0, comm,
                      &requests[used++]);
    }
    long long kept = common(bare->first, bare->count, new_first, new_count, &first);
    if (kept)
        memcpy(fresh + (first - new_first) * bare->words,
               bare->data + (first - bare->first) * bare->words, (size_t)(kept * bare->words) * 8);
    MPI_Waitall(used, requests, statuses);
    MPI_Type_free(&row);
    free(requests);
    free(statuses);
    free_data(bare);
    bare->data = fresh;
    bare->first = new_first;
    bare->count = new_count;
}

static void adopt(struct bare *bare, MPI_Comm comm)
{
    bare->comm = comm;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &bare->rank);
    MPI_Comm_size(comm, &bare->size);
}

void bare_start(struct bare *bare)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    adopt(bare, comm);
    bare_block(bare->rows, bare->size, bare->rank, &bare->first, &bare->count);
    bare->data = new_data(bare, bare->count);
}

void bare_grow(struct bare *bare, int to, long long step, char **argv)
{
    MPI_Comm children, merged;
    int from = bare->size;
    MPI_Comm_spawn(argv[0], argv + 1, to - from, MPI_INFO_NULL, 0, bare->comm, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Comm_disconnect(&children);
    long long hello[3] = {from, to, step};
    MPI_Bcast(hello, 3, MPI_LONG_LONG, 0, merged);
    redistribute(bare, merged, from, to);
    MPI_Comm_free(&bare->comm);
    adopt(bare, merged);
}

void bare_join(struct bare *bare, MPI_Comm parent, long long *step)
{
    MPI_Comm merged;
    long long hello[3];
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Comm_disconnect(&parent);
    MPI_Bcast(hello, 3, MPI_LONG_LONG, 0, merged);
    redistribute(bare, merged, (int)hello[0], (int)hello[1]);
    *step = hello[2];
    adopt(bare, merged);
}

void bare_shrink(struct bare *bare, int to)
{
    MPI_Comm rest;
    redistribute(bare, bare->comm, bare->size, to);
    MPI_Comm_split(bare->comm, bare->rank < to ? 0 : MPI_UNDEFINED, bare->rank, &rest);
    MPI_Comm_free(&bare->comm);
    adopt(bare, rest);
}

void bare_finish(struct bare *bare)
{
    if (bare->comm != MPI_COMM_NULL)
        MPI_Comm_free(&bare->comm);
    free_data(bare);
}

static unsigned long long word_of(long long row, long long i)
{
    return (unsigned long long)row * 1000003ULL ^ (unsigned long long)i * 2654435761ULL;
}

void bare_fill_words(const struct bare *bare)
{
    for (long long r = 0; r < bare->count; r++)
        for (long long i = 0; i < bare->words; i++)
            bare->data[r * bare->words + i] = word_of(bare->first + r, i);
}

long long bare_wrong_words(const struct bare *bare)
{
    long long wrong = 0;
    long long all = 0;
    for (long long r = 0; r < bare->count; r++)
        for (long long i = 0; i < bare->words; i++)
            wrong += bare->data[r * bare->words + i] != word_of(bare->first + r, i);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, bare->comm);
    return all;
}

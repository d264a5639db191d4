/* resize_bare BYTES ROWS SIZE... - what Pleat is measured against: the same resizes of the same
 * block-row state in plain MPI, built into the program. Prints "TIME from to seconds" per resize
 * and "RESULT ok" when the state is right at the end. Errors end the program (MPI's default). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    MPI_Comm comm;
    int rank, size;
    long long rows, words; /* words of 8 bytes per row */
    long long first, count;
    unsigned long long *data;
};

static void block(long long rows, int size, int rank, long long *first, long long *count)
{
    long long base = rows / size;
    long long more = rows % size;
    *first = *count = 0;
    if (rank >= size)
        return;
    *first = rank * base + (rank < more ? rank : more);
    *count = base + (rank < more);
}

static unsigned long long word_of(long long row, long long i)
{
    return (unsigned long long)row * 1000003ULL ^ (unsigned long long)i * 2654435761ULL;
}

static long long common(long long a, long long a_count, long long b, long long b_count,
                        long long *first)
{
    long long end = a + a_count < b + b_count ? a + a_count : b + b_count;
    *first = a > b ? a : b;
    return end > *first ? end - *first : 0;
}

/* From blocks over `from` ranks to blocks over `to` ranks, on a communicator that holds both. */
static void redistribute(struct state *s, MPI_Comm comm, int from, int to)
{
    int rank;
    int used = 0;
    long long first, new_first, new_count;
    MPI_Comm_rank(comm, &rank);
    block(s->rows, to, rank, &new_first, &new_count);
    size_t row_bytes = (size_t)s->words * 8;
    unsigned long long *fresh = malloc((size_t)new_count * row_bytes + 1);
    MPI_Request *requests = malloc((size_t)(from + to) * sizeof(MPI_Request));
    MPI_Datatype row;
    if (!fresh || !requests)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_contiguous((int)s->words, MPI_UNSIGNED_LONG_LONG, &row);
    MPI_Type_commit(&row);
    for (int peer = 0; peer < from; peer++) {
        long long peer_first, peer_count;
        block(s->rows, from, peer, &peer_first, &peer_count);
        long long n = common(peer_first, peer_count, new_first, new_count, &first);
        if (n && peer != rank)
            MPI_Irecv(fresh + (first - new_first) * s->words, (int)n, row, peer, 0, comm,
                      &requests[used++]);
    }
    for (int peer = 0; peer < to; peer++) {
        long long peer_first, peer_count;
        block(s->rows, to, peer, &peer_first, &peer_count);
        long long n = common(s->first, s->count, peer_first, peer_count, &first);
        if (n && peer != rank)
            MPI_Isend(s->data + (first - s->first) * s->words, (int)n, row, peer, 0, comm,
                      &requests[used++]);
    }
    long long kept = common(s->first, s->count, new_first, new_count, &first);
    if (kept)
        memcpy(fresh + (first - new_first) * s->words, s->data + (first - s->first) * s->words,
               (size_t)kept * row_bytes);
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&row);
    free(requests);
    free(s->data);
    s->data = fresh;
    s->first = new_first;
    s->count = new_count;
}

static void adopt(struct state *s, MPI_Comm comm)
{
    s->comm = comm;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &s->rank);
    MPI_Comm_size(comm, &s->size);
}

static void grow(struct state *s, int to, long long *step, char **argv)
{
    MPI_Comm children, merged;
    int from = s->size;
    MPI_Comm_spawn(argv[0], argv + 1, to - from, MPI_INFO_NULL, 0, s->comm, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Comm_disconnect(&children);
    long long hello[3] = {from, to, *step};
    MPI_Bcast(hello, 3, MPI_LONG_LONG, 0, merged);
    redistribute(s, merged, from, to);
    MPI_Comm_free(&s->comm);
    adopt(s, merged);
}

static void join(struct state *s, MPI_Comm parent, long long *step)
{
    MPI_Comm merged;
    long long hello[3];
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Comm_disconnect(&parent);
    MPI_Bcast(hello, 3, MPI_LONG_LONG, 0, merged);
    redistribute(s, merged, (int)hello[0], (int)hello[1]);
    *step = hello[2];
    adopt(s, merged);
}

static void shrink(struct state *s, int to)
{
    MPI_Comm rest;
    redistribute(s, s->comm, s->size, to);
    MPI_Comm_split(s->comm, s->rank < to ? 0 : MPI_UNDEFINED, s->rank, &rest);
    MPI_Comm_free(&s->comm);
    adopt(s, rest);
}

static long long wrong_words(const struct state *s)
{
    long long wrong = 0;
    long long all = 0;
    for (long long r = 0; r < s->count; r++)
        for (long long i = 0; i < s->words; i++)
            wrong += s->data[r * s->words + i] != word_of(s->first + r, i);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG_LONG, MPI_SUM, s->comm);
    return all;
}

static void start(struct state *s)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    adopt(s, comm);
    block(s->rows, s->size, s->rank, &s->first, &s->count);
    s->data = malloc((size_t)s->count * (size_t)s->words * 8 + 1);
    if (!s->data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long long r = 0; r < s->count; r++)
        for (long long i = 0; i < s->words; i++)
            s->data[r * s->words + i] = word_of(s->first + r, i);
}

int main(int argc, char **argv)
{
    struct state s = {.comm = MPI_COMM_NULL};
    long long step = 0;
    long long wrong = 0;
    MPI_Comm parent;

    if (argc < 4)
        return 2;
    s.rows = atoll(argv[2]);
    if (s.rows < 1)
        return 2;
    s.words = atoll(argv[1]) / s.rows / 8;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        start(&s);
    } else {
        join(&s, parent, &step);
        MPI_Barrier(s.comm);
        wrong += wrong_words(&s);
        step++;
    }
    for (; step < argc - 3 && s.comm != MPI_COMM_NULL; step++) {
        int from = s.size;
        int to = atoi(argv[3 + step]);
        MPI_Barrier(s.comm);
        double begun = MPI_Wtime();
        if (to > from)
            grow(&s, to, &step, argv);
        else
            shrink(&s, to);
        if (s.comm == MPI_COMM_NULL)
            break;
        if (to > from)
            MPI_Barrier(s.comm); /* done when every rank has its data */
        double seconds = MPI_Wtime() - begun;
        if (s.rank == 0)
            printf("TIME %d %d %.9f\n", from, to, seconds);
        wrong += wrong_words(&s);
    }
    if (s.comm != MPI_COMM_NULL) {
        if (s.rank == 0)
            printf("RESULT %s\n", wrong ? "wrong" : "ok");
        MPI_Comm_free(&s.comm);
    }
    free(s.data);
    MPI_Finalize();
    return wrong != 0;
}

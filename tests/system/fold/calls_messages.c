/* calls_messages.c - messages from rank to rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

#define LONG_WORDS 100000 /* a message that its receiver has to fetch */

static int left(void)
{
    return (rank + size - 1) % size;
}

static int right(void)
{
    return (rank + 1) % size;
}

/* A message of `words` to the right; every other rank sends first. */
static int64_t shift(int words, int64_t sum,
                     int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    int64_t *out = calloc((size_t)words, sizeof(*out));
    int64_t *in = calloc((size_t)words, sizeof(*in));
    MPI_Status status;
    MUST(out && in);
    out[0] = rank;
    out[words - 1] = sum;
    if (rank % 2 == 0)
        DO(send(out, words, MPI_INT64_T, right(), 5, MPI_COMM_WORLD));
    DO(MPI_Recv(in, words, MPI_INT64_T, left(), 5, MPI_COMM_WORLD, &status));
    if (rank % 2 == 1)
        DO(send(out, words, MPI_INT64_T, right(), 5, MPI_COMM_WORLD));
    MUST(status.MPI_SOURCE == left());
    sum = mix(mix(sum, words == 1 ? 0 : in[0]), in[words - 1]);
    free(out);
    free(in);
    return sum;
}

static int64_t send_ready(int64_t sum)
{
    int64_t in = 0;
    int go = 1;
    MPI_Request request;
    DO(MPI_Irecv(&in, 1, MPI_INT64_T, left(), 6, MPI_COMM_WORLD, &request));
    DO(MPI_Sendrecv(&go, 1, MPI_INT, left(), 7, &go, 1, MPI_INT, right(), 7, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    DO(MPI_Rsend(&sum, 1, MPI_INT64_T, right(), 6, MPI_COMM_WORLD));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MUST(request == MPI_REQUEST_NULL);
    return mix(sum, in);
}

static int64_t send_buffered(int64_t sum)
{
    int room = MPI_BSEND_OVERHEAD + 64;
    void *buffer = malloc((size_t)room);
    MUST(buffer);
    DO(MPI_Buffer_attach(buffer, room));
    sum = shift(1, sum, MPI_Bsend);
    DO(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    return sum;
}

static int64_t exchange(int64_t sum)
{
    int64_t in = 0;
    MPI_Status status;
    DO(MPI_Sendrecv(&sum, 1, MPI_INT64_T, right(), 1, &in, 1, MPI_INT64_T, left(), 1,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    DO(MPI_Sendrecv_replace(&in, 1, MPI_INT64_T, right(), 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                            &status));
    MUST(status.MPI_SOURCE == left());
    DO(MPI_Send(&in, 1, MPI_INT64_T, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    DO(MPI_Recv(&in, 1, MPI_INT64_T, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    MUST(status.MPI_SOURCE == MPI_PROC_NULL);
    return mix(sum, in);
}

int64_t do_blocking(void)
{
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        sum = shift(1, sum, MPI_Send);
        sum = shift(LONG_WORDS, sum, MPI_Send);
        sum = shift(100, sum, MPI_Ssend);
        sum = send_ready(sum);
        sum = send_buffered(sum);
        sum = exchange(sum);
    }
    return sum;
}

/* ---- begun sends and receives: everybody to everybody ---- */

struct all {
    int64_t *in, out;
    MPI_Request *requests; /* receives, then sends */
    MPI_Status *statuses;
    int *indices;
};

static struct all all_begin(int64_t sum, int round)
{
    struct all all = {.in = calloc((size_t)size, sizeof(int64_t)),
                      .out = sum,
                      .requests = calloc(2 * (size_t)size, sizeof(MPI_Request)),
                      .statuses = calloc(2 * (size_t)size, sizeof(MPI_Status)),
                      .indices = calloc(2 * (size_t)size, sizeof(int))};
    MUST(all.in && all.requests && all.statuses && all.indices);
    for (int i = 0; i < size; i++)
        DO(MPI_Irecv(&all.in[i], 1, MPI_INT64_T, i, round, MPI_COMM_WORLD, &all.requests[i]));
    return all;
}

static void all_send(struct all *all, int round)
{
    for (int i = 0; i < size; i++)
        DO((i % 2 ? MPI_Isend : MPI_Issend)(&all->out, 1, MPI_INT64_T, i, round, MPI_COMM_WORLD,
                                            &all->requests[size + i]));
}

static int64_t all_end(struct all *all, int64_t sum)
{
    for (int i = 0; i < 2 * size; i++)
        MUST(all->requests[i] == MPI_REQUEST_NULL);
    for (int i = 0; i < size; i++)
        sum = mix(sum, all->in[i]);
    free(all->in);
    free(all->requests);
    free(all->statuses);
    free(all->indices);
    return sum;
}

static void wait_some(struct all *all)
{
    int done = 0;
    for (int left_over = 2 * size; left_over > 0; left_over -= done) {
        DO(MPI_Waitsome(2 * size, all->requests, &done, all->indices, all->statuses));
        MUST(done > 0 && done <= left_over);
    }
    DO(MPI_Waitsome(2 * size, all->requests, &done, all->indices, MPI_STATUSES_IGNORE));
    MUST(done == MPI_UNDEFINED);
}

static void wait_any(struct all *all)
{
    int index = 0;
    for (int i = 0; i < 2 * size; i++) {
        DO(MPI_Waitany(2 * size, all->requests, &index, MPI_STATUS_IGNORE));
        MUST(index >= 0 && index < 2 * size);
    }
    DO(MPI_Waitany(2 * size, all->requests, &index, MPI_STATUS_IGNORE));
    MUST(index == MPI_UNDEFINED);
}

int64_t do_nonblocking(void)
{
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        struct all all = all_begin(sum, i);
        all_send(&all, i);
        if (i % 4 == 0)
            for (int k = 0; k < 2 * size; k++)
                DO(MPI_Wait(&all.requests[k], &all.statuses[k]));
        else if (i % 4 == 1)
            DO(MPI_Waitall(2 * size, all.requests, all.statuses));
        else if (i % 4 == 2)
            wait_some(&all);
        else
            wait_any(&all);
        sum = all_end(&all, sum);
    }
    return sum;
}

static void test_each(struct all *all)
{
    for (int k = 0; k < 2 * size; k++) {
        int flag = 0;
        while (!flag)
            DO(MPI_Request_get_status(all->requests[k], &flag, &all->statuses[k]));
        flag = 0;
        while (!flag)
            DO(MPI_Test(&all->requests[k], &flag, MPI_STATUS_IGNORE));
    }
}

static void test_any(struct all *all)
{
    for (int done = 0; done < 2 * size;) {
        int flag = 0;
        int index = 0;
        DO(MPI_Testany(2 * size, all->requests, &index, &flag, MPI_STATUS_IGNORE));
        MUST(!flag || (index >= 0 && index < 2 * size));
        done += flag;
    }
}

static void test_some(struct all *all)
{
    for (int left_over = 2 * size; left_over > 0;) {
        int done = 0;
        DO(MPI_Testsome(2 * size, all->requests, &done, all->indices, all->statuses));
        MUST(done >= 0 && done <= left_over);
        left_over -= done;
    }
}

int64_t do_tests(void)
{
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        struct all all = all_begin(sum, i);
        int flag = 0;
        all_send(&all, i);
        if (i % 4 == 0)
            test_each(&all);
        else if (i % 4 == 1)
            while (!flag)
                DO(MPI_Testall(2 * size, all.requests, &flag, all.statuses));
        else if (i % 4 == 2)
            test_any(&all);
        else
            test_some(&all);
        sum = all_end(&all, sum);
    }
    return sum;
}

/* ---- probes ---- */

static int64_t receive_probed(int round)
{
    int64_t in = 0;
    int flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    if (round % 4 == 0) {
        DO(MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status));
        DO(MPI_Recv(&in, 1, MPI_INT64_T, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status));
    } else if (round % 4 == 1) {
        while (!flag)
            DO(MPI_Iprobe(left(), round, MPI_COMM_WORLD, &flag, &status));
        DO(MPI_Recv(&in, 1, MPI_INT64_T, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status));
    } else if (round % 4 == 2) {
        DO(MPI_Mprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &message, &status));
        DO(MPI_Mrecv(&in, 1, MPI_INT64_T, &message, &status));
    } else {
        while (!flag)
            DO(MPI_Improbe(left(), round, MPI_COMM_WORLD, &flag, &message, &status));
        DO(MPI_Imrecv(&in, 1, MPI_INT64_T, &message, &request));
        DO(MPI_Wait(&request, &status));
    }
    MUST(status.MPI_SOURCE == left());
    return in;
}

int64_t do_probes(void)
{
    int64_t sum = rank;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        int64_t out = sum;
        DO(MPI_Isend(&out, 1, MPI_INT64_T, right(), i, MPI_COMM_WORLD, &request));
        sum = mix(sum, receive_probed(i));
        DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return sum;
}

/* ---- persistent, cancelled and freed requests ---- */

int64_t do_persistent(void)
{
    static int (*const inits[])(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                                MPI_Request *) = {MPI_Send_init, MPI_Ssend_init};
    int64_t sum = rank;
    int64_t out = 0;
    int64_t in = 0;
    MPI_Request requests[2];
    for (size_t kind = 0; kind < 2; kind++) {
        DO(MPI_Recv_init(&in, 1, MPI_INT64_T, left(), 8, MPI_COMM_WORLD, &requests[0]));
        DO(inits[kind](&out, 1, MPI_INT64_T, right(), 8, MPI_COMM_WORLD, &requests[1]));
        for (int i = 0; i < ROUNDS; i++) {
            out = sum;
            if (i % 2) {
                DO(MPI_Startall(2, requests));
            } else {
                DO(MPI_Start(&requests[0]));
                DO(MPI_Start(&requests[1]));
            }
            DO(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            sum = mix(sum, in);
        }
        DO(MPI_Request_free(&requests[0]));
        DO(MPI_Request_free(&requests[1]));
    }
    DO(MPI_Irecv(&in, 1, MPI_INT64_T, left(), 99, MPI_COMM_WORLD, &requests[0]));
    DO(MPI_Cancel(&requests[0]));
    MPI_Status status;
    int cancelled = 0;
    DO(MPI_Wait(&requests[0], &status));
    DO(MPI_Test_cancelled(&status, &cancelled));
    return mix(sum, cancelled);
}

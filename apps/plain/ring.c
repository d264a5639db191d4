/* ring - tokens go round: each rank receives one from its left, computes, and sends it to its
 * right. With one token only one rank has something to do at any time.
 */
#include <stdlib.h>

#include "plain.h"

static const char usage[] =
    "usage: mpirun ... ring [options]\n"
    "Tokens go round all ranks, each of which computes a little on them.\n"
    "  --iterations N   times that each token goes round (default 1000)\n"
    "  --work N         units of computing for a token at a rank, about 1 us each (default 1)\n"
    "  --size BYTES     of a token (default 8)\n"
    "  --tokens N       under way at a time, fewer than ranks (default 1)\n" PLAIN_USAGE;

struct ring {
    struct plain plain;
    long long tokens;
    int count; /* words of a token */
    uint64_t *buffer;
};

static uint64_t receive(struct ring *r)
{
    int left = (r->plain.rank + r->plain.ranks - 1) % r->plain.ranks;
    MPI_Recv(r->buffer, r->count, MPI_UINT64_T, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return plain_unpack(&r->plain, r->buffer, r->count);
}

static void send_on(const struct ring *r, uint64_t token)
{
    plain_pack(token, r->buffer, r->count);
    MPI_Send(r->buffer, r->count, MPI_UINT64_T, (r->plain.rank + 1) % r->plain.ranks, 1,
             MPI_COMM_WORLD);
}

/* The rounds of this rank; rank 0 makes the tokens and takes them back. *value: what this rank has
 * seen. Returns the sum of the tokens that came back. */
static uint64_t go_round(struct ring *r, uint64_t *value)
{
    uint64_t back = 0;
    uint64_t *own = plain_allocate((size_t)r->tokens, 8); /* a single rank keeps the tokens */
    for (long long t = 0; t < r->tokens; t++)
        own[t] = plain_seed((uint64_t)(1000000 + t));
    for (long long i = 0; i < r->plain.iterations; i++) {
        for (long long t = 0; t < r->tokens; t++) {
            int here = r->plain.ranks == 1 || (i == 0 && r->plain.rank == 0);
            uint64_t token = here ? own[t] : receive(r);
            *value = plain_work(token + 2 * *value, r->plain.work);
            *value += i == r->plain.corrupt && r->plain.rank == 0;
            if (r->plain.ranks > 1)
                send_on(r, *value);
            else
                own[t] = *value;
        }
        plain_iterated(&r->plain);
    }
    for (long long t = 0; t < r->tokens && r->plain.rank == 0; t++)
        back += r->plain.ranks > 1 && r->plain.iterations ? receive(r) : own[t];
    free(own);
    return back;
}

/* The expected sum, computed by one rank with jumps: each round, a rank takes the tokens in their
 * order. */
static uint64_t expected(const struct ring *r)
{
    struct plain_jump jump = plain_jump(r->plain.work);
    uint64_t *values = plain_allocate((size_t)r->plain.ranks, 8);
    uint64_t *tokens = plain_allocate((size_t)r->tokens, 8);
    uint64_t sum = 0;
    for (int rank = 0; rank < r->plain.ranks; rank++)
        values[rank] = plain_seed((uint64_t)rank);
    for (long long t = 0; t < r->tokens; t++)
        tokens[t] = plain_seed((uint64_t)(1000000 + t));
    for (long long i = 0; i < r->plain.iterations; i++)
        for (long long t = 0; t < r->tokens; t++)
            for (int rank = 0; rank < r->plain.ranks; rank++)
                tokens[t] = values[rank] = plain_jump_apply(jump, tokens[t] + 2 * values[rank]);
    for (int rank = 0; rank < r->plain.ranks; rank++)
        sum += values[rank];
    for (long long t = 0; t < r->tokens; t++)
        sum += tokens[t];
    free(values);
    free(tokens);
    return sum;
}

int main(int argc, char **argv)
{
    struct ring r = {.plain = {.name = "ring", .iterations = 1000, .work = 1, .size = 8},
                     .tokens = 1};
    const struct plain_option more[] = {{"size", &r.plain.size, 8, 1 << 30, NULL},
                                        {"tokens", &r.tokens, 1, 1 << 20, NULL},
                                        {NULL, NULL, 0, 0, NULL}};
    plain_begin(&r.plain, argc, argv, usage, more);
    if (r.plain.ranks > 1 && r.tokens >= r.plain.ranks)
        r.tokens = r.plain.ranks - 1; /* otherwise all ranks would send, and none receive */
    r.count = (int)(r.plain.size / 8);
    r.buffer = plain_allocate((size_t)r.count, 8);
    uint64_t value = plain_seed((uint64_t)r.plain.rank);
    uint64_t sum = go_round(&r, &value) + value;
    uint64_t all = 0;
    MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (r.plain.rank == 0)
        r.plain.wrong += all != expected(&r);
    free(r.buffer);
    return plain_end(&r.plain, sum);
}

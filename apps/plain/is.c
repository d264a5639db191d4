/* is - keys are sorted, of the class of the NAS benchmark IS: each rank counts its keys by bucket,
 * all add up the counts, buckets go to ranks so that each gets about as many keys, keys are sent to
 * the ranks of their buckets (MPI_Alltoallv), which count how many there are of each. Keys are sums
 * of four random numbers, so middle ones are frequent, and buckets differ in size. Any number of
 * ranks.
 *
 * No key is lost: in each iteration the keys, and a number made of each, add up to the same after
 * the exchange as before it. At the end all are sorted, over the ranks, too.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#define BUCKETS 1024
#define KEYS_OF_BUCKET 64
#define KEYS (BUCKETS * KEYS_OF_BUCKET) /* a key is less */
#define SMALL (1 << 18)
#define LARGE (1 << 21)
#define CHANGED 10 /* iterations after which the same two places change again */

static const char usage[] = "usage: mpirun ... is [options]\n"
                            "Sorts keys, again and again.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct is {
    struct plain plain;
    long long n, first, count; /* all keys; this rank's at the beginning */
    int *keys, *out, *in;      /* its own; by bucket; those of its buckets */
    long long in_count, in_room;
    int bucket_first, bucket_end; /* its buckets */
    int *counts;                  /* of each key of its buckets */
    int *bucket_rank;
    int *send_counts, *send_at, *receive_counts, *receive_at; /* by rank */
};

static int *allocate(long long count)
{
    return plain_allocate((size_t)count, sizeof(int));
}

static void begin(struct is *is)
{
    long long n = is->plain.size ? LARGE : SMALL, ranks = is->plain.ranks;
    is->n = n;
    is->first = n * is->plain.rank / ranks;
    is->count = n * (is->plain.rank + 1) / ranks - is->first;
    is->keys = allocate(is->count);
    is->out = allocate(is->count);
    is->counts = allocate(KEYS);
    is->bucket_rank = allocate(BUCKETS);
    int **const by_rank[] = {&is->send_counts, &is->send_at, &is->receive_counts, &is->receive_at};
    for (size_t i = 0; i < sizeof(by_rank) / sizeof(by_rank[0]); i++)
        *by_rank[i] = allocate(ranks);
    for (long long i = 0; i < is->count; i++) {
        uint64_t random = plain_seed((uint64_t)(is->first + i)), key = 0;
        for (int part = 0; part < 4; part++)
            key += random >> 16 * part & 0xffff;
        is->keys[i] = (int)(key / 4 * KEYS >> 16);
    }
}

static void end(struct is *is)
{
    void *const all[] = {is->keys,           is->out,         is->in,
                         is->counts,         is->bucket_rank, is->send_at,
                         is->receive_counts, is->receive_at,  is->send_counts};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

static void set_key(struct is *is, long long place, int key)
{
    if (place >= is->first && place < is->first + is->count)
        is->keys[place - is->first] = key;
}

/* Gives buckets to ranks, in order, and counts what this one sends to each. */
static void deal_buckets(struct is *is, const int *mine)
{
    int all[BUCKETS];
    long long before = 0;
    MPI_Allreduce(mine, all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is->bucket_first = is->bucket_end = 0;
    memset(is->send_counts, 0, (size_t)is->plain.ranks * sizeof(int));
    for (int b = 0; b < BUCKETS; b++) {
        int rank = (int)(before * is->plain.ranks / is->n);
        is->bucket_rank[b] = rank < is->plain.ranks ? rank : is->plain.ranks - 1;
        is->send_counts[is->bucket_rank[b]] += mine[b];
        before += all[b];
        if (is->bucket_rank[b] != is->plain.rank)
            continue;
        if (is->bucket_end == 0)
            is->bucket_first = b;
        is->bucket_end = b + 1;
    }
}

static long long places(const int *counts, int *at, int ranks)
{
    long long sum = 0;
    for (int r = 0; r < ranks; r++) {
        at[r] = (int)sum;
        sum += counts[r];
    }
    return sum;
}

static void exchange(struct is *is)
{
    int mine[BUCKETS] = {0}, next[BUCKETS], sum = 0;
    for (long long i = 0; i < is->count; i++)
        mine[is->keys[i] / KEYS_OF_BUCKET]++;
    for (int b = 0; b < BUCKETS; b++) {
        next[b] = sum;
        sum += mine[b];
    }
    deal_buckets(is, mine);
    for (long long i = 0; i < is->count; i++)
        is->out[next[is->keys[i] / KEYS_OF_BUCKET]++] = is->keys[i];
    MPI_Alltoall(is->send_counts, 1, MPI_INT, is->receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
    places(is->send_counts, is->send_at, is->plain.ranks);
    is->in_count = places(is->receive_counts, is->receive_at, is->plain.ranks);
    if (is->in_count > is->in_room || !is->in) {
        free(is->in);
        is->in_room = is->in_count;
        is->in = allocate(is->in_room);
    }
    MPI_Alltoallv(is->out, is->send_counts, is->send_at, MPI_INT, is->in, is->receive_counts,
                  is->receive_at, MPI_INT, MPI_COMM_WORLD);
}

static void add_up(const int *keys, long long count, uint64_t sums[2])
{
    for (long long i = 0; i < count; i++) {
        sums[0] += (uint64_t)keys[i];
        sums[1] += plain_seed((uint64_t)keys[i]);
    }
}

/* Counts the keys that came, and compares them with those that went. */
static void count_keys(struct is *is)
{
    int first = is->bucket_first * KEYS_OF_BUCKET, end_key = is->bucket_end * KEYS_OF_BUCKET;
    uint64_t went[2] = {0, 0}, came[2] = {0, 0}, mine[3], all[3];
    memset(is->counts, 0, KEYS * sizeof(int));
    for (long long i = 0; i < is->in_count; i++)
        if (is->in[i] >= first && is->in[i] < end_key)
            is->counts[is->in[i]]++;
        else
            is->plain.wrong++;
    add_up(is->keys, is->count, went);
    add_up(is->in, is->in_count, came);
    mine[0] = (uint64_t)is->in_count;
    mine[1] = came[0] - went[0];
    mine[2] = came[1] - went[1];
    MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    is->plain.wrong += (all[0] != (uint64_t)is->n) + (all[1] != 0) + (all[2] != 0);
}

/* Sorts, compares with what lower ranks have, and adds up keys and their places. */
static uint64_t finish(struct is *is)
{
    long long place = 0, count = 0;
    int least = INT_MAX, most = INT_MIN, most_before = INT_MIN;
    uint64_t sum = 0;
    MPI_Exscan(&is->in_count, &place, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (is->plain.rank == 0)
        place = 0;
    for (int key = 0; key < KEYS; key++)
        for (int i = 0; i < is->counts[key]; i++, count++) {
            least = key < least ? key : least;
            most = key;
            sum += (uint64_t)key * (uint64_t)(2 * (place + count) + 1);
        }
    MPI_Exscan(&most, &most_before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    is->plain.wrong += (is->plain.rank > 0 && most_before > least) + (count != is->in_count);
    return sum;
}

int main(int argc, char **argv)
{
    struct is is = {.plain = {.name = "is"}};
    plain_begin_sized(&is.plain, argc, argv, usage, 350, 500);
    begin(&is);
    for (long long i = 0; i < is.plain.iterations; i++) {
        int place = (int)(i % CHANGED);
        set_key(&is, place, place);
        set_key(&is, is.n / 2 + place, KEYS - 1 - place);
        exchange(&is);
        if (i == is.plain.corrupt && is.in_count)
            is.in[0] ^= 1;
        count_keys(&is);
        plain_step(&is.plain);
    }
    uint64_t sum = finish(&is);
    end(&is);
    return plain_end(&is.plain, sum);
}

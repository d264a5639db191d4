/* send - a program of Utrera (2010, 3.6.1.1): a loop of communication between even and odd ranks,
 * calculation, and a global synchronization; some ranks calculate more than the others. send.50x2
 * there is `send --heavy 50 --factor 2`.
 */
#include <stdlib.h>

#include "plain.h"

static const char usage[] =
    "usage: mpirun ... send [options]\n"
    "Even and odd ranks exchange a message, compute, and meet in a barrier; some compute more.\n"
    "  --iterations N   (default 1000)\n"
    "  --work N         units of computing for a rank and iteration, about 1 us each (default "
    "100)\n"
    "  --size BYTES     of a message (default 1024)\n"
    "  --heavy PERCENT  of the ranks compute more (default 50)\n"
    "  --factor N       they compute N times as much (default 1)\n"
    "  --heavy-ranks first|spread  which ones: the first, or spread evenly, so that with 50 % "
    "they\n"
    "                   are those of odd number (default spread)\n" PLAIN_USAGE;

enum { FIRST, SPREAD };

struct send {
    struct plain plain;
    long long heavy, factor, where;
};

static long long units_of(const struct send *s, int rank)
{
    long long ranks = s->plain.ranks;
    long long heavy = (ranks * s->heavy + 50) / 100;
    int is_heavy =
        s->where == FIRST ? rank < heavy : (rank + 1) * heavy / ranks > rank * heavy / ranks;
    return s->plain.work * (is_heavy ? s->factor : 1);
}

/* With an odd number of ranks the last one has no partner, and exchanges with itself. */
static int partner_of(const struct send *s, int rank)
{
    int partner = rank ^ 1;
    return partner < s->plain.ranks ? partner : rank;
}

static uint64_t exchange(struct send *s, uint64_t value, uint64_t *out, uint64_t *in)
{
    int count = (int)(s->plain.size / 8);
    int partner = partner_of(s, s->plain.rank);
    if (partner == s->plain.rank)
        return value;
    plain_pack(value, out, count);
    if (s->plain.rank % 2 == 0)
        MPI_Send(out, count, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD);
    MPI_Recv(in, count, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (s->plain.rank % 2)
        MPI_Send(out, count, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD);
    return plain_unpack(&s->plain, in, count);
}

/* The value that this rank must have: those of both partners, computed with jumps. */
static uint64_t expected(const struct send *s)
{
    int ranks[2] = {s->plain.rank, partner_of(s, s->plain.rank)};
    struct plain_jump jumps[2];
    uint64_t values[2];
    for (int i = 0; i < 2; i++) {
        jumps[i] = plain_jump(units_of(s, ranks[i]));
        values[i] = plain_seed((uint64_t)ranks[i]);
    }
    for (long long i = 0; i < s->plain.iterations; i++) {
        uint64_t first = values[0];
        values[0] = plain_jump_apply(jumps[0], first + 2 * values[1]);
        values[1] = plain_jump_apply(jumps[1], values[1] + 2 * first);
    }
    return values[0];
}

int main(int argc, char **argv)
{
    struct send s = {.plain = {.name = "send", .iterations = 1000, .work = 100, .size = 1024},
                     .heavy = 50,
                     .factor = 1,
                     .where = SPREAD};
    const struct plain_option more[] = {{"size", &s.plain.size, 8, 1 << 30, NULL},
                                        {"heavy", &s.heavy, 0, 100, NULL},
                                        {"factor", &s.factor, 1, 1000, NULL},
                                        {"heavy-ranks", &s.where, 0, 0, "first,spread"},
                                        {NULL, NULL, 0, 0, NULL}};
    plain_begin(&s.plain, argc, argv, usage, more);
    uint64_t *out = plain_allocate((size_t)s.plain.size / 8, 8);
    uint64_t *in = plain_allocate((size_t)s.plain.size / 8, 8);
    uint64_t value = plain_seed((uint64_t)s.plain.rank);
    long long units = units_of(&s, s.plain.rank);
    for (long long i = 0; i < s.plain.iterations; i++) {
        value += 2 * exchange(&s, value, out, in); /* doubled, so that no bit of either is lost */
        value = plain_work(value, units);
        value += i == s.plain.corrupt && s.plain.rank == 0;
        MPI_Barrier(MPI_COMM_WORLD);
        plain_iterated(&s.plain);
    }
    s.plain.wrong += value != expected(&s);
    free(out);
    free(in);
    return plain_end(&s.plain, value);
}

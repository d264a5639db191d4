/* ep - embarrassingly parallel, like the NAS benchmark of that name. Pairs of random numbers inside
 * the unit circle are made normal (G. Marsaglia and T. A. Bray, "A convenient method for generating
 * normal variables", SIAM Review 6(3), 1964), and counted by the square ring in which they lie; one
 * reduction at the end.
 */
#include <math.h>
#include <stdlib.h>

#include "plain.h"

#define RINGS 10
#define PAIRS 32 /* in a unit of work */

static const char usage[] =
    "usage: mpirun ... ep [options]\n"
    "Counts normal random numbers; ranks meet only at the end.\n"
    "  --iterations N   blocks of numbers, all ranks together (default 1000)\n"
    "  --work N         units of computing for a block, about 1 us each (default "
    "100)\n" PLAIN_USAGE;

struct tally {
    uint64_t pairs, accepted, rings[RINGS];
};

static double uniform(struct plain_jump round, uint64_t *x)
{
    *x = plain_jump_apply(round, *x);
    return (double)(*x >> 11) * 0x1p-52 - 1;
}

/* Counts block b, whose numbers do not depend on the rank that counts it. */
static void count_block(struct tally *tally, long long block, long long pairs)
{
    uint64_t x = plain_seed((uint64_t)block);
    struct plain_jump round = plain_jump_rounds(1);
    for (long long i = 0; i < pairs; i++) {
        double a = uniform(round, &x);
        double b = uniform(round, &x);
        double square = a * a + b * b;
        tally->pairs++;
        if (square > 1 || square <= 0)
            continue;
        double factor = sqrt(-2 * log(square) / square);
        double largest = fmax(fabs(a * factor), fabs(b * factor));
        tally->accepted++;
        tally->rings[largest < RINGS ? (int)largest : RINGS - 1]++;
    }
}

/* Checks that nothing is lost, and that the numbers are plausible: pi / 4 of the pairs lie in the
 * circle, and 0.6827 squared of the normal ones in the first ring, within six standard deviations.
 */
static long long implausible(const struct tally *all, long long pairs)
{
    uint64_t sum = 0;
    double n = (double)all->pairs, accepted = (double)all->accepted;
    double circle = acos(-1.0) / 4, inner = pow(erf(1 / sqrt(2.0)), 2);
    for (int r = 0; r < RINGS; r++)
        sum += all->rings[r];
    return (all->pairs != (uint64_t)pairs) + (sum != all->accepted) +
           (fabs(accepted - n * circle) > 6 * sqrt(n * circle * (1 - circle)) + 1) +
           (fabs((double)all->rings[0] - accepted * inner) >
            6 * sqrt(accepted * inner * (1 - inner)) + 1);
}

/* For --verify: computes everything again on one rank, and counts what differs. */
static long long differs(const struct plain *plain, const struct tally *all)
{
    struct tally again = {0};
    long long wrong = 0;
    for (long long block = 0; block < plain->iterations; block++)
        count_block(&again, block, plain->work * PAIRS);
    for (int r = 0; r < RINGS; r++)
        wrong += again.rings[r] != all->rings[r];
    return wrong + (again.accepted != all->accepted);
}

int main(int argc, char **argv)
{
    struct plain plain = {.name = "ep", .iterations = 1000, .work = 100};
    struct tally mine = {0}, all = {0};
    plain_begin(&plain, argc, argv, usage, NULL);
    for (long long block = plain.rank; block < plain.iterations; block += plain.ranks) {
        count_block(&mine, block, plain.work * PAIRS);
        mine.rings[1] += block == plain.corrupt;
        plain_iterated(&plain);
    }
    MPI_Reduce(&mine, &all, 2 + RINGS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    uint64_t sum = 0;
    if (plain.rank == 0) {
        plain.wrong += implausible(&all, plain.iterations * plain.work * PAIRS);
        if (plain.verify)
            plain.wrong += differs(&plain, &all);
        for (int r = 0; r < RINGS; r++)
            sum += all.rings[r] * plain_jump_rounds((uint64_t)r + 1).multiplier;
    }
    return plain_end(&plain, sum);
}

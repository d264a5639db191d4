/* plain.h - what the plain MPI programs share: options, work that has the same result everywhere, a
 * record of the rate, the verdict. These programs know nothing of Pleat: they are folded
 * unmodified.
 *
 * Each computes with whole numbers modulo 2^64, or with doubles of which is known what they have to
 * be. So its result does not depend on when and where its processes ran, and the program checks it.
 * It prints one line at its end, always the same for the same options and number of ranks.
 */
#ifndef PLEAT_APPS_PLAIN_H
#define PLEAT_APPS_PLAIN_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* An option. Without `words` it takes a number from `least` to `most`; with `words`
 * ("first,spread") one of these, and *value is its index; with neither words nor `most` it takes
 * nothing, and *value becomes 1. */
struct plain_option {
    const char *name;
    long long *value, least, most;
    const char *words;
};

/* The options of all programs. A program sets its defaults before it reads them. */
struct plain {
    const char *name;     /* the program's name, printed with its result */
    long long iterations; /* --iterations */
    long long work;       /* --work: units of work of a rank in an iteration */
    long long size;       /* --size */
    long long verify;     /* --verify: compare every word of every message */
    long long corrupt;    /* --corrupt: the iteration in which a value is made wrong; -1: none */
    const char *rate;     /* --rate: file for the times of rank 0's iterations; NULL: none */
    /* --times: file for the times at which each rank began and ended; NULL: none */
    const char *times;
    const char *hold; /* --hold: file that is waited for after half of the iterations; NULL: none */
    long long iterated; /* iterations that have ended */
    int rank, ranks;
    long long wrong; /* wrong values that this rank found */
    FILE *rate_file;
    long long begun_ns, cpu_ns; /* time at the end of MPI_Init, and processor time until then */
    long long steps;            /* calls of plain_step */
    uint64_t worked;            /* what --work made of them */
};

/* Options of programs with two sizes in --help, before the common ones. */
#define PLAIN_USAGE_SIZED                                                                          \
    "  --size NAME      small (about a second of one processor, default) or large (about ten)\n"   \
    "  --iterations N   instead of the size's own number\n"                                        \
    "  --work N         units of computing besides, for a rank and iteration, about 1 us each\n"

/* The common options in --help. */
#define PLAIN_USAGE                                                                                \
    "  --verify         compare all of every message, not only its ends\n"                         \
    "  --rate FILE      append a line for each iteration of rank 0: nanoseconds of the monotonic " \
    "clock\n"                                                                                      \
    "  --times FILE     append a line for each rank: its number; when MPI_Init was done and when " \
    "it\n"                                                                                         \
    "                   was ready to end, and the processor time between; nanoseconds\n"           \
    "  --hold FILE      after half of the iterations, exchange messages until FILE is there\n"     \
    "  --corrupt I      for tests: spoil a value in iteration I; the result must be wrong\n"

/* Reads the common options and `more` (a NULL name at the end), then calls MPI_Init. --help prints
 * `usage` and exits with 0; a wrong option exits with 2. */
void plain_begin(struct plain *plain, int argc, char **argv, const char *usage,
                 const struct plain_option *more);
/* The same for a program that has two sizes: --size small or large (plain->size 0 or 1), of which
 * each has its number of iterations. */
void plain_begin_sized(struct plain *plain, int argc, char **argv, const char *usage,
                       long long small_iterations, long long large_iterations);
/* Ends all ranks with exit code 2; rank 0 says what the program runs on: "a square number of
 * ranks".
 */
_Noreturn void plain_refuse_ranks(const struct plain *plain, const char *wanted);
/* To be called by all ranks at the end of each iteration; with --hold it waits after half of them.
 */
void plain_iterated(struct plain *plain);
/* The same after the computing of --work, whose result plain_end checks. */
void plain_step(struct plain *plain);
/* Rank 0 prints RESULT: ok if no rank counted a wrong value, and the sum of all ranks' `sum`. Then
 * calls MPI_Finalize. Returns the exit code. */
int plain_end(struct plain *plain, uint64_t sum);

/* As calloc, but out of memory ends all ranks: never NULL. */
void *plain_allocate(size_t count, size_t size);

/* Computes: a unit is 800 multiplications and additions, each of which needs the result of the one
 * before (about a microsecond). */
uint64_t plain_work(uint64_t value, long long units);
/* The same in logarithmic time, for checking: some units of work turn a value into multiplier *
 * value + increment (modulo 2^64). */
struct plain_jump {
    uint64_t multiplier, increment;
};
struct plain_jump plain_jump(long long units);
/* The jump for `rounds` single multiplications and additions. */
struct plain_jump plain_jump_rounds(uint64_t rounds);
uint64_t plain_jump_apply(struct plain_jump jump, uint64_t value);
/* A different value for each argument. */
uint64_t plain_seed(uint64_t number);
/* A number in [-1, 1) for each argument. */
double plain_random(uint64_t number);

/* Counts a value as wrong if it is off by more than the tolerance, or is no number. */
void plain_compare(struct plain *plain, double found, double expected, double tolerance);
/* The sum of the bits of doubles: the same in whatever order they are added. */
uint64_t plain_bits(const double *values, long long count);

/* Packs a message of `count` words, made from one value. Unpacking returns the value, and counts in
 * `wrong` a first or last word (with --verify any word) that does not fit. */
void plain_pack(uint64_t value, uint64_t *words, long long count);
uint64_t plain_unpack(struct plain *plain, const uint64_t *words, long long count);

#endif

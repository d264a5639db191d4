/* plain.h - what the plain MPI programs share: options, work that is the same everywhere, a record
 * of the rate, the verdict. They know nothing of Pleat: they are what is folded, unmodified.
 *
 * Each computes by whole numbers modulo 2^64 (halo: by doubles whose exact values are known), so
 * its result does not depend on when and where its processes ran, and checks it. It prints one line
 * at its end, always the same for the same options and number of ranks.
 */
#ifndef PLEAT_APPS_PLAIN_H
#define PLEAT_APPS_PLAIN_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

/* Takes a number from least to most; with `words` ("first,spread") one of these, as its index; with
 * neither words nor most nothing, and is 1 when it is there. */
struct plain_option {
    const char *name;
    long long *value, least, most;
    const char *words;
};

/* The options of all programs; each sets its defaults before it reads them. */
struct plain {
    const char *name;     /* of the program, for its result */
    long long iterations; /* --iterations */
    long long work;       /* --work, units for a rank and iteration */
    long long size;       /* --size */
    long long verify;     /* --verify: compare every word of every message */
    long long corrupt;    /* --corrupt: the iteration in which a value is spoilt; -1: never */
    const char *rate;     /* --rate: file for a time per iteration of rank 0; NULL: none */
    const char *times;    /* --times: file for when each rank began and ended; NULL: none */
    const char *hold;     /* --hold: file that is waited for at half time; NULL: none */
    long long iterated;   /* iterations that have ended */
    int rank, ranks;
    long long wrong; /* values of this rank that were not what they had to be */
    FILE *rate_file;
    long long begun_ns, cpu_ns; /* when MPI_Init was done, and what it had cost */
};

/* What --help says of the common options. */
#define PLAIN_USAGE                                                                                \
    "  --verify         compare all of every message, not only its ends\n"                         \
    "  --rate FILE      append a line for each iteration of rank 0: nanoseconds of the monotonic " \
    "clock\n"                                                                                      \
    "  --times FILE     append a line for each rank: its number; when MPI_Init was done and when " \
    "it\n"                                                                                         \
    "                   was ready to end, and the processor time between; nanoseconds\n"           \
    "  --hold FILE      after half of the iterations, exchange messages until FILE is there\n"     \
    "  --corrupt I      for tests: spoil a value in iteration I; the result must be wrong\n"

/* Reads the common options and `more` (ends with a NULL name), then MPI_Init. --help prints `usage`
 * and exits with 0; anything wrong exits with 2. */
void plain_begin(struct plain *plain, int argc, char **argv, const char *usage,
                 const struct plain_option *more);
/* To be called by all at the end of each iteration; with --hold all meet in one. */
void plain_iterated(struct plain *plain);
/* Rank 0 prints RESULT, ok where no rank counted a wrong value, and `sum` of all ranks'
 * sums; MPI_Finalize. Returns the exit code. */
int plain_end(struct plain *plain, uint64_t sum);

/* malloc, or the end of all ranks. Never NULL. */
void *plain_allocate(size_t count, size_t size);

/* The work: 800 multiplications and additions for a unit, each of which needs the one before (about
 * a microsecond). */
uint64_t plain_work(uint64_t value, long long units);
/* The same in logarithmic time, for checking: units of work make multiplier * value + increment of
 * a value (modulo 2^64). */
struct plain_jump {
    uint64_t multiplier, increment;
};
struct plain_jump plain_jump(long long units);
/* `rounds` single multiplications and additions. */
struct plain_jump plain_jump_rounds(uint64_t rounds);
uint64_t plain_jump_apply(struct plain_jump jump, uint64_t value);
/* A different value for each argument. */
uint64_t plain_seed(uint64_t number);

/* Messages of `words` words, made from one value; unpacking gives it back, and counts in `wrong`
 * where the first or the last word (with --verify any) does not fit. */
void plain_pack(uint64_t value, uint64_t *words, long long count);
uint64_t plain_unpack(struct plain *plain, const uint64_t *words, long long count);

#endif

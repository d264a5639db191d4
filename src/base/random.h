/* random.h - reproducible random numbers: xoshiro256** (Blackman and Vigna 2018). Not for secrets.
 */
#ifndef PLEAT_BASE_RANDOM_H
#define PLEAT_BASE_RANDOM_H

#include <stdint.h>

struct pleat_random {
    uint64_t s[4];
};

/* The same seed gives the same sequence on every machine. */
void pleat_random_init(struct pleat_random *random, uint64_t seed);
uint64_t pleat_random_next(struct pleat_random *random);
/* Uniform in [0, bound), without modulo bias; bound 0 gives 0. */
uint64_t pleat_random_below(struct pleat_random *random, uint64_t bound);
/* Uniform in [0, 1). */
double pleat_random_unit(struct pleat_random *random);

#endif

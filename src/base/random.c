#include "base/random.h"

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

void pleat_random_init(struct pleat_random *random, uint64_t seed)
{
    /* splitmix64 spreads a small seed over the state, which must not be all zero */
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random->s[i] = z ^ (z >> 31);
    }
}

uint64_t pleat_random_next(struct pleat_random *random)
{
    uint64_t *s = random->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t pleat_random_below(struct pleat_random *random, uint64_t bound)
{
    if (bound == 0)
        return 0;
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value;
    do {
        value = pleat_random_next(random);
    } while (value >= limit);
    return value % bound;
}

double pleat_random_unit(struct pleat_random *random)
{
    return (double)(pleat_random_next(random) >> 11) * 0x1.0p-53;
}

#include "base/siphash.h"

struct state {
    uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

/* Up to eight bytes as a little-endian number. */
static uint64_t word_of(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static void mix(struct state *s, int rounds)
{
    while (rounds-- > 0) {
        s->a += s->b;
        s->c += s->d;
        s->b = rotate(s->b, 13) ^ s->a;
        s->d = rotate(s->d, 16) ^ s->c;
        s->a = rotate(s->a, 32) + s->d;
        s->c += s->b;
        s->d = rotate(s->d, 21) ^ s->a;
        s->b = rotate(s->b, 17) ^ s->c;
        s->c = rotate(s->c, 32);
    }
}

static void take(struct state *s, uint64_t word)
{
    s->d ^= word;
    mix(s, 2);
    s->a ^= word;
}

uint64_t pleat_siphash(const unsigned char key[PLEAT_SIPHASH_KEY], const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t low = word_of(key, 8), high = word_of(key + 8, 8);
    struct state s = {low ^ UINT64_C(0x736f6d6570736575), high ^ UINT64_C(0x646f72616e646f6d),
                      low ^ UINT64_C(0x6c7967656e657261), high ^ UINT64_C(0x7465646279746573)};
    size_t whole = count / 8;
    for (size_t i = 0; i < whole; i++)
        take(&s, word_of(at + 8 * i, 8));
    take(&s, word_of(at + 8 * whole, count % 8) | (uint64_t)count << 56);
    s.c ^= 0xff;
    mix(&s, 4);
    return s.a ^ s.b ^ s.c ^ s.d;
}

#include "dist/strided.h"

#include <string.h>

/* A loop in which the length is known to the compiler: a load and a store for each piece. */
#define LOOP(n)                                                                                    \
    do {                                                                                           \
        for (int64_t i = 0; i < count; i++, to += to_step, from += from_step)                      \
            memcpy(to, from, (n));                                                                 \
    } while (0)

/* Pieces of up to this many bytes are copied in steps of 16, inline. */
#define SHORT_BYTES 256

static void copy_short(char *restrict to, ptrdiff_t to_step, const char *restrict from,
                       ptrdiff_t from_step, size_t bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++, to += to_step, from += from_step) {
        size_t at = 0;
        for (; at + 16 <= bytes; at += 16)
            memcpy(to + at, from + at, 16);
        for (; at + 8 <= bytes; at += 8)
            memcpy(to + at, from + at, 8);
        for (; at < bytes; at++)
            to[at] = from[at];
    }
}

/* Pieces of some lines of the cache: those after the next one are fetched meanwhile, as the
 * processor does not foresee a jump from piece to piece. */
#define LINE 64
#define AHEAD 2

static void copy_lines(char *restrict to, ptrdiff_t to_step, const char *restrict from,
                       ptrdiff_t from_step, size_t bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++, to += to_step, from += from_step) {
        const char *ahead = i + AHEAD < count ? from + AHEAD * from_step : from;
        size_t at = 0;
        for (; at + LINE <= bytes; at += LINE) {
            __builtin_prefetch(ahead + at);
            memcpy(to + at, from + at, LINE);
        }
        memcpy(to + at, from + at, bytes - at);
    }
}

void pleat_copy_strided(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                        size_t bytes, int64_t count)
{
    if (to_step == (ptrdiff_t)bytes && from_step == (ptrdiff_t)bytes) {
        memcpy(to, from, bytes * (size_t)count);
        return;
    }
    switch (bytes) {
    case 1:
        LOOP(1);
        return;
    case 2:
        LOOP(2);
        return;
    case 4:
        LOOP(4);
        return;
    case 8:
        LOOP(8);
        return;
    case 16:
        LOOP(16);
        return;
    case 32:
        LOOP(32);
        return;
    default:
        break;
    }
    if (bytes <= SHORT_BYTES) {
        copy_short(to, to_step, from, from_step, bytes, count);
        return;
    }
    if (bytes <= 4096) {
        copy_lines(to, to_step, from, from_step, bytes, count);
        return;
    }
    for (int64_t i = 0; i < count; i++, to += to_step, from += from_step)
        memcpy(to, from, bytes);
}

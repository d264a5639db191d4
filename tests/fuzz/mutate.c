#include "mutate.h"

#include <string.h>

static size_t put(const struct mutation *how, char *bytes, size_t size, size_t at,
                  const char *piece, size_t length)
{
    if (size + length > how->room)
        return size;
    memmove(bytes + at + length, bytes + at, size - at);
    memcpy(bytes + at, piece, length);
    return size + length;
}

static size_t repeat(const struct mutation *how, char *bytes, size_t size, size_t at, size_t span)
{
    if (size + span > how->room)
        return size;
    memmove(bytes + at + span, bytes + at, size - at);
    return size + span;
}

static void change_digit(struct pleat_random *random, char *bytes, size_t size, size_t at)
{
    for (; at < size && (bytes[at] < '0' || bytes[at] > '9'); at++)
        continue;
    if (at < size)
        bytes[at] = (char)('0' + pleat_random_below(random, 10));
}

size_t mutate(const struct mutation *how, struct pleat_random *random, char *bytes, size_t size)
{
    for (uint64_t changes = 1 + pleat_random_below(random, 4); changes > 0 && size > how->first + 1;
         changes--) {
        size_t at = how->first + (size_t)pleat_random_below(random, size - how->first);
        size_t span = 1 + (size_t)pleat_random_below(random, size - at);
        const char *piece = how->pieces[pleat_random_below(random, how->piece_count)];
        switch (pleat_random_below(random, 8)) {
        case 0:
            bytes[at] = (char)(bytes[at] ^ (1 << pleat_random_below(random, 8)));
            break;
        case 1:
            memmove(bytes + at, bytes + at + span, size - at - span);
            size -= span;
            break;
        case 2:
            size = repeat(how, bytes, size, at, span);
            break;
        case 3:
        case 4:
        case 5:
            change_digit(random, bytes, size, at);
            break;
        default:
            size = put(how, bytes, size, at, piece, strlen(piece));
        }
    }
    return size;
}

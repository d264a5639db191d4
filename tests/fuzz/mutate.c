#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
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

int mutate_test(const struct mutation *how, const struct mutate_test *test, int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : test->rounds;
    size_t size = strlen(test->text);
    struct pleat_random random;
    char *bytes = malloc(how->room);
    if (!bytes)
        return 1;
    pleat_random_init(&random, test->seed);
    test->fuzz((const uint8_t *)test->text, size);
    unsigned long unchanged = *test->good;
    for (unsigned long round = 0; round < rounds; round++) {
        memcpy(bytes, test->text, size);
        test->fuzz((const uint8_t *)bytes, mutate(how, &random, bytes, size));
    }
    free(bytes);
    printf("%lu of %lu were good\n", *test->good, rounds + 1);
    return unchanged == 1 && *test->good > rounds / test->one_of && *test->good < rounds ? 0 : 1;
}

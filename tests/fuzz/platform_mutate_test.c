/* The fuzz function of files of sites on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "platform_fuzz.h"

static const char all_keys[] =
    "# sites\nsite near {\n  nodes = 64\n  slots = 2\n  threshold = 3\n  speed = 1.5\n"
    "  claim-delay = \"5 s +- 2 s\"\n  start-delay = 2\n  release-delay = \"500 ms\"\n"
    "  background-gap = \"1 h\"\n  background-run = \"30 min\"\n  background-processors = 8\n}\n"
    "site 'far away' {\n  nodes = 8 failures = node time-between-failures = \"30 d\"\n"
    "  repair-time = \"2 h\" joins = \"1 h\"\n  leaves = \"40 d\" /* then it goes */\n}\n"
    "site third { failures = claim failure-probability = 0.25 }\n";

enum { ROOM = 4096 };

/* One to four changes: flips, cuts, other digits, and pieces that mean something. */
static size_t mutate(struct pleat_random *random, char *bytes, size_t size)
{
    static const char *const pieces[] = {"\n", "{",   "}",     "\"",      "-1",    "0",
                                         "1e", "+-",  "site ", "/*",      "#",     " = ",
                                         "d",  "nan", "start", "leaves ", "joins", "\xff"};
    for (uint64_t changes = 1 + pleat_random_below(random, 4); changes > 0 && size > 1; changes--) {
        size_t at = (size_t)pleat_random_below(random, size);
        size_t span = 1 + (size_t)pleat_random_below(random, size - at);
        const char *piece = pieces[pleat_random_below(random, sizeof(pieces) / sizeof(*pieces))];
        size_t length = strlen(piece);
        switch (pleat_random_below(random, 8)) {
        case 0:
            bytes[at] = (char)(bytes[at] ^ (1 << pleat_random_below(random, 8)));
            break;
        case 1:
            memmove(bytes + at, bytes + at + span, size - at - span);
            size -= span;
            break;
        case 2:
            if (size + length > ROOM)
                break;
            memmove(bytes + at + length, bytes + at, size - at);
            memcpy(bytes + at, piece, length);
            size += length;
            break;
        default: /* another digit where one is */
            for (; at < size && (bytes[at] < '0' || bytes[at] > '9'); at++)
                continue;
            if (at < size)
                bytes[at] = (char)('0' + pleat_random_below(random, 10));
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20260103);
    pleat_fuzz_platform((const uint8_t *)all_keys, strlen(all_keys));
    unsigned long unchanged = pleat_fuzz_platforms;
    for (unsigned long round = 0; round < rounds; round++) {
        memcpy(bytes, all_keys, strlen(all_keys));
        pleat_fuzz_platform((const uint8_t *)bytes, mutate(&random, bytes, strlen(all_keys)));
    }
    printf("%lu of %lu could be read\n", pleat_fuzz_platforms, rounds + 1);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_platforms > rounds / 4 ? 0 : 1;
}

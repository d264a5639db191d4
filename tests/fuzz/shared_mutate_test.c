/* The fuzz function of shared memory on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "shared_fuzz.h"

enum { ROOM = 2048, SIZE = 1024 };

static const char *const pieces[] = {
    "pletbox1", "\xff\xff\xff\xff\xff\xff\xff\xff", "\x01", "\x05", "\x06", "\x07", "\x08", "\x7f",
    "12"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 2, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20261121);
    for (unsigned long round = 0; round < rounds; round++) {
        memset(bytes, 0, SIZE); /* a mailbox as it was made, or an empty state */
        for (int i = 0; i < 2; i++)
            bytes[i] = (char)pleat_random_below(&random, 256);
        for (int i = 0; i < 8; i++) /* one word, as the agent reads it */
            bytes[2 + i] = (char)pleat_random_below(&random, 1u << (1 + i % 8));
        pleat_fuzz_shared((const uint8_t *)bytes, mutate(&how, &random, bytes, SIZE));
    }
    printf("%lu of %lu were good\n", pleat_fuzz_shared_good, rounds);
    /* the inputs must reach what they are there to test */
    return pleat_fuzz_shared_good > rounds / 10 && pleat_fuzz_shared_good < rounds ? 0 : 1;
}

/* The fuzz function of what Slurm says, on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "slurm_fuzz.h"

enum { ROOM = 256 };

static const char *const seeds[] = {"a[1-3,07],b", "r[1-2]n[000-101]x,c", "node-1,node-2,x[9]",
                                    "a=1 b=2 a=3", "xa=9 a=12345 c"};
static const char *const pieces[] = {"[",  "]", ",",   "-",    "[1-3]", "0",
                                     "99", "=", " a=", "\xff", "\n"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20260103);
    for (unsigned long round = 0; round < rounds; round++) {
        const char *seed = seeds[pleat_random_below(&random, sizeof(seeds) / sizeof(seeds[0]))];
        memcpy(bytes, seed, strlen(seed));
        pleat_fuzz_slurm((const uint8_t *)bytes, mutate(&how, &random, bytes, strlen(seed)));
    }
    printf("%lu lists in %lu inputs\n", pleat_fuzz_slurm_lists, rounds);
    /* the inputs must reach what they are there to test */
    return pleat_fuzz_slurm_lists > rounds / 10 ? 0 : 1;
}

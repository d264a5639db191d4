/* The fuzz function of batch scripts on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_fuzz.h"
#include "mutate.h"

static const char all[] =
    "#!/bin/sh\n# a comment\n#PLEAT --name heat -n 4 --time-limit 1h30m\n\n"
    "#PLEAT --output 'heat %j.txt' --env \"A=\\\"b\\\"\" --notify x\\\\ y\n#PLEATX no\n"
    "#PLEAT\n#PLEAT --min 2 --max 8 # not\n  # another\necho begin\n#PLEAT --late\n";

enum { ROOM = 4096 };

static const char *const pieces[] = {"\n", "#PLEAT ", "#PLEAT", "\"", "'",    "\\",   " ",
                                     "\t", "\r\n",    "--",     "#",  "\\\n", "\xff", "#!"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20261121);
    pleat_fuzz_batch((const uint8_t *)all, sizeof(all) - 1);
    unsigned long unchanged = pleat_fuzz_batch_good;
    for (unsigned long round = 0; round < rounds; round++) {
        memcpy(bytes, all, sizeof(all) - 1);
        pleat_fuzz_batch((const uint8_t *)bytes, mutate(&how, &random, bytes, sizeof(all) - 1));
    }
    printf("%lu of %lu were good\n", pleat_fuzz_batch_good, rounds + 1);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_batch_good > rounds / 4 && pleat_fuzz_batch_good < rounds
               ? 0
               : 1;
}

/* The fuzz function of files of sites on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "platform_fuzz.h"

static const char all_keys[] =
    "# sites\nsite near {\n  nodes = 64\n  slots = 2\n  threshold = 3\n  speed = 1.5\n"
    "  claim-delay = \"5 s +- 2 s\"\n  start-delay = 2\n  release-delay = \"500 ms\"\n"
    "  background-gap = \"1 h\"\n  background-run = \"30 min\"\n  background-processors = 8\n}\n"
    "site 'far away' {\n  nodes = 8 failures = node time-between-failures = \"30 d\"\n"
    "  repair-time = \"2 h\" joins = \"1 h\"\n  leaves = \"40 d\" /* then it goes */\n}\n"
    "site third { failures = claim failure-probability = 0.25 }\n";

enum { ROOM = 4096 };

static const char *const pieces[] = {"\n", "{",   "}",     "\"",      "-1",    "0",
                                     "1e", "+-",  "site ", "/*",      "#",     " = ",
                                     "d",  "nan", "start", "leaves ", "joins", "\xff"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

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
        pleat_fuzz_platform((const uint8_t *)bytes, mutate(&how, &random, bytes, strlen(all_keys)));
    }
    printf("%lu of %lu could be read\n", pleat_fuzz_platforms, rounds + 1);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_platforms > rounds / 10 ? 0 : 1;
}

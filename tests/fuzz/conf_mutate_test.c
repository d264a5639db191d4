/* The fuzz function of pleat.conf on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_fuzz.h"
#include "mutate.h"

static const char all[] =
    "# policies\napproach = pra\norder = sjf\nqueue = easy\nplacement = worst-fit\n"
    "moldability = minimum\nmalleability = fpsma\nclaim_s = 12.5\nshrink_s = 1e3\ntries = 7\n"
    "idle_exit_s = 0\n/* sites */\nsite \"local\" {\n  kind = local\n  processors = 8\n"
    "  threshold = 1\n  background = measure\n}\nsite other { processors = 65536 }\n";

enum { ROOM = 4096 };

static const char *const pieces[] = {"\n",  "{",       "}",  "\"",       "-1",   "0",
                                     "1e",  "site ",   "/*", "#",        " = ",  "nan",
                                     "inf", "${HOME}", "+=", "include(", "\xff", "\\"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20261121);
    pleat_fuzz_conf((const uint8_t *)all, sizeof(all) - 1);
    unsigned long unchanged = pleat_fuzz_conf_good;
    for (unsigned long round = 0; round < rounds; round++) {
        memcpy(bytes, all, sizeof(all) - 1);
        pleat_fuzz_conf((const uint8_t *)bytes, mutate(&how, &random, bytes, sizeof(all) - 1));
    }
    printf("%lu of %lu were good\n", pleat_fuzz_conf_good, rounds + 1);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_conf_good > rounds / 20 && pleat_fuzz_conf_good < rounds
               ? 0
               : 1;
}

/* The fuzz function of workload logs on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "swf_fuzz.h"

static const char *const seeds[] = {
    "; Version: 2.2\n; UnixStartTime: 749458803\n; MaxProcs: 128\n"
    "1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1\n"
    "2 1460.5 3 0 16 -1 -1 32 600 -1 1 2 1 -1 -1 -1 -1 -1\n"
    "3 1000 -1 17.25 -1 -1 -1 4 10 -1 5 -1 -1 -1 -1 -1 -1 -1 9 text\n",
    "; Pleat-App: 1 amdahl:0.02 adapt=30s volume=1e9 bandwidth=1e8 name=cg\n"
    "; Pleat-App: 2 table:1=600,2=330,4=200 measured=2-4=1.5s phases=0.5:1-8,0.8:1-2\n"
    "; Pleat-Columns: kind minimum maximum initial sizes step processes app site deadline begin "
    "priority\n"
    "7 5 -1 60 4 -1 -1 4 90 -1 1 3 -1 -1 -1 -1 -1 -1 2 1 8 4 3 2 16 2 3 99.5 7 -4\n"
    "8 5 -1 60 4 -1 -1 4 90 -1 1 3 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 0\n",
    "\xef\xbb\xbf;\r\n1 0 -1 5 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\r\n"
    "2 1e3 1 9e0 2 1.5 -1 -1 1E+2 -1 -1 -1 -1 -1 -1 -1 -1 -1\r3 -1 -1 5 1 -1 -1 -1 -1 -1 3 -1 -1 "
    "-1 -1 -1 -1 -1",
    "; Pleat-App: 0 downey:8,1.5; component=2;work=9; mpl-overhead=.5;imbalance=0.1;local-queues\n"
    "; Pleat-Columns: kind minimum\n"
    "9 5 -1 60 4 -1 -1 4 90 -1 1 3 -1 -1 -1 -1 -1 -1 2 0\n",
};

enum { SEEDS = sizeof(seeds) / sizeof(seeds[0]), ROOM = 4096 };

static const char *const pieces[] = {"\n",       "\r",   " ",   "-1",         "0", ";",
                                     "; Pleat-", "e9",   ".",   "9999999999", "-", "\xff",
                                     "MaxProcs", "kind", "app", "16777216",   "1 "};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 1, .room = ROOM};

static size_t put_seed(char *bytes, size_t seed, char options)
{
    bytes[0] = options;
    size_t length = strlen(seeds[seed]);
    memcpy(bytes + 1, seeds[seed], length);
    return 1 + length;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 60000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20260102);
    for (size_t i = 0; i < SEEDS; i++)
        pleat_fuzz_swf((const uint8_t *)bytes, put_seed(bytes, i, 1));
    unsigned long unchanged = pleat_fuzz_swf_jobs;
    for (unsigned long round = 0; round < rounds; round++) {
        char options = (char)pleat_random_next(&random);
        size_t size = put_seed(bytes, (size_t)pleat_random_below(&random, SEEDS), options);
        size = mutate(&how, &random, bytes, size);
        pleat_fuzz_swf((const uint8_t *)bytes, size);
    }
    printf("%lu jobs in %lu logs that could be read, of %lu\n", pleat_fuzz_swf_jobs,
           pleat_fuzz_swf_logs, rounds + SEEDS);
    /* the inputs must reach what they are there to test */
    return unchanged == 8 && pleat_fuzz_swf_logs > rounds / 4 && pleat_fuzz_swf_jobs > rounds / 4
               ? 0
               : 1;
}

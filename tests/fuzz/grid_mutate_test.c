/* The fuzz function of grid mixes on a fixed set of mutated inputs: what a fuzzer would do first,
 * with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid_fuzz.h"
#include "mutate.h"
#include "workload/grid.h"

static const char all_keys[] =
    "jobs = 7\ngap = \"uniform:1,3\" # seconds\ntotal = 64\nestimate = 2.5\n"
    "sites = {\"delft\", \"leiden:32\"}\n"
    "type \"bt\" {\n  weight = 2\n  command = \"./bt {size} {steps}\"\n"
    "  options = \"--runner mpi\"\n  model = \"amdahl:0.1;adapt=2s\"\n"
    "  placement = semi-fixed\n  components = \"discrete:1=1,3=1\"\n"
    "  size = \"uniform:2,20[3..]\"\n  run = \"normal:60,10[1..99]\"\n  step = 20\n"
    "  kind = malleable\n  minimum = 0.5\n  maximum = 3\n  initial = 1\n"
    "  accepts = \"multiples:2\"\n}\n"
    "type sum { run = \"weibull:5,0.7\" kind = moldable accepts = grids placement = fixed\n"
    "  command = 'sum {run} {{{min}-{max}}}' model = \"table:1=9,4=3 phases=0.5:1-8\" }\n";

enum { ROOM = 4096 };

static const char *const pieces[] = {"\n",  "{",    "}",       "\"",  "-1",      "0",
                                     "1e9", "e308", "[1..2]",  "=",   ",",       "{size}",
                                     "#",   "/*",   "uniform", "nan", "type x ", "\xff"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    const char *const seeds[] = {all_keys, pleat_grid_default_text()};
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20260102);
    for (size_t i = 0; i < 2; i++)
        pleat_fuzz_grid((const uint8_t *)seeds[i], strlen(seeds[i]));
    unsigned long unchanged = pleat_fuzz_grid_workloads;
    for (unsigned long round = 0; round < rounds; round++) {
        const char *seed = seeds[pleat_random_below(&random, 2)];
        memcpy(bytes, seed, strlen(seed));
        pleat_fuzz_grid((const uint8_t *)bytes, mutate(&how, &random, bytes, strlen(seed)));
    }
    printf("%lu workloads of %lu descriptions that could be read, of %lu\n",
           pleat_fuzz_grid_workloads, pleat_fuzz_grid_mixes, rounds + 2);
    /* the inputs must reach what they are there to test */
    return unchanged == 2 && pleat_fuzz_grid_mixes > rounds / 6 &&
                   pleat_fuzz_grid_workloads > rounds / 8
               ? 0
               : 1;
}

/* The fuzz function of checkpoints on a fixed set of mutated inputs: what a fuzzer would do first,
 * with any compiler and always the same. */
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint_fuzz.h"
#include "must.h"
#include "mutate.h"

enum { ROOM = 16384 };

static const char *const pieces[] = {
    "\xff\xff\xff\xff\xff\xff\xff\x7f", "value", "rows", "\x01", "\x10", "\x80", "\xff"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 1, .room = ROOM};

static size_t make_good(char *bytes)
{
    const struct pleat_checkpoint_entry entries[] = {
        {.name = "u", .kind = "rows", .shape = {10}, .dimensions = 1, .element_bytes = 80},
        {.name = "step", .kind = "value", .shape = {1}, .dimensions = 1, .element_bytes = 4},
        {.name = "none", .kind = "array", .shape = {0, 7}, .dimensions = 2, .element_bytes = 8}};
    const struct pleat_checkpoint_origin origin = {
        .iteration = 12, .ranks = 4, .program = "heat", .mpi = "MPICH"};
    struct pleat_checkpoint plan;
    must(pleat_checkpoint_plan(&plan, entries, 3, &origin, NULL) == 0);
    must(plan.file_bytes < ROOM - 64);
    memset(bytes, 0, ROOM);
    bytes[0] = 1;
    pleat_checkpoint_encode(&plan, bytes + 1);
    size_t size = 1 + (size_t)plan.file_bytes;
    pleat_checkpoint_finish(&plan);
    return size;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    struct pleat_random random;
    static char bytes[ROOM];
    pleat_random_init(&random, 20261123);
    pleat_fuzz_checkpoint((const uint8_t *)bytes, make_good(bytes));
    unsigned long unchanged = pleat_fuzz_checkpoint_good;
    for (unsigned long round = 0; round < rounds; round++) {
        size_t size = make_good(bytes);
        /* most of the head is empty: some changes only where something is */
        if (pleat_random_below(&random, 2))
            bytes[1 + pleat_random_below(&random, 256 + 3 * 184)] ^=
                (char)(1 << pleat_random_below(&random, 8));
        else
            size = mutate(&how, &random, bytes, size);
        bytes[0] = (char)(pleat_random_below(&random, 8) != 0);
        pleat_fuzz_checkpoint((const uint8_t *)bytes, size);
    }
    printf("%lu of %lu were good\n", pleat_fuzz_checkpoint_good, rounds);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_checkpoint_good > rounds / 50 &&
                   pleat_fuzz_checkpoint_good < rounds
               ? 0
               : 1;
}

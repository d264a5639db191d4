/* make_checkpoint FILE - a checkpoint of zeros with entries of long names, many dimensions, and
 * large numbers, for tests of how checkpoints are shown. */
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint.h"

static int fail(const struct pleat_error *err)
{
    fprintf(stderr, "make_checkpoint: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    const struct pleat_checkpoint_entry entries[] = {
        {.name = "step", .kind = "value", .shape = {1}, .dimensions = 1, .element_bytes = 8},
        {.name = "the temperature of the plate in a very long name of 63 bytes...",
         .kind = "rows",
         .shape = {1000},
         .dimensions = 1,
         .element_bytes = 800},
        {.name = "cells",
         .kind = "array",
         .shape = {10, 11, 12, 13},
         .dimensions = 4,
         .element_bytes = 24},
    };
    const struct pleat_checkpoint_origin origin = {.iteration = 123456,
                                                   .created_us = INT64_C(1700000000000000),
                                                   .ranks = 4,
                                                   .program = "heat",
                                                   .mpi = "Open MPI"};
    struct pleat_checkpoint plan;
    struct pleat_checkpoint_writer writer;
    struct pleat_error err;
    if (argc != 2)
        return 2;
    if (pleat_checkpoint_plan(&plan, entries, 3, &origin, &err) ||
        pleat_checkpoint_create(argv[1], plan.file_bytes, &writer, &err) ||
        pleat_checkpoint_sum(writer.fd, &plan, 0, plan.pieces, plan.sums, &err) ||
        pleat_checkpoint_flush(&writer, &plan, &err) || pleat_checkpoint_name(&writer, &err))
        return fail(&err);
    pleat_checkpoint_close(&writer, true);
    pleat_checkpoint_finish(&plan);
    return 0;
}

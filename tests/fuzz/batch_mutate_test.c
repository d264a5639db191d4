/* The fuzz function of batch scripts on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include "batch_fuzz.h"
#include "mutate.h"

static const char all[] =
    "#!/bin/sh\n# a comment\n#PLEAT --name heat -n 4 --time-limit 1h30m\n\n"
    "#PLEAT --output 'heat %j.txt' --env \"A=\\\"b\\\"\" --notify x\\\\ y\n#PLEATX no\n"
    "#PLEAT\n#PLEAT --min 2 --max 8 # not\n  # another\necho begin\n#PLEAT --late\n";

static const char *const pieces[] = {"\n", "#PLEAT ", "#PLEAT", "\"", "'",    "\\",   " ",
                                     "\t", "\r\n",    "--",     "#",  "\\\n", "\xff", "#!"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = all,
                                     .fuzz = pleat_fuzz_batch,
                                     .good = &pleat_fuzz_batch_good,
                                     .rounds = 20000,
                                     .one_of = 4,
                                     .seed = 20261121};
    return mutate_test(&how, &test, argc, argv);
}

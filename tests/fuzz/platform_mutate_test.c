/* The fuzz function of files of sites on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include "mutate.h"
#include "platform_fuzz.h"

static const char all_keys[] =
    "# sites\nsite near {\n  nodes = 64\n  slots = 2\n  threshold = 3\n  speed = 1.5\n"
    "  claim-delay = \"5 s +- 2 s\"\n  start-delay = 2\n  grow-delay = 1\n  release-delay = \"500 "
    "ms\"\n"
    "  background-gap = \"1 h\"\n  background-run = \"30 min\"\n  background-processors = 8\n"
    "  queue = easy\n  limit = \"4 h\"\n  leave = \"1 min\"\n  queue-time = \"2 d\"\n"
    "  background-estimate = 2.5\n}\n"
    "site 'far away' {\n  nodes = 8 failures = node time-between-failures = \"30 d\"\n"
    "  repair-time = \"2 h\" joins = \"1 h\"\n  leaves = \"40 d\" /* then it goes */\n}\n"
    "site third { failures = claim failure-probability = 0.25 }\n"
    "links = {\"near third 1e8\", \"third near 5\"}\n";

static const char *const pieces[] = {"\n", "{",   "}",     "\"",      "-1",    "0",
                                     "1e", "+-",  "site ", "/*",      "#",     " = ",
                                     "d",  "nan", "start", "leaves ", "joins", "\xff"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = all_keys,
                                     .fuzz = pleat_fuzz_platform,
                                     .good = &pleat_fuzz_platforms,
                                     .rounds = 20000,
                                     .one_of = 10,
                                     .seed = 20260103};
    return mutate_test(&how, &test, argc, argv);
}

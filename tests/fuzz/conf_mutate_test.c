/* The fuzz function of pleat.conf on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include "conf_fuzz.h"
#include "mutate.h"

static const char all[] =
    "# policies\napproach = pra\norder = sjf\nqueue = easy\nplacement = worst-fit\n"
    "moldability = minimum\nmalleability = fpsma\nclaim_s = 12.5\nshrink_s = 1e3\ntries = 7\n"
    "idle_exit_s = 0\n/* sites */\nsite \"local\" {\n  kind = local\n  processors = 8\n"
    "  threshold = 1\n  background = measure\n}\nsite other { processors = 65536 }\n";

static const char *const pieces[] = {"\n",  "{",       "}",  "\"",       "-1",   "0",
                                     "1e",  "site ",   "/*", "#",        " = ",  "nan",
                                     "inf", "${HOME}", "+=", "include(", "\xff", "\\"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = all,
                                     .fuzz = pleat_fuzz_conf,
                                     .good = &pleat_fuzz_conf_good,
                                     .rounds = 10000,
                                     .one_of = 20,
                                     .seed = 20261121};
    return mutate_test(&how, &test, argc, argv);
}

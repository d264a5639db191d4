/* The fuzz function of SimGrid's platforms on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include "mutate.h"
#include "simgrid_fuzz.h"

static const char text[] =
    "<?xml version='1.0'?>\n<platform version=\"4.1\">\n<zone id=\"z\" routing=\"Full\">\n"
    "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-63,70\" speed=\"20Gf\" core=\"4\">\n"
    "<prop id=\"node_local_bb\" value=\"true\"/></cluster>\n"
    "<zone id=\"rest\"><host id=\"master_host0\" speed=\"1f\"/><host id=\"a\" speed=\"4e9,1e9\"/>\n"
    "<host id=\"b\" speed=\"5Gf\"><prop id=\"role\" value=\"storage\"/></host>\n"
    "<peer id=\"p\" speed=\"7Gf\"/></zone>\n<link id=\"l\"/></zone>\n</platform>\n";

static const char *const pieces[] = {"<",     ">", "/>",   "\"",        "'",         "-",
                                     ",",     "0", "Gf",   "<host ",    "id=",       "<zone ",
                                     "speed", "&", "\xff", "<cluster ", "9999999999"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = text,
                                     .fuzz = pleat_fuzz_simgrid,
                                     .good = &pleat_fuzz_simgrids,
                                     .rounds = 20000,
                                     .one_of = 20,
                                     .seed = 20260128};
    return mutate_test(&how, &test, argc, argv);
}

/* The fuzz function of PMI-1 on a fixed set of mutated inputs: what a fuzzer would do first, with
 * any compiler and always the same. */
#include "mutate.h"
#include "pmi_fuzz.h"

static const char all[] =
    "0cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_appnum\ncmd=get_my_kvsname\n"
    "cmd=get kvsname=fuzz key=PMI_process_mapping\ncmd=get_universe_size\n"
    "cmd=put kvsname=fuzz key=-bcast-1-0 value=2F6465762F73686D\ncmd=barrier_in\n"
    "1cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\n"
    "2cmd=init pmi_version=1 pmi_subversion=1\ncmd=barrier_in\n"
    "1cmd=get kvsname=fuzz key=-bcast-1-0\n2cmd=get kvsname=fuzz key=nothing\n"
    "cmd=publish_name service=a port=b\ncmd=lookup_name service=a\ncmd=unpublish_name service=a\n"
    "mcmd=spawn\nnprocs=2\nexecname=a\nendcmd\n"
    "0cmd=finalize\n1cmd=finalize\n2cmd=abort exitcode=7\n";

static const char *const pieces[] = {"\n",
                                     " ",
                                     "=",
                                     "cmd=",
                                     "mcmd=",
                                     "key=",
                                     "0",
                                     "1",
                                     "2",
                                     "value=",
                                     "cmd=put ",
                                     "cmd=barrier_in\n",
                                     "\xff",
                                     "endcmd",
                                     "exitcode",
                                     "kvsname= ",
                                     "cmd=finalize",
                                     "cmd=abort exitcode=-99999999999999\n"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 8192};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = all,
                                     .fuzz = pleat_fuzz_pmi,
                                     .good = &pleat_fuzz_pmi_good,
                                     .rounds = 20000,
                                     .one_of = 20,
                                     .seed = 20261123};
    return mutate_test(&how, &test, argc, argv);
}

/* The fuzz function of other simulators' jobs on a fixed set of mutated inputs: what a fuzzer would
 * do first, with any compiler and always the same. */
#include "jobs_fuzz.h"
#include "mutate.h"

static const char batsim[] =
    "{\"nb_res\": 8, \"jobs\": [\n"
    "{\"id\": \"w0!1\", \"subtime\": 10.5, \"res\": 4, \"walltime\": 100, \"profile\": \"d\"},\n"
    "{\"id\": 2, \"subtime\": 3, \"res\": 2, \"profile\": \"c\", \"dependencies\": [\"w0!1\"]}],\n"
    "\"profiles\": {\"d\": {\"type\": \"delay\", \"delay\": 20.25},\n"
    "\"h\": {\"type\": \"parallel_homogeneous\", \"cpu\": 5e9, \"com\": 1e6},\n"
    "\"p\": {\"type\": \"ParallelTaskProfile\", \"cpu\": [1e9, 2e9], \"com\": [0, 1, 1, 0]},\n"
    "\"c\": {\"type\": \"composed\", \"repeat\": 3, \"seq\": [\"d\", \"h\", \"p\"]}}}";

static const char elastisim[] =
    "{\"jobs\": [{\"type\": \"malleable\", \"submit_time\": 8, \"num_nodes_min\": 2,\n"
    "\"num_nodes_max\": 6, \"walltime\": 500, \"arguments\": {\"n\": 3, \"w\": \"8e9*n\"},\n"
    "\"attributes\": {\"priority\": 4}, \"application_model\": {\"on_init\": [{\"type\":\n"
    "\"pfs_read\", \"bytes\": 1e9, \"pattern\": \"total\"}], \"on_expansion\": {\"tasks\": [{\n"
    "\"type\": \"idle\", \"delay\": 2, \"pattern\": \"uniform\"}]}, \"phases\": [{\"iterations\":\n"
    "\"n + 1\", \"tasks\": [{\"type\": \"cpu\", \"flops\": \"w / num_nodes^0.8\",\n"
    "\"computation_pattern\": \"uniform\", \"bytes\": 5, \"communication_pattern\": \"ring\"},\n"
    "{\"type\": \"sequence\", \"iterations\": 2, \"tasks\": [{\"type\": \"busy_wait\",\n"
    "\"delay\": \"max(1, 2) * sqrt(4)\"}]}]}, {\"scheduling_point\": false, \"tasks\": []}]}}]}";

static const char *const pieces[] = {"\n", "{",    "}",    "[",  "]",       "\"",
                                     ",",  "-1",   "0",    "1e", "\"seq\"", "num_nodes",
                                     "^",  "null", "true", ":",  "\xff"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const char *const texts[] = {batsim, elastisim};
    int code = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const struct mutate_test test = {.text = texts[i],
                                         .fuzz = pleat_fuzz_jobs,
                                         .good = &pleat_fuzz_jobs_read,
                                         .rounds = 20000,
                                         .one_of = 40,
                                         .seed = 20260127};
        pleat_fuzz_jobs_read = 0;
        code |= mutate_test(&how, &test, argc, argv);
    }
    return code;
}

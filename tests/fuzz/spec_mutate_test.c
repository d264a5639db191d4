/* The fuzz function of specs on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include "mutate.h"
#include "spec_fuzz.h"

static const char all[] =
    "{\"name\":\"n\",\"argv\":[\"true\",\"x\"],\"cwd\":\"/"
    "tmp\",\"env\":[\"A=b\",\"C=\"],\"runner\":"
    "\"malleable\",\"mpi\":\"openmpi\",\"kind\":\"malleable\",\"min\":1,\"max\":8,\"initial\":2,"
    "\"sizes\":\"2,4,6,8\",\"asks\":true,\"site\":null,\"estimate_s\":12.5,\"priority\":-3,"
    "\"deadline_in_s\":100,\"begin_in_s\":5,\"output\":\"o-%j-%x.txt\",\"error\":\"/e/%u%%\","
    "\"append\":true,\"script\":\"#!/bin/"
    "sh\\n\",\"notify\":\"mail\",\"notify_on\":[\"end\",\"resize\"],"
    "\"limit_s\":60,\"notice_s\":1,\"lifetime_s\":0,\"resize\":\"merge\"}";

static const char *const pieces[] = {
    "null", "[]", "{}", "\"\"", "-1",     "1e300", "true",    "\"",   ",",          ":",
    "[",    "]",  "%j", "%",    "powers", "rigid", "\\u0000", "\xff", "99999999999"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    const struct mutate_test test = {.text = all,
                                     .fuzz = pleat_fuzz_spec,
                                     .good = &pleat_fuzz_spec_good,
                                     .rounds = 10000,
                                     .one_of = 40,
                                     .seed = 20261121};
    return mutate_test(&how, &test, argc, argv);
}

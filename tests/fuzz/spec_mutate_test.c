/* The fuzz function of specs on a fixed set of mutated inputs: what a fuzzer would do
 * first, with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum { ROOM = 4096 };

static const char *const pieces[] = {
    "null", "[]", "{}", "\"\"", "-1",     "1e300", "true",    "\"",   ",",          ":",
    "[",    "]",  "%j", "%",    "powers", "rigid", "\\u0000", "\xff", "99999999999"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20261121);
    pleat_fuzz_spec((const uint8_t *)all, sizeof(all) - 1);
    unsigned long unchanged = pleat_fuzz_spec_good;
    for (unsigned long round = 0; round < rounds; round++) {
        memcpy(bytes, all, sizeof(all) - 1);
        pleat_fuzz_spec((const uint8_t *)bytes, mutate(&how, &random, bytes, sizeof(all) - 1));
    }
    printf("%lu of %lu were good\n", pleat_fuzz_spec_good, rounds + 1);
    /* the inputs must reach what they are there to test */
    return unchanged == 1 && pleat_fuzz_spec_good > rounds / 40 && pleat_fuzz_spec_good < rounds
               ? 0
               : 1;
}

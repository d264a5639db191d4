/* The fuzz function of the wire on a fixed set of mutated inputs: what a fuzzer would do first,
 * with any compiler and always the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "wire/message.h"
#include "wire_fuzz.h"

#define SEEDS_MAX 16

struct seed {
    char *bytes;
    size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t seed_count;

static void add_seed(const char *bytes, size_t size)
{
    struct seed *seed = &seeds[seed_count++];
    seed->size = size + 1;
    seed->bytes = malloc(size + 1);
    if (!seed->bytes)
        abort();
    seed->bytes[0] = (char)(7 * seed_count);
    memcpy(seed->bytes + 1, bytes, size);
}

static void add_text(const char *text)
{
    add_seed(text, strlen(text));
}

static void make_seeds(void)
{
    struct pleat_string out = {0};
    struct pleat_error error = {.code = PLEAT_E_NOTFOUND, .text = "no job 17"};
    int failed = pleat_write_hello(&out, "agent", json_pack("{s:s}", "s", "local"));
    failed |= pleat_write_request(
        &out, 7, "submit",
        json_pack("{s:i,s:b,s:f,s:s}", "n", 4, "b", 1, "r", 1.5, "s", "caf\xc3\xa9"));
    failed |= pleat_write_result_bytes(&out, 7, NULL, "raw\n{\"id\":1}\n", 13);
    failed |= pleat_write_failure(&out, 8, &error);
    failed |= pleat_write_notification(&out, "exited", json_pack("{s:[i,i]}", "runs", 1, 2));
    if (failed)
        abort();
    add_seed(out.text, out.length);
    pleat_string_finish(&out);
    add_text("{\"method\":\"x\"}\n{\"method\":\"y\",\"bytes\":0}\n{\"id\":1,\"method\":\"z\"}\n");
    add_text("{\"id\":9223372036854775807,\"result\":[[[[{}]]]],\"bytes\":2}\nab{\"id\":0,"
             "\"error\":{\"code\":-10,\"text\":\"\\u00e9\\n\"}}\n");
    add_text("{\"id\":2,\"method\":\"m\",\"params\":{\"n\":1000,\"r\":1e308,\"b\":false,\"s\":"
             "\"\\\"\\\\\"}}\n");
    add_text("\n\n{}\n[]\nnull\n");
    add_text("{\"method\":\"a\",\"method\":\"b\"}\n");
}

enum { ROOM = 8192 };

static const char *const pieces[] = {"\n",        "\"bytes\":3,", "{",    "}",          "[",
                                     "\"id\":1,", "\\u0000",      "-",    "9999999999", "\xff",
                                     "\"",        "e999",         "null", ",\"a\":"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 1, .room = ROOM};

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 40000;
    struct pleat_random random;
    char bytes[ROOM];
    pleat_random_init(&random, 20260101);
    make_seeds();
    for (size_t i = 0; i < seed_count; i++)
        pleat_fuzz_wire((const uint8_t *)seeds[i].bytes, seeds[i].size);
    unsigned long unchanged = pleat_fuzz_wire_messages;
    for (unsigned long round = 0; round < rounds; round++) {
        const struct seed *seed = &seeds[pleat_random_below(&random, seed_count)];
        memcpy(bytes, seed->bytes, seed->size);
        bytes[0] = (char)pleat_random_next(&random);
        size_t size = mutate(&how, &random, bytes, seed->size);
        pleat_fuzz_wire((const uint8_t *)bytes, size);
    }
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
    printf("%lu messages in %lu inputs\n", pleat_fuzz_wire_messages, rounds);
    /* the inputs must reach what they are there to test */
    return unchanged == 11 && pleat_fuzz_wire_messages > rounds / 4 ? 0 : 1;
}

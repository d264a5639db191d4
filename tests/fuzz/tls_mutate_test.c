/* The fuzz function of handshakes on mutated inputs: what a fuzzer would do first, with any
 * compiler. The beginnings that are changed are real ones, so their random numbers differ. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "tls_fuzz.h"
#include "wire/tls.h"

enum { ROOM = 8192, SEEDS = 3 };

struct seed {
    char bytes[ROOM];
    size_t size;
};

static bool key_of(void *arg, const char *identity, unsigned char key[PLEAT_WIRE_KEY])
{
    (void)arg;
    (void)identity;
    memset(key, 5, PLEAT_WIRE_KEY);
    return true;
}

static void take(struct seed *seed, char first, const struct pleat_string *text)
{
    if (text->length >= ROOM)
        abort();
    seed->bytes[0] = first;
    memcpy(seed->bytes + 1, text->text, text->length);
    seed->size = text->length + 1;
}

/* What a client says first, with the right key and a wrong one, and what a server answers. */
static void make_seeds(struct seed *seeds)
{
    unsigned char key[PLEAT_WIRE_KEY];
    for (int i = 0; i < 2; i++) {
        struct pleat_tls *client = NULL, *server = NULL;
        struct pleat_string hello = {0}, answer = {0};
        memset(key, i ? 5 : 7, sizeof(key));
        if (pleat_tls_client("local/0", key, &client, NULL) ||
            pleat_tls_server(key_of, NULL, &server, NULL) ||
            pleat_tls_handshake(client, &hello, NULL) < 0 ||
            pleat_tls_feed(server, hello.text, hello.length, NULL))
            abort();
        take(&seeds[i], 1, &hello);
        (void)!pleat_tls_handshake(server, &answer, NULL); /* one of them is refused */
        if (i)
            take(&seeds[2], 0, &answer);
        pleat_tls_destroy(client);
        pleat_tls_destroy(server);
        pleat_string_finish(&hello);
        pleat_string_finish(&answer);
    }
}

static const char *const pieces[] = {
    "\x16\x03\x03", "\x17\x03\x03", "\x15\x03\x03\x00\x02\x02\x28", "\x14\x03\x03\x00\x01\x01",
    "\xff\xff",     "\x00\x29"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 1, .room = ROOM};

int main(int argc, char **argv)
{
    static struct seed seeds[SEEDS];
    static char bytes[ROOM];
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
    struct pleat_random random;
    pleat_random_init(&random, 20260101);
    make_seeds(seeds);
    for (int i = 0; i < SEEDS; i++)
        pleat_fuzz_tls((const uint8_t *)seeds[i].bytes, seeds[i].size);
    unsigned long unchanged = pleat_fuzz_tls_answered;
    for (unsigned long round = 0; round < rounds; round++) {
        const struct seed *seed = &seeds[pleat_random_below(&random, SEEDS)];
        memcpy(bytes, seed->bytes, seed->size);
        bytes[0] = (char)pleat_random_next(&random);
        size_t size = mutate(&how, &random, bytes, seed->size);
        pleat_fuzz_tls((const uint8_t *)bytes, size);
    }
    printf("%lu answered of %lu inputs\n", pleat_fuzz_tls_answered, rounds);
    /* the inputs must reach what they are there to test: the first has the key that is asked for */
    return unchanged >= 1 ? 0 : 1;
}

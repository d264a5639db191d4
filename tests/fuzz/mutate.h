/* mutate.h - inputs that a fuzzer would try first, always the same: for tests with any compiler. */
#ifndef PLEAT_TESTS_FUZZ_MUTATE_H
#define PLEAT_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

struct mutation {
    const char *const *pieces; /* pieces of text that the reader knows */
    size_t piece_count;
    size_t first; /* bytes before it stay as they are */
    size_t room;  /* of the buffer */
};

/* Makes one to four changes to bytes: flips, cuts, copies, other digits, and pieces. The new size.
 */
size_t mutate(const struct mutation *how, struct pleat_random *random, char *bytes, size_t size);

/* A reader of one kind of text. */
struct mutate_test {
    const char *text; /* a good text, with everything that the reader knows */
    void (*fuzz)(const uint8_t *bytes, size_t size);
    const unsigned long *good; /* counted by the reader: texts that could be read */
    unsigned long rounds;
    unsigned long one_of; /* more than one of this number must be good */
    uint64_t seed;
};

/* Reads the text as it is, then the given number of mutations of it (or as many as the program's
 * argument says); says how many were good. Returns the program's exit code: 1 where the inputs have
 * not reached what they are there to test: the text was not good, too few of the others, or all of
 * them. */
int mutate_test(const struct mutation *how, const struct mutate_test *test, int argc, char **argv);

#endif

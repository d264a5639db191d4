/* mutate.h - inputs that a fuzzer would try first, always the same: for tests with any compiler. */
#ifndef PLEAT_TESTS_FUZZ_MUTATE_H
#define PLEAT_TESTS_FUZZ_MUTATE_H

#include <stddef.h>

#include "base/random.h"

struct mutation {
    const char *const *pieces; /* that mean something to the reader */
    size_t piece_count;
    size_t first; /* bytes before it stay as they are */
    size_t room;  /* of the buffer */
};

/* Makes one to four changes to bytes: flips, cuts, copies, other digits, and pieces. The new size.
 */
size_t mutate(const struct mutation *how, struct pleat_random *random, char *bytes, size_t size);

#endif

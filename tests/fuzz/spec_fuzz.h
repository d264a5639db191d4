/* spec_fuzz.h - one input for the reader of specs, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_SPEC_FUZZ_H
#define PLEAT_TESTS_FUZZ_SPEC_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a spec in JSON; aborts if a promise is broken: a string beyond its limit, a
 * list without end. */
void pleat_fuzz_spec(const uint8_t *bytes, size_t size);

/* How many were taken without error so far, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_spec_good;

#endif

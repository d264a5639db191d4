/* batch_fuzz.h - one input for the reader of batch scripts, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_BATCH_FUZZ_H
#define PLEAT_TESTS_FUZZ_BATCH_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a batch script; aborts if a promise is broken: words out of order, a line that
 * is not there. */
void pleat_fuzz_batch(const uint8_t *bytes, size_t size);

/* How many were taken without error so far, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_batch_good;

#endif

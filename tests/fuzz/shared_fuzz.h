/* shared_fuzz.h - one input for memory that agent and ranks share, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_SHARED_FUZZ_H
#define PLEAT_TESTS_FUZZ_SHARED_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Puts the bytes into a mailbox, a state or the memory of a folded program as an application could,
 * then uses it from both sides;
 * aborts if a promise is broken. */
void pleat_fuzz_shared(const uint8_t *bytes, size_t size);

/* How many were taken without error so far, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_shared_good;

#endif

/* platform_fuzz.h - one input for the reader of simulated sites, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_PLATFORM_FUZZ_H
#define PLEAT_TESTS_FUZZ_PLATFORM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a file of sites; aborts if a promise is broken: something left behind by a
 * failure, an error without words, sites that the simulator does not take. */
void pleat_fuzz_platform(const uint8_t *bytes, size_t size);

/* How many were read without error so far, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_platforms;

#endif

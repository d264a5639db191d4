/* conf_fuzz.h - one input for the reader of pleat.conf, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_CONF_FUZZ_H
#define PLEAT_TESTS_FUZZ_CONF_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as pleat.conf; aborts if a promise is broken: an error without file and line, a
 * value beyond its range. */
void pleat_fuzz_conf(const uint8_t *bytes, size_t size);

/* How many were taken without error so far, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_conf_good;

#endif

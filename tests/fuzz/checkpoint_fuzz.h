/* checkpoint_fuzz.h - one input for the reader of checkpoints, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_CHECKPOINT_FUZZ_H
#define PLEAT_TESTS_FUZZ_CHECKPOINT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes behind the first as a file. The first says whether the checksum of the head is
 * made good before, so that what it protects is looked at, too. Aborts if a promise is broken: an
 * entry beyond the file, a piece that is none of it, a head that is another one when it is written
 * again. */
void pleat_fuzz_checkpoint(const uint8_t *bytes, size_t size);

/* How many could be read so far. */
extern unsigned long pleat_fuzz_checkpoint_good;

#endif

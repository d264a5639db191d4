/* wire_fuzz.h - one input for the reader of src/wire, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_WIRE_FUZZ_H
#define PLEAT_TESTS_FUZZ_WIRE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a stream, cut up as the first of them say, and aborts if the reader breaks its
 * word: another result for other cuts, a message that is none, memory without bound. */
void pleat_fuzz_wire(const uint8_t *bytes, size_t size);

/* How many messages all inputs so far contained, so that a test can tell that it reached them. */
extern unsigned long pleat_fuzz_wire_messages;

#endif

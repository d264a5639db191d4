/* tls_fuzz.h - one input of a peer that has not proved its identity, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_TLS_FUZZ_H
#define PLEAT_TESTS_FUZZ_TLS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Gives the bytes to one end of a handshake (the first byte says which, and how they are cut up),
 * and aborts if that end accepts them as from a peer with the key. */
void pleat_fuzz_tls(const uint8_t *bytes, size_t size);

/* How many inputs so far were answered, so that a test can tell that it reached more than the first
 * check. */
extern unsigned long pleat_fuzz_tls_answered;

#endif

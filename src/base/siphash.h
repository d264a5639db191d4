/* siphash.h - SipHash-2-4 (Aumasson and Bernstein 2012): a number that nobody can foresee who does
 * not know the key, and that is the same again for who does. */
#ifndef PLEAT_BASE_SIPHASH_H
#define PLEAT_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define PLEAT_SIPHASH_KEY 16 /* bytes */

uint64_t pleat_siphash(const unsigned char key[PLEAT_SIPHASH_KEY], const void *bytes, size_t count);

#endif

/* siphash.h - SipHash-2-4 (Aumasson and Bernstein 2012): a keyed hash, which cannot be predicted
 * without the key.
 */
#ifndef PLEAT_BASE_SIPHASH_H
#define PLEAT_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define PLEAT_SIPHASH_KEY 16 /* size of the key, in bytes */

uint64_t pleat_siphash(const unsigned char key[PLEAT_SIPHASH_KEY], const void *bytes, size_t count);

#endif

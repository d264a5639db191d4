/* strided.h - copies pieces of memory at equal distances, with loops of their own for short pieces:
 * a call of memcpy costs more than a few elements. */
#ifndef PLEAT_DIST_STRIDED_H
#define PLEAT_DIST_STRIDED_H

#include <stddef.h>
#include <stdint.h>

/* Copies `count` pieces of `bytes` each; from one to the next it is to_step and from_step bytes.
 * What is read and what is written do not overlap. */
void pleat_copy_strided(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                        size_t bytes, int64_t count);

#endif

/* lines.h - growable arrays whose items begin at a line of the cache.
 *
 * For records of whole lines in arrays larger than the caches. A record that was not used for long
 * is then read from memory in as few lines as it has. */
#ifndef PLEAT_BASE_LINES_H
#define PLEAT_BASE_LINES_H

#include "base/array.h"

enum { PLEAT_LINE = 64 }; /* bytes */

/* As pleat_array_reserve. Where that made an array, this moves it to a line when it grows next. */
#define pleat_lines_reserve(array, extra)                                                          \
    ((array)->capacity - (array)->count > (size_t)(extra)-1                                        \
         ? 0                                                                                       \
         : pleat_lines_reserve_raw((void **)&(array)->items, &(array)->capacity, (array)->count,   \
                                   (extra), sizeof(*(array)->items)))

int pleat_lines_reserve_raw(void **items, size_t *capacity, size_t count, size_t extra,
                            size_t item_size) PLEAT_MUST_CHECK PLEAT_COLD;

#endif

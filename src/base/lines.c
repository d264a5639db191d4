#include "base/lines.h"

#include <stdint.h>
#include <string.h>

/* All items are copied, unlike by realloc, which only maps large arrays elsewhere: so an array
 * becomes four times as large, not twice. Room that was not used yet takes no memory. */
enum { FIRST = 16, FACTOR = 4 };

int pleat_lines_reserve_raw(void **items, size_t *capacity, size_t count, size_t extra,
                            size_t item_size)
{
    if (extra <= *capacity - count)
        return 0;
    size_t most = SIZE_MAX / 2 / item_size;
    if (extra > most - count || *capacity > most / FACTOR)
        return PLEAT_E_NOMEM;
    size_t wanted = *capacity ? *capacity * FACTOR : FIRST;
    if (wanted < count + extra)
        wanted = count + extra;
    size_t bytes = (wanted * item_size + PLEAT_LINE - 1) / PLEAT_LINE * PLEAT_LINE;
    void *moved = aligned_alloc(PLEAT_LINE, bytes);
    if (!moved)
        return PLEAT_E_NOMEM;
    if (count > 0)
        memcpy(moved, *items, count * item_size);
    free(*items);
    *items = moved;
    *capacity = wanted;
    return 0;
}

/* memory.h - address space for a whole distributed array, memory only for the local part.
 *
 * A global row has the same address in a rank for as long as the array lives, so a resize moves
 * only what changes its rank, straight to its final place, and never needs old and new copies at
 * once.
 */
#ifndef PLEAT_APP_MEMORY_H
#define PLEAT_APP_MEMORY_H

#include <stddef.h>

#include "base/error.h"

struct pleat_memory {
    unsigned char *base;
    size_t bytes;
    size_t open_first; /* the usable part, in whole pages */
    size_t open_end;
};

/* Reserves `bytes` of address space; nothing of it is usable. PLEAT_E_NOMEM. */
int pleat_memory_reserve(struct pleat_memory *memory, size_t bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_memory_release(struct pleat_memory *memory);
/* Makes [first, end) usable besides what is so already, filling the gap between the two if any.
 * Pages new to it read as zero. PLEAT_E_NOMEM with nothing changed. */
int pleat_memory_open(struct pleat_memory *memory, size_t first, size_t end,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Has the kernel provide the pages of [first, end), which is usable, at once: cheaper than a page
 * fault for each as rows arrive. Only a wish, which kernels before 5.14 do not know. */
void pleat_memory_populate(const struct pleat_memory *memory, size_t first, size_t end);
/* Gives back all usable pages that lie wholly outside [first, end). */
void pleat_memory_keep(struct pleat_memory *memory, size_t first, size_t end);

#endif

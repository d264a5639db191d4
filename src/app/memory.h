/* memory.h - address space for a whole distributed array, but memory only for the local part.
 *
 * In a rank, a global row has the same address for as long as the array lives. So a resize moves
 * only rows that change their rank, straight to their final place, and never needs old and new
 * copies at once.
 */
#ifndef PLEAT_APP_MEMORY_H
#define PLEAT_APP_MEMORY_H

#include <stddef.h>

#include "base/error.h"

struct pleat_memory {
    unsigned char *base;
    size_t bytes;
    size_t open_first; /* the usable part in bytes from the base, whole pages */
    size_t open_end;
};

/* Reserves `bytes` of address space, none of it usable. PLEAT_E_NOMEM. */
int pleat_memory_reserve(struct pleat_memory *memory, size_t bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_memory_release(struct pleat_memory *memory);
/* Makes bytes [first, end) usable, too, with the gap to what is usable already. New pages read as
 * zero. PLEAT_E_NOMEM: nothing changed. */
int pleat_memory_open(struct pleat_memory *memory, size_t first, size_t end,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Has the kernel provide the pages of [first, end), which must be usable, at once: that is cheaper
 * than a page fault for each as rows arrive. Kernels before 5.14 ignore it. */
void pleat_memory_populate(const struct pleat_memory *memory, size_t first, size_t end);
/* Gives back all usable pages that lie wholly outside [first, end). */
void pleat_memory_keep(struct pleat_memory *memory, size_t first, size_t end);

#endif

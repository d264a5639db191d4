/* heap.h - a binary heap of times, whose entries can be moved and removed by handle.
 *
 * Used for the core's deadlines and the simulator's events. Entries with equal times come out in
 * the order of their sequence numbers, so that runs are reproducible.
 */
#ifndef PLEAT_BASE_HEAP_H
#define PLEAT_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PLEAT_HEAP_NONE UINT32_MAX

struct pleat_heap_entry {
    int64_t time_us;
    uint64_t sequence; /* set by the heap */
    uint64_t payload;  /* opaque here */
    uint32_t handle;   /* set by the heap */
};

struct pleat_heap {
    struct pleat_heap_entry *entries;
    uint32_t *where;  /* handle -> position, or the next free handle */
    int64_t first_us; /* the time of the earliest entry; INT64_MAX: there is none */
    size_t count;
    size_t capacity;
    size_t handles;
    uint32_t free_handle;
    uint64_t next_sequence;
    uint64_t steps; /* entries moved so far, for benchmarks and tests */
};

/* Makes a heap empty. To be called before any other function. */
void pleat_heap_init(struct pleat_heap *heap);
void pleat_heap_finish(struct pleat_heap *heap);

/* O(log n). *handle stays valid until the entry is removed or popped. 0 or PLEAT_E_NOMEM. */
int pleat_heap_push(struct pleat_heap *heap, int64_t time_us, uint64_t payload,
                    uint32_t *handle) PLEAT_MUST_CHECK;
/* O(log n). Changes an entry's time. Among equal times it then comes last, as if it was pushed now.
 */
void pleat_heap_move(struct pleat_heap *heap, uint32_t handle, int64_t time_us);
/* O(log n). The handle must be of an entry in the heap. */
void pleat_heap_remove(struct pleat_heap *heap, uint32_t handle);
/* The time of an entry in the heap. */
static inline int64_t pleat_heap_time(const struct pleat_heap *heap, uint32_t handle)
{
    return heap->entries[heap->where[handle]].time_us;
}
/* The earliest entry, or NULL; valid until the next change. */
static inline const struct pleat_heap_entry *pleat_heap_first(const struct pleat_heap *heap)
{
    return heap->count ? &heap->entries[0] : NULL;
}
/* The time of the earliest entry; INT64_MAX: the heap is empty. For callers that ask again and
 * again whether anything is due. */
static inline int64_t pleat_heap_first_us(const struct pleat_heap *heap)
{
    return heap->first_us;
}
/* To be called after a change that may have moved the earliest entry; also when entries were put
 * into a heap from outside (from a saved state). */
static inline void pleat_heap_note_first(struct pleat_heap *heap)
{
    heap->first_us = heap->count > 0 ? heap->entries[0].time_us : INT64_MAX;
}
/* Removes the earliest entry; the heap must not be empty. */
struct pleat_heap_entry pleat_heap_pop(struct pleat_heap *heap);

#endif

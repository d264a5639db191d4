#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pleat_heap_init(struct pleat_heap *heap)
{
    memset(heap, 0, sizeof(*heap));
    heap->free_handle = PLEAT_HEAP_NONE;
    heap->first_us = INT64_MAX;
}

void pleat_heap_finish(struct pleat_heap *heap)
{
    free(heap->entries);
    free(heap->where);
    pleat_heap_init(heap);
}

static int earlier(const struct pleat_heap_entry *a, const struct pleat_heap_entry *b)
{
    return a->time_us < b->time_us || (a->time_us == b->time_us && a->sequence < b->sequence);
}

static void put(struct pleat_heap *heap, size_t position, struct pleat_heap_entry entry)
{
    heap->entries[position] = entry;
    heap->where[entry.handle] = (uint32_t)position;
}

/* Moves an entry up from the free `position` to its place. The entry is passed by value and stored
 * once: a record that is stored in parts and loaded as a whole stalls the processor. */
static inline void sift_up(struct pleat_heap *heap, size_t position, struct pleat_heap_entry entry)
{
    uint64_t moved = 1;
    while (position > 0) {
        size_t parent = (position - 1) / 2;
        if (!earlier(&entry, &heap->entries[parent]))
            break;
        put(heap, position, heap->entries[parent]);
        position = parent;
        moved++;
    }
    put(heap, position, entry);
    heap->steps += moved;
}

static inline void sift_down(struct pleat_heap *heap, size_t position,
                             struct pleat_heap_entry entry)
{
    uint64_t moved = 1;
    for (size_t child = 1 + 2 * position; child < heap->count; child = 1 + 2 * position) {
        if (child + 1 < heap->count && earlier(&heap->entries[child + 1], &heap->entries[child]))
            child++;
        if (!earlier(&heap->entries[child], &entry))
            break;
        put(heap, position, heap->entries[child]);
        position = child;
        moved++;
    }
    put(heap, position, entry);
    heap->steps += moved;
}

/* Moves an entry from a free position, where it may be out of order, up or down to its place. */
static void settle(struct pleat_heap *heap, size_t position, struct pleat_heap_entry entry)
{
    if (position > 0 && earlier(&entry, &heap->entries[(position - 1) / 2]))
        sift_up(heap, position, entry);
    else
        sift_down(heap, position, entry);
}

int pleat_heap_push(struct pleat_heap *heap, int64_t time_us, uint64_t payload, uint32_t *handle)
{
    if (heap->count == heap->capacity) {
        size_t wanted = heap->capacity ? heap->capacity * 2 : 64;
        struct pleat_heap_entry *entries = realloc(heap->entries, wanted * sizeof(*entries));
        if (!entries)
            return PLEAT_E_NOMEM;
        heap->entries = entries;
        /* there are never more handles than entries at the fullest moment */
        uint32_t *where = realloc(heap->where, wanted * sizeof(*where));
        if (!where)
            return PLEAT_E_NOMEM;
        heap->where = where;
        heap->capacity = wanted;
    }
    uint32_t fresh = heap->free_handle;
    if (fresh != PLEAT_HEAP_NONE)
        heap->free_handle = heap->where[fresh];
    else
        fresh = (uint32_t)heap->handles++;
    size_t position = heap->count++;
    struct pleat_heap_entry entry = {
        .time_us = time_us, .sequence = heap->next_sequence++, .payload = payload, .handle = fresh};
    sift_up(heap, position, entry);
    if (time_us < heap->first_us)
        heap->first_us = time_us;
    *handle = fresh;
    return 0;
}

void pleat_heap_move(struct pleat_heap *heap, uint32_t handle, int64_t time_us)
{
    size_t position = heap->where[handle];
    assert(position < heap->count && heap->entries[position].handle == handle);
    struct pleat_heap_entry entry = {.time_us = time_us,
                                     .sequence = heap->next_sequence++,
                                     .payload = heap->entries[position].payload,
                                     .handle = handle};
    settle(heap, position, entry);
    pleat_heap_note_first(heap);
}

static void free_handle(struct pleat_heap *heap, uint32_t handle)
{
    heap->where[handle] = heap->free_handle;
    heap->free_handle = handle;
}

void pleat_heap_remove(struct pleat_heap *heap, uint32_t handle)
{
    size_t position = heap->where[handle];
    assert(position < heap->count && heap->entries[position].handle == handle);
    free_handle(heap, handle);
    size_t last = --heap->count;
    if (position < last)
        settle(heap, position, heap->entries[last]);
    pleat_heap_note_first(heap);
}

struct pleat_heap_entry pleat_heap_pop(struct pleat_heap *heap)
{
    assert(heap->count > 0);
    struct pleat_heap_entry first = heap->entries[0];
    free_handle(heap, first.handle);
    size_t last = --heap->count;
    if (last > 0)
        sift_down(heap, 0, heap->entries[last]);
    pleat_heap_note_first(heap);
    return first;
}

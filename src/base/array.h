/* array.h - growable arrays and a string builder. When out of memory they return an error. */
#ifndef PLEAT_BASE_ARRAY_H
#define PLEAT_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"

/* Declares `struct NAME { TYPE *items; size_t count, capacity; }`. An array of zero bytes is empty.
 */
#define PLEAT_ARRAY(name, type)                                                                    \
    struct name {                                                                                  \
        type *items;                                                                               \
        size_t count;                                                                              \
        size_t capacity;                                                                           \
    }

/* Makes room for `extra` more items (at least 1). 0, or PLEAT_E_NOMEM with nothing changed. */
#define pleat_array_reserve(array, extra)                                                          \
    ((array)->capacity - (array)->count > (size_t)(extra)-1                                        \
         ? 0                                                                                       \
         : pleat_array_reserve_raw((void **)&(array)->items, &(array)->capacity, (array)->count,   \
                                   (extra), sizeof(*(array)->items)))

/* Appends one item by value. 0 or PLEAT_E_NOMEM. */
#define pleat_array_push(array, item)                                                              \
    (pleat_array_reserve((array), 1) ? PLEAT_E_NOMEM                                               \
                                     : ((array)->items[(array)->count++] = (item), 0))

#define pleat_array_finish(array)                                                                  \
    do {                                                                                           \
        free((array)->items);                                                                      \
        (array)->items = NULL;                                                                     \
        (array)->count = (array)->capacity = 0;                                                    \
    } while (0)

int pleat_array_reserve_raw(void **items, size_t *capacity, size_t count, size_t extra,
                            size_t item_size) PLEAT_MUST_CHECK PLEAT_COLD;

/* A string that grows. `text` ends with a NUL once something was added; NULL before. After a
 * failure to allocate, `failed` is set and further calls do nothing, so that one check at the end
 * is enough. */
struct pleat_string {
    char *text;
    size_t length;
    size_t capacity;
    int failed;
};

void pleat_string_add(struct pleat_string *string, const char *text);
void pleat_string_add_bytes(struct pleat_string *string, const char *bytes, size_t count);
void pleat_string_addf(struct pleat_string *string, const char *fmt, ...) PLEAT_PRINTF(2, 3);
void pleat_string_finish(struct pleat_string *string);

#endif

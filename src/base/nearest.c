#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

/* Edit distance (insert, delete, replace); b must be shorter than 64 bytes, else SIZE_MAX. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[n];
}

const char *pleat_nearest(const char *word, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(word), best_distance = length <= 3 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, known[i]);
        if (length >= 2 && !strncmp(word, known[i], length))
            d = 1;
        if (d < best_distance) {
            best_distance = d;
            best = known[i];
        }
    }
    return best;
}

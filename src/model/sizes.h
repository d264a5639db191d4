/* sizes.h - which sizes an application takes: the constraint that it declares.
 *
 * Buisson et al. 2007 (VI-A) leave constraints to the application, which answers an offer with what
 * it accepts; Swaminathan 2004 (3.2) has lists of good sizes. Pleat knows the usual constraints, so
 * the answer to an offer is known at once; an application that decides for itself is asked
 * (PLEAT_COMPONENT_ASKS). Sizes are positive; whether 0 is allowed is a matter of the minimum, not
 * of this. */
#ifndef PLEAT_MODEL_SIZES_H
#define PLEAT_MODEL_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

enum pleat_sizes_kind {
    PLEAT_SIZES_ANY,
    PLEAT_SIZES_POWERS,    /* 1, 2, 4, 8, ... */
    PLEAT_SIZES_SQUARES,   /* 1, 4, 9, 16, ... */
    PLEAT_SIZES_MULTIPLES, /* step, 2 step, ... */
    PLEAT_SIZES_GRIDS,     /* r x r and r x (r+1): 1, 2, 4, 6, 9, 12, ... (Swaminathan 2004, 4.3) */
    PLEAT_SIZES_LIST,      /* exactly those of the list */
    PLEAT_SIZES_KIND_COUNT
};

#define PLEAT_SIZE_MAX 16777216 /* processors of a site, and of a job */
#define PLEAT_SIZES_LIST_MAX 1024

struct pleat_sizes {
    enum pleat_sizes_kind kind;
    int32_t step;        /* MULTIPLES: at least 1 */
    const int32_t *list; /* LIST: increasing, positive; borrowed */
    uint32_t count;
};

static inline int32_t pleat_smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t pleat_larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* The largest size taken that is at most n; 0 where there is none. */
int32_t pleat_sizes_floor(const struct pleat_sizes *sizes, int32_t n);
/* The smallest size taken that is at least n (n >= 1); 0 where there is none up to PLEAT_SIZE_MAX.
 */
int32_t pleat_sizes_ceil(const struct pleat_sizes *sizes, int32_t n);

PLEAT_ARRAY(pleat_size_list, int32_t);

/* Reads "any", "powers", "squares", "multiples:N", "grids" or "2,4,6,9". A list goes to *list (the
 * caller's, emptied first), which sizes->list then points into. */
int pleat_sizes_parse(const char *text, struct pleat_sizes *sizes, struct pleat_size_list *list,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The sizes that both constraints take, in *sizes: all of them, or those up to `most` as a list.
 * The list is the caller's, emptied first. PLEAT_E_NOTFOUND: there are none. PLEAT_E_TOOBIG: there
 * are too many to list. */
int pleat_sizes_common(const struct pleat_sizes *a, const struct pleat_sizes *b, int32_t most,
                       struct pleat_sizes *sizes, struct pleat_size_list *list,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether all sizes that the constraint takes are multiples of `step` (at least 1). */
bool pleat_sizes_are_multiples(const struct pleat_sizes *sizes, int32_t step);
/* Appends a text that parse reads: `times` each of the sizes that the constraint takes, at least of
 * those up to `most`. PLEAT_E_TOOBIG: there are too many to list. */
int pleat_sizes_scale(const struct pleat_sizes *sizes, int32_t times, int32_t most,
                      struct pleat_string *out, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The text that parse reads. */
void pleat_sizes_format(const struct pleat_sizes *sizes, struct pleat_string *out);

#endif

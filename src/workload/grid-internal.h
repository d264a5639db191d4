/* grid-internal.h - what the files of grid mixes share. */
#ifndef PLEAT_WORKLOAD_GRID_INTERNAL_H
#define PLEAT_WORKLOAD_GRID_INTERNAL_H

#include "workload/grid.h"

enum { GRID_COMPONENTS_MAX = 64 };
#define GRID_ESTIMATE_MAX 1e6

/* Checks that the parts of a mix fit together. This includes what the reader of files checks at
 * each line, since numbers may have been changed after reading. */
int pleat_grid_check(const struct pleat_grid_mix *mix, struct pleat_error *err) PLEAT_MUST_CHECK;

int pleat_grid_check_type(const struct pleat_grid_mix *mix, const struct pleat_grid_type *type,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Appends a text with its placeholders replaced. PLEAT_E_INVALID: a placeholder does not exist, or
 * needs the type's step. PLEAT_E_NOMEM. */
int pleat_grid_expand(const char *text, const struct pleat_grid_type *type,
                      const struct pleat_grid_component *component, struct pleat_string *out,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

static inline struct pleat_sizes pleat_grid_sizes(const struct pleat_grid_type *type)
{
    return (struct pleat_sizes){.kind = type->sizes_kind,
                                .step = type->sizes_step,
                                .list = type->accepted.items,
                                .count = (uint32_t)type->accepted.count};
}

#endif

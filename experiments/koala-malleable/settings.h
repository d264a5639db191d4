/* settings.h - values for what the paper leaves unsaid: some with a name, and all combinations of
 * some levels. */
#ifndef PLEAT_EXPERIMENTS_KOALA_SETTINGS_H
#define PLEAT_EXPERIMENTS_KOALA_SETTINGS_H

#include "experiments/koala-malleable/koala.h"

enum koala_named {
    KOALA_FACE,   /* nothing is added to what the paper says */
    KOALA_SCARCE, /* few processors to grow with */
    KOALA_SLOW,   /* as in KOALA_SCARCE, and changing the size takes long */
    KOALA_COSTLY, /* changing the size takes long */
    KOALA_FULL,   /* nearly no processors left, EGS as printed */
    KOALA_NAMED
};

struct koala_setting {
    const char *name, *about;
    struct koala_unsaid unsaid;
};

const struct koala_setting *koala_named(enum koala_named which);

/* ---- the sweep ---- */

struct koala_dimension {
    const char *name;
    size_t count; /* of its levels, in the full sweep */
};

/* The i-th dimension; NULL: after the last. A quick run has few levels of each. */
const struct koala_dimension *koala_dimension_at(size_t i);
size_t koala_dimension_levels(size_t i, bool quick);
size_t koala_sweep_count(bool quick);
/* Which level of a dimension a setting of the sweep has, and what the setting is. */
size_t koala_sweep_level(size_t setting, size_t dimension, bool quick);
struct koala_unsaid koala_sweep_at(size_t setting, bool quick);

#endif

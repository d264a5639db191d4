/* settings.h - values for what the paper leaves unsaid: some with a name, and a space of
 * combinations of levels, of which a sweep takes some at random. */
#ifndef PLEAT_EXPERIMENTS_KOALA_SETTINGS_H
#define PLEAT_EXPERIMENTS_KOALA_SETTINGS_H

#include "experiments/koala-malleable/koala.h"

enum koala_named {
    KOALA_FACE,   /* nothing is added to what the paper says */
    KOALA_SCARCE, /* few processors to grow with */
    KOALA_SLOW,   /* as in KOALA_SCARCE, and changing the size takes long */
    KOALA_COSTLY, /* local users have half of the processors, and changing the size takes long */
    KOALA_FULL,   /* local users leave hardly any processors, and EGS divides once in a pass */
    KOALA_NAMED
};

struct koala_setting {
    const char *name, *about;
    struct koala_unsaid unsaid;
};

const struct koala_setting *koala_named(enum koala_named which);

/* ---- the sweep ---- */

enum { KOALA_LEVELS = 9 };

struct koala_dimension {
    const char *name;
    /* the first is the face value; NULL: after the last */
    const char *levels[KOALA_LEVELS + 1];
    unsigned credible; /* bit i: level i could have been so in the paper's experiments */
};

/* The i-th dimension; NULL: after the last. */
const struct koala_dimension *koala_dimension_at(size_t i);
size_t koala_dimension_levels(size_t i);
/* How many settings of the space the sweep takes: a quick run few. The first is the face values. */
size_t koala_sweep_count(bool quick);
/* Which level of a dimension a setting of the sweep has, and what the setting is. They depend on
 * their number alone. */
size_t koala_sweep_level(size_t setting, size_t dimension);
struct koala_unsaid koala_sweep_at(size_t setting);
/* The same, but with the face value in one dimension. */
struct koala_unsaid koala_sweep_without(size_t setting, size_t dimension);
/* Are all of its levels credible? */
bool koala_sweep_credible(size_t setting);
/* In how many dimensions it differs from the face values. */
size_t koala_sweep_distance(size_t setting);
/* These dimensions, with their levels. */
void koala_sweep_tell(size_t setting, struct pleat_string *out);

#endif

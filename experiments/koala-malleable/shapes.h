/* shapes.h - what Buisson et al. 2007 state in VII, each as a criterion that was set before any
 * run: a difference holds if all of its 95 % interval is on the stated side of 0. */
#ifndef PLEAT_EXPERIMENTS_KOALA_SHAPES_H
#define PLEAT_EXPERIMENTS_KOALA_SHAPES_H

#include "experiments/koala-malleable/koala.h"

/* The place of a run among the numbers: each setting has eight combinations, those of PRA first. */
static inline size_t koala_at(size_t setting, enum approach approach, int run)
{
    return (setting * APPROACHES + (size_t)approach) * RUNS + (size_t)run;
}

struct koala_shape {
    const char *statement, *where;
    bool (*holds)(const struct pleat_numbers *numbers, size_t setting);
    /* what was measured, in a few words */
    void (*tell)(const struct pleat_numbers *numbers, size_t setting, struct pleat_string *out);
};

/* The i-th shape; NULL: after the last. */
const struct koala_shape *koala_shape_at(size_t i);
enum { KOALA_SHAPES = 24 };

#endif

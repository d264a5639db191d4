/* way.h - which of two ways of changing its size a program should take next time, from what the
 * ways have cost it so far.
 *
 * Merging starts the processes that come, or ends those that go, while the others stand still. A
 * warm relaunch starts a whole new generation while the old one computes. Which is the cheaper one
 * is a matter of the program, its data, its MPI and the machine, so both are tried and measured:
 * the cost is the time for which the program stands still. Growing and shrinking are measured
 * apart. */
#ifndef PLEAT_MODEL_WAY_H
#define PLEAT_MODEL_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/spec.h"

/* What became of a resize that was done in one of the two ways. */
struct pleat_way_sample {
    enum pleat_resize_way way; /* MERGE or RELAUNCH */
    bool grows;
    bool failed;      /* the way failed: the program could not be resized so */
    int64_t pause_us; /* for how long the program stood still; where the way has not failed */
    int64_t bytes;    /* its state, or the part of it that had to move; where it has not failed */
};

struct pleat_way_choice {
    enum pleat_resize_way way; /* MERGE or RELAUNCH */
    char reason[96];           /* a phrase for people */
};

/* Chooses from samples, the oldest first. A way that failed is left alone for a number of resizes
 * that doubles with each failure in a row. Each way is tried twice, merging first. Then the one
 * with the smaller median of its last pauses is taken, but not for a difference that may be noise:
 * the present way stays unless the other one takes a fifth less. A way that was not taken for a
 * long time is measured again. Pauses count only with an amount of state like that of the last one
 * of that way. */
struct pleat_way_choice pleat_way_choose(const struct pleat_way_sample *samples, size_t count,
                                         bool grows);

#endif

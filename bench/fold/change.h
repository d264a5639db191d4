/* change.h - the partition of a running program changes: how soon its rate does, and by how much.
 */
#ifndef PLEAT_BENCH_FOLD_CHANGE_H
#define PLEAT_BENCH_FOLD_CHANGE_H

#include "cases.h"

struct change {
    char name[64];
    enum trial_mpi mpi;
    bool quick;
    /* From one processor to two, and back: milliseconds from the order (the moment at which it had
     * been carried out) to the middle of the first six iterations that began after it and together
     * took as long as they do from then on. */
    struct bench_series grow_ms, shrink_ms;
    struct bench_series ratio; /* iterations per second on two processors over those on one */
    struct bench_series others;
};

void change_init(struct change *change, enum trial_mpi mpi, bool quick);
void change_round(struct change *change);

/* Takes the reaction to one change from the stamps; not static for its test. Returns false where
 * there are too few stamps around the change to say. Times in seconds: of the change, and of the
 * changes before and after it (or the start and the end). */
bool change_measure(const double *stamps, size_t count, double before, double at, double after,
                    double *reaction_s, double *period_before_s, double *period_after_s);

#endif

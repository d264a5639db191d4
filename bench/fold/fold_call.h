/* fold_call.h - what an intercepted MPI call costs when nothing is folded: asks bench_call. */
#ifndef PLEAT_BENCH_FOLD_CALL_H
#define PLEAT_BENCH_FOLD_CALL_H

#include "trial.h"

#define FOLD_CALL_KINDS 3

struct fold_call_kind {
    char name[16];
    double wrapped_ns, direct_ns; /* medians, of one call */
    double ns, low_ns, high_ns;   /* the difference: median and quartiles */
};

struct fold_call {
    int count; /* of kinds; 0: this MPI is not there */
    struct fold_call_kind kinds[FOLD_CALL_KINDS];
};

void fold_call_measure(enum trial_mpi mpi, bool quick, struct fold_call *call);

#endif

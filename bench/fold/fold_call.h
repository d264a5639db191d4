/* fold_call.h - what an intercepted MPI call costs when nothing is folded: asks bench_call. */
#ifndef PLEAT_BENCH_FOLD_CALL_H
#define PLEAT_BENCH_FOLD_CALL_H

#include "trial.h"

struct fold_call {
    bool there; /* false: this MPI is not */
    double ns;
};

void fold_call_measure(enum trial_mpi mpi, bool quick, struct fold_call *call);

#endif

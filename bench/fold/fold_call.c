#include "fold_call.h"

void fold_call_measure(enum trial_mpi mpi, bool quick, struct fold_call *call)
{
    (void)mpi;
    (void)quick;
    *call = (struct fold_call){.there = false};
}

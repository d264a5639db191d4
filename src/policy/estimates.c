#include "policy/estimates.h"

int64_t pleat_view_scaled_run(const struct pleat_component *component, int32_t processors)
{
    double run_us = (double)component->estimate_us * component->reference;
    /* 0 processors count as 1: else the run would never end */
    run_us /= processors > 1 ? processors : 1;
    return run_us < (double)(PLEAT_NEVER / 4) ? (int64_t)run_us : PLEAT_NEVER / 4;
}

/* fate.c - what became of a job, in a word. */
#include "cli/sim/experiment.h"

const char *pleat_sim_fate_name(enum pleat_sim_fate fate)
{
    static const char *const names[] = {
        [PLEAT_SIM_DONE] = "done",         [PLEAT_SIM_SKIPPED] = "skipped",
        [PLEAT_SIM_REJECTED] = "rejected", [PLEAT_SIM_FAILED] = "failed",
        [PLEAT_SIM_KILLED] = "killed",     [PLEAT_SIM_LEFT] = "left"};
    return fate <= PLEAT_SIM_LEFT ? names[fate] : "?";
}

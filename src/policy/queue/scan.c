/* The placement queue of KOALA: Buisson et al. 2007, IV-A.
 *
 * Scanned from head to tail to see whether any job can be placed; a try that fails is counted, and
 * a job that failed too often is given up (parameter tries). Room is made (PWA) for the first that
 * could not be placed. */
#include "policy/policies.h"

static uint32_t scan_start(struct pleat_pass *pass)
{
    uint32_t waiter = PLEAT_NONE;
    for (uint32_t component = pass->view->queue_first; component != PLEAT_NONE;
         component = pleat_queue_next(pass->view, component)) {
        if (pleat_pass_start(pass, component))
            continue;
        pleat_plan_tried(pass->plan, component);
        if (waiter == PLEAT_NONE)
            waiter = component;
    }
    return waiter;
}

const struct pleat_policy pleat_policy_scan = {
    .number = 2,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "scan",
    .source = "Buisson et al. 2007, IV-A",
    .summary = "KOALA's placement queue: any job that fits may start",
    .overtakes = true,
    .settles = true,
    .start = scan_start,
};

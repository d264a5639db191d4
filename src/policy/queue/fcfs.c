/* First come, first served: nobody overtakes the head of the queue. */
#include "policy/policies.h"

static uint32_t fcfs_start(struct pleat_pass *pass)
{
    uint32_t head = pass->view->queue_first;
    while (head != PLEAT_NONE && pleat_pass_start(pass, head))
        head = pleat_queue_next(pass->view, head);
    if (head != PLEAT_NONE)
        pleat_plan_tried(pass->plan, head);
    return head;
}

const struct pleat_policy pleat_policy_fcfs = {
    .number = 1,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "fcfs",
    .source = "textbook",
    .summary = "first come, first served; the head blocks those behind it",
    .settles = true,
    .start = fcfs_start,
};

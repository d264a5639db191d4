/* What an application says about itself while it runs: that it can use so many processors and no
 * more. That is its maximum then, within what its user asked, as if the user had said so; with the
 * run it is forgotten. */
#include "core/internal.h"

void declared_apply(struct pleat_core *core, struct pleat_component *job, int32_t asked)
{
    job->maximum = asked;
    job->asked = job->declared ? asked : 0;
    if (job->declared == 0 || job->declared >= asked)
        return;
    /* its user's minimum holds, and there must be a size that it takes */
    int32_t least = pleat_accept_smallest(&core->view, job);
    int32_t most = pleat_larger(job->declared, pleat_larger(least, 1));
    if (most < asked)
        job->maximum = most;
}

void declared_forget(struct pleat_component *job)
{
    if (job->declared)
        job->maximum = job->asked;
    job->declared = job->asked = 0;
}

int on_declared(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err)
{
    (void)err;
    struct pleat_component *job = component_at(core, event->component);
    int32_t maximum = event->u.declared.maximum;
    if ((job->state != PLEAT_RUNNING && job->state != PLEAT_RESIZING) ||
        event->u.declared.run != job->run || job->kind != PLEAT_MALLEABLE || pleat_view_folds(job))
        return PLEAT_CORE_STALE; /* of a run that is over, or one that has no other size */
    if (maximum < 0 || maximum > PLEAT_SIZE_MAX || maximum == job->declared)
        return PLEAT_CORE_STALE;
    int32_t asked = pleat_view_asked(job), before = job->maximum;
    tally_out(core, event->component);
    job->declared = maximum;
    declared_apply(core, job, asked);
    tally_in(core, event->component);
    if (job->maximum != before)
        limits_changed(core, event->component);
    return 0;
}

/* Backfilling with windows: Utrera 2010, 3.2.2 (figure 3.6), 6.4.2, 6.4.3.
 *
 *   start waiting jobs in queue order while they can start; the first that cannot is the head if
 *   all running jobs stand behind the head, their windows have expired:
 *       abort them, and put them back into the queue (backfill-abort)
 *       fold them as far as they can be, for the head (backfill-malleability)
 *   else start short ones behind the head that can
 *
 * This is when a window expires by section 6.4.3. By section 6.1 a window is limited by the run
 * time of the jobs that ran when its job was backfilled: in backfill-abort-due and
 * backfill-malleability-due windows expire as soon as the head could start if it had what the jobs
 * behind it have.
 *
 * Whether others are backfilled once windows have expired: figure 3.6 makes that an alternative
 * (if expired, else backfill), and is followed, as no window would be left to fill. The text of
 * 3.2.2 and the end of 6.4.3 say that the launcher goes on to backfill if what the expired jobs
 * free is not enough for the head: backfill-abort-further and backfill-malleability-further. There
 * the head is passed for as long as short ones keep coming: what has been freed for it stays its
 * own, what is idle does not.
 *
 * Not the usual backfilling: the only estimate is the class, a window ends when no job is left that
 * stood before the head, and no other job is backfilled then. In backfill-malleability a backfilled
 * job may be folded later, however it starts; malleable jobs that do not fold are shrunk. Taken
 * where the thesis is silent: while a job is starting, ending or being resized no window expires
 * and no job is backfilled, as it is not known which jobs will run; jobs that cannot be preempted
 * any more (preemptions) run on. Where no job runs there is no window: nothing is backfilled before
 * a head that waits for others' processors (but for -further). */
#include "policy/classes.h"
#include "policy/policies.h"

static bool stands_behind(const struct pleat_component *component,
                          const struct pleat_component *head)
{
    return component->key != head->key ? component->key > head->key
                                       : component->position > head->position;
}

/* What runs at the sites where the head could run. */
struct running {
    /* running components that stand before the head; those that this plan starts count */
    int32_t before;
    bool changing; /* a component starts, ends, or is resized */
};

static int32_t count_list(const struct pleat_view *view, uint32_t first,
                          const struct pleat_component *head, struct running *running)
{
    int32_t processors = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = view->components[c].next) {
        const struct pleat_component *component = &view->components[c];
        running->before += !stands_behind(component, head);
        running->changing |= component->state != PLEAT_RUNNING;
        processors += component->processors - pleat_view_elsewhere(view, component, false);
    }
    return processors;
}

/* Processors of a site that components which run at other sites have there. */
static int32_t count_outposts(const struct pleat_view *view, uint32_t site)
{
    int32_t processors = 0;
    for (uint32_t o = 0; o < view->outpost_count; o++)
        if (view->outposts[o].site == site && pleat_view_outpost_runs(view, &view->outposts[o]))
            processors += view->outposts[o].taken;
    return processors;
}

static struct running look(const struct pleat_pass *pass, uint32_t head_index)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *head = &view->components[head_index];
    struct running running = {.before = (int32_t)view->queue_count - pleat_waiting(pass)};
    for (uint32_t s = 0; s < view->site_count; s++) {
        const struct pleat_site *site = &view->sites[s];
        if (head->wanted_site != PLEAT_NONE && head->wanted_site != s)
            continue;
        int32_t processors = count_outposts(view, s) +
                             count_list(view, site->malleable_first, head, &running) +
                             count_list(view, site->rigid_first, head, &running);
        running.changing |= site->claimed - (head->site == s ? head->earmarked : 0) > processors;
    }
    return running;
}

/* What happens to a job whose window has expired; returns how many processors it gives. */
typedef int32_t expire_function(struct pleat_pass *pass, uint32_t component, uint32_t head);

/* How many processors all of a list that stand behind the head give. */
static int32_t each_behind(struct pleat_pass *pass, uint32_t head, uint32_t first,
                           expire_function *expire)
{
    const struct pleat_view *view = pass->view;
    int32_t given = 0;
    for (uint32_t c = first; c != PLEAT_NONE; c = view->components[c].next)
        if (stands_behind(&view->components[c], &view->components[head]))
            given += expire(pass, c, head);
    return given;
}

static int32_t abort_it(struct pleat_pass *pass, uint32_t component, uint32_t head)
{
    (void)head;
    bool ends = pleat_plan_preempt(pass->plan, component);
    const struct pleat_component *comp = &pass->view->components[component];
    return ends ? comp->processors - pleat_view_elsewhere(pass->view, comp, false) : 0;
}

static int32_t fold_it(struct pleat_pass *pass, uint32_t component, uint32_t head)
{
    const struct pleat_component *comp = &pass->view->components[component];
    return comp->kind == PLEAT_MALLEABLE
               ? pleat_plan_offer_shrink(pass->plan, component, comp->processors, head)
               : 0;
}

/* Can the head get processors at a site? What it has already may tie it to another site. */
static bool may_have(const struct pleat_pass *pass, const struct pleat_component *head,
                     uint32_t site)
{
    return !pleat_view_is_several(pass->view, head) &&
           !pleat_view_keeps_to_a_node(pass->view, head, site) &&
           (head->wanted_site == PLEAT_NONE || head->wanted_site == site) &&
           (head->site == PLEAT_NONE || head->site == site) &&
           pass->view->sites[site].capacity - pass->view->sites[site].background >=
               pleat_accept_start(pass->view, head);
}

static bool anything_free(const struct pleat_pass *pass)
{
    for (uint32_t s = 0; s < pass->view->site_count; s++)
        if (pleat_plan_free(pass->plan, s) > 0)
            return true;
    return false;
}

static void backfill(struct pleat_pass *pass, uint32_t first, bool foldable)
{
    const struct pleat_view *view = pass->view;
    pass->backfilling = foldable;
    for (uint32_t c = first; c != PLEAT_NONE && anything_free(pass); c = pleat_queue_next(view, c))
        if (pleat_is_short(&view->components[c]))
            (void)pleat_pass_start(pass, c);
    pass->backfilling = false;
}

/* What happens to jobs whose windows have expired, and when windows expire. */
struct windows {
    expire_function *expire;
    bool foldable; /* backfilled jobs may be folded */
    /* windows expire as soon as the head could start with the processors of backfilled jobs
     * (6.1) */
    bool due;
    /* others are backfilled where what expired jobs give is not enough for the head (6.4.3, at its
     * end) */
    bool further;
};

/* Could the head start at a site if it had, besides what is free, all processors of the jobs behind
 * it? */
static bool is_due(struct pleat_pass *pass, uint32_t head, uint32_t site)
{
    const struct pleat_view *view = pass->view;
    int32_t available = pleat_plan_available(pass->plan, head, site), theirs = 0;
    const uint32_t lists[] = {view->sites[site].malleable_first, view->sites[site].rigid_first};
    for (int l = 0; l < 2; l++)
        for (uint32_t c = lists[l]; c != PLEAT_NONE; c = view->components[c].next)
            if (stands_behind(&view->components[c], &view->components[head]))
                theirs += view->components[c].processors -
                          pleat_view_elsewhere(view, &view->components[c], false);
    return theirs > 0 && pleat_pass_size(pass, head, site, available + theirs).processors > 0;
}

/* Ends windows at one site. Returns whether that is all for this pass: a window has expired, and,
 * if others may be backfilled further, the head has enough. */
static bool end_windows(struct pleat_pass *pass, uint32_t head, const struct running *running,
                        const struct windows *windows)
{
    const struct pleat_view *view = pass->view;
    if (running->before > 0 && !windows->due)
        return false;
    for (uint32_t s = 0; s < view->site_count; s++) {
        if (!may_have(pass, &view->components[head], s) ||
            (running->before > 0 && !is_due(pass, head, s)))
            continue;
        int32_t available = pleat_plan_available(pass->plan, head, s);
        available += each_behind(pass, head, view->sites[s].malleable_first, windows->expire);
        available += each_behind(pass, head, view->sites[s].rigid_first, windows->expire);
        return !windows->further || pleat_pass_size(pass, head, s, available).processors > 0;
    }
    return running->before == 0 && !windows->further;
}

static uint32_t start(struct pleat_pass *pass, const struct windows *windows)
{
    const struct pleat_view *view = pass->view;
    uint32_t head = view->queue_first;
    while (head != PLEAT_NONE && pleat_pass_start(pass, head))
        head = pleat_queue_next(view, head);
    if (head == PLEAT_NONE)
        return PLEAT_NONE;
    pleat_plan_tried(pass->plan, head);
    struct running running = look(pass, head);
    if (!running.changing && !end_windows(pass, head, &running, windows))
        backfill(pass, pleat_queue_next(view, head), windows->foldable);
    return head;
}

static uint32_t abort_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = abort_it});
}

static uint32_t abort_due_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = abort_it, .due = true});
}

static uint32_t abort_further_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = abort_it, .further = true});
}

static uint32_t malleability_further_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = fold_it, .foldable = true, .further = true});
}

static uint32_t malleability_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = fold_it, .foldable = true});
}

static uint32_t malleability_due_start(struct pleat_pass *pass)
{
    return start(pass, &(struct windows){.expire = fold_it, .foldable = true, .due = true});
}

const struct pleat_policy pleat_policy_backfill_abort = {
    .number = 11,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-abort",
    .source = "Utrera 2010, 6.4",
    .summary = "short jobs may overtake; when only such run they are aborted and wait again",
    .start = abort_start,
};

const struct pleat_policy pleat_policy_backfill_malleability = {
    .number = 12,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-malleability",
    .source = "Utrera 2010, 6.4.3",
    .summary = "short jobs may overtake; when only such run they are folded for the first to wait",
    .start = malleability_start,
};

const struct pleat_policy pleat_policy_backfill_abort_due = {
    .number = 13,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-abort-due",
    .source = "Utrera 2010, 6.1",
    .summary = "the same, as soon as the first could start on what they have",
    .start = abort_due_start,
};

const struct pleat_policy pleat_policy_backfill_malleability_due = {
    .number = 14,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-malleability-due",
    .source = "Utrera 2010, 6.1",
    .summary = "folded for the first as soon as it could start on what they have",
    .start = malleability_due_start,
};

const struct pleat_policy pleat_policy_backfill_abort_further = {
    .number = 15,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-abort-further",
    .source = "Utrera 2010, 3.2.2",
    .summary = "as backfill-abort; if that frees too little for the first, others overtake still",
    .start = abort_further_start,
};

const struct pleat_policy pleat_policy_backfill_malleability_further = {
    .number = 16,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "backfill-malleability-further",
    .source = "Utrera 2010, 6.4.3, at its end",
    .summary = "folded for the first; if that frees too little for it, others overtake still",
    .start = malleability_further_start,
};

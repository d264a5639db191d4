/* EASY backfilling: Lifka 1995; Mu'alem and Feitelson 2001, 2.1.
 *
 *   start waiting ones in queue order while they fit; the one that does not is the head
 *   find the head's shadow: when enough processors are expected to be free for it, and how many
 *       are free then beyond its need (extra)
 *   for each of the others in queue order, while something is free:
 *       start it if it is expected to end by the shadow, or takes only extra processors
 *
 * Expected ends are start + estimate; a job past its estimate is expected to end now. All jobs that
 * end at the instant of the shadow count. Taken where the papers are silent:
 * - several sites: the shadow is where it is earliest; elsewhere every job may start;
 * - of several sizes the head needs the smallest at which it can start; another one that would
 *   stand in its shadow at the size that it gets is tried with the extra processors;
 * - a component without an estimate is expected to run for ever: it starts on extra processors
 *   only. Where the head has to wait for such a one the shadow is at no time: nothing is extra, and
 *   all with an estimate may start;
 * - processors on their way to the head, or back to their site, are expected now;
 * - a head of several components casts no shadow: nobody overtakes it;
 * - where there are advance reservations the head's place is the earliest that they leave, and
 *   others start where they are neither in the head's way nor in that of reservations. */
#include "policy/policies.h"
#include "policy/shadow.h"
#include "policy/watch.h"

/* ---- what the last pass found out: not in the papers; it only saves work ---- */

static void easy_observe(void *watch, const struct pleat_view *view,
                         const struct pleat_event *event)
{
    (void)view;
    pleat_watch_observe(watch, event);
}

/* Where the head of the last pass and its shadow still hold, they are taken: only components that
 * are new since then, from *first on, can start. */
static bool memo_take(struct pleat_pass *pass, struct pleat_shadow *shadow, uint32_t *first)
{
    if (!pleat_watch_holds(pass, pass->states[PLEAT_QUEUE]))
        return false;
    *shadow = pass->plan->memo.shadow;
    pass->shadow = shadow;
    *first = pleat_watch_first_new(pass, pass->states[PLEAT_QUEUE]);
    return true;
}

/* The components that cannot start now cannot start before something else happens. */
static void memo_leave(struct pleat_pass *pass)
{
    bool holds = pass->shadow && pleat_watch_in_order(pass);
    pleat_watch_leave(pass, pass->states[PLEAT_QUEUE], holds);
    if (holds)
        pass->plan->memo.shadow = *pass->shadow;
}

/* ---- the policy ---- */

/* Can a component, the only one of its job, start nowhere? A quick answer, as it is true of most of
 * a long queue. Of a rigid one it reads only what stands first in its record. */
static bool is_hopeless(const struct pleat_pass *pass, const struct pleat_component *component,
                        int32_t most_free)
{
    const struct pleat_shadow *shadow = pass->shadow;
    bool folds = component->kind == PLEAT_MALLEABLE && pleat_view_folds(component);
    int32_t need = (folds ? pleat_accept_start(pass->view, component) : component->minimum) -
                   component->earmarked;
    if (need > most_free)
        return true;
    return shadow && pass->view->site_count == 1 && need > shadow->extra &&
           pleat_view_expected_run(component, component->maximum) >
               shadow->at_us - pass->view->now_us;
}

static int32_t most_free(const struct pleat_pass *pass)
{
    int32_t most = 0;
    for (uint32_t site = 0; site < pass->view->site_count; site++) {
        int32_t here = pleat_plan_free(pass->plan, site);
        most = here > most ? here : most;
    }
    return most;
}

static void backfill(struct pleat_pass *pass, uint32_t first)
{
    const struct pleat_view *view = pass->view;
    int32_t most = most_free(pass);
    bool several = view->several;
    for (uint32_t c = first; c != PLEAT_NONE && most > 0; c = pleat_queue_next(view, c)) {
        const struct pleat_component *component = &view->components[c];
        bool alone = !several || component->lead == PLEAT_NONE;
        if (!(alone && is_hopeless(pass, component, most)) && pleat_pass_start(pass, c))
            most = most_free(pass);
        else if (component->promised_us != PLEAT_NEVER) /* it was the head, and is not any more */
            pleat_plan_promise(pass->plan, c, component->promised_site, PLEAT_NEVER);
    }
}

/* The head's place among reservations. */
static void reserve(struct pleat_pass *pass, uint32_t head)
{
    const struct pleat_component *component = &pass->view->components[head];
    uint32_t site = PLEAT_NONE;
    int64_t at_us = component->begin_us > 0 ? PLEAT_NEVER : pleat_pass_earliest(pass, head, &site);
    if (at_us == PLEAT_NEVER)
        /* the head is a reservation itself, or no site can have it as sites are at present */
        return;
    int32_t size = pleat_accept_start(pass->view, component);
    pleat_pass_take(pass, head, site, at_us, size, size);
    pleat_plan_promise(pass->plan, head, site, at_us);
}

/* Starts components from the head on while they fit; returns the first that does not, with its
 * shadow cast. */
static uint32_t start_first_ones(struct pleat_pass *pass, struct pleat_shadow *shadow)
{
    uint32_t head = pass->view->queue_first;
    while (head != PLEAT_NONE && pleat_pass_start(pass, head))
        head = pleat_queue_next(pass->view, head);
    if (head == PLEAT_NONE)
        return PLEAT_NONE;
    if (pleat_view_is_several(pass->view, &pass->view->components[head]))
        return head;
    if (pass->profiles)
        reserve(pass, head);
    else if (pleat_shadow_cast(pass, head, shadow))
        pass->shadow = shadow;
    if (pass->shadow && shadow->extra >= 0)
        pleat_plan_promise(pass->plan, head, shadow->site, shadow->at_us);
    return head;
}

static uint32_t easy_start(struct pleat_pass *pass)
{
    struct pleat_shadow shadow = {.at_us = PLEAT_NEVER};
    uint32_t head = pass->view->queue_first, first;
    if (!memo_take(pass, &shadow, &first)) {
        head = start_first_ones(pass, &shadow);
        first = head == PLEAT_NONE ? PLEAT_NONE : pleat_queue_next(pass->view, head);
    }
    if (head != PLEAT_NONE) {
        pleat_plan_tried(pass->plan, head);
        if (!pleat_view_is_several(pass->view, &pass->view->components[head]))
            backfill(pass, first);
        memo_leave(pass);
    }
    pass->shadow = NULL;
    return head;
}

const struct pleat_policy pleat_policy_easy = {
    .number = 3,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "easy",
    .source = "Lifka 1995; Mu'alem and Feitelson 2001, 2.1",
    .summary = "the head is promised the earliest start; others that do not delay it may overtake",
    .needs = PLEAT_NEEDS_ENDS,
    .settles = true,
    .start = easy_start,
    .state_size = sizeof(struct pleat_watch),
    .observe = easy_observe,
};

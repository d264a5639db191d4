/* What conservative backfilling (conservative.c) keeps from one pass to the next, to save work:
 * - as long as nothing else happens than submissions, starts and ends of rigid jobs, the profiles
 *   of the last pass hold, less what early ends give back;
 * - a component can move to an earlier place only if that begins before the end of something that
 *   has become free since it last looked. Mostly there is nothing like that. */
#include "policy/queue/conservative.h"

/* An end at the expected time changes nothing. */
void conservative_observe(void *memory, const struct pleat_view *view,
                          const struct pleat_event *event)
{
    struct conservative_state *state = memory;
    const struct pleat_component *component =
        event->kind == PLEAT_EV_EXITED ? &view->components[event->component] : NULL;
    bool is_rigid = component && component->state != PLEAT_QUEUED &&
                    component->minimum == component->maximum && !pleat_view_folds(component);
    if (is_rigid && component->expected_end_us > view->now_us)
        state->ends[state->early++ % EARLY_ENDS] =
            (struct early_end){component->expected_end_us, component->site, component->minimum};
    else if (!is_rigid || component->expected_end_us < view->now_us)
        pleat_watch_observe(&state->watch, event);
}

bool conservative_memo_take(struct conservative_round *round)
{
    struct pleat_pass *pass = round->pass;
    const struct conservative_state *state = pass->states[PLEAT_QUEUE];
    const struct pleat_plan_memo *memo = &pass->plan->memo;
    uint32_t early = state->early - memo->early;
    if (!pleat_watch_holds(pass, &state->watch) || early > EARLY_ENDS)
        return false;
    pass->profiles = pass->plan->profiles;
    pass->shrinkable = false;
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        pleat_profile_advance(&pass->profiles[site], pass->view->now_us);
    round->before_us = memo->freed_us;
    for (uint32_t n = memo->early; n != state->early; n++) {
        const struct early_end *end = &state->ends[n % EARLY_ENDS];
        if (pleat_profile_take(&pass->profiles[end->site], pass->view->now_us, end->until_us,
                               -end->processors))
            pass->plan->failed = 1;
        if (end->until_us > round->before_us)
            round->before_us = end->until_us;
    }
    return true;
}

uint32_t conservative_memo_first(struct conservative_round *round)
{
    const struct pleat_pass *pass = round->pass;
    const struct pleat_plan_memo *memo = &pass->plan->memo;
    uint32_t first = pass->view->queue_first;
    if (round->before_us > pass->view->now_us || memo->next_us <= pass->view->now_us ||
        !pleat_watch_in_order(pass) || pleat_pass_reserved(pass))
        return first;
    const struct conservative_state *state = pass->states[PLEAT_QUEUE];
    uint32_t fresh = pleat_watch_first_new(pass, &state->watch);
    round->next_us = memo->next_us;
    if (fresh != first)
        round->waiter = first;
    return fresh;
}

void conservative_memo_give_up(struct conservative_round *round,
                               const struct pleat_component *component)
{
    int64_t run_us =
        pleat_view_expected_run(component, pleat_accept_start(round->pass->view, component));
    int64_t end_us = run_us < PLEAT_NEVER - component->promised_us ? component->promised_us + run_us
                                                                   : PLEAT_NEVER;
    if (end_us > round->freed_us)
        round->freed_us = end_us;
    if (end_us > round->before_us)
        round->before_us = end_us;
}

void conservative_memo_leave(const struct conservative_round *round)
{
    struct pleat_pass *pass = round->pass;
    const struct conservative_state *state = pass->states[PLEAT_QUEUE];
    pleat_watch_leave(pass, &state->watch, !round->stuck && !round->blocked);
    pass->plan->memo.next_us = round->next_us;
    pass->plan->memo.freed_us = round->freed_us;
    pass->plan->memo.early = state->early;
}

/* The lateness of the running component that is late by the least, in microseconds; 0: none is
 * late. */
static int64_t lateness(const struct pleat_view *view)
{
    int64_t least = PLEAT_NEVER;
    for (uint32_t site = 0; site < view->site_count; site++)
        for (uint32_t c = pleat_ending_first(view, site); c != PLEAT_NONE;
             c = pleat_ending_next(view, c)) {
            int64_t late_us = view->now_us - view->components[c].expected_end_us;
            if (late_us < 0)
                break;
            if (late_us < least)
                least = late_us;
        }
    return least < PLEAT_NEVER ? least : 0;
}

/* Behind a stuck component places cannot be had, and with short estimates they follow one another
 * quickly. So the next look is at the earliest after a sixteenth of the lateness: the longer this
 * lasts, the rarer places are looked at. */
int64_t conservative_next_look(const struct conservative_round *round)
{
    const struct pleat_view *view = round->pass->view;
    if (!round->stuck || round->next_us == PLEAT_NEVER)
        return round->next_us;
    int64_t later_us = view->now_us + lateness(view) / 16;
    return later_us > round->next_us ? later_us : round->next_us;
}

/* Conservative backfilling: Mu'alem and Feitelson 2001, 2.2.
 *
 *   every waiting component has a place: a time from which its processors are kept for it
 *   in queue order, at every pass:
 *       one that is new gets the earliest place that all others leave
 *       one that has a place gives it up, and gets the earliest one that the others leave: the
 *           same, or an earlier one where something has ended early (compression)
 *       one whose place is now starts
 *
 * So no job is moved to a later time than promised, whatever comes after it. Taken where the paper
 * is silent:
 * - jobs that outrun their estimates (there, they are killed): they are expected to end now. A
 *   component whose place is now may then find too few processors. If so its promise is broken, and
 *   at the next pass all places are given out anew in queue order. The same where processors take
 *   time to come back, and where malleable jobs have grown into what was promised and must shrink.
 *   The longer that lasts, the rarer the places behind the stuck component are looked at;
 * - several sites: the place is at the site where it is earliest;
 * - of several sizes the place is for the smallest; when it starts it can get more, where the
 *   others leave it;
 * - a component without an estimate keeps its processors for ever, and those behind it that need
 *   them are promised nothing;
 * - a job of several components has no place: nobody behind it is looked at before it starts;
 * - one pass compresses once; another one at the same instant could move places again, as those
 *   behind have moved, but is not made for its own sake (`settles`);
 * - a reservation that is made later comes first: a component that stands in its way has a promise
 *   that cannot be kept, and gets a new one when the promised time is over.
 *
 * Places are kept as promises in the components. What saves work is in conservative_memo.c. */
#include "policy/queue/conservative.h"

/* Was any component promised a start at a time that is over? */
static bool is_broken(const struct pleat_view *view)
{
    for (uint32_t c = view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(view, c))
        if (view->components[c].promised_us < view->now_us && !is_reservation(&view->components[c]))
            return true;
    return false;
}

/* Takes (sign 1) or gives up (-1) the place that a component was promised. */
static void take_place(struct pleat_pass *pass, uint32_t c, int32_t sign)
{
    const struct pleat_component *component = &pass->view->components[c];
    int32_t size = pleat_accept_start(pass->view, component);
    pleat_pass_take(pass, c, component->promised_site, component->promised_us, size, sign * size);
}

/* Sets the pass's profiles: with the places of all, unless all places are given out anew. */
static void look_ahead(struct conservative_round *round)
{
    struct pleat_pass *pass = round->pass;
    const struct pleat_view *view = pass->view;
    round->anew = is_broken(view);
    round->before_us = PLEAT_NEVER;
    if (!pleat_pass_expect(pass, false) || round->anew)
        return;
    for (uint32_t c = view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(view, c))
        if (view->components[c].promised_us != PLEAT_NEVER && !is_reservation(&view->components[c]))
            take_place(pass, c, 1);
}

/* Did the last decision start a component where, and as large as, it was promised? */
static bool as_promised(const struct pleat_pass *pass, const struct pleat_component *component)
{
    const struct pleat_events *decisions = &pass->plan->decisions;
    const struct pleat_event *start = &decisions->items[decisions->count - 1];
    return start->u.start.site == component->promised_site &&
           start->u.start.processors == pleat_accept_start(pass->view, component);
}

/* A component keeps its place. */
static void wait_on(struct conservative_round *round, uint32_t c)
{
    int64_t promised_us = round->pass->view->components[c].promised_us;
    if (promised_us < round->next_us)
        round->next_us = promised_us;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* Starts a component, or gives it a place. */
static void settle(struct conservative_round *round, uint32_t c)
{
    struct pleat_pass *pass = round->pass;
    const struct pleat_component *component = &pass->view->components[c];
    int64_t now_us = pass->view->now_us, promised_us = component->promised_us;
    uint32_t site = PLEAT_NONE;
    bool had = promised_us != PLEAT_NEVER && !round->anew;
    int64_t at_us = had ? pleat_pass_earlier(pass, c, round->before_us, &site)
                        : pleat_pass_earliest(pass, c, &site);
    if (had && at_us == promised_us && at_us > now_us) {
        wait_on(round, c);
        return;
    }
    if (had)
        take_place(pass, c, -1);
    bool started = at_us == now_us && pleat_pass_start(pass, c);
    if (had && (at_us != promised_us || (started && !as_promised(pass, component))))
        conservative_memo_give_up(round, component);
    if (started)
        return;
    if (at_us != PLEAT_NEVER) {
        int32_t size = pleat_accept_start(pass->view, component);
        pleat_pass_take(pass, c, site, at_us, size, size);
    }
    pleat_plan_promise(pass->plan, c, site, at_us);
    round->stuck |= at_us == now_us;
    if (at_us < round->next_us && at_us > now_us)
        round->next_us = at_us;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* A reservation whose time has come has its place in the profiles already. */
static void start_reservation(struct conservative_round *round, uint32_t c)
{
    bool started = pleat_pass_start(round->pass, c);
    round->stuck |= !started || !as_promised(round->pass, &round->pass->view->components[c]);
    if (!started && round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* Starts a job of several components. If it cannot start it holds up all jobs behind it, which are
 * promised nothing. */
static bool passes_several(struct conservative_round *round, uint32_t c)
{
    const struct pleat_view *view = round->pass->view;
    if (pleat_pass_start(round->pass, c))
        return true;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
    round->blocked = true;
    for (; c != PLEAT_NONE; c = pleat_queue_next(view, c))
        if (!is_reservation(&view->components[c]))
            pleat_plan_promise(round->pass->plan, c, PLEAT_NONE, PLEAT_NEVER);
    return false;
}

/* Looks at the queue from `first` on. */
static void look_at_queue(struct conservative_round *round, uint32_t first)
{
    const struct pleat_view *view = round->pass->view;
    for (uint32_t c = first; c != PLEAT_NONE && !round->pass->plan->failed;
         c = pleat_queue_next(view, c)) {
        const struct pleat_component *component = &view->components[c];
        if (pleat_view_is_several(view, component)) {
            if (!passes_several(round, c))
                return;
            continue;
        }
        if (conservative_memo_keeps_place(round, component))
            wait_on(round, c);
        else if (is_reservation(component))
            start_reservation(round, c);
        else
            settle(round, c);
    }
}

static uint32_t conservative_start(struct pleat_pass *pass)
{
    struct conservative_round round = {.pass = pass, .waiter = PLEAT_NONE, .next_us = PLEAT_NEVER};
    uint32_t first = pass->view->queue_first;
    if (conservative_memo_take(&round))
        first = conservative_memo_first(&round);
    else
        look_ahead(&round);
    look_at_queue(&round, first);
    if (round.waiter != PLEAT_NONE)
        pleat_plan_tried(pass->plan, round.waiter);
    int64_t look_us = conservative_next_look(&round);
    if (look_us != PLEAT_NEVER)
        pleat_plan_wake(pass->plan, look_us);
    conservative_memo_leave(&round);
    return round.waiter;
}

const struct pleat_policy pleat_policy_conservative = {
    .number = 4,
    .version = 1,
    .question = PLEAT_QUEUE,
    .name = "conservative",
    .source = "Mu'alem and Feitelson 2001, 2.2",
    .summary = "everybody is promised a start; others that delay nobody may overtake",
    .needs = PLEAT_NEEDS_ENDS,
    .settles = true,
    .start = conservative_start,
    .state_size = sizeof(struct conservative_state),
    .observe = conservative_observe,
};

/* Conservative backfilling: Mu'alem and Feitelson 2001, 2.2.
 *
 *   every waiting component has a place: a time from which its processors are kept for it
 *   in queue order, at every pass:
 *       one that is new gets the earliest place that all others leave
 *       one that has a place gives it up, and gets the earliest one that the others leave: the
 *           same, or an earlier one where something has ended early (compression)
 *       one whose place is now starts
 *
 * So nobody is moved later than promised, whoever comes after him. Taken where the paper is silent:
 * - jobs that outrun their estimates (there, they are killed): they are expected to end now. A
 *   component whose place is now may then find too few processors. If so its promise is broken, and
 *   at the next pass all places are given out anew in queue order. The same where processors take
 *   time to come back, and where malleable jobs have grown into what was promised and must shrink.
 *   The longer that lasts, the rarer the places behind the stuck one are looked at;
 * - several sites: the place is at the site where it is earliest;
 * - of several sizes the place is for the smallest; when it starts it can get more, where the
 *   others leave it;
 * - one without an estimate keeps its processors for ever, and those behind it that need them are
 *   promised nothing;
 * - a job of several components has no place: nobody behind it is looked at before it starts;
 * - one pass compresses once; another one at the same instant could move places again, as those
 *   behind have moved, but is not made for its own sake (`settles`);
 * - a reservation made later comes first: who stands in its way is promised something that cannot
 *   be kept, and again when that time is over.
 *
 * Places are kept as promises in the components. What saves work:
 * - as long as nothing else happens than submissions, starts and ends of rigid jobs, the profiles
 *   of the last pass hold, less what early ends give back;
 * - a component can move to an earlier place only if that begins before the end of something that
 *   has become free since it last looked. Mostly there is nothing like that. */
#include "policy/policies.h"
#include "policy/watch.h"

enum { EARLY_ENDS = 8 };

/* Processors that a component would have had for longer than it needed. */
struct early_end {
    int64_t until_us;
    uint32_t site;
    int32_t processors;
};

struct conservative_state {
    struct pleat_watch watch;
    uint32_t early; /* ends observed; the last ones are: */
    struct early_end ends[EARLY_ENDS];
};

/* Ends as expected change nothing. */
static void conservative_observe(void *memory, const struct pleat_view *view,
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

/* What a pass finds out as it goes. */
struct round {
    struct pleat_pass *pass;
    bool anew;         /* all places are given out anew */
    bool stuck;        /* somebody did not start in his place */
    bool blocked;      /* by a job of several components */
    uint32_t waiter;   /* the first that does not start */
    int64_t next_us;   /* the next place */
    int64_t before_us; /* whoever moves, moves to a place that begins before that */
    int64_t freed_us;  /* the last end of places that were given up */
};

static bool is_reservation(const struct pleat_component *component)
{
    return component->begin_us > 0;
}

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
static void look_ahead(struct round *round)
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

/* Takes the profiles of the last pass, and what has become free since; false: they are of no use.
 */
static bool go_on(struct round *round)
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

/* Did the last decision start a component where, and as large as, it was promised? */
static bool as_promised(const struct pleat_pass *pass, const struct pleat_component *component)
{
    const struct pleat_events *decisions = &pass->plan->decisions;
    const struct pleat_event *start = &decisions->items[decisions->count - 1];
    return start->u.start.site == component->promised_site &&
           start->u.start.processors == pleat_accept_start(pass->view, component);
}

/* A component keeps its place. */
static void wait_on(struct round *round, uint32_t c)
{
    int64_t promised_us = round->pass->view->components[c].promised_us;
    if (promised_us < round->next_us)
        round->next_us = promised_us;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* A component gives up the place that it was promised. */
static void give_up(struct round *round, uint32_t c)
{
    const struct pleat_component *component = &round->pass->view->components[c];
    int64_t run_us =
        pleat_view_expected_run(component, pleat_accept_start(round->pass->view, component));
    int64_t end_us = run_us < PLEAT_NEVER - component->promised_us ? component->promised_us + run_us
                                                                   : PLEAT_NEVER;
    if (end_us > round->freed_us)
        round->freed_us = end_us;
    if (end_us > round->before_us)
        round->before_us = end_us;
}

/* Starts a component, or gives it a place. */
static void settle(struct round *round, uint32_t c)
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
        give_up(round, c);
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
static void start_reservation(struct round *round, uint32_t c)
{
    bool started = pleat_pass_start(round->pass, c);
    round->stuck |= !started || !as_promised(round->pass, &round->pass->view->components[c]);
    if (!started && round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* A job of several components starts, or holds up those behind it, who are promised nothing. */
static bool passes_several(struct round *round, uint32_t c)
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
static void look_at_queue(struct round *round, uint32_t first)
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
        if (round->before_us <= view->now_us && component->promised_us > view->now_us &&
            component->promised_us != PLEAT_NEVER)
            wait_on(round, c);
        else if (is_reservation(component))
            start_reservation(round, c);
        else
            settle(round, c);
    }
}

/* The first that has to be looked at: a new one, where nobody else's time has come. */
static uint32_t first_of(struct round *round)
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

static void leave_memo(const struct round *round)
{
    struct pleat_pass *pass = round->pass;
    const struct conservative_state *state = pass->states[PLEAT_QUEUE];
    pleat_watch_leave(pass, &state->watch, !round->stuck && !round->blocked);
    pass->plan->memo.next_us = round->next_us;
    pass->plan->memo.freed_us = round->freed_us;
    pass->plan->memo.early = state->early;
}

/* How late is the one that should have ended last? Only some can be: 0 if none is. */
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

/* Behind somebody who is stuck, places follow one another as fast as estimates are short, and are
 * not to be had: the longer that lasts, the rarer they are looked at. */
static int64_t next_look(const struct round *round)
{
    const struct pleat_view *view = round->pass->view;
    if (!round->stuck || round->next_us == PLEAT_NEVER)
        return round->next_us;
    int64_t later_us = view->now_us + lateness(view) / 16;
    return later_us > round->next_us ? later_us : round->next_us;
}

static uint32_t conservative_start(struct pleat_pass *pass)
{
    struct round round = {.pass = pass, .waiter = PLEAT_NONE, .next_us = PLEAT_NEVER};
    uint32_t first = pass->view->queue_first;
    if (go_on(&round))
        first = first_of(&round);
    else
        look_ahead(&round);
    look_at_queue(&round, first);
    if (round.waiter != PLEAT_NONE)
        pleat_plan_tried(pass->plan, round.waiter);
    int64_t look_us = next_look(&round);
    if (look_us != PLEAT_NEVER)
        pleat_plan_wake(pass->plan, look_us);
    leave_memo(&round);
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

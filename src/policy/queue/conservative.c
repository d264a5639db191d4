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
 *   time to come back, and where malleable jobs have grown into what was promised and must shrink;
 * - several sites: the place is at the site where it is earliest;
 * - of several sizes the place is for the smallest; when it starts it can get more, where the
 *   others leave it;
 * - one without an estimate keeps its processors for ever, and those behind it that need them are
 *   promised nothing.
 *
 * Places are kept as promises in the components. What saves work: where nobody moved in the last
 * pass, and since then nothing happened but submissions, starts and ends as expected, nobody would
 * move in this one; then the profiles of the last pass hold too. */
#include "policy/policies.h"
#include "policy/watch.h"

/* Ends as expected change nothing. */
static void conservative_observe(void *state, const struct pleat_view *view,
                                 const struct pleat_event *event)
{
    if (event->kind == PLEAT_EV_EXITED) {
        const struct pleat_component *job = &view->components[event->component];
        if (job->expected_end_us == view->now_us && job->state != PLEAT_QUEUED)
            return;
    }
    pleat_watch_observe(state, event);
}

/* What a pass finds out as it goes. */
struct round {
    struct pleat_pass *pass;
    bool anew;       /* all places are given out anew */
    bool upset;      /* somebody moved, or did not start in his place */
    uint32_t waiter; /* the first that does not start */
    int64_t next_us; /* the next place */
};

static bool is_reservation(const struct pleat_component *job)
{
    return job->begin_us > 0;
}

/* Was somebody promised a start that is over? */
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
    const struct pleat_component *job = &pass->view->components[c];
    int32_t size = pleat_accept_start(pass->view, job);
    pleat_pass_take(pass, c, job->promised_site, job->promised_us, size, sign * size);
}

/* Sets the pass's profiles: with everybody's place, unless all are given out anew. */
static void look_ahead(struct round *round)
{
    struct pleat_pass *pass = round->pass;
    const struct pleat_view *view = pass->view;
    round->anew = is_broken(view);
    if (!pleat_pass_expect(pass, false) || round->anew)
        return;
    for (uint32_t c = view->queue_first; c != PLEAT_NONE; c = pleat_queue_next(view, c))
        if (view->components[c].promised_us != PLEAT_NEVER && !is_reservation(&view->components[c]))
            take_place(pass, c, 1);
}

static void go_on(struct pleat_pass *pass)
{
    pass->profiles = pass->plan->profiles;
    pass->shrinkable = false;
    for (uint32_t site = 0; site < pass->view->site_count; site++)
        pleat_profile_advance(&pass->profiles[site], pass->view->now_us);
}

/* Did the last decision start it where and as large as it was promised? */
static bool as_promised(const struct pleat_pass *pass, const struct pleat_component *job)
{
    const struct pleat_events *decisions = &pass->plan->decisions;
    const struct pleat_event *start = &decisions->items[decisions->count - 1];
    return start->u.start.site == job->promised_site &&
           start->u.start.processors == pleat_accept_start(pass->view, job);
}

/* It stays where it is. */
static void wait_on(struct round *round, uint32_t c)
{
    int64_t promised_us = round->pass->view->components[c].promised_us;
    if (promised_us < round->next_us)
        round->next_us = promised_us;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* Starts a component, or gives it a place. */
static void settle(struct round *round, uint32_t c)
{
    struct pleat_pass *pass = round->pass;
    const struct pleat_component *job = &pass->view->components[c];
    int64_t now_us = pass->view->now_us, promised_us = job->promised_us;
    uint32_t site = PLEAT_NONE;
    bool had = promised_us != PLEAT_NEVER && !round->anew;
    int64_t at_us = pleat_pass_earliest(pass, c, had, &site);
    if (had && at_us == promised_us && at_us > now_us) {
        wait_on(round, c);
        return;
    }
    if (had)
        take_place(pass, c, -1);
    if (at_us == now_us && pleat_pass_start(pass, c)) {
        round->upset |= had && (promised_us != now_us || !as_promised(pass, job));
        return;
    }
    if (at_us != PLEAT_NEVER) {
        int32_t size = pleat_accept_start(pass->view, job);
        pleat_pass_take(pass, c, site, at_us, size, size);
    }
    pleat_plan_promise(pass->plan, c, site, at_us);
    round->upset |= at_us == now_us || (had && at_us != promised_us);
    if (at_us < round->next_us && at_us > now_us)
        round->next_us = at_us;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* A reservation whose time has come has its place already. */
static void start_reservation(struct round *round, uint32_t c)
{
    if (pleat_pass_start(round->pass, c)) {
        round->upset |= !as_promised(round->pass, &round->pass->view->components[c]);
        return;
    }
    round->upset = true;
    if (round->waiter == PLEAT_NONE)
        round->waiter = c;
}

/* Looks at all that wait from `first` on; where everything is settled, at those whose time has come
 * and at new ones. */
static void look_at(struct round *round, uint32_t first, bool settled)
{
    const struct pleat_view *view = round->pass->view;
    for (uint32_t c = first; c != PLEAT_NONE && !round->pass->plan->failed;
         c = pleat_queue_next(view, c)) {
        const struct pleat_component *job = &view->components[c];
        if (settled && job->promised_us > view->now_us && job->promised_us != PLEAT_NEVER)
            wait_on(round, c);
        else if (is_reservation(job))
            start_reservation(round, c);
        else
            settle(round, c);
    }
}

static uint32_t conservative_start(struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_watch *watch = pass->states[PLEAT_QUEUE];
    struct round round = {.pass = pass, .waiter = PLEAT_NONE, .next_us = PLEAT_NEVER};
    bool settled = pleat_watch_holds(pass, watch);
    uint32_t first = view->queue_first;
    if (!settled) {
        look_ahead(&round);
    } else {
        go_on(pass);
        if (pass->plan->memo.next_us > view->now_us && pleat_watch_in_order(pass) &&
            !pleat_pass_reserved(pass)) { /* nobody's time has come */
            round.next_us = pass->plan->memo.next_us;
            first = pleat_watch_first_new(pass, watch);
            round.waiter = first == view->queue_first ? PLEAT_NONE : view->queue_first;
        }
    }
    look_at(&round, first, settled);
    if (round.waiter != PLEAT_NONE)
        pleat_plan_tried(pass->plan, round.waiter);
    if (round.next_us != PLEAT_NEVER)
        pleat_plan_wake(pass->plan, round.next_us);
    pleat_watch_leave(pass, watch, !round.upset);
    pass->plan->memo.next_us = round.next_us;
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
    .start = conservative_start,
    .state_size = sizeof(struct pleat_watch),
    .observe = conservative_observe,
};

#include "policy/watch.h"

void pleat_watch_observe(struct pleat_watch *watch, const struct pleat_event *event)
{
    switch (event->kind) {
    case PLEAT_EV_SUBMIT: /* of a job of several only one comes into the queue, the others do not */
        if (event->u.submit.ordinal > 0 || (event->flags & PLEAT_COMPONENT_FOLLOWS))
            watch->changes++;
        else
            watch->submitted++;
        break;
    case PLEAT_EV_PASS:
    case PLEAT_EV_START:
    case PLEAT_EV_PROMISE:
    case PLEAT_EV_WAKE:
    case PLEAT_EV_TIME:
    case PLEAT_EV_FORGET:
        break;
    default:
        watch->changes++;
    }
}

static bool may_hold(const struct pleat_pass *pass)
{
    const struct pleat_view *view = pass->view;
    if (view->stages || pleat_pass_reserved(pass))
        return false; /* a placed component may claim later; time alone brings a reservation */
    if (!pass->policies[PLEAT_PLACEMENT]->settles || !pass->policies[PLEAT_MOLDABILITY]->settles)
        return false; /* a component may be able to start only because others have */
    for (uint32_t s = 0; s < view->site_count; s++) {
        const struct pleat_site *site = &view->sites[s];
        uint32_t first = pleat_ending_first(view, s);
        if (!site->instant || pleat_view_is_closed(view, s) || site->malleable_count > 0 ||
            (first != PLEAT_NONE && view->components[first].expected_end_us <= view->now_us))
            return false;
    }
    return true;
}

bool pleat_watch_holds(const struct pleat_pass *pass, const struct pleat_watch *watch)
{
    const struct pleat_plan_memo *memo = &pass->plan->memo;
    return memo->pass == pass->plan->pass && memo->changes == watch->changes && may_hold(pass);
}

void pleat_watch_leave(struct pleat_pass *pass, const struct pleat_watch *watch, bool wanted)
{
    pass->plan->memo =
        (struct pleat_plan_memo){.pass = wanted && may_hold(pass) ? pass->plan->pass + 1 : 0,
                                 .changes = watch->changes,
                                 .submitted = watch->submitted};
}

bool pleat_watch_in_order(const struct pleat_pass *pass)
{
    return !pass->policies[PLEAT_ORDER]->key;
}

uint32_t pleat_watch_first_new(const struct pleat_pass *pass, const struct pleat_watch *watch)
{
    uint32_t first = PLEAT_NONE;
    for (uint32_t n = watch->submitted - pass->plan->memo.submitted; n > 0; n--)
        first =
            first == PLEAT_NONE ? pass->view->queue_last : pass->view->components[first].previous;
    return first;
}

/* What a job's program asks for, and the answer to it, in words. */
#include "daemon/asked_text.h"

#include <stdio.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"

void asked_reason(const struct daemon *d, const struct pleat_component *component,
                  const struct pleat_ask *ask, char *text, size_t size)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_site *site = &view->sites[component->site];
    int32_t idle = site->capacity - site->background - site->claimed - pleat_view_site_left(site);
    *text = '\0';
    switch ((enum pleat_ask_reason)ask->reason) {
    case PLEAT_ASK_FULLY:
        break;
    case PLEAT_ASK_LIMITS:
        snprintf(text, size,
                 "%d processors: its limits are %d to %d, and its sizes may leave some out",
                 ask->wanted, component->minimum, pleat_view_limit(view, component));
        break;
    case PLEAT_ASK_CAPACITY:
        if (pleat_view_keeps_to_a_node(view, component, component->site) &&
            pleat_view_own_capacity(view, component) < ask->wanted)
            snprintf(text, size, "%d processors: the node that it stays on has %d", ask->wanted,
                     pleat_view_own_capacity(view, component));
        else
            snprintf(text, size,
                     "%d processors: of the %d of its site %d are never used for growing",
                     ask->wanted, site->capacity, site->threshold);
        break;
    case PLEAT_ASK_BUSY:
        snprintf(text, size,
                 "%d more processors: %d of %d are idle, or are kept for jobs that wait",
                 ask->wanted - component->processors, idle > 0 ? idle : 0, site->capacity);
        break;
    case PLEAT_ASK_FAILED:
        snprintf(text, size, "a change of its size failed a moment ago");
        break;
    case PLEAT_ASK_LATER:
        snprintf(text, size, "%d processors to begin: it waits in the queue for them", ask->wanted);
        break;
    case PLEAT_ASK_ONCE:
        snprintf(text, size, "it would have to be started again, and is not to be (--no-requeue)");
        break;
    case PLEAT_ASK_TIME:
        snprintf(text, size, "%d processors: not within the time that it gave", ask->wanted);
        break;
    case PLEAT_ASK_PARTLY:
        snprintf(text, size, "%d of the %d processors that it asked for", component->processors,
                 ask->wanted);
        break;
    }
}

static const char *state_name(const struct pleat_ask *ask)
{
    static const char *const names[] = {"withdrawn", "pending", "granted", "refused"};
    return names[ask->state & 3];
}

json_t *asked_to_json(const struct daemon *d, const struct pleat_component *component)
{
    char text[160];
    const struct pleat_ask *ask = pleat_view_ask(pleat_core_view(d->core), component);
    if (ask->state == PLEAT_ASK_NOTHING)
        return json_null();
    asked_reason(d, component, ask, text, sizeof(text));
    return json_pack("{s:i, s:s, s:b, s:b, s:o, s:i, s:o}", "processors", ask->wanted, "state",
                     state_name(ask), "mandatory", ask->mandatory, "unbegun", ask->unbegun,
                     "reason", *text ? json_string(text) : json_null(), "coming", component->coming,
                     "until_s",
                     ask->until_us > 0 ? json_real((double)ask->until_us / 1e6) : json_null());
}

json_t *asked_data(const struct daemon *d, const struct pleat_effect *effect)
{
    char text[160];
    const struct pleat_component *component =
        &pleat_core_view(d->core)->components[effect->component];
    const struct pleat_ask ask = {.wanted = effect->u.asked.wanted,
                                  .state = effect->u.asked.state,
                                  .reason = effect->u.asked.reason};
    asked_reason(d, component, &ask, text, sizeof(text));
    return json_pack("{s:i, s:s, s:b, s:b, s:o}", "processors", effect->u.asked.wanted, "state",
                     state_name(&ask), "mandatory", effect->u.asked.mandatory != 0, "unbegun",
                     effect->u.asked.unbegun != 0, "reason",
                     *text ? json_string(text) : json_null());
}

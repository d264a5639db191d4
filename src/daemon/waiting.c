#include "daemon/waiting.h"

#include <math.h>
#include <stdio.h>

#include "policy/accept.h"

static bool others_busy(const struct pleat_view *view)
{
    for (uint32_t s = 0; s < view->site_count; s++)
        if (view->sites[s].background > 0)
            return true;
    return false;
}

static double seconds_until(int64_t at_us, int64_t now_us)
{
    return ceil((double)(at_us - now_us) / 1e6);
}

void waiting_text(const struct pleat_view *view, const struct pleat_component *component,
                  int64_t now_us, char *text, size_t size)
{
    int32_t need = pleat_accept_start(view, component);
    if (component->holds == PLEAT_HELD_BY_FAULT)
        snprintf(text, size, "the node could not start it (%u in a row): tried again in %.0f s",
                 component->failed_starts, seconds_until(component->quiet_until_us, now_us));
    else if (component->aside == PLEAT_ASIDE_RESERVATION)
        snprintf(text, size, "its reservation begins in %.0f s",
                 seconds_until(component->begin_us, now_us));
    else if (component->aside == PLEAT_ASIDE_TOWED)
        snprintf(text, size, "starts with the other components of its job");
    else if (component->coming + component->earmarked > 0)
        snprintf(text, size, "room is being made: %d of %d processors earmarked, %d coming",
                 component->earmarked, need, component->coming);
    else if (view->queue_first != PLEAT_NONE && &view->components[view->queue_first] != component)
        snprintf(text, size, "waits its turn behind job %llu",
                 (unsigned long long)view->components[view->queue_first].job);
    else
        snprintf(text, size, "waits for %d processor%s%s", need, need == 1 ? "" : "s",
                 others_busy(view) ? " (other work on the machine keeps some busy)" : "");
}

#include "daemon/sites_change.h"
#include "daemon/architectures.h"

#include <string.h>

#include "daemon/agent_listen.h"
#include "daemon/agent_lock.h"
#include "daemon/agents.h"
#include "daemon/config_site.h"
#include "daemon/daemon.h"
#include "daemon/notes.h"
#include "daemon/sites.h"
#include "daemon/turn_inputs.h"
#include "policy/buffers.h"

/* ---- coming ---- */

static void say(struct daemon *d, const char *name, const char *what)
{
    char text[300];
    snprintf(text, sizeof(text), "site %s %s", name, what);
    daemon_log("%s", text);
    note_make(d, daemon_now_us(d), "daemon", -1, note_text(text));
}

/* Only the name of a site is left. */
static void become_gone(struct pleat_config_site *site)
{
    char *name = site->name;
    site->name = NULL;
    config_site_finish(site);
    *site = (struct pleat_config_site){.name = name, .ops = pleat_site_kind_at(0), .gone = true};
}

int sites_add(struct daemon *d, struct pleat_config_site *site, struct pleat_error *err)
{
    uint32_t index;
    int rc = 0;
    if (site_list_find(d, site->name) != PLEAT_NONE)
        rc = pleat_error_set(err, PLEAT_E_EXISTS, "there is a site '%s' already", site->name);
    if (!rc)
        rc = site_list_place(d, site->name, &index, err);
    if (!rc)
        rc = sites_room(d, err);
    if (rc) {
        config_site_finish(site);
        return rc;
    }
    config_site_finish(&d->config.sites[index]);
    d->config.sites[index] = *site;
    rc = agent_listen_again(d, err);
    if (!rc)
        rc = sites_open_one(d, index, err);
    if (rc) {
        become_gone(&d->config.sites[index]);
        d->config.site_count -= index >= pleat_core_view(d->core)->site_count;
        return rc;
    }
    agents_site_new(d, index);
    d->site_list.changed = true;
    architectures_tell_all(d, index); /* processes of jobs that run may be there */
    say(d, site->name, "was added");
    return 0;
}

/* ---- going ---- */

void sites_let_go(struct daemon *d, uint32_t index)
{
    const struct pleat_event drain = {.kind = PLEAT_EV_DRAIN, .component = index};
    if (d->config.sites[index].leaving)
        return;
    d->config.sites[index].leaving = true;
    d->site_list.leaving++;
    d->site_list.changed = true;
    turn_event(d, &drain);
    architectures_tell_all(d, index); /* requests that wait for that site are given up */
}

void sites_stay(struct daemon *d, uint32_t index)
{
    if (!d->config.sites[index].leaving)
        return;
    d->config.sites[index].leaving = false;
    d->site_list.leaving--;
    d->site_list.changed = true;
    architectures_tell_all(d, index);
}

/* Has a component that runs at another site processors at this one? */
static bool has_outpost(const struct pleat_view *view, const struct pleat_component *component,
                        uint32_t site)
{
    const struct pleat_outpost *outpost =
        component->buffer == PLEAT_NONE || component->site == site
            ? NULL
            : pleat_view_outpost(view, &view->buffers[component->buffer], site);
    return outpost && pleat_outpost_processors(outpost) + outpost->leaving > 0;
}

void sites_jobs(struct daemon *d, uint32_t index, bool waiting, struct pleat_string *text)
{
    enum { MOST = 5 };
    const struct pleat_view *view = pleat_core_view(d->core);
    int count = 0;
    for (uint32_t c = 0; c < view->component_count; c++) {
        const struct pleat_component *component = &view->components[c];
        bool is_there = (component->site == index && component->state != PLEAT_QUEUED) ||
                        has_outpost(view, component, index);
        if (pleat_component_state_is_final((enum pleat_component_state)component->state) ||
            (waiting ? is_there || component->wanted_site != index
                     : !is_there && component->wanted_site != index))
            continue;
        if (++count > MOST) {
            pleat_string_add(text, ", ...");
            return;
        }
        pleat_string_addf(text, "%s%llu", count > 1 ? ", " : "",
                          (unsigned long long)component->job);
    }
}

/* Whether nothing holds the site any more. */
static bool is_free(struct daemon *d, uint32_t index)
{
    struct pleat_string jobs = {0};
    const struct pleat_site_instance *site = d->sites[index];
    if (index >= pleat_core_view(d->core)->site_count ||
        pleat_core_view(d->core)->sites[index].claimed > 0)
        return false;
    sites_jobs(d, index, false, &jobs);
    bool any = jobs.length > 0;
    pleat_string_finish(&jobs);
    return !any && (!site || !site->ops->rests || site->ops->rests(site));
}

void sites_leave(struct daemon *d)
{
    for (uint32_t i = 0; d->site_list.leaving > 0 && i < d->config.site_count; i++) {
        const struct pleat_event gone = {.kind = PLEAT_EV_SITE_GONE, .component = i};
        if (d->config.sites[i].leaving && !d->turn.holding && is_free(d, i))
            turn_event(d, &gone);
    }
    if (d->site_list.sweeps && !d->site_list.changed)
        d->site_list.sweeps = agent_locks_sweep(d);
}

static void close_site(struct daemon *d, uint32_t index)
{
    d->sites[index]->ops->close(d->sites[index]);
    d->sites[index] = NULL;
    agents_site_gone(d, index);
    become_gone(&d->config.sites[index]);
    say(d, d->config.sites[index].name, "is removed");
}

void sites_left(struct daemon *d)
{
    for (uint32_t i = 0; i < d->config.site_count && i < d->site_room; i++)
        if (d->config.sites[i].gone && d->sites[i])
            close_site(d, i);
}

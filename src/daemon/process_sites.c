#include "daemon/process_sites.h"

#include <string.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/specs.h"
#include "daemon/turn_inputs.h"
#include "model/architecture.h"
#include "policy/buffers.h"
#include "policy/nodes.h"

/* The next name of a list with ',' between them; *length 0: there is none. */
static const char *next_name(const char **list, size_t *length)
{
    const char *name = *list + strspn(*list, ", ");
    *length = strcspn(name, ", ");
    *list = name + *length;
    return name;
}

static uint32_t find(struct daemon *d, const char *name, size_t length)
{
    for (uint32_t i = 0; i < d->config.site_count; i++) {
        const struct pleat_config_site *site = &d->config.sites[i];
        if (!site->gone && strlen(site->name) == length && !strncmp(site->name, name, length))
            return i;
    }
    return PLEAT_NONE;
}

uint32_t process_sites_find(struct daemon *d, const char *name)
{
    return find(d, name, strlen(name));
}

int process_sites_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err)
{
    const char *list = spec->sites ? spec->sites : "", *name;
    size_t length;
    while ((name = next_name(&list, &length)) && length > 0)
        if (find(d, name, length) == PLEAT_NONE)
            return pleat_error_set(err, PLEAT_E_NOTFOUND,
                                   "there is no site '%.*s' for processes of this job (--sites): "
                                   "'pleat sites' has all",
                                   (int)(length < 60 ? length : 60), name);
    return 0;
}

bool process_sites_allow(struct daemon *d, const struct job *job, uint32_t site)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_spec *spec = job_spec(d, job->id);
    const char *list = spec && spec->sites ? spec->sites : "", *name;
    size_t length;
    if (component->site == site || component->buffer == PLEAT_NONE ||
        !pleat_view_roams(component) || d->config.sites[site].leaving)
        return false;
    while ((name = next_name(&list, &length)) && length > 0)
        if (find(d, name, length) == site)
            return true;
    return false;
}

static void say(struct daemon *d, const struct job *job, uint64_t run, uint32_t site,
                uint32_t architecture, json_int_t waiting)
{
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED_AT,
                                .component = job->component,
                                .u.demanded_at = {.run = run,
                                                  .site = site,
                                                  .architecture = architecture,
                                                  .waiting = waiting < 0 ? 0
                                                             : waiting > UINT32_MAX
                                                                 ? UINT32_MAX
                                                                 : (uint32_t)waiting}};
    turn_event(d, &event);
}

/* Which of the sites that its user has named it is, from 1; 0: none at which processes may be. */
static uint32_t rank_of(struct daemon *d, const struct job *job, uint32_t site)
{
    const struct pleat_spec *spec = job_spec(d, job->id);
    const char *list = spec && spec->sites ? spec->sites : "", *name;
    size_t length;
    uint32_t rank = 0;
    if (!process_sites_allow(d, job, site))
        return 0;
    do {
        name = next_name(&list, &length);
        rank++;
    } while (length > 0 && find(d, name, length) != site);
    return rank;
}

void process_sites_any(struct daemon *d, const struct job *job, uint64_t run, uint32_t waiting)
{
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_view *view = pleat_core_view(d->core);
    if (component->buffer == PLEAT_NONE || component->run != run || component->site == PLEAT_NONE ||
        (waiting == 0 && view->buffers[component->buffer].anywhere == 0))
        return;
    for (uint32_t s = 0; s < pleat_core_view(d->core)->site_count; s++) {
        view = pleat_core_view(d->core);
        const struct pleat_outpost *known =
            pleat_view_outpost(view, &view->buffers[component->buffer], s);
        struct pleat_event event = {
            .kind = PLEAT_EV_SITE_FOR_ANY,
            .component = job->component,
            .u.site_for_any = {.run = run, .site = s, .rank = rank_of(d, job, s)}};
        if (!d->config.sites[s].gone && event.u.site_for_any.rank != (known ? known->rank : 0))
            turn_event(d, &event);
    }
    struct pleat_event event = {.kind = PLEAT_EV_DEMANDED_ANY,
                                .component = job->component,
                                .u.demanded_any = {.run = run, .waiting = waiting}};
    turn_event(d, &event);
}

void process_sites_wanted(struct daemon *d, const struct job *job, uint64_t run, const json_t *at)
{
    const struct pleat_component *component = job_component(d, job);
    if (component->buffer == PLEAT_NONE || component->run != run || component->site == PLEAT_NONE)
        return;
    for (uint32_t s = 0; s < pleat_core_view(d->core)->site_count; s++) {
        const json_t *wanted = json_object_get(at, d->config.sites[s].name);
        const struct pleat_view *view = pleat_core_view(d->core);
        const struct pleat_outpost *known =
            pleat_view_outpost(view, &view->buffers[component->buffer], s);
        if (d->config.sites[s].gone || (!known && (!wanted || !process_sites_allow(d, job, s))))
            continue;
        /* those that need an architecture before all: the others are told apart from these */
        const struct pleat_outpost before = known ? *known : (struct pleat_outpost){0};
        const json_t *on = json_object_get(wanted, "on");
        for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++) {
            const char *name = pleat_architecture_name(a);
            json_int_t count = name ? json_integer_value(json_object_get(on, name)) : 0;
            if (count > 0 || before.waiting_on[a] > 0)
                say(d, job, run, s, a, count);
        }
        say(d, job, run, s, 0, json_integer_value(json_object_get(wanted, "waiting")));
    }
}

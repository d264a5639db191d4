/* What an evolving job has asked for, and what its buffer was worth, as clients see it. */
#include "daemon/buffer_json.h"

#include <math.h>
#include <string.h>

#include "base/processes.h"
#include "daemon/daemon.h"
#include "policy/policy.h"

/* Processor time for which the run's buffer had the processors, and all processor time, up to now
 * where the run goes on. */
static void times_of(struct daemon *d, const struct pleat_component *c,
                     const struct pleat_buffer *buffer, double *waited_us, double *held_us)
{
    bool runs = c->state == PLEAT_RUNNING || c->state == PLEAT_RESIZING;
    int64_t us = runs ? daemon_now_us(d) - buffer->counted_us : 0;
    int64_t idle = buffer->prepared + buffer->preparing + buffer->leaving;
    *waited_us = (double)(buffer->waited_us + idle * us);
    *held_us = (double)(buffer->held_us + (c->processors + idle) * us);
}

json_t *buffer_to_json(struct daemon *d, const struct pleat_component *c)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    if (c->buffer == PLEAT_NONE || !(c->flags & PLEAT_COMPONENT_PREPARES))
        return json_null();
    const struct pleat_buffer *buffer = &view->buffers[c->buffer];
    double waited_us = 0, held_us = 0;
    times_of(d, c, buffer, &waited_us, &held_us);
    return json_pack("{s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:o, s:f, s:f, s:f}", "prepared",
                     (int)buffer->prepared, "coming", (int)buffer->requested, "leaving",
                     (int)buffer->leaving, "requests", (json_int_t)buffer->requests, "satisfied",
                     (json_int_t)buffer->satisfied, "waiting", (json_int_t)buffer->waiting,
                     "returning", (json_int_t)buffer->returning, "satisfaction",
                     buffer->requests ? json_real((double)buffer->satisfied / buffer->requests)
                                      : json_null(),
                     "waste", held_us > 0 ? waited_us / held_us : 0, "waited_s", waited_us / 1e6,
                     "held_s", held_us / 1e6);
}

/* ---- why ---- */

/* Seconds since 1970; null: never. */
static json_t *moment(int64_t us)
{
    return us == PLEAT_NEVER ? json_null() : json_real((double)us / 1e6);
}

/* Does the pass ask for processors of a site for it; any: for requests that any site can serve? */
static bool is_served(const struct pleat_pass *pass, uint32_t component, uint32_t site, bool any)
{
    uint32_t said = pass->view->components[component].site == site ? 0 : site + 1;
    for (size_t i = 0; i < pass->plan->decisions.count; i++) {
        const struct pleat_event *decision = &pass->plan->decisions.items[i];
        if (decision->kind == PLEAT_EV_BUFFER && decision->component == component &&
            decision->u.buffer.site == said && decision->u.buffer.request > 0 &&
            (!any || decision->flags & PLEAT_FOR_ANY_SITE))
            return true;
    }
    return false;
}

/* How many of the requests that wait for a site need an architecture there. */
static uint32_t waiting_on(const struct pleat_view *view, const struct pleat_buffer *buffer,
                           uint32_t site, uint32_t architecture)
{
    const struct pleat_outpost *there = pleat_view_outpost(view, buffer, site);
    return there ? there->waiting_on[architecture] : buffer->waiting_on[architecture];
}

/* Do those that nothing is prepared for at a site, or (any) at any, all need nodes of an
 * architecture that are none there, or not free? */
static bool need_others(const struct pleat_pass *pass, uint32_t component, uint32_t site, bool any)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_buffer *buffer = &view->buffers[view->components[component].buffer];
    for (uint32_t a = 0; a < (any ? 1 : PLEAT_ARCHITECTURES); a++) {
        uint32_t on = a ? a : buffer->architecture;
        if ((a == 0 || waiting_on(view, buffer, site, a) > 0) &&
            (any || pleat_view_lacking_at(view, buffer, site, a) > 0) &&
            (on == 0 || pleat_plan_on_architecture(pass->plan, component, site, on) > 0))
            return false;
    }
    return true;
}

/* The first site, the component's own before all others, for which requests wait and where nothing
 * is prepared for them. PLEAT_NONE: there is none. */
static uint32_t lacks_at(const struct pleat_view *view, const struct pleat_component *comp)
{
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    for (uint32_t i = 0; i < view->site_count; i++) {
        uint32_t site = (comp->site + i) % view->site_count;
        if (site != comp->site && !pleat_view_outpost(view, buffer, site))
            continue;
        for (uint32_t a = 0; a < PLEAT_ARCHITECTURES; a++)
            if ((a == 0 || waiting_on(view, buffer, site, a) > 0) &&
                pleat_view_lacking_at(view, buffer, site, a) > 0)
                return site;
    }
    return PLEAT_NONE;
}

/* Why requests wait; until_us: when that is over; behind: for whom what is free is kept. */
struct reason {
    const char *code;
    int64_t until_us;
    uint32_t behind;
};

/* Why requests for a site wait that nothing is prepared for there, or (any) those that any site can
 * serve. */
static struct reason why_lacks(const struct pleat_pass *pass, uint32_t component, uint32_t at,
                               bool any)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_buffer *buffer = &view->buffers[view->components[component].buffer];
    const struct pleat_outpost *there = pleat_view_outpost(view, buffer, at);
    const struct pleat_site *site = &view->sites[at];
    struct reason reason = {"none free", PLEAT_NEVER, PLEAT_NONE};
    int64_t failed_us = there ? there->quiet_until_us : buffer->quiet_until_us;
    if (failed_us > view->now_us) {
        reason.code = "failed";
        reason.until_us = failed_us;
    } else if (site->quiet_until_us > view->now_us) {
        reason.code = "quiet";
        reason.until_us = site->quiet_until_us;
    } else if (pleat_view_is_closed(view, at)) {
        reason.code = "drained";
    } else if (is_served(pass, component, at, any)) {
        reason.code = "next";
    } else if (pleat_plan_idle(pass->plan, at) > 0 && need_others(pass, component, at, any)) {
        reason.code = "architecture";
    } else if (pleat_plan_idle(pass->plan, at) > 0) {
        reason.code = "kept";
        reason.behind = pass->plan->sites[at].withheld ? view->queue_first : PLEAT_NONE;
    }
    return reason;
}

/* Why requests wait; code NULL: none does. *at: for which site, of those where nothing is prepared
 * for them; PLEAT_NONE: for none in particular. */
static struct reason why_waits(const struct pleat_pass *pass, uint32_t component, uint32_t *at)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    struct reason none = {NULL, PLEAT_NEVER, PLEAT_NONE};
    if (buffer->waiting == 0)
        return none;
    *at = lacks_at(view, comp);
    bool any = pleat_view_lacking_any(view, buffer) > 0;
    if (*at != PLEAT_NONE || any)
        none.code = pleat_view_buffer_room(view, comp) == 0 ? "maximum" : NULL;
    else
        none.code = "coming";
    if (none.code)
        return none;
    return *at != PLEAT_NONE ? why_lacks(pass, component, *at, false)
                             : why_lacks(pass, component, comp->site, true);
}

static json_t *reason_to_json(const struct pleat_view *view, const struct reason *reason)
{
    return json_pack("{s:s?, s:o, s:o}", "waits", reason->code, "until_s",
                     reason->until_us > view->now_us ? moment(reason->until_us) : json_null(),
                     "behind",
                     reason->behind == PLEAT_NONE
                         ? json_null()
                         : json_integer((json_int_t)view->components[reason->behind].job));
}

static void add_site(struct daemon *d, const struct pleat_pass *pass, uint32_t component,
                     uint32_t site, json_t *list)
{
    const struct reason reason = why_lacks(pass, component, site, true);
    json_t *one = reason_to_json(pass->view, &reason);
    (void)json_object_set_new(one, "site", json_string(d->config.sites[site].name));
    (void)json_array_append_new(list, one);
}

/* Each site that could serve the requests which any can, in the order in which they are asked, and
 * why it does not. */
static json_t *any_to_json(struct daemon *d, const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    json_t *list = json_array();
    add_site(d, pass, component, comp->site, list);
    for (const struct pleat_outpost *next = pleat_view_next_for_any(view, buffer, 0); next;
         next = pleat_view_next_for_any(view, buffer, next->rank))
        add_site(d, pass, component, next->site, list);
    return list;
}

/* What is said of the requests that wait. */
static void add_waits(struct daemon *d, const struct pleat_pass *pass, uint32_t component,
                      json_t *object)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    uint32_t at = PLEAT_NONE;
    const struct reason reason = why_waits(pass, component, &at);
    json_t *more = reason_to_json(view, &reason);
    if (more)
        json_object_update(object, more);
    json_decref(more);
    if (reason.code && at != PLEAT_NONE && at != comp->site) /* else it is the job's own */
        json_object_set_new(object, "waits_site", json_string(d->config.sites[at].name));
    if (reason.code && strcmp(reason.code, "maximum") != 0 &&
        pleat_view_lacking_any(view, &view->buffers[comp->buffer]) > 0) {
        if (at == PLEAT_NONE)
            json_object_set_new(object, "waits_site", json_string(PLEAT_PROCESS_ANY_SITE));
        json_object_set_new(object, "waits_any", any_to_json(d, pass, component));
    }
}

/* What earlier executions asked for on average until a process that is asked for now is there, and
 * in the iterations that a prediction covers. */
static void add_expected(const struct pleat_view *view, const struct pleat_component *comp,
                         json_t *object)
{
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    int64_t iteration_us = pleat_view_iteration(buffer);
    if (buffer->executions < 1 || iteration_us < 1)
        return;
    double ahead = ceil((double)view->sites[comp->site].slowest_claim_us / (double)iteration_us);
    int64_t from = (int64_t)buffer->iteration + 1;
    int64_t to = buffer->iteration + (int64_t)fmin(ahead, INT32_MAX) + view->buffer_range;
    json_object_set_new(object, "from", json_integer(from));
    json_object_set_new(object, "to", json_integer(to));
    json_object_set_new(
        object, "expected",
        json_real((double)pleat_view_requested(view, comp, from, to) / buffer->executions));
}

json_t *buffer_why_to_json(struct daemon *d, const struct pleat_pass *pass, uint32_t component)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    json_t *object = buffer_to_json(d, comp);
    if (!json_is_object(object))
        return object;
    const struct pleat_buffer *buffer = &view->buffers[comp->buffer];
    uint32_t most =
        buffer->row_most > buffer->recalled_most ? buffer->row_most : buffer->recalled_most;
    json_t *more = json_pack(
        "{s:s, s:i, s:b, s:I, s:i, s:f, s:i, s:I, s:o, s:o}", "policy",
        pass->policies[PLEAT_BUFFER]->name, "level", pleat_view_level(view, buffer), "derived",
        view->buffer_derived, "most", (json_int_t)most, "executions", buffer->executions,
        "allocation_s", (double)view->sites[comp->site].slowest_claim_us / 1e6, "maximum",
        pleat_view_limit(view, comp), "reclaimed", (json_int_t)buffer->reclaimed, "reclaimed_for",
        buffer->reclaimed ? json_integer((json_int_t)buffer->reclaimed_for) : json_null(),
        "reclaimed_s", buffer->reclaimed ? moment(buffer->reclaimed_us) : json_null());
    if (more)
        json_object_update(object, more);
    json_decref(more);
    add_waits(d, pass, component, object);
    add_expected(view, comp, object);
    return object;
}

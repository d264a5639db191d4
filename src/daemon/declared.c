/* Which numbers of processors a job's program can use, as it says itself: a notice of its agent
 * becomes an input of the core, with the sizes that both the program and its user accept. */
#include "daemon/declared.h"

#include <string.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/notes.h"
#include "daemon/turn_inputs.h"
#include "model/submission.h"

/* Lists are kept for ever. Programs, which may say anything at any time, get no new ones beyond
 * this number. */
#define LISTS_MAX 4096

int32_t size_list_find(const struct daemon *d, const struct pleat_sizes *sizes)
{
    const struct pleat_size_list *lists = pleat_core_view(d->core)->size_lists;
    for (uint32_t i = 0; i < pleat_core_size_list_count(d->core); i++)
        if (lists[i].count == sizes->count &&
            !memcmp(lists[i].items, sizes->list, sizes->count * sizeof(*sizes->list)))
            return (int32_t)i;
    return -1;
}

/* The number of a list in the core, to which it is added where it is new; -1: it cannot be. */
static int32_t list_of(struct daemon *d, const struct pleat_sizes *sizes)
{
    int32_t known = size_list_find(d, sizes);
    uint32_t list = d->turn.next_size_list;
    struct pleat_event part;
    struct pleat_error err;
    uint32_t told = 0;
    if (known >= 0 || list >= LISTS_MAX)
        return known;
    while (pleat_submission_list(list, sizes->list, sizes->count, daemon_now_us(d), &told, &part))
        if (turn_apply(d, &part, &err)) {
            daemon_log("a program's list of sizes: %s", err.text);
            return -1;
        }
    d->turn.next_size_list++;
    turn_want(d);
    return (int32_t)list;
}

/* Finds the sizes that both program and user accept. Sizes that cannot be used count as not
 * declared, with a warning. */
static void common_sizes(struct daemon *d, const struct job *job, const char *text,
                         struct pleat_event *event)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_sizes asked = pleat_view_asked_sizes(view, component);
    struct pleat_sizes said, common = {0};
    struct pleat_size_list list = {0}, both = {0};
    struct pleat_error err = {0};
    int32_t number = 0, most = pleat_view_asked(view, component);
    int rc = pleat_sizes_parse(text, &said, &list, &err);
    if (!rc && said.kind != PLEAT_SIZES_ANY)
        rc = pleat_sizes_common(&asked, &said, most, &common, &both, &err);
    /* the user may raise the maximum later: then the larger sizes count, too */
    if (!rc && common.kind == PLEAT_SIZES_LIST && component->site != PLEAT_NONE &&
        view->sites[component->site].capacity > most &&
        pleat_sizes_common(&asked, &said, view->sites[component->site].capacity, &common, &both,
                           &err)) /* too many to be listed */
        rc = pleat_sizes_common(&asked, &said, most, &common, &both, &err);
    if (!rc && common.kind == PLEAT_SIZES_LIST && (number = list_of(d, &common)) < 0)
        rc = pleat_error_set(&err, PLEAT_E_TOOBIG, "there are too many lists of sizes already");
    if (rc) {
        char warning[sizeof(err.text) + 96];
        snprintf(warning, sizeof(warning), "what its program says of its sizes is ignored: %s",
                 err.text);
        note_make(d, daemon_now_us(d), "warning", job->id, note_text(warning));
    } else {
        event->u.declared.sizes_kind = common.kind;
        event->u.declared.sizes_parameter = common.kind == PLEAT_SIZES_LIST ? number : common.step;
    }
    pleat_array_finish(&list);
    pleat_array_finish(&both);
}

int declared_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params,
                  struct pleat_error *err)
{
    int64_t most = 0, least = 0;
    bool lasting = false;
    const char *sizes = json_string_value(json_object_get(params, "sizes"));
    int rc = pleat_get_int(params, "processors", true, 0, PLEAT_SIZE_MAX, &most, err);
    if (!rc)
        rc = pleat_get_int(params, "least", false, 0, PLEAT_SIZE_MAX, &least, err);
    if (!rc)
        rc = pleat_get_bool(params, "lasting", false, &lasting, err);
    if (rc)
        return rc;
    struct pleat_event event = {
        .kind = PLEAT_EV_DECLARED,
        .flags = lasting ? PLEAT_LASTING : 0,
        .component = job->component,
        .u.declared = {.run = run, .maximum = (int32_t)most, .minimum = (int32_t)least}};
    if (sizes)
        common_sizes(d, job, sizes, &event);
    const struct pleat_component *component = job_component(d, job);
    const struct pleat_declaration *said =
        pleat_view_declaration(pleat_core_view(d->core), component);
    bool known = most == said->declared && least == said->declared_least;
    if (event.u.declared.sizes_kind == PLEAT_SIZES_ANY)
        known = known && !said->declared_sizes;
    else
        known = known && said->declared_sizes &&
                event.u.declared.sizes_kind == component->sizes_kind &&
                event.u.declared.sizes_parameter == component->sizes_parameter;
    if (!known)
        turn_event(d, &event);
    return 0;
}

json_t *declared_to_json(struct daemon *d, const struct pleat_component *component)
{
    const struct pleat_declaration *said =
        pleat_view_declaration(pleat_core_view(d->core), component);
    if (!said->declared && !said->declared_least && !said->declared_sizes)
        return json_null();
    struct pleat_string text = {0};
    const struct pleat_sizes sizes = pleat_view_sizes(pleat_core_view(d->core), component);
    if (said->declared_sizes)
        pleat_sizes_format(&sizes, &text);
    json_t *all =
        json_pack("{s:o, s:o, s:o}", "min",
                  said->declared_least ? json_integer(said->declared_least) : json_null(), "max",
                  said->declared ? json_integer(said->declared) : json_null(), "sizes",
                  text.length && !text.failed ? json_string(text.text) : json_null());
    pleat_string_finish(&text);
    return all;
}

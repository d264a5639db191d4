/* The last decisions about a job from its notes: started, resized, queued again, ended. */
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/decided.h"
#include "daemon/notes.h"

enum { NOTES_MAX = 600, DECISIONS_MAX = 16 };

struct telling {
    json_t *decisions; /* oldest first */
    json_t *start;     /* the entry of `decisions` that waits for the note of its size; NULL */
    double queued_s;   /* since when the job has been waiting, in seconds since 1970 */
};

static json_t *tell(struct telling *t, const char *what, const json_t *note)
{
    json_t *told = json_pack("{s:s, s:O}", "what", what, "time_s", json_object_get(note, "time_s"));
    if (told && json_array_append_new(t->decisions, told))
        return NULL;
    return told;
}

static void copy(json_t *told, const json_t *note, const char *const *members)
{
    for (; told && *members; members++)
        json_object_set_new(told, *members, json_deep_copy(json_object_get(note, *members)));
}

static void tell_state(struct telling *t, const json_t *note)
{
    static const char *const reason[] = {"reason", NULL};
    static const char *const placed[] = {"queue", "moldability", "learned", NULL};
    const char *from = json_string_value(json_object_get(note, "from"));
    const char *to = json_string_value(json_object_get(note, "to"));
    if (!from || !to)
        return;
    if (!strcmp(to, "queued")) {
        t->queued_s = json_number_value(json_object_get(note, "time_s"));
        copy(tell(t, strcmp(from, "new") ? "queued again" : "submitted", note), note, reason);
    } else if (!strcmp(to, "claiming")) {
        t->start = tell(t, "started", note);
        copy(t->start, note, placed);
        if (t->start)
            json_object_set_new(t->start, "processors", json_null());
    } else if (!strcmp(to, "done") || !strcmp(to, "failed") || !strcmp(to, "cancelled")) {
        copy(tell(t, to, note), note, reason);
    }
}

static json_t *known_resize(const struct telling *t, json_int_t resize)
{
    for (size_t i = json_array_size(t->decisions); i > 0; i--) {
        json_t *told = json_array_get(t->decisions, i - 1);
        if (json_object_get(told, "resize") &&
            json_integer_value(json_object_get(told, "resize")) == resize)
            return told;
    }
    return NULL;
}

static void tell_resize(struct telling *t, const json_t *note)
{
    static const char *const always[] = {"resize",   "from",      "to", "offered",
                                         "accepted", "mandatory", "by", "waiter",
                                         "step",     "outcome",   NULL};
    static const char *const policy[] = {"policy", NULL};
    json_t *told = known_resize(t, json_integer_value(json_object_get(note, "resize")));
    if (!told)
        told = tell(t, "resize", note);
    copy(told, note, always);
    if (told && (json_object_get(note, "policy") || !json_object_get(told, "policy")))
        copy(told, note, policy);
    bool ended = json_is_string(json_object_get(note, "outcome"));
    if (told)
        json_object_set_new(told, "end_s",
                            ended ? json_incref(json_object_get(note, "time_s")) : json_null());
}

static void tell_note(struct telling *t, const json_t *note)
{
    static const char *const limits[] = {"min", "max", "by", NULL};
    static const char *const text[] = {"text", NULL};
    const char *kind = json_string_value(json_object_get(note, "kind"));
    if (!kind) /* the note is unreadable, for example a name that is not UTF-8 */
        return;
    if (!strcmp(kind, "state"))
        tell_state(t, note);
    else if (!strcmp(kind, "resize"))
        tell_resize(t, note);
    else if (!strcmp(kind, "limits"))
        copy(tell(t, "limits", note), note, limits);
    else if (!strcmp(kind, "warning"))
        copy(tell(t, "warning", note), note, text);
    else if (!strcmp(kind, "size") && t->start) {
        json_object_set(t->start, "processors", json_object_get(note, "processors"));
        t->start = NULL;
    }
}

static int collect(void *arg, const struct pleat_note *note)
{
    json_t *data = json_loads(note->data, 0, NULL);
    json_t *object = note_to_json(note->seq, note->time_us, note->kind, note->job, data);
    json_decref(data);
    return object && !json_array_append_new(arg, object) ? 0 : PLEAT_E_NOMEM;
}

int decided(struct daemon *d, int64_t job, json_t **decisions, double *queued_s,
            struct pleat_error *err)
{
    struct pleat_note_filter filter = {.job = job, .limit = NOTES_MAX, .newest_first = true};
    struct telling t = {.decisions = json_array(), .queued_s = *queued_s};
    json_t *notes = json_array();
    int rc = pleat_store_read_notes(d->store, &filter, collect, notes, err);
    for (size_t i = json_array_size(notes); !rc && i > 0; i--)
        tell_note(&t, json_array_get(notes, i - 1));
    json_decref(notes);
    while (json_array_size(t.decisions) > DECISIONS_MAX)
        json_array_remove(t.decisions, 0);
    if (rc) {
        json_decref(t.decisions);
        return rc;
    }
    *decisions = t.decisions;
    *queued_s = t.queued_s;
    return 0;
}

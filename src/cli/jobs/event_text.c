#include "cli/jobs/event_text.h"

#include <string.h>

#include "base/timefmt.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/jobs/history.h"

const char *const pleat_event_kinds[] = {"state",  "size",       "slots",      "resize", "limits",
                                         "used",   "memory",     "checkpoint", "hold",   "release",
                                         "signal", "background", "policy",     "notify", "warning",
                                         "daemon", "asked",      "section",    NULL};

static void add_processors(struct pleat_string *out, const char *before, int64_t count)
{
    pleat_string_addf(out, "%s%lld processor%s", before, (long long)count, count == 1 ? "" : "s");
}

static void add_memory(const json_t *event, const char *format, struct pleat_string *out)
{
    char size[24];
    pleat_history_memory(pleat_reply_real(event, "memory_kb"), size, sizeof(size));
    pleat_string_addf(out, format, size);
}

void pleat_add_asked(const json_t *asked, struct pleat_string *out)
{
    const char *reason = pleat_reply_text(asked, "reason", NULL);
    const char *state = pleat_reply_text(asked, "state", "?");
    if (!strcmp(state, "withdrawn")) {
        pleat_string_add(out, "its program asks for nothing any more");
        return;
    }
    add_processors(out, "its program asks for ", pleat_reply_int(asked, "processors", 0));
    if (pleat_reply_true(asked, "unbegun"))
        pleat_string_add(out, ", and cannot begin on fewer");
    else if (pleat_reply_true(asked, "mandatory"))
        pleat_string_add(out, ", and cannot go on without them");
    pleat_string_addf(out, ": %s", state);
    if (reason)
        pleat_string_addf(out, " (%s)", reason);
    if (pleat_reply_int(asked, "coming", 0) > 0)
        pleat_string_addf(out, " (%lld on their way from other jobs)",
                          (long long)pleat_reply_int(asked, "coming", 0));
}

static void add_pieces(const json_t *event, struct pleat_string *out)
{
    size_t i;
    json_t *piece;
    bool several = false; /* with one node, that is number 0 */
    json_array_foreach(pleat_reply_array(event, "pieces"), i, piece)
    {
        several = several || pleat_reply_int(piece, "node", 0) > 0;
    }
    json_array_foreach(pleat_reply_array(event, "pieces"), i, piece)
    {
        int64_t first = pleat_reply_int(piece, "first", 0);
        int64_t count = pleat_reply_int(piece, "count", 0);
        int64_t node = pleat_reply_int(piece, "node", 0);
        pleat_string_add(out, i ? ", " : " (");
        if (several)
            pleat_string_addf(out, "node %lld: ", (long long)node);
        pleat_string_addf(out, "%lld", (long long)first);
        if (count > 1)
            pleat_string_addf(out, "-%lld", (long long)(first + count - 1));
    }
    if (i > 0)
        pleat_string_add(out, ")");
}

static void add_resize(const json_t *event, struct pleat_string *out)
{
    static const char *const costs[][2] = {{"wait_s", "wait"},
                                           {"processes_s", "processes"},
                                           {"redistribute_s", "redistribute"},
                                           {"total_s", "total"}};
    int64_t from = pleat_reply_int(event, "from", 0), to = pleat_reply_int(event, "to", 0);
    int64_t waiter = pleat_reply_int(event, "waiter", 0);
    const char *outcome = pleat_reply_text(event, "outcome", NULL);
    const char *cause = pleat_reply_text(event, "cause", NULL);
    if (to == from) /* the job was relaunched at its size */
        pleat_string_addf(out, "stay on %lld", (long long)to);
    else
        pleat_string_addf(out, "%s%s %lld -> %lld",
                          to < from && pleat_reply_true(event, "mandatory") ? "mandatory " : "",
                          to < from ? "shrink" : "grow", (long long)from, (long long)to);
    pleat_string_addf(out, ": %s", outcome ? outcome : pleat_reply_text(event, "step", "?"));
    if (cause && to > from && pleat_reply_is(event, "by", "site"))
        pleat_string_add(out, " (instead of processors whose time is over soon)");
    else if (cause)
        pleat_string_addf(out, " (%s)", cause);
    if (pleat_reply_text(event, "way_reason", NULL))
        pleat_string_addf(out, " by %s (%s)", pleat_reply_text(event, "way", "?"),
                          pleat_reply_text(event, "way_reason", "?"));
    if (pleat_reply_is(event, "by", "user"))
        pleat_string_add(out, ", asked for by the user");
    if (waiter)
        pleat_string_addf(out, ", for job %lld", (long long)waiter);
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
        char span[PLEAT_TIME_SIZE];
        if (json_is_number(json_object_get(event, costs[i][0])))
            pleat_string_addf(out, ", %s %s", costs[i][1],
                              pleat_time_span(pleat_reply_real(event, costs[i][0]), span));
    }
}

static void add_checkpoint(const json_t *event, struct pleat_string *out)
{
    char span[PLEAT_TIME_SIZE];
    const char *failed = pleat_reply_text(event, "text", NULL);
    if (failed) {
        pleat_string_addf(out, "no checkpoint at %s: %s", pleat_reply_text(event, "path", "?"),
                          failed);
        return;
    }
    pleat_string_addf(out, "checkpoint at iteration %lld: %s, %.1f MB in %s%s",
                      (long long)pleat_reply_int(event, "iteration", 0),
                      pleat_reply_text(event, "path", "?"),
                      (double)pleat_reply_int(event, "bytes", 0) / 1e6,
                      pleat_time_span(pleat_reply_real(event, "write_s"), span),
                      pleat_reply_true(event, "stop") ? ", and the job stops" : "");
}

static void add_signal(const json_t *event, struct pleat_string *out)
{
    char left[PLEAT_TIME_SIZE], name[24];
    pleat_string_addf(
        out, "sent %s to its %s, %s before its time limit",
        pleat_signal_name((int)pleat_reply_int(event, "signal", 0), name, sizeof(name)),
        pleat_reply_true(event, "script") ? "script" : "processes",
        pleat_time_span(pleat_reply_real(event, "left_s"), left));
}

void pleat_event_add_text(const json_t *event, struct pleat_string *out)
{
    const char *kind = pleat_reply_text(event, "kind", "?");
    const char *reason = pleat_reply_text(event, "reason", NULL);
    if (!strcmp(kind, "state")) {
        pleat_string_addf(out, "%s -> %s", pleat_reply_text(event, "from", "?"),
                          pleat_reply_text(event, "to", "?"));
        if (reason)
            pleat_string_addf(out, " (%s)", reason);
    } else if (!strcmp(kind, "size")) {
        add_processors(out, "runs on ", pleat_reply_int(event, "processors", 0));
    } else if (!strcmp(kind, "slots")) {
        pleat_string_addf(
            out, "%lld processors for %s: %s", (long long)pleat_reply_int(event, "count", 0),
            pleat_reply_text(event, "purpose", "?"), pleat_reply_text(event, "state", "?"));
        add_pieces(event, out);
    } else if (!strcmp(kind, "resize")) {
        add_resize(event, out);
    } else if (!strcmp(kind, "limits")) {
        pleat_string_addf(out, "may have %lld to %lld processors",
                          (long long)pleat_reply_int(event, "min", 0),
                          (long long)pleat_reply_int(event, "max", 0));
    } else if (!strcmp(kind, "asked")) {
        pleat_add_asked(event, out);
    } else if (!strcmp(kind, "section")) {
        pleat_string_add(out, pleat_reply_true(event, "not_now")
                                  ? "its program says not now: policies leave its size"
                                  : "its program does not say not now any more");
    } else if (!strcmp(kind, "background")) {
        add_processors(out, "others use ", pleat_reply_int(event, "processors", 0));
        pleat_string_addf(out, " of %s", pleat_reply_text(event, "site", "?"));
    } else if (!strcmp(kind, "used")) {
        pleat_string_addf(out, "used %.3f s of processor time", pleat_reply_real(event, "cpu_s"));
        if (pleat_reply_int(event, "memory_kb", 0) > 0)
            add_memory(event, ", at most %s of memory", out);
    } else if (!strcmp(kind, "hold")) {
        pleat_string_add(out, "held by its user");
    } else if (!strcmp(kind, "release")) {
        pleat_string_add(out, !pleat_reply_true(event, "needs") ? "released by its user"
                              : pleat_reply_true(event, "hold")
                                  ? "released by its user, and waits "
                                    "for no other job any more"
                                  : "waits for no other job any more");
    } else if (!strcmp(kind, "signal")) {
        add_signal(event, out);
    } else if (!strcmp(kind, "checkpoint")) {
        add_checkpoint(event, out);
    } else if (!strcmp(kind, "memory")) {
        add_memory(event, "uses %s of memory", out);
    } else if (!strcmp(kind, "policy")) {
        pleat_string_addf(out, "policy for %s: %s", pleat_reply_text(event, "question", "?"),
                          pleat_reply_text(event, "name", "?"));
    } else {
        pleat_string_addf(out, "%s: %s", kind, pleat_reply_text(event, "text", ""));
    }
}

void pleat_add_not_now(const json_t *object, struct pleat_string *out)
{
    int64_t ranks = pleat_reply_int(object, "not_now", 0);
    pleat_string_addf(out, "its program says not now: %lld rank%s in a section without resizes",
                      (long long)ranks, ranks == 1 ? " is" : "s are");
}

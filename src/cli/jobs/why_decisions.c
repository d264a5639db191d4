/* What was decided about a job, in sentences. */
#include <string.h>

#include "cli/common/reply.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/why_text.h"

static long long number(const json_t *object, const char *name)
{
    return (long long)pleat_reply_int(object, name, 0);
}

static void add_resize(const json_t *decision, struct pleat_string *out)
{
    const char *outcome = pleat_reply_text(decision, "outcome", NULL);
    const char *by = pleat_reply_text(decision, "policy", NULL);
    long long offered = number(decision, "offered"), waiter = number(decision, "waiter");
    bool grows = number(decision, "to") > number(decision, "from");
    bool done = outcome && !strcmp(outcome, grows ? "grown" : "shrunk");
    pleat_string_addf(out, "%s%s %lld -> %lld",
                      done       ? ""
                      : !outcome ? "being "
                                 : "not ",
                      grows ? "grown" : "shrunk", number(decision, "from"), number(decision, "to"));
    if (outcome && !done)
        pleat_string_addf(out, " (%s)", outcome);
    if (pleat_reply_is(decision, "by", "user")) {
        pleat_string_add(out, ", as its user asked");
        return;
    }
    if (pleat_reply_is(decision, "by", "site")) {
        pleat_string_add(out, ", as its site takes processors back");
        return;
    }
    pleat_string_addf(out, " by %s", by ? by : "the policies");
    if (grows)
        pleat_string_addf(out, ": %lld free processor%s offered to it", offered,
                          offered == 1 ? " was" : "s were");
    else if (waiter)
        pleat_string_addf(out, " for job %lld, which waited", waiter);
}

/* What a policy that starts jobs at their sweet spots knew. */
static void add_learned(const json_t *learned, struct pleat_string *out)
{
    long long sizes = number(learned, "sizes"), spot = number(learned, "spot");
    if (!json_is_object(learned))
        return;
    if (spot > 0)
        pleat_string_addf(out, " (its sweet spot is %lld, as measured before on %lld sizes)", spot,
                          sizes);
    else
        pleat_string_addf(out,
                          " (on %s of its program was measured before: its sweet spot is not "
                          "known)",
                          sizes == 1 ? "one size only an iteration" : "no size an iteration");
}

static void add_start(const json_t *decision, struct pleat_string *out)
{
    long long processors = number(decision, "processors");
    const char *queue = pleat_reply_text(decision, "queue", NULL);
    if (processors > 0)
        pleat_string_addf(out, "started on %lld processor%s", processors,
                          processors == 1 ? "" : "s");
    else
        pleat_string_add(out, "being started");
    if (queue)
        pleat_string_addf(out, ": its turn by %s, its size by %s", queue,
                          pleat_reply_text(decision, "moldability", "?"));
    add_learned(json_object_get(decision, "learned"), out);
}

/* Appends how the job ended: "exited" alone would not say that it crashed. */
static void add_exit(const json_t *why, const json_t *decision, struct pleat_string *out)
{
    json_t *job = json_copy(json_object_get(why, "ending"));
    if (pleat_reply_true(job, "over")) {
        json_object_set(job, "state", json_object_get(decision, "what"));
        pleat_job_add_ending(job, out);
    } else {
        pleat_string_add(out, "exited");
    }
    json_decref(job);
}

void pleat_why_add_decision(const json_t *why, const json_t *decision, struct pleat_string *out)
{
    const char *what = pleat_reply_text(decision, "what", "?");
    const char *reason = pleat_reply_text(decision, "reason", NULL);
    if (!strcmp(what, "resize")) {
        add_resize(decision, out);
    } else if (!strcmp(what, "started")) {
        add_start(decision, out);
    } else if (!strcmp(what, "limits")) {
        pleat_string_addf(
            out,
            pleat_reply_is(decision, "by", "program")
                ? "its program says what it can use: it may have %lld to %lld processors"
                : "its user lets it have %lld to %lld processors",
            number(decision, "min"), number(decision, "max"));
    } else if (!strcmp(what, "warning")) {
        pleat_string_add(out, pleat_reply_text(decision, "text", "?"));
    } else {
        pleat_string_add(out, what);
        if (reason)
            pleat_string_add(out, ": ");
        if (reason && (!strcmp(what, "done") || !strcmp(what, "failed")) &&
            !strcmp(reason, "exited"))
            add_exit(why, decision, out);
        else if (reason)
            pleat_string_add(out, reason);
    }
}

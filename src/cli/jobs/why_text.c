#include "cli/jobs/why_text.h"
#include "cli/jobs/event_text.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/jobs/jobs.h"

static long long number(const json_t *object, const char *name)
{
    return (long long)pleat_reply_int(object, name, 0);
}

static void add_moment(struct pleat_string *out, const char *before, const json_t *object,
                       const char *name)
{
    char moment[PLEAT_TIME_SIZE];
    pleat_string_addf(out, "%s%s", before,
                      pleat_time_moment(pleat_reply_real(object, name), moment));
}

static const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

/* "none is free", "1 is free", "3 are free" */
static void add_free(struct pleat_string *out, long long free)
{
    if (free <= 0)
        pleat_string_add(out, "none is free");
    else
        pleat_string_addf(out, "%lld %s free", free, free == 1 ? "is" : "are");
}

static const char *policy(const json_t *why, const char *question)
{
    return pleat_reply_text(json_object_get(why, "policies"), question, "?");
}

/* ---- waiting ---- */

static void add_room(const json_t *waiting, struct pleat_string *out)
{
    size_t i;
    json_t *one;
    pleat_string_addf(out, "room is being made for it: %lld of %lld processors are kept for it",
                      number(waiting, "earmarked"), number(waiting, "need"));
    if (number(waiting, "coming") > 0)
        pleat_string_addf(out, ", %lld more %s coming", number(waiting, "coming"),
                          number(waiting, "coming") == 1 ? "is" : "are");
    json_array_foreach(pleat_reply_array(waiting, "shrinking"), i, one)
    {
        pleat_string_addf(out, "%s job %lld (%lld -> %lld", i ? "," : " from", number(one, "job"),
                          number(one, "from"), number(one, "to"));
        add_moment(out, ", since ", one, "begun_s");
        pleat_string_add(out, ")");
    }
}

static void add_kept_for(const json_t *waiting, struct pleat_string *out)
{
    size_t i;
    json_t *one;
    json_array_foreach(pleat_reply_array(waiting, "kept_for"), i, one)
    {
        pleat_string_addf(out, "%s job %lld (%s %lld", i ? "," : ":", number(one, "job"),
                          pleat_reply_true(one, "reservation") ? "reserved" : "promised",
                          number(one, "need"));
        add_moment(out, " from ", one, "at_s");
        pleat_string_add(out, " on)");
    }
}

/* Appends "it would fit (it needs 2 processors, 3 are free), but ". */
static void add_would_fit(const json_t *waiting, struct pleat_string *out)
{
    pleat_string_addf(out, "it would fit (it needs %lld processor%s, ", number(waiting, "need"),
                      plural(number(waiting, "need")));
    add_free(out, number(waiting, "free"));
    pleat_string_add(out, "), but ");
}

static void add_claiming(const json_t *waiting, struct pleat_string *out)
{
    const json_t *queue = json_object_get(waiting, "site_queue");
    pleat_string_addf(out, "its processors are being claimed at %s",
                      pleat_reply_text(waiting, "site", "its site"));
    if (!json_is_object(queue))
        return;
    pleat_string_addf(out, ", and wait in a queue there: %s", pleat_reply_text(queue, "text", "?"));
    if (json_is_number(json_object_get(queue, "expected_s")))
        add_moment(out, "; they may be given at ", queue, "expected_s");
    if (json_is_number(json_object_get(queue, "until_s")))
        add_moment(out, "; they are waited for until ", queue, "until_s");
}

/* Why a job waits where that is not about other jobs; false: it is. */
static bool add_waiting_apart(const json_t *waiting, struct pleat_string *out)
{
    const char *code = pleat_reply_text(waiting, "code", "");
    if (!strcmp(code, "next"))
        pleat_string_add(out, "there is room for it, it is started next");
    else if (!strcmp(code, "held"))
        pleat_string_add(out, pleat_reply_text(waiting, "held", "something holds it"));
    else if (!strcmp(code, "log"))
        pleat_string_addf(out, "it is not submitted yet, pleatd cannot write it into its log (%s)",
                          pleat_reply_text(waiting, "log", "see pleatd.log"));
    else if (!strcmp(code, "begin"))
        add_moment(out, "its reservation begins at ", waiting, "until_s");
    else if (!strcmp(code, "too large"))
        pleat_string_addf(out,
                          "it needs %lld processors, and no site that it may use has that many",
                          number(waiting, "need"));
    else if (!strcmp(code, "nodes"))
        pleat_string_addf(out,
                          "it needs %lld processor%s, more than the nodes that take jobs now have: "
                          "it waits for the others ('pleat sites' says what they are)",
                          number(waiting, "need"), plural(number(waiting, "need")));
    else if (!strcmp(code, "quiet"))
        add_moment(out, "its site refused processors a moment ago, and is asked again at ", waiting,
                   "until_s");
    else if (!strcmp(code, "paused"))
        add_moment(out,
                   "its site could not start it, or others, a moment ago ('pleat show' has the "
                   "reason): tried again at ",
                   waiting, "until_s");
    else if (!strcmp(code, "drained"))
        pleat_string_add(out, "the sites where it could start are drained: no job is started there "
                              "until 'pleat site resume' (or nodes of theirs have had too many "
                              "errors: 'pleat sites')");
    else if (!strcmp(code, "claiming"))
        add_claiming(waiting, out);
    else if (!strcmp(code, "starting"))
        pleat_string_add(out, "its processors are there, its program is being started");
    else
        return false;
    return true;
}

static void add_waiting(const json_t *why, const json_t *waiting, struct pleat_string *out)
{
    const char *code = pleat_reply_text(waiting, "code", "");
    long long need = number(waiting, "need");
    if (add_waiting_apart(waiting, out))
        return;
    if (!strcmp(code, "room")) {
        add_room(waiting, out);
    } else if (!strcmp(code, "processors")) {
        pleat_string_addf(out, "it needs %lld processor%s, and ", need, plural(need));
        add_free(out, number(waiting, "free"));
    } else if (!strcmp(code, "behind")) {
        add_would_fit(waiting, out);
        pleat_string_addf(out, "nobody overtakes job %lld, which stands in front (queue %s)",
                          number(waiting, "behind"), policy(why, "queue"));
    } else if (!strcmp(code, "growing")) {
        add_would_fit(waiting, out);
        pleat_string_addf(out, "running jobs that can still grow come first (approach %s)",
                          policy(why, "approach"));
    } else if (!strcmp(code, "kept")) {
        add_would_fit(waiting, out);
        pleat_string_add(out, "what is free must be left to others");
        add_kept_for(waiting, out);
    } else {
        add_would_fit(waiting, out);
        pleat_string_addf(out, "the policies in force (%s, %s) do not start it",
                          policy(why, "approach"), policy(why, "queue"));
    }
}

void pleat_why_add_short(const json_t *waiting, double now_s, struct pleat_string *out)
{
    const char *code = pleat_reply_text(waiting, "code", "");
    char span[PLEAT_TIME_SIZE];
    double left_s = pleat_reply_real(waiting, "until_s") - now_s;
    if (!strcmp(code, "next"))
        pleat_string_add(out, "starts next");
    else if (!strcmp(code, "held"))
        pleat_string_add(out, "held");
    else if (!strcmp(code, "begin"))
        pleat_string_addf(out, "begins in %s", pleat_time_span(left_s, span));
    else if (!strcmp(code, "too large"))
        pleat_string_addf(out, "needs %lld: too large", number(waiting, "need"));
    else if (!strcmp(code, "nodes"))
        pleat_string_addf(out, "needs %lld: nodes are down", number(waiting, "need"));
    else if (!strcmp(code, "room"))
        pleat_string_addf(out, "room: %lld+%lld of %lld", number(waiting, "earmarked"),
                          number(waiting, "coming"), number(waiting, "need"));
    else if (!strcmp(code, "processors"))
        pleat_string_addf(out, "needs %lld, %lld free", number(waiting, "need"),
                          number(waiting, "free"));
    else if (!strcmp(code, "behind"))
        pleat_string_addf(out, "behind job %lld", number(waiting, "behind"));
    else if (!strcmp(code, "growing"))
        pleat_string_add(out, "others grow first");
    else if (!strcmp(code, "kept"))
        pleat_string_add(out, "free ones are promised");
    else if (!strcmp(code, "quiet"))
        pleat_string_add(out, "site refused, again soon");
    else if (!strcmp(code, "paused"))
        pleat_string_add(out, "could not start, again soon");
    else if (!strcmp(code, "drained"))
        pleat_string_add(out, "its site is drained");
    else if (*code)
        pleat_string_add(out, "left waiting");
}

void pleat_why_add_site(const json_t *waiting, const json_t *site, struct pleat_string *out)
{
    long long background = number(site, "background"), releasing = number(site, "releasing");
    long long reclaimable = number(site, "reclaimable");
    pleat_string_addf(out, "%lld of %lld free, %lld held by jobs", number(site, "free"),
                      number(site, "processors"), number(site, "used"));
    if (releasing > 0)
        pleat_string_addf(out, " (%lld of them on the way back)", releasing);
    if (background > 0)
        pleat_string_addf(out, ", %lld kept busy by others", background);
    if (pleat_reply_true(waiting, "shrinks"))
        pleat_string_addf(out, "; running jobs could be shrunk by %lld", reclaimable);
    else if (reclaimable > 0)
        pleat_string_add(out, "; running jobs are not shrunk by the policies in force");
    if (pleat_reply_true(site, "drained"))
        pleat_string_add(out, "; drained: nothing is started or grown there");
    if (isfinite(pleat_reply_real(site, "quiet_until_s")))
        add_moment(out, "; it refused processors, not asked before ", site, "quiet_until_s");
}

void pleat_why_add_holder(const json_t *holder, struct pleat_string *out)
{
    long long processors = number(holder, "processors"), target = number(holder, "target");
    long long least = number(holder, "least");
    pleat_string_addf(out, "job %lld has %lld", number(holder, "job"), processors);
    if (target != processors)
        pleat_string_addf(out, ", on the way to %lld", target);
    if (least < processors)
        pleat_string_addf(out, ", can do with %lld", least);
    if (isfinite(pleat_reply_real(holder, "expected_end_s")))
        add_moment(out,
                   pleat_reply_is(holder, "expected_by", "program") ? ", as its program says until "
                                                                    : ", until ",
                   holder, "expected_end_s");
}

/* ---- size ---- */

/* Adds that the program itself sets the maximum. */
static void add_declared_most(const json_t *size, struct pleat_string *out)
{
    int64_t most = pleat_reply_int(json_object_get(size, "declared"), "max", 0);
    if (most > 0 && most <= number(size, "largest"))
        pleat_string_addf(out, ": its program says that it can use %lld at most", (long long)most);
}

/* Adds that the program itself sets the minimum, where the job has no more than that. */
static void add_declared_least(const json_t *why, const json_t *size, struct pleat_string *out)
{
    int64_t least = pleat_reply_int(json_object_get(size, "declared"), "min", 0);
    if (least > 1 && number(why, "processors") <= least)
        pleat_string_addf(out, "; its program says that it needs %lld at least", (long long)least);
}

static void add_no_size(const json_t *why, const json_t *size, struct pleat_string *out)
{
    long long next = number(size, "next"), has = number(why, "processors");
    if (next > 0)
        pleat_string_addf(out,
                          "the next size that it takes is %lld, and of the %lld more that it would "
                          "need only %lld may be used for growing",
                          next, next - has, number(size, "growable"));
    else
        pleat_string_addf(out, "it takes no size between %lld and its maximum of %lld", has,
                          number(why, "max"));
}

static void add_under_way(const json_t *resize, struct pleat_string *out)
{
    bool grows = number(resize, "to") > number(resize, "from");
    pleat_string_addf(out, "it is being %s %lld -> %lld", grows ? "grown" : "shrunk",
                      number(resize, "from"), number(resize, "to"));
    if (pleat_reply_is(resize, "by", "user"))
        pleat_string_add(out, ", as its user asked");
    else if (pleat_reply_is(resize, "by", "site"))
        pleat_string_add(out, ", as its site takes processors back");
    if (number(resize, "waiter"))
        pleat_string_addf(out, " for job %lld", number(resize, "waiter"));
    add_moment(out, ", since ", resize, "begun_s");
    pleat_string_addf(out, " (%s)", pleat_reply_text(resize, "step", "?"));
}

/* Free processors that are not for growing; or none is free. */
static void add_nothing_growable(const json_t *size, const char *code, struct pleat_string *out)
{
    const char *site = pleat_reply_text(size, "site", "its site");
    long long background = number(size, "background");
    if (!strcmp(code, "none free")) {
        pleat_string_addf(out, "no processor of %s is free", site);
        if (background > 0)
            pleat_string_addf(out, " (others keep %lld busy)", background);
        return;
    }
    pleat_string_addf(out, "of %s ", site);
    add_free(out, number(size, "free"));
    if (!strcmp(code, "threshold"))
        pleat_string_addf(out, ", and %lld are never used for growing (threshold)",
                          number(size, "threshold"));
    else if (!strcmp(code, "for waiter"))
        pleat_string_addf(out, ", kept for job %lld, which waits", number(size, "waiter"));
    else if (!strcmp(code, "total"))
        pleat_string_add(out, ", and the jobs of all sites together are not grown further "
                              "(grow_total)");
    else
        pleat_string_add(out, ", kept for reservations");
}

/* What keeps it at its size, as codes of the daemon. */
static void add_size_code(const json_t *why, const json_t *size, struct pleat_string *out)
{
    const char *code = pleat_reply_text(size, "code", "");
    if (!strcmp(code, "next")) {
        pleat_string_add(out, "it is to be changed next");
    } else if (!strcmp(code, "fixed") && json_is_object(json_object_get(size, "buffer"))) {
        pleat_string_add(out, "its size is its program's: it asks for processes, and stops them");
    } else if (!strcmp(code, "fixed")) {
        pleat_string_addf(out, "it is %s: that does not change while it runs",
                          pleat_reply_text(why, "kind", "?"));
    } else if (!strcmp(code, "resizing")) {
        add_under_way(json_object_get(size, "resize"), out);
    } else if (!strcmp(code, "at maximum")) {
        pleat_string_add(out, "it has its maximum");
        add_declared_most(size, out);
    } else if (!strcmp(code, "capped") && pleat_reply_true(size, "own_cap")) {
        pleat_string_addf(out,
                          "its program gave processors back and wants %lld: policies do not grow "
                          "it before it asks for more",
                          number(size, "cap"));
    } else if (!strcmp(code, "capped")) {
        pleat_string_addf(out,
                          "its user shrank it to %lld: policies do not grow it before its user "
                          "does",
                          number(size, "cap"));
    } else if (!strcmp(code, "no size")) {
        add_no_size(why, size, out);
    } else if (!strcmp(code, "lifetime")) {
        add_moment(out, "its size lasts for its minimum lifetime: no policy changes it before ",
                   size, "until_s");
    } else if (!strcmp(code, "not now")) {
        pleat_string_add(out, "policies leave its size until its program's section is over");
    } else if (!strcmp(code, "drained")) {
        pleat_string_addf(out, "%s is drained: nothing grows there until 'pleat site resume'",
                          pleat_reply_text(size, "site", "its site"));
    } else if (!strcmp(code, "allocation")) {
        pleat_string_addf(out, "it stays on one node of %s, and has all of its allocation there",
                          pleat_reply_text(size, "site", "its site"));
    } else if (!strcmp(code, "nodes")) {
        pleat_string_add(out, "its processes stay on the nodes where they were started, and it has "
                              "all that is free and of use to it there");
    } else if (!strcmp(code, "backoff")) {
        add_moment(out, "its last resize failed: nothing is offered to it before ", size,
                   "until_s");
    } else if (!strcmp(code, "quiet")) {
        pleat_string_addf(out, "%s refused processors a moment ago",
                          pleat_reply_text(size, "site", "its site"));
        add_moment(out, ", and is not asked before ", size, "until_s");
    } else if (!strcmp(code, "policy") && json_is_object(json_object_get(size, "spot"))) {
        pleat_string_addf(out, "policy %s does not grow it: ", policy(why, "malleability"));
        pleat_why_add_spot(json_object_get(size, "spot"), out);
    } else if (!strcmp(code, "policy")) {
        pleat_string_addf(out, "policy %s does not grow it (%lld may be used for growing)",
                          policy(why, "malleability"), number(size, "growable"));
    } else {
        add_nothing_growable(size, code, out);
    }
    add_declared_least(why, size, out);
}

static void add_size(const json_t *why, const json_t *size, struct pleat_string *out)
{
    const json_t *asked = json_object_get(size, "asked");
    add_size_code(why, size, out);
    if (pleat_reply_is(asked, "state", "pending") || pleat_reply_is(asked, "state", "refused")) {
        pleat_string_add(out, "; ");
        pleat_add_asked(asked, out);
    }
    if (number(size, "credit") > 0)
        pleat_string_addf(out,
                          "; it gave up %lld processors though it could have refused (policy %s "
                          "says what it gains)",
                          number(size, "credit"), policy(why, "reward"));
    if (pleat_reply_int(size, "not_now", 0) > 0) {
        pleat_string_add(out, "; ");
        pleat_add_not_now(size, out);
    }
}

/* ---- the headline ---- */

/* A shell or an MPI launcher ends with 128 + N where signal N has ended what it waited for. */
static void add_signal_of_code(const json_t *ending, struct pleat_string *out)
{
    int number = pleat_reply_small(ending, "exit_code", 0, 255) - 128;
    const char *name = number > 0 && number < NSIG ? sigabbrev_np(number) : NULL;
    if (name && pleat_reply_int(ending, "signal", 0) == 0)
        pleat_string_addf(out, " (as after signal %d, SIG%s)", number, name);
}

static void add_ending(const json_t *why, const json_t *ending, struct pleat_string *out)
{
    const char *text = pleat_reply_text(why, "text", NULL);
    if (!pleat_reply_true(ending, "over")) {
        pleat_string_addf(out, "is being ended: %s", pleat_reply_text(ending, "reason", "?"));
        return;
    }
    json_t *job = json_copy((json_t *)(uintptr_t)ending);
    json_object_set(job, "state", json_object_get(why, "state"));
    pleat_string_addf(out, "is %s", pleat_reply_text(why, "state", "?"));
    add_moment(out, " since ", ending, "end_s");
    if (!pleat_reply_is(why, "state", "cancelled")) {
        pleat_string_add(out, ": ");
        pleat_job_add_ending(job, out);
        add_signal_of_code(ending, out);
    } else {
        pleat_string_addf(out, ": %s", pleat_reply_text(ending, "reason", "?"));
    }
    if (text)
        pleat_string_addf(out, " (%s)", text);
    json_decref(job);
}

void pleat_why_add_headline(const json_t *why, struct pleat_string *out)
{
    const json_t *waiting = json_object_get(why, "waiting"), *size = json_object_get(why, "size");
    const json_t *ending = json_object_get(why, "ending");
    char span[PLEAT_TIME_SIZE];
    pleat_string_addf(out, "job %lld %s ", number(why, "job"), pleat_reply_text(why, "name", ""));
    if (json_is_object(waiting)) {
        double since = pleat_reply_real(why, "now_s") - pleat_reply_real(why, "queued_s");
        pleat_string_addf(out, "has been waiting for %s: ", pleat_time_span(since, span));
        add_waiting(why, waiting, out);
        add_declared_least(why, waiting, out);
    } else if (json_is_object(size)) {
        long long has = number(why, "processors"), least = number(why, "min");
        pleat_string_addf(out, "runs on %lld processor%s", has, plural(has));
        if (least != number(why, "max"))
            pleat_string_addf(out, ", of %lld to %lld", least, number(why, "max"));
        pleat_string_add(out, ": ");
        add_size(why, size, out);
    } else {
        add_ending(why, ending, out);
    }
}

/* What is said of the buffer of a job that asks for processes itself. */
#include <math.h>
#include <string.h>

#include "base/processes.h"
#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/jobs/why_text.h"

static long long number(const json_t *buffer, const char *name)
{
    return (long long)pleat_reply_int(buffer, name, 0);
}

/* What the policy goes by. */
static void add_policy(const json_t *buffer, struct pleat_string *out)
{
    const char *policy = pleat_reply_text(buffer, "policy", "?");
    long long level = number(buffer, "level");
    if (!strcmp(policy, "none")) {
        pleat_string_add(out, "; nothing is prepared in advance (buffer policy none)");
        return;
    }
    pleat_string_addf(out, "; policy %s, level %lld", policy, level);
    if (pleat_reply_true(buffer, "derived") && number(buffer, "most") >= level && level > 0)
        pleat_string_add(out, ": the most requests in a row so far");
    else if (pleat_reply_true(buffer, "derived"))
        pleat_string_add(out, ": no more were asked for in a row yet");
}

/* "; 4 earlier runs asked for 1.5 in iterations 98 to 103, by when one asked for now is there (an
 * allocation takes up to 0.8 s)" */
static void add_prediction(const json_t *buffer, struct pleat_string *out)
{
    char span[PLEAT_TIME_SIZE];
    double allocation_s = pleat_reply_real(buffer, "allocation_s");
    if (allocation_s > 0)
        pleat_string_addf(out, "; getting a process takes up to %s",
                          pleat_time_span(allocation_s, span));
    if (number(buffer, "executions") < 1)
        pleat_string_add(out, "; of earlier runs nothing is known");
    else if (json_is_number(json_object_get(buffer, "expected")))
        pleat_string_addf(
            out, "; %lld earlier run%s asked for %.3g on average in iterations %lld to %lld",
            number(buffer, "executions"), number(buffer, "executions") == 1 ? "" : "s",
            pleat_reply_real(buffer, "expected"), number(buffer, "from"), number(buffer, "to"));
    else
        pleat_string_addf(
            out, "; %lld earlier run%s are known, but not yet how long iterations take",
            number(buffer, "executions"), number(buffer, "executions") == 1 ? "" : "s");
}

void pleat_why_add_buffer(const json_t *buffer, struct pleat_string *out)
{
    pleat_string_addf(out, "%lld prepared, %lld coming", number(buffer, "prepared"),
                      number(buffer, "coming"));
    if (number(buffer, "leaving") > 0)
        pleat_string_addf(out, ", %lld being ended", number(buffer, "leaving"));
    if (number(buffer, "returning") > 0)
        pleat_string_addf(out, ", %lld that it will give back", number(buffer, "returning"));
    add_policy(buffer, out);
    if (strcmp(pleat_reply_text(buffer, "policy", "none"), "none") != 0)
        add_prediction(buffer, out);
}

/* Why requests for a site wait. */
static void add_reason(const json_t *waits, long long maximum, struct pleat_string *out)
{
    const char *code = pleat_reply_text(waits, "waits", "");
    char moment[PLEAT_TIME_SIZE];
    if (!strcmp(code, "coming"))
        pleat_string_add(out, "a process is on its way for each");
    else if (!strcmp(code, "next"))
        pleat_string_add(out, "processors are asked for next");
    else if (!strcmp(code, "maximum"))
        pleat_string_addf(out, "it has its maximum, %lld", maximum);
    else if (!strcmp(code, "failed"))
        pleat_string_addf(
            out,
            "processes could not be started ('pleat events' has the reason), tried again at %s",
            pleat_time_moment(pleat_reply_real(waits, "until_s"), moment));
    else if (!strcmp(code, "quiet"))
        pleat_string_addf(out, "the site refused processors a moment ago, asked again at %s",
                          pleat_time_moment(pleat_reply_real(waits, "until_s"), moment));
    else if (!strcmp(code, "drained"))
        pleat_string_add(out, "the site is drained ('pleat site resume')");
    else if (!strcmp(code, "kept") && number(waits, "behind") > 0)
        pleat_string_addf(out, "what is free is kept for job %lld, which waits",
                          number(waits, "behind"));
    else if (!strcmp(code, "kept"))
        pleat_string_add(out, "what is free is kept free (threshold, reservations, grow_total)");
    else if (!strcmp(code, "architecture"))
        pleat_string_add(out, "no free processor is of the architecture that is needed");
    else
        pleat_string_add(out, "no processor is free");
}

/* "for the first of its sites that has a processor: here: no processor is free; there: ..." */
static void add_any(const json_t *buffer, struct pleat_string *out)
{
    size_t i = 0;
    json_t *site = NULL;
    pleat_string_add(out, "for the first of its sites that has a processor:");
    json_array_foreach(pleat_reply_array(buffer, "waits_any"), i, site)
    {
        pleat_string_addf(out, "%s %s: ", i ? ";" : "", pleat_reply_text(site, "site", "?"));
        add_reason(site, 0, out);
    }
}

void pleat_why_add_requests(const json_t *buffer, struct pleat_string *out)
{
    long long waiting = number(buffer, "waiting");
    const char *site = pleat_reply_text(buffer, "waits_site", "");
    bool any = json_array_size(pleat_reply_array(buffer, "waits_any")) > 0;
    pleat_string_addf(out, "%lld wait%s: ", waiting, waiting == 1 ? "s" : "");
    if (!any || strcmp(site, PLEAT_PROCESS_ANY_SITE) != 0) {
        if (*site)
            pleat_string_addf(out, "for site %s: ", site);
        add_reason(buffer, number(buffer, "maximum"), out);
        pleat_string_add(out, any ? "; others " : "");
    }
    if (any)
        add_any(buffer, out);
}

void pleat_why_add_reclaimed(const json_t *buffer, struct pleat_string *out)
{
    char moment[PLEAT_TIME_SIZE];
    long long reclaimed = number(buffer, "reclaimed");
    pleat_string_addf(
        out,
        "%lld processor%s of its buffer went to jobs that waited, the last one to job %lld at %s",
        reclaimed, reclaimed == 1 ? "" : "s", number(buffer, "reclaimed_for"),
        pleat_time_moment(pleat_reply_real(buffer, "reclaimed_s"), moment));
}

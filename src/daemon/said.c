/* What a job's program says of its present run becomes inputs of the core: that it must not be
 * resized now, as long as its agent says so; and when it expects to end, if that has moved. */
#include "daemon/said.h"

#include <math.h>

#include "daemon/daemon.h"
#include "daemon/jobs.h"
#include "daemon/turn_inputs.h"

/* An expected end is news if it has moved by more than one part in NEWS of what is left, and by
 * more than NEWS_US: one that follows from a number of iterations moves with each of them. */
#define NEWS 20
#define NEWS_US 1000000
#define LONGEST_S 1e10 /* seconds since 1970: a later end is taken for a mistake */

static void take_section(struct daemon *d, const struct job *job, uint64_t run, bool lasts)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    const struct pleat_event event = {.kind = PLEAT_EV_SECTION,
                                      .flags = lasts ? PLEAT_NOT_NOW : 0,
                                      .component = job->component,
                                      .u.section = {.run = run}};
    if (lasts != pleat_view_is_not_now(view, job_component(d, job)))
        turn_event(d, &event);
}

static bool is_news(int64_t end_us, int64_t known_us, int64_t now_us)
{
    int64_t moved_us = end_us > known_us ? end_us - known_us : known_us - end_us;
    int64_t left_us = known_us > now_us ? known_us - now_us : 0;
    if (end_us == 0 || known_us == 0)
        return end_us != known_us;
    return moved_us > NEWS_US && moved_us > left_us / NEWS;
}

static void take_end(struct daemon *d, const struct job *job, uint64_t run, const json_t *expects)
{
    const json_t *end = json_object_get(expects, "end_s");
    double end_s = json_real_value(end);
    if (json_is_object(expects) && !json_is_real(end))
        return; /* the time of iterations at this size is not known yet */
    if (json_is_object(expects) && !(end_s >= 1 && end_s < LONGEST_S))
        return;
    struct pleat_event event = {
        .kind = PLEAT_EV_EXPECTED,
        .component = job->component,
        .u.expected = {.run = run, .end_us = json_is_object(expects) ? (int64_t)(end_s * 1e6) : 0}};
    int64_t known_us =
        pleat_view_declaration(pleat_core_view(d->core), job_component(d, job))->expected_us;
    if (is_news(event.u.expected.end_us, known_us, daemon_now_us(d)))
        turn_event(d, &event);
}

void said_take(struct daemon *d, const struct job *job, uint64_t run, const json_t *params)
{
    if (job_component(d, job)->run != run)
        return;
    take_section(d, job, run, json_is_true(json_object_get(params, "section")));
    take_end(d, job, run, json_object_get(params, "expects"));
}

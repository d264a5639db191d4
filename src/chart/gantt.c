#include "chart/gantt.h"

#include <math.h>
#include <string.h>

#include "model/types.h"
#include "wire/reply.h"

/* A claim that holds processors. */
struct open_claim {
    int64_t claim;
    size_t job;
    enum pleat_gantt_use use;
    const json_t *pieces;
    const char *site;
    double since_s;
};

struct builder {
    struct pleat_gantt *gantt;
    PLEAT_ARRAY(, struct open_claim) open;
    bool failed;
};

#define NO_JOB SIZE_MAX

const char *pleat_gantt_use_name(enum pleat_gantt_use use)
{
    static const char *const names[] = {"run", "growth", "earmark", "leaving"};
    return use < PLEAT_GANTT_USE_COUNT ? names[use] : "?";
}

/* ---- jobs ---- */

static bool wanted(const json_t *only, int64_t job)
{
    size_t i;
    json_t *number;
    if (!only)
        return true;
    json_array_foreach(only, i, number) if (json_integer_value(number) == job) return true;
    return false;
}

static void add_jobs(struct builder *b, const json_t *jobs, const json_t *only)
{
    struct pleat_gantt *gantt = b->gantt;
    size_t i;
    json_t *job;
    gantt->origin_s = (double)NAN;
    json_array_foreach(jobs, i, job)
    {
        struct pleat_gantt_job entry = {.job = pleat_reply_int(job, "job", 0),
                                        .name = pleat_reply_text(job, "name", ""),
                                        .submit_s = pleat_reply_real(job, "submit_s"),
                                        .start_s = pleat_reply_real(job, "start_s"),
                                        .end_s = pleat_reply_real(job, "end_s")};
        if (!wanted(only, entry.job) || !isfinite(entry.submit_s))
            continue;
        gantt->origin_s = fmin(gantt->origin_s, entry.submit_s); /* fmin passes over NAN */
        if (pleat_array_push(&gantt->jobs, entry))
            b->failed = true;
    }
    if (!isfinite(gantt->origin_s))
        gantt->origin_s = 0;
    for (i = 0; i < gantt->jobs.count; i++) {
        gantt->jobs.items[i].submit_s -= gantt->origin_s;
        gantt->jobs.items[i].start_s -= gantt->origin_s;
        gantt->jobs.items[i].end_s -= gantt->origin_s;
    }
}

static size_t job_index(const struct pleat_gantt *gantt, int64_t job)
{
    size_t low = 0, high = gantt->jobs.count;
    while (low < high) { /* jobs come in order of submission, and so of number */
        size_t middle = (low + high) / 2;
        if (gantt->jobs.items[middle].job < job)
            low = middle + 1;
        else
            high = middle;
    }
    return low < gantt->jobs.count && gantt->jobs.items[low].job == job ? low : NO_JOB;
}

/* ---- intervals ---- */

static size_t node_index(struct builder *b, const char *site, int64_t number)
{
    struct pleat_gantt *gantt = b->gantt;
    for (size_t i = 0; i < gantt->nodes.count; i++)
        if (gantt->nodes.items[i].number == number && !strcmp(gantt->nodes.items[i].site, site))
            return i;
    struct pleat_gantt_node node = {.site = site, .number = number};
    if (pleat_array_push(&gantt->nodes, node)) {
        b->failed = true;
        return NO_JOB;
    }
    return gantt->nodes.count - 1;
}

static void close_claim(struct builder *b, size_t at, double now_s)
{
    struct open_claim claim = b->open.items[at];
    size_t i;
    json_t *piece;
    b->open.items[at] = b->open.items[--b->open.count];
    json_array_foreach(claim.pieces, i, piece)
    {
        int64_t first = pleat_reply_int(piece, "first", -1);
        int64_t count = pleat_reply_int(piece, "count", 0);
        if (first < 0 || count <= 0 || first > PLEAT_SIZE_MAX || count > PLEAT_SIZE_MAX - first ||
            now_s <= claim.since_s)
            continue;
        size_t node = node_index(b, claim.site, pleat_reply_int(piece, "node", 0));
        if (node == NO_JOB)
            return;
        if (b->gantt->nodes.items[node].slots < first + count)
            b->gantt->nodes.items[node].slots = first + count;
        struct pleat_gantt_interval interval = {.job = claim.job,
                                                .claim = claim.claim,
                                                .use = claim.use,
                                                .node = node,
                                                .first = first,
                                                .count = count,
                                                .from_s = claim.since_s,
                                                .to_s = now_s};
        if (pleat_array_push(&b->gantt->intervals, interval))
            b->failed = true;
    }
}

static enum pleat_gantt_use use_of(const json_t *event)
{
    if (pleat_reply_is(event, "state", "releasing"))
        return PLEAT_GANTT_LEAVING;
    if (pleat_reply_is(event, "purpose", "growth"))
        return PLEAT_GANTT_GROWTH;
    if (pleat_reply_is(event, "purpose", "earmark"))
        return PLEAT_GANTT_EARMARK;
    return PLEAT_GANTT_RUN;
}

/* Takes an event about a claim: it tells all processors of the claim from then on. */
static void take_slots(struct builder *b, const json_t *event)
{
    struct open_claim claim = {.claim = pleat_reply_int(event, "claim", 0),
                               .job = job_index(b->gantt, pleat_reply_int(event, "job", 0)),
                               .use = use_of(event),
                               .pieces = pleat_reply_array(event, "pieces"),
                               .site = pleat_reply_text(event, "site", ""),
                               .since_s = pleat_reply_real(event, "time_s") - b->gantt->origin_s};
    bool holds =
        pleat_reply_is(event, "state", "held") || pleat_reply_is(event, "state", "releasing");
    if (!isfinite(claim.since_s))
        return;
    for (size_t i = 0; i < b->open.count; i++) {
        if (b->open.items[i].claim != claim.claim)
            continue;
        if (json_array_size(claim.pieces) == 0)
            claim.pieces = b->open.items[i].pieces;
        close_claim(b, i, claim.since_s);
        break;
    }
    if (holds && claim.job != NO_JOB && claim.pieces && pleat_array_push(&b->open, claim))
        b->failed = true;
}

/* ---- rows ---- */

static void at_least(struct pleat_gantt_node *node, int64_t slots)
{
    if (node->slots < slots && slots <= PLEAT_SIZE_MAX)
        node->slots = slots;
}

/* Processors that no job used are there, too: of a site, or of its nodes, that any job used. */
static void count_unused(struct builder *b, const json_t *site)
{
    struct pleat_gantt *gantt = b->gantt;
    const char *name = pleat_reply_text(site, "name", "");
    size_t count = 0, last = 0, n;
    const json_t *node;
    for (size_t i = 0; i < gantt->nodes.count; i++)
        if (!strcmp(gantt->nodes.items[i].site, name)) {
            last = i;
            count++;
        }
    if (count == 0)
        return;
    json_array_foreach(pleat_reply_array(site, "nodes"), n, node)
    {
        size_t index = node_index(b, name, pleat_reply_int(node, "node", 0));
        if (index != NO_JOB)
            at_least(&gantt->nodes.items[index], pleat_reply_int(node, "processors", 0));
    }
    if (count == 1 && json_array_size(pleat_reply_array(site, "nodes")) == 0)
        at_least(&gantt->nodes.items[last], pleat_reply_int(site, "processors", 0));
}

/* Nodes by their numbers; those that have rows have a row of 0 or more. site NULL: of all sites. */
static void give_rows(struct pleat_gantt *gantt, const char *site)
{
    for (;;) {
        struct pleat_gantt_node *next = NULL;
        for (size_t i = 0; i < gantt->nodes.count; i++) {
            struct pleat_gantt_node *node = &gantt->nodes.items[i];
            if (node->row < 0 && (!site || !strcmp(node->site, site)) &&
                (!next || (site && node->number < next->number)))
                next = node;
        }
        if (!next)
            return;
        next->row = gantt->rows;
        gantt->rows += next->slots;
    }
}

/* Sites one below the other, in their order, and so their nodes. */
static void place_rows(struct builder *b, const json_t *sites)
{
    struct pleat_gantt *gantt = b->gantt;
    size_t s;
    json_t *site;
    json_array_foreach(sites, s, site) count_unused(b, site);
    for (size_t i = 0; i < gantt->nodes.count; i++)
        gantt->nodes.items[i].row = -1;
    json_array_foreach(sites, s, site) give_rows(gantt, pleat_reply_text(site, "name", ""));
    give_rows(gantt, NULL);
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        interval->row = gantt->nodes.items[interval->node].row + interval->first;
    }
}

static void choose_window(struct pleat_gantt *gantt, double now_s)
{
    gantt->to_s = 0;
    for (size_t i = 0; i < gantt->jobs.count; i++) {
        const struct pleat_gantt_job *job = &gantt->jobs.items[i];
        gantt->to_s = fmax(gantt->to_s, isfinite(job->end_s) ? job->end_s : now_s);
    }
    for (size_t i = 0; i < gantt->intervals.count; i++)
        gantt->to_s = fmax(gantt->to_s, gantt->intervals.items[i].to_s);
    if (gantt->to_s <= 0)
        gantt->to_s = 1;
}

int pleat_gantt_build(struct pleat_gantt *gantt, const json_t *events, const json_t *jobs,
                      const json_t *sites, const json_t *only, double now_s,
                      struct pleat_error *err)
{
    struct builder b = {.gantt = gantt};
    size_t i;
    json_t *event;
    *gantt = (struct pleat_gantt){0};
    add_jobs(&b, jobs, only);
    json_array_foreach(events, i, event)
    {
        if (pleat_reply_is(event, "kind", "slots"))
            take_slots(&b, event);
    }
    now_s -= gantt->origin_s;
    while (b.open.count > 0)
        close_claim(&b, b.open.count - 1, now_s);
    pleat_array_finish(&b.open);
    if (b.failed) {
        pleat_gantt_finish(gantt);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the chart");
    }
    place_rows(&b, sites);
    choose_window(gantt, now_s);
    return 0;
}

void pleat_gantt_finish(struct pleat_gantt *gantt)
{
    pleat_array_finish(&gantt->jobs);
    pleat_array_finish(&gantt->intervals);
    pleat_array_finish(&gantt->nodes);
}

/* ---- numbers ---- */

double pleat_gantt_utilization(const struct pleat_gantt *gantt)
{
    double used = 0, all = (gantt->to_s - gantt->from_s) * (double)gantt->rows;
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        double span = fmin(interval->to_s, gantt->to_s) - fmax(interval->from_s, gantt->from_s);
        if (span > 0 && (interval->use == PLEAT_GANTT_RUN || interval->use == PLEAT_GANTT_LEAVING))
            used += span * (double)interval->count;
    }
    return all > 0 ? used / all : 0;
}

double pleat_gantt_step(double span, int most)
{
    static const double factors[] = {1, 2, 5, 10};
    double wanted_step = span / (most > 0 ? most : 1);
    double base = pow(10, floor(log10(fmax(wanted_step, 1e-6))));
    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
        if (factors[i] * base >= wanted_step * (1 - 1e-9))
            return factors[i] * base;
    return 10 * base;
}

double pleat_gantt_mark(const struct pleat_gantt *gantt, double step, long i)
{
    double mark = (ceil(gantt->from_s / step - 1e-9) + (double)i) * step;
    return fabs(mark) < step / 2 ? 0 : mark; /* no "-0", no 1e-17 */
}

long pleat_gantt_marks(const struct pleat_gantt *gantt, double step)
{
    double span = gantt->to_s - pleat_gantt_mark(gantt, step, 0);
    return span < 0 ? 0 : (long)floor(span / step + 1e-9) + 1;
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(round(value * 1e6) / 1e6) : json_null();
}

static json_t *interval_json(const struct pleat_gantt *gantt,
                             const struct pleat_gantt_interval *interval)
{
    const struct pleat_gantt_node *node = &gantt->nodes.items[interval->node];
    return json_pack("{s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:o, s:o}", "job",
                     (json_int_t)gantt->jobs.items[interval->job].job, "claim",
                     (json_int_t)interval->claim, "use", pleat_gantt_use_name(interval->use),
                     "site", node->site, "node", (json_int_t)node->number, "first",
                     (json_int_t)interval->first, "count", (json_int_t)interval->count, "from_s",
                     number_or_null(interval->from_s), "to_s", number_or_null(interval->to_s));
}

json_t *pleat_gantt_json(const struct pleat_gantt *gantt)
{
    json_t *jobs = json_array(), *intervals = json_array();
    for (size_t i = 0; i < gantt->jobs.count; i++) {
        const struct pleat_gantt_job *job = &gantt->jobs.items[i];
        json_array_append_new(
            jobs, json_pack("{s:I, s:s, s:o, s:o, s:o}", "job", (json_int_t)job->job, "name",
                            job->name, "submit_s", number_or_null(job->submit_s), "start_s",
                            number_or_null(job->start_s), "end_s", number_or_null(job->end_s)));
    }
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        if (interval->to_s > gantt->from_s && interval->from_s < gantt->to_s)
            json_array_append_new(intervals, interval_json(gantt, interval));
    }
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "origin_s",
                     number_or_null(gantt->origin_s), "from_s", number_or_null(gantt->from_s),
                     "to_s", number_or_null(gantt->to_s), "processors", (json_int_t)gantt->rows,
                     "utilization", number_or_null(pleat_gantt_utilization(gantt)), "jobs", jobs,
                     "intervals", intervals);
}

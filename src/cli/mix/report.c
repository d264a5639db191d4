/* report.c - reports how the jobs of a mix ended and what they used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/sizes_text.h"
#include "cli/mix/mix.h"

/* The resizes of a job that were applied, and their costs. */
struct costs {
    int grown, shrunk, failed;
    int known; /* resizes whose cost is known */
    double total_s;
};

static struct costs costs_of(const struct pleat_mix_job *job)
{
    struct costs costs = {0};
    size_t i;
    json_t *resize;
    const json_t *history = json_object_get(job->report, "history");
    json_array_foreach(pleat_reply_array(history, "resizes"), i, resize)
    {
        double total = pleat_reply_real(resize, "total_s");
        int64_t by = pleat_reply_int(resize, "to", 0) - pleat_reply_int(resize, "from", 0);
        bool relaunched = pleat_reply_is(resize, "outcome", "relaunched");
        bool grown = pleat_reply_is(resize, "outcome", "grown") || (relaunched && by > 0);
        bool shrunk = pleat_reply_is(resize, "outcome", "shrunk") || (relaunched && by < 0);
        costs.grown += grown;
        costs.shrunk += shrunk;
        costs.failed += !grown && !shrunk;
        if ((grown || shrunk) && isfinite(total)) {
            costs.known++;
            costs.total_s += total;
        }
    }
    return costs;
}

static double response_of(const struct pleat_mix_job *job)
{
    return pleat_reply_real(job->report, "end_s") - pleat_reply_real(job->report, "submit_s");
}

static double makespan_of(const struct pleat_mix *mix)
{
    double first = (double)NAN, last = (double)NAN;
    for (size_t i = 0; i < mix->jobs.count; i++) {
        first = fmin(first, pleat_reply_real(mix->jobs.items[i].report, "submit_s"));
        last = fmax(last, pleat_reply_real(mix->jobs.items[i].report, "end_s"));
    }
    return last - first;
}

/* ---- expectations ---- */

static void expect_resized(const struct pleat_mix *mix, bool grown, struct pleat_string *missed)
{
    for (size_t i = 0; i < mix->jobs.count; i++) {
        struct costs costs = costs_of(&mix->jobs.items[i]);
        if ((grown ? costs.grown : costs.shrunk) > 0)
            return;
    }
    pleat_string_addf(missed, "no job %s\n", grown ? "grew" : "was shrunk");
}

static void expect_results(const struct pleat_mix *mix, struct pleat_string *missed)
{
    for (size_t i = 0; i < mix->jobs.count; i++) {
        const struct pleat_mix_job *job = &mix->jobs.items[i];
        struct pleat_string ending = {0};
        if (!job->report) {
            pleat_string_addf(missed, "'%s' was not run\n", job->submission.name);
            continue;
        }
        pleat_job_add_ending(job->report, &ending);
        if (!pleat_job_succeeded(job->report))
            pleat_string_addf(missed, "job %lld '%s' did not succeed: %s\n", (long long)job->job,
                              job->submission.name, ending.text ? ending.text : "?");
        else if (job->result && strcmp(job->result, "ok") != 0)
            pleat_string_addf(missed, "job %lld '%s' computed a wrong result\n",
                              (long long)job->job, job->submission.name);
        pleat_string_finish(&ending);
    }
}

int pleat_mix_expect(const char *expected, const struct pleat_mix *mix, struct pleat_string *missed,
                     struct pleat_error *err)
{
    static const char *const names[] = {"grown", "shrunk", "results"};
    for (const char *at = expected; *at; at += *at == ',') {
        size_t length = strcspn(at, ","), which = 0;
        while (which < 3 &&
               (strlen(names[which]) != length || strncmp(at, names[which], length) != 0))
            which++;
        if (which == 3)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--expect: '%.*s' is none of: grown shrunk results", (int)length,
                                   at);
        if (mix && which < 2)
            expect_resized(mix, which == 0, missed);
        else if (mix)
            expect_results(mix, missed);
        at += length;
    }
    return 0;
}

/* ---- for people ---- */

/* Appends "6 x 82 ms": the number of resizes, and their mean cost. */
static void add_costs(const struct costs *costs, const struct pleat_term *term,
                      struct pleat_string *out)
{
    char span[PLEAT_TIME_SIZE];
    pleat_string_addf(out, "%d", costs->grown + costs->shrunk);
    if (costs->known)
        pleat_string_addf(out, " %s %s", term->utf8 ? "\u00d7" : "x",
                          pleat_time_span(costs->total_s / costs->known, span));
    if (costs->failed)
        pleat_string_addf(out, ", %d failed", costs->failed);
}

static void add_row(struct pleat_table *table, const struct pleat_term *term,
                    const struct pleat_mix *mix, const struct pleat_mix_job *job)
{
    struct costs costs = costs_of(job);
    struct pleat_string sizes = {0}, resizes = {0}, ending = {0};
    const json_t *history = json_object_get(job->report, "history");
    pleat_table_row(table);
    pleat_table_setf(table, 0, job->job ? "%lld" : "-", (long long)job->job);
    pleat_table_set(table, 1, job->submission.name);
    pleat_table_set_span(table, 2, pleat_reply_real(job->report, "submit_s") - mix->started_s);
    pleat_table_set_span(table, 3, pleat_reply_real(job->report, "wait_s"));
    pleat_table_set_span(table, 4, pleat_reply_real(job->report, "run_s"));
    pleat_table_set_span(table, 5, response_of(job));
    pleat_sizes_add_text(term, pleat_reply_array(history, "sizes"), &sizes);
    pleat_table_set(table, 6, sizes.text);
    add_costs(&costs, term, &resizes);
    pleat_table_set(table, 7, resizes.text);
    pleat_table_set_span(table, 8, costs.known ? costs.total_s : (double)NAN);
    if (job->report)
        pleat_job_add_ending(job->report, &ending);
    if (job->result)
        pleat_string_addf(&ending, ", %s", job->result);
    pleat_table_set(table, 9, ending.text ? ending.text : "not run");
    bool good = job->report && pleat_job_succeeded(job->report) &&
                (!job->result || !strcmp(job->result, "ok"));
    pleat_table_colour(table, 9, good ? "green" : "red");
    pleat_string_finish(&sizes);
    pleat_string_finish(&resizes);
    pleat_string_finish(&ending);
}

static void print_totals(const struct pleat_mix *mix, const struct pleat_gantt *gantt)
{
    char makespan[PLEAT_TIME_SIZE], wait[PLEAT_TIME_SIZE], response[PLEAT_TIME_SIZE];
    double waits = 0, responses = 0;
    int count = 0;
    for (size_t i = 0; i < mix->jobs.count; i++) {
        const struct pleat_mix_job *job = &mix->jobs.items[i];
        if (!isfinite(response_of(job)))
            continue;
        waits += pleat_reply_real(job->report, "wait_s");
        responses += response_of(job);
        count++;
    }
    printf("\nmakespan %s, utilization %.0f %% of %d processors, mean wait %s, mean response %s\n",
           pleat_time_span(makespan_of(mix), makespan), pleat_gantt_utilization(gantt) * 100,
           mix->processors, pleat_time_span(count ? waits / count : (double)NAN, wait),
           pleat_time_span(count ? responses / count : (double)NAN, response));
}

int pleat_mix_print(const struct pleat_mix *mix, const struct pleat_gantt *gantt)
{
    static const struct pleat_column columns[] = {
        {"JOB", PLEAT_COLUMN_NUMBER},     {"NAME", PLEAT_COLUMN_CUT},
        {"ARRIVED", PLEAT_COLUMN_NUMBER}, {"WAIT", PLEAT_COLUMN_NUMBER},
        {"RUN", PLEAT_COLUMN_NUMBER},     {"RESPONSE", PLEAT_COLUMN_NUMBER},
        {"SIZES", PLEAT_COLUMN_WRAP},     {"RESIZES", PLEAT_COLUMN_TEXT},
        {"COST", PLEAT_COLUMN_NUMBER},    {"ENDED", PLEAT_COLUMN_CUT}};
    struct pleat_term term;
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    pleat_term_init(&term);
    for (size_t i = 0; i < mix->jobs.count; i++)
        add_row(table, &term, mix, &mix->jobs.items[i]);
    putchar('\n');
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    if (!code)
        print_totals(mix, gantt);
    return code;
}

/* ---- for programs ---- */

static json_t *seconds(double value)
{
    return isfinite(value) ? json_real(round(value * 1e6) / 1e6) : json_null();
}

static json_t *job_json(const struct pleat_mix *mix, const struct pleat_mix_job *job)
{
    struct costs costs = costs_of(job);
    json_t *object = job->report ? json_copy(job->report) : json_object();
    json_object_set_new(object, "name", json_string(job->submission.name));
    json_object_set_new(object, "line", json_integer(job->line));
    json_object_set_new(object, "arrival_s",
                        seconds(pleat_reply_real(job->report, "submit_s") - mix->started_s));
    json_object_set_new(object, "response_s", seconds(response_of(job)));
    json_object_set_new(object, "resize_mean_s",
                        seconds(costs.known ? costs.total_s / costs.known : (double)NAN));
    json_object_set_new(object, "resize_total_s", seconds(costs.total_s));
    json_object_set_new(object, "result", job->result ? json_string(job->result) : json_null());
    return object;
}

json_t *pleat_mix_json(const struct pleat_mix *mix, const struct pleat_gantt *gantt,
                       const char *missed)
{
    json_t *jobs = json_array(), *unmet = json_array();
    for (size_t i = 0; i < mix->jobs.count; i++)
        json_array_append_new(jobs, job_json(mix, &mix->jobs.items[i]));
    for (const char *at = missed; at && *at; at += strcspn(at, "\n") + 1)
        json_array_append_new(unmet, json_stringn(at, strcspn(at, "\n")));
    return json_pack("{s:o?, s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "file", json_string(mix->path),
                     "started_s", seconds(mix->started_s), "makespan_s", seconds(makespan_of(mix)),
                     "utilization", seconds(pleat_gantt_utilization(gantt)), "processors",
                     mix->processors, "jobs", jobs, "unmet", unmet, "chart",
                     pleat_gantt_json(gantt));
}

/* report.c - prints results in the terminal: a summary of one run, or a comparison of several. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/entry.h"
#include "cli/common/table.h"
#include "cli/common/term.h"
#include "cli/sim/metrics.h"

enum { INDENT = 13, CELL_SIZE = 40 };

static void line(const struct pleat_term *term, const char *name, struct pleat_string *value)
{
    pleat_entry_print(term, INDENT, pleat_entry_width(term, PLEAT_PIPE_WIDTH), name,
                      value->text ? value->text : "-");
    value->length = 0;
}

/* ---- what was simulated ---- */

static void add_count(struct pleat_string *text, size_t count, const char *what)
{
    if (count > 0)
        pleat_string_addf(text, "%s%zu %s", text->length ? ", " : "", count, what);
}

static void print_cuts(const struct pleat_term *term, const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    const struct pleat_sim_run *run = &experiment->runs[0];
    const struct pleat_workload *workload = &experiment->sources[0].workload;
    char from[PLEAT_TIME_SIZE], to[PLEAT_TIME_SIZE];
    int64_t first = workload->jobs.items[0].submit_us;
    pleat_string_addf(
        &text, "only jobs submitted from %s to %s after the first%s; makespan and ",
        run->from_us > first ? pleat_time_span((double)(run->from_us - first) / 1e6, from) : "0",
        pleat_time_span((double)(run->to_us - first) / 1e6, to),
        experiment->variation == PLEAT_SIM_WORKLOADS ? " (of the first workload)" : "");
    pleat_string_addf(&text, "resizes are of the whole time (%zu jobs ended outside)",
                      run->outside);
    line(term, "measured", &text);
    pleat_string_finish(&text);
}

static void print_conversion(const struct pleat_term *term,
                             const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_request *request = experiment->request;
    const struct pleat_sim_run *first = &experiment->runs[0];
    struct pleat_string text = {0};
    if (pleat_sim_request_most_malleable(request) <= 0 && request->moldable <= 0)
        return;
    if (request->malleable_count > 1) {
        for (size_t i = 0; i < request->malleable_count; i++)
            pleat_string_addf(&text, "%s%g %%", i ? ", " : "", request->malleable[i] * 100);
        pleat_string_add(&text, " of the jobs malleable");
    } else {
        add_count(&text, first->malleable, "malleable");
        add_count(&text, first->moldable, "moldable");
    }
    pleat_string_addf(&text, "%sfrom %g to %g times their size%s",
                      text.length ? ", " : "none: ", request->minimum, request->maximum,
                      experiment->variation == PLEAT_SIM_CONVERSIONS ||
                              experiment->variation == PLEAT_SIM_CONVERSIONS_AND_ESTIMATES
                          ? " (other jobs with each seed)"
                      : experiment->variation == PLEAT_SIM_WORKLOADS && request->malleable_count < 2
                          ? " (of the first workload)"
                          : "");
    line(term, "converted", &text);
    pleat_string_finish(&text);
}

static void print_workload(const struct pleat_term *term,
                           const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_request *request = experiment->request;
    const struct pleat_swf_report *report = &experiment->sources[0].report;
    struct pleat_string text = {0};
    if (experiment->source_count > 1)
        pleat_string_addf(&text, "%zu workloads, %s and others", experiment->source_count,
                          experiment->sources[0].name);
    else
        pleat_string_addf(&text, "%s, %zu jobs", experiment->sources[0].name,
                          experiment->sources[0].workload.jobs.count);
    if (request->load != 1)
        pleat_string_addf(&text, ", arrivals %g times as dense", request->load);
    line(term, "workload", &text);
    if (pleat_sim_cuts(request))
        print_cuts(term, experiment);
    if (experiment->source_count > 1) { /* what is odd about each workload is in --json */
        pleat_string_finish(&text);
        print_conversion(term, experiment);
        return;
    }
    bool zero_skipped = request->zero == PLEAT_SWF_ZERO_SKIP;
    add_count(&text, report->no_run_time - (zero_skipped ? report->zero_run_time : 0),
              "without a run time");
    add_count(&text, zero_skipped ? report->zero_run_time : 0, "with run time 0");
    add_count(&text, report->no_size, "without a size");
    add_count(&text, report->no_submit, "without a submit time");
    add_count(&text, report->bursts, "parts of other lines' jobs");
    if (text.length)
        line(term, "left out", &text);
    if (request->popular.wanted)
        pleat_string_addf(&text, "popular values (Tsafrir, Etsion and Feitelson 2005)%s",
                          request->seeds > 1 ? ", others with each seed" : "");
    else if (request->estimates == PLEAT_ESTIMATES_EXACT)
        pleat_string_add(&text, "the run times");
    else if (report->missing_estimate > 0)
        pleat_string_addf(&text, "the log's, and the run times of %zu job%s without one",
                          report->missing_estimate, report->missing_estimate == 1 ? "" : "s");
    if (request->kill_at_estimate)
        pleat_string_addf(&text, "%s; jobs that run longer are ended",
                          text.length ? "" : "the log's");
    if (text.length)
        line(term, "estimates", &text);
    if (request->noise > 0) {
        pleat_string_addf(&text,
                          "iterations differ by %g %% of their mean, of which policies that want "
                          "to know it are told",
                          100 * request->noise);
        line(term, "noise", &text);
    }
    pleat_string_finish(&text);
    print_conversion(term, experiment);
}

static void print_sites(const struct pleat_term *term,
                        const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    const struct pleat_sim_sites *sites = &experiment->request->platform.sites;
    for (size_t i = 0; i < sites->count && i < 8; i++) {
        int64_t processors = (int64_t)sites->items[i].nodes * sites->items[i].slots;
        pleat_string_addf(&text, "%s%s with %" PRId64 " processor%s", i > 0 ? ", " : "",
                          sites->items[i].name, processors, processors == 1 ? "" : "s");
    }
    if (sites->count > 8)
        pleat_string_addf(&text, ", and %zu more", sites->count - 8);
    if (experiment->machine_from)
        pleat_string_addf(&text, " (%s)", experiment->machine_from);
    line(term, "sites", &text);
    pleat_string_finish(&text);
}

/* Prints the policies of questions for which all runs have the same. */
static void print_policies(const struct pleat_term *term,
                           const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    const struct pleat_sim_combinations *all = &experiment->request->combinations;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        bool same = true;
        for (size_t i = 1; i < all->count; i++)
            same = same && all->items[i].policies[q] == all->items[0].policies[q];
        /* Components with buffers are rare, and so are those that ask: where these questions have
         * their default policy nothing is printed. */
        bool usual = q >= PLEAT_BUFFER &&
                     all->items[0].policies[q] == pleat_policy_default((enum pleat_question)q);
        if (same && !usual)
            pleat_string_addf(&text, "%s%s %s", text.length ? ", " : "",
                              pleat_question_name((enum pleat_question)q),
                              all->items[0].policies[q]->name);
    }
    line(term, "policies", &text);
    pleat_string_finish(&text);
}

/* ---- one run ---- */

static void print_fates(const struct pleat_term *term, const struct pleat_sim_run *run)
{
    static const char *const words[] = {
        [PLEAT_SIM_DONE] = "done",
        [PLEAT_SIM_SKIPPED] = "skipped (larger than every site)",
        [PLEAT_SIM_REJECTED] = "rejected (a reservation that cannot be kept)",
        [PLEAT_SIM_FAILED] = "failed",
        [PLEAT_SIM_KILLED] = "killed at their estimate",
        [PLEAT_SIM_LEFT] = "left: they could not start or end any more"};
    struct pleat_string text = {0};
    for (int fate = 0; fate <= PLEAT_SIM_LEFT; fate++)
        add_count(&text, run->totals.fates[fate], words[fate]);
    line(term, "jobs", &text);
    pleat_string_finish(&text);
}

static int print_distributions(const struct pleat_sim_run *run)
{
    static const struct pleat_column columns[] = {{"", PLEAT_COLUMN_TEXT},
                                                  {"MEAN", PLEAT_COLUMN_NUMBER},
                                                  {"MEDIAN", PLEAT_COLUMN_NUMBER},
                                                  {"95 %", PLEAT_COLUMN_NUMBER},
                                                  {"MOST", PLEAT_COLUMN_NUMBER}};
    const struct {
        const char *name;
        const struct pleat_summary *summary;
        enum pleat_sim_unit unit;
    } rows[] = {{"wait", &run->wait_s, PLEAT_SIM_SECONDS},
                {"response", &run->response_s, PLEAT_SIM_SECONDS},
                {"bounded slowdown", &run->slowdown, PLEAT_SIM_RATIO}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct pleat_summary *summary = rows[i].summary;
        const double values[] = {summary->mean, summary->median, summary->p95, summary->most};
        char cell[CELL_SIZE];
        pleat_table_row(table);
        pleat_table_set(table, 0, rows[i].name);
        for (size_t v = 0; v < 4; v++) {
            pleat_sim_value_text(rows[i].unit, summary->count ? values[v] : (double)NAN, cell,
                                 sizeof(cell));
            pleat_table_set(table, v + 1, cell);
        }
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* Lines that every simulation has: how long, how full, how often resized. */
static void print_use(const struct pleat_term *term, const struct pleat_sim_run *run)
{
    struct pleat_string text = {0};
    char span[PLEAT_TIME_SIZE];
    const struct pleat_sim_totals *totals = &run->totals;
    pleat_string_addf(&text, "%s (%.0f s)", pleat_time_span(run->makespan_s, span),
                      run->makespan_s);
    line(term, "makespan", &text);
    if (isfinite(run->utilization))
        pleat_string_addf(&text, "%.1f %%", run->utilization * 100);
    else
        pleat_string_add(&text, "not known of a part of the time where sites change;");
    pleat_string_addf(&text, " of the processors in use%s",
                      totals->background_us > 0 ? ", apart from those of local users" : "");
    line(term, "utilization", &text);
    pleat_string_addf(&text, "%" PRIu64 " grown, %" PRIu64 " shrunk", totals->grows,
                      totals->shrinks);
    if (run->stood_s > 0)
        pleat_string_addf(&text, ", %s standing still for it (%.0f processor-seconds)",
                          pleat_time_span(run->stood_s, span), totals->stood_us / 1e6);
    line(term, "resizes", &text);
    pleat_string_finish(&text);
}

/* Lines about what applications asked for, where any did. */
static void print_asked(const struct pleat_term *term, const struct pleat_sim_totals *totals)
{
    struct pleat_string text = {0};
    char span[PLEAT_TIME_SIZE];
    if (totals->requests > 0) {
        pleat_string_addf(&text,
                          "%" PRIu64 " asked for, %" PRIu64 " satisfied at once (%.1f %%), %.0f "
                          "processor-seconds prepared and waiting",
                          totals->requests, totals->satisfied,
                          100 * (double)totals->satisfied / (double)totals->requests,
                          totals->prepared_us / 1e6);
        line(term, "processes", &text);
    }
    if (totals->asks + totals->gifts > 0) {
        pleat_string_addf(&text,
                          "%" PRIu64 " for more processors: %" PRIu64 " granted, %" PRIu64
                          " in part, %" PRIu64 " refused; %s standing still for want of them; "
                          "%" PRIu64 " to give some back",
                          totals->asks, totals->asks_granted, totals->asks_partly,
                          totals->asks_refused, pleat_time_span(totals->lacked_us / 1e6, span),
                          totals->gifts);
        line(term, "asks", &text);
    }
    pleat_string_finish(&text);
}

/* Lines about what only some simulations have. */
static void print_special(const struct pleat_term *term, const struct pleat_sim_totals *totals)
{
    struct pleat_string text = {0};
    char span[PLEAT_TIME_SIZE];
    if (totals->wasted_us > 0) {
        pleat_string_addf(&text, "%.0f processor-seconds held by components that waited",
                          totals->wasted_us / 1e6);
        line(term, "barrier", &text);
    }
    print_asked(term, totals);
    if (totals->sections > 0) {
        pleat_string_addf(&text,
                          "%" PRIu64 " in which sizes must not change; %" PRIu64
                          " changes taken back for one",
                          totals->sections, totals->put_off);
        line(term, "sections", &text);
    }
    if (totals->allocations > 0) {
        pleat_string_addf(
            &text,
            "%" PRIu64 " allocations, each %s in the queue of its site on average; %" PRIu64
            " taken away at the end of their limit",
            totals->allocations,
            pleat_time_span(totals->queued_us / 1e6 / (double)totals->allocations, span),
            totals->expired);
        line(term, "queues", &text);
    }
    pleat_string_finish(&text);
}

static void print_totals(const struct pleat_term *term, const struct pleat_sim_run *run,
                         bool written)
{
    struct pleat_string text = {0};
    char span[PLEAT_TIME_SIZE];
    size_t jobs = 0;
    for (int fate = 0; fate <= PLEAT_SIM_LEFT; fate++)
        jobs += fate == PLEAT_SIM_SKIPPED ? 0 : run->totals.fates[fate];
    print_use(term, run);
    print_special(term, &run->totals);
    pleat_string_addf(&text, "simulated%s in %s", written ? ", and every resize written," : "",
                      pleat_time_span(run->elapsed_s, span));
    if (run->elapsed_s > 0)
        pleat_string_addf(&text, ", %.0f jobs/s", (double)jobs / run->elapsed_s);
    line(term, "speed", &text);
    pleat_string_finish(&text);
}

/* ---- several ---- */

static void print_notes(const struct pleat_term *term,
                        const struct pleat_sim_experiment *experiment)
{
    struct pleat_string text = {0};
    double elapsed_s = 0;
    size_t most[PLEAT_SIM_LEFT + 1] = {0}, jobs = 0;
    char span[PLEAT_TIME_SIZE];
    for (size_t i = 0; i < experiment->run_count; i++) {
        const struct pleat_sim_run *run = &experiment->runs[i];
        elapsed_s += run->elapsed_s;
        jobs += run->jobs - run->totals.fates[PLEAT_SIM_SKIPPED];
        for (int fate = PLEAT_SIM_DONE + 1; fate <= PLEAT_SIM_LEFT; fate++)
            most[fate] =
                run->totals.fates[fate] > most[fate] ? run->totals.fates[fate] : most[fate];
    }
    for (int fate = PLEAT_SIM_DONE + 1; fate <= PLEAT_SIM_LEFT; fate++)
        add_count(&text, most[fate], pleat_sim_fate_name((enum pleat_sim_fate)fate));
    if (text.length) {
        pleat_string_add(&text, " (in the run with most)");
        line(term, "jobs", &text);
    }
    pleat_string_addf(&text, "%zu runs, simulated in %s of processor time", experiment->run_count,
                      pleat_time_span(elapsed_s, span));
    if (elapsed_s > 0)
        pleat_string_addf(&text, ", %.0f jobs/s on each", (double)jobs / elapsed_s);
    line(term, "speed", &text);
    pleat_string_finish(&text);
}

/* Prints what differs between the seeds: the intervals are about that. */
static void print_seeds(const struct pleat_term *term,
                        const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_request *request = experiment->request;
    static const char *const about[] = {
        [PLEAT_SIM_SAME_JOBS] = "what sites and applications draw",
        [PLEAT_SIM_CONVERSIONS] = "which jobs are converted",
        [PLEAT_SIM_ESTIMATES] = "what their users estimate",
        [PLEAT_SIM_CONVERSIONS_AND_ESTIMATES] =
            "which jobs are converted and what their users estimate"};
    const char *sign = term->utf8 ? "\u00b1" : "+-";
    struct pleat_string text = {0};
    size_t differ = 0;
    for (size_t i = 0; i < request->combinations.count; i++)
        differ += pleat_sim_seeds_differ(experiment, i);
    if (experiment->source_count > 1)
        pleat_string_addf(&text, "from %" PRIu64 " on, one for each workload", request->seed);
    else
        pleat_string_addf(&text, "%zu, from %" PRIu64 " on", request->seeds, request->seed);
    if (differ == 0 && experiment->variation == PLEAT_SIM_ESTIMATES)
        pleat_string_addf(&text,
                          ", and all gave the same: only %s is drawn, and changes nothing "
                          "here, so there are no intervals",
                          about[experiment->variation]);
    else if (differ == 0)
        pleat_string_add(&text,
                         ", and all gave the same: nothing in this is drawn at random, so there "
                         "are no intervals. --generate MODEL, or several at --workload, vary "
                         "the workload");
    else if (experiment->variation == PLEAT_SIM_WORKLOADS)
        pleat_string_addf(&text,
                          ", each with another workload: means %s half of the 95 %% confidence "
                          "interval",
                          sign);
    else
        pleat_string_addf(&text,
                          ": means %s half of the 95 %% confidence interval. The %s the "
                          "same in all, so this is only about %s; --generate MODEL, or several "
                          "at --workload, vary the workload",
                          sign,
                          experiment->variation < PLEAT_SIM_ESTIMATES ? "workload is" : "jobs are",
                          about[experiment->variation]);
    if (differ > 0)
        pleat_string_addf(&text, ". A value without %s is the same in all runs", sign);
    line(term, "seeds", &text);
    pleat_string_finish(&text);
}

static void print_feedback(const struct pleat_term *term,
                           const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_totals *totals = &experiment->runs[0].totals;
    struct pleat_string text = {0};
    if (!experiment->request->feedback)
        return;
    pleat_string_addf(&text, "%zu job%s submitted after the one before, with think times",
                      totals->followers, totals->followers == 1 ? "" : "s");
    if (totals->followers == 0)
        pleat_string_add(&text, ": none names one that is there (column 17)");
    if (totals->lost > 0)
        pleat_string_addf(&text, "; %zu name%s one that is not there: submitted as recorded",
                          totals->lost, totals->lost == 1 ? "s" : "");
    line(term, "feedback", &text);
    pleat_string_finish(&text);
}

/* Prints the work, where it is not the workload's: on other sizes jobs take other processor time,
 * which changes the load. */
static void print_work(const struct pleat_term *term, const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_request *request = experiment->request;
    struct pleat_string text = {0};
    double least = INFINITY, most = 0, sparse = INFINITY, dense = 0;
    bool converted = pleat_sim_request_most_malleable(request) > 0 || request->moldable > 0;
    for (size_t i = 0; i < experiment->run_count; i++) {
        const struct pleat_sim_run *run = &experiment->runs[i];
        double work = run->work_s > 0 ? run->totals.busy_us / 1e6 / run->work_s : 1;
        work *= run->arrivals;
        least = fmin(least, work);
        most = fmax(most, work);
        sparse = fmin(sparse, run->arrivals);
        dense = fmax(dense, run->arrivals);
    }
    if (request->hold_load) {
        pleat_string_addf(&text,
                          "held: arrivals %.3f to %.3f times as dense, so that jobs on the sizes "
                          "that they got took %.1f to %.1f %% of the workload's processor time, in "
                          "the same time",
                          sparse, dense, least * 100, most * 100);
        line(term, "load", &text);
    } else if (converted && (least < 0.995 || most > 1.005)) {
        pleat_string_addf(&text, "not the workload's: on the sizes that they got, jobs took %.0f",
                          least * 100);
        if (most - least >= 0.005)
            pleat_string_addf(&text, " to %.0f", most * 100);
        pleat_string_add(&text, " % of the processor time that they take at their own. --hold-load "
                                "makes arrivals denser by that");
        line(term, "load", &text);
    }
    bool none = false;
    for (size_t i = 0; i < request->combinations.count; i++)
        none = none ||
               (request->combinations.items[i].malleable > 0 &&
                !strcmp(request->combinations.items[i].policies[PLEAT_MALLEABILITY]->name, "none"));
    if (none) {
        pleat_string_add(&text,
                         "with malleability none, too, converted jobs choose a size when they "
                         "start: --malleable 0 is the rigid workload");
        line(term, "none", &text);
    }
    pleat_string_finish(&text);
}

int pleat_sim_print(const struct pleat_sim_experiment *experiment)
{
    struct pleat_term term;
    pleat_term_init(&term);
    print_workload(&term, experiment);
    print_sites(&term, experiment);
    print_policies(&term, experiment);
    print_feedback(&term, experiment);
    if (experiment->run_count == 1) {
        print_fates(&term, &experiment->runs[0]);
        putchar('\n');
        int code = print_distributions(&experiment->runs[0]);
        putchar('\n');
        print_totals(&term, &experiment->runs[0], experiment->request->csv);
        print_work(&term, experiment);
        return code;
    }
    if (experiment->request->seeds > 1)
        print_seeds(&term, experiment);
    putchar('\n');
    int code = pleat_sim_compare(&term, experiment);
    putchar('\n');
    print_work(&term, experiment);
    print_notes(&term, experiment);
    return code;
}

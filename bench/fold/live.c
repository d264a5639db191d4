#include "live.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "steady.h"

#define LIMIT_S 240.0
#define WARM "warm" /* the daemon starts its agent for the first job */
#define WARM_S 0.3
#define SAME_S 1e-3 /* changes of a job's claims that are one change of its size */
#define WORDS 24
#define WORD 64

/* ---- giving it to pleat mix ---- */

/* "queue=fcfs moldability=psa" as options of `pleat mix`. */
static void compose_policies(const char *policies, char texts[WORDS][WORD],
                             const char *options[WORDS])
{
    int count = 0;
    for (const char *at = policies + strspn(policies, " "); *at && count < WORDS - 1;
         at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        snprintf(texts[count], WORD, "--%.*s", (int)length, at);
        options[count] = texts[count];
        count++;
        at += length;
    }
    options[count] = NULL;
}

/* counts: files into which each rank of a job writes a line; or -1. */
static void compose_jobs(struct pleat_string *text, const struct live_mix *mix, const int *counts)
{
    pleat_string_addf(text, "0 " WARM " -n 1 -- /bin/true\n");
    for (int i = 0; i < mix->count; i++) {
        pleat_string_addf(text, "%.4f %s %s", WARM_S + mix->jobs[i].at_s, mix->jobs[i].name,
                          mix->jobs[i].line);
        if (counts[i] >= 0)
            pleat_string_addf(text, " --times /proc/%d/fd/%d", (int)getpid(), counts[i]);
        pleat_string_add(text, "\n");
    }
}

static void open_counts(const struct live_mix *mix, int *counts)
{
    for (int i = 0; i < mix->count; i++) {
        counts[i] = mix->counted ? memfd_create("ranks", MFD_CLOEXEC) : -1;
        if (mix->counted && counts[i] < 0)
            trial_give_up(mix->name, strerror(errno));
    }
}

/* ---- what came of it ---- */

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static int whole(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

static bool is(const json_t *object, const char *name, const char *text)
{
    const char *has = json_string_value(json_object_get(object, name));
    return has && !strcmp(has, text);
}

static void add_piece(struct live_outcome *outcome, double at_s, int processors, const char *what)
{
    if (outcome->piece_count == LIVE_PIECES_MAX)
        trial_give_up(what, "a job has changed its size too often");
    outcome->pieces[outcome->piece_count++] = (struct live_piece){at_s, processors};
}

struct edge { /* a job gets processors, or has some fewer */
    double at_s;
    int by;
};

PLEAT_ARRAY(edges, struct edge);

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

/* When a job ran on how many processors, from the intervals of its claims. A job that was aborted
 * ran more than once. */
static void take_pieces(const json_t *chart, json_int_t job, double origin_s, const char *what,
                        struct live_outcome *outcome)
{
    struct edges edges = {0};
    size_t i;
    json_t *interval;
    double from_s = number(chart, "origin_s") - origin_s;
    int size = 0;
    json_array_foreach(json_object_get(chart, "intervals"), i, interval)
    {
        if (json_integer_value(json_object_get(interval, "job")) != job ||
            !is(interval, "use", "run"))
            continue;
        int count = whole(interval, "count");
        if (pleat_array_push(&edges, ((struct edge){from_s + number(interval, "from_s"), count})) ||
            pleat_array_push(&edges, ((struct edge){from_s + number(interval, "to_s"), -count})))
            trial_give_up(what, "no memory");
    }
    if (edges.count > 0)
        qsort(edges.items, edges.count, sizeof(*edges.items), by_time);
    for (i = 0; i < edges.count; i++) {
        int before = size;
        size += edges.items[i].by;
        if (i + 1 < edges.count && edges.items[i + 1].at_s - edges.items[i].at_s < SAME_S) {
            edges.items[i + 1].by += edges.items[i].by;
            size = before;
            continue;
        }
        outcome->starts += before == 0 && size > 0;
        add_piece(outcome, edges.items[i].at_s, size, what);
    }
    pleat_array_finish(&edges);
}

static int count_lines(int fd)
{
    char text[4096];
    int lines = 0;
    ssize_t got = pread(fd, text, sizeof(text), 0);
    for (ssize_t i = 0; i < got; i++)
        lines += text[i] == '\n';
    return lines;
}

static void add_growth(struct live_growths *growths, int by, double took_s)
{
    growths->count++;
    growths->more += by - 1;
    growths->more_squared += (by - 1.0) * (by - 1.0);
    growths->took_s += took_s;
    growths->more_took += (by - 1) * took_s;
}

/* What each of a job's changes of size took: a part of its history. */
static void take_changes(const json_t *job, struct live_outcome *outcome)
{
    size_t i;
    json_t *resize;
    json_array_foreach(json_object_get(json_object_get(job, "history"), "resizes"), i, resize)
    {
        double took_s = number(resize, "end_s") - number(resize, "begun_s");
        double total_s = number(resize, "total_s");
        double other_s = fmax(0, took_s - number(resize, "wait_s") - total_s);
        if (is(resize, "outcome", "grown")) {
            add_growth(&outcome->growths, whole(resize, "to") - whole(resize, "from"), total_s);
            outcome->before_s += other_s;
        } else if (is(resize, "outcome", "shrunk")) {
            outcome->shrink_s += total_s;
            outcome->free_s += other_s;
        }
    }
}

/* The jobs are those of the mix, in its order, behind the one that warms up. */
static void take_jobs(const json_t *report, const struct live_mix *mix, const int *counts,
                      struct live_outcome *outcomes)
{
    const json_t *jobs = json_object_get(report, "jobs"), *chart = json_object_get(report, "chart");
    double origin_s = INFINITY;
    if (json_array_size(jobs) != (size_t)mix->count + 1)
        trial_give_up(mix->name, "what pleat mix says of its jobs is not understood");
    for (int i = 0; i < mix->count; i++) {
        json_t *job = json_array_get(jobs, (size_t)i + 1);
        if (!is(job, "result", "ok") || !is(job, "name", mix->jobs[i].name))
            trial_give_up("a job of a mix failed", json_dumps(job, 0));
        origin_s = fmin(origin_s, number(job, "submit_s"));
    }
    for (int i = 0; i < mix->count; i++) {
        const json_t *job = json_array_get(jobs, (size_t)i + 1);
        outcomes[i] = (struct live_outcome){.submit_s = number(job, "submit_s") - origin_s,
                                            .start_s = number(job, "start_s") - origin_s,
                                            .end_s = number(job, "end_s") - origin_s,
                                            .grown = whole(job, "grown"),
                                            .shrunk = whole(job, "shrunk"),
                                            .resize_s = number(job, "resize_s")};
        take_changes(job, &outcomes[i]);
        take_pieces(chart, json_integer_value(json_object_get(job, "job")), origin_s, mix->name,
                    &outcomes[i]);
        if (counts[i] >= 0) {
            outcomes[i].processes = count_lines(counts[i]);
            close(counts[i]);
        }
        if (outcomes[i].starts < 1 || (mix->counted && outcomes[i].processes < 1))
            trial_give_up(mix->name,
                          "of a job is not known when it ran, or with how many processes");
    }
}

static double run_once(const struct live_mix *mix, struct live_outcome *outcomes)
{
    static struct trial_result result;
    char texts[WORDS][WORD];
    const char *options[WORDS];
    struct pleat_string jobs = {0};
    json_error_t error;
    int counts[LIVE_JOBS_MAX];
    compose_policies(mix->policies, texts, options);
    open_counts(mix, counts);
    compose_jobs(&jobs, mix, counts);
    if (jobs.failed)
        trial_give_up(mix->name, "no memory");
    const struct trial_setup setup = {.mpi = mix->mpi,
                                      .way = TRIAL_MIX,
                                      .cpus = mix->cpus,
                                      .site = mix->config,
                                      .mix = jobs.text,
                                      .options = options,
                                      .limit_s = LIMIT_S};
    double others = trial_once(&setup, &result); /* again: with other files to count in */
    if (result.outcome != TRIAL_DONE)
        trial_give_up(mix->name, "the mix takes too long");
    json_t *report = json_loads(result.report, 0, &error);
    if (!report)
        trial_give_up(mix->name, error.text);
    take_jobs(report, mix, counts, outcomes);
    json_decref(report);
    trial_release(&result);
    pleat_string_finish(&jobs);
    return others;
}

double live_run(const struct live_mix *mix, struct live_outcome *outcomes)
{
    double others;
    int again = 0;
    do {
        steady_begin();
        others = run_once(mix, outcomes);
    } while (steady_again(mix->name, &again));
    return others;
}

/* ---- the same of a simulation ---- */

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

void live_of_trial(const struct pleat_trial *trial, const char *name, struct live_outcome *outcomes)
{
    int64_t origin_us = trial->totals.begin_us;
    for (size_t i = 0; i < trial->workload->jobs.count; i++) {
        const struct pleat_sim_outcome *of = &trial->outcomes[i];
        if (of->fate != PLEAT_SIM_DONE)
            trial_give_up(name, "a simulated job does not end");
        outcomes[i] = (struct live_outcome){.submit_s = seconds(of->submit_us - origin_us),
                                            .start_s = seconds(of->start_us - origin_us),
                                            .end_s = seconds(of->end_us - origin_us),
                                            .starts = of->restarts + 1,
                                            .grown = (int)of->grown,
                                            .shrunk = (int)of->shrunk};
    }
    for (size_t i = 0; i < trial->changes.count; i++) {
        const struct pleat_sim_change *change = &trial->changes.items[i];
        struct live_outcome *outcome = &outcomes[change->job];
        add_piece(outcome, seconds(change->time_us - origin_us), change->to, name);
        outcome->resize_s += seconds(change->stood_us);
        if (change->from > 0 && change->to > change->from)
            add_growth(&outcome->growths, change->to - change->from, seconds(change->stood_us));
        else if (change->to > 0 && change->to < change->from)
            outcome->shrink_s += seconds(change->stood_us);
        if (change->from == 0)
            outcome->processes = change->processes;
    }
}

int live_add_changes(struct pleat_workload *workload, struct pleat_app *app,
                     struct live_changes changes, int most)
{
    app->cost.first = (uint32_t)workload->costs.count;
    for (int from = 1; from <= most; from++)
        for (int to = 1; to <= most; to++) {
            double took_s =
                to > from ? changes.grow_s + changes.more_s * (to - from - 1) : changes.shrink_s;
            struct pleat_cost_row row = {from, to, llround(took_s * 1e6)};
            if (to == from)
                continue;
            if (pleat_array_push(&workload->costs, row))
                return PLEAT_E_NOMEM;
            app->cost.count++;
        }
    return 0;
}

void live_delay_changes(struct pleat_sim_site *site, struct live_changes changes)
{
    site->grow.mean_us = llround(changes.before_s * 1e6);
    site->release.mean_us = llround(changes.free_s * 1e6);
}

/* ---- of a job ---- */

double live_response_s(const struct live_outcome *outcome)
{
    return outcome->end_s - outcome->submit_s;
}

double live_wait_s(const struct live_outcome *outcome)
{
    return outcome->start_s - outcome->submit_s;
}

double live_run_s(const struct live_outcome *outcome)
{
    return outcome->end_s - outcome->start_s;
}

/* From a time on. */
static double processor_s(const struct live_outcome *outcome, double from_s)
{
    double sum = 0;
    for (int i = 0; i < outcome->piece_count; i++) {
        double until_s =
            i + 1 < outcome->piece_count ? outcome->pieces[i + 1].at_s : outcome->end_s;
        double span = fmin(until_s, outcome->end_s) - fmax(outcome->pieces[i].at_s, from_s);
        sum += fmax(0, span) * outcome->pieces[i].processors;
    }
    return sum;
}

double live_processor_s(const struct live_outcome *outcome)
{
    return processor_s(outcome, -INFINITY);
}

double live_average(const struct live_outcome *outcome)
{
    return processor_s(outcome, outcome->start_s) / live_run_s(outcome);
}

int live_largest(const struct live_outcome *outcome)
{
    int largest = 0;
    for (int i = 0; i < outcome->piece_count; i++)
        if (outcome->pieces[i].processors > largest)
            largest = outcome->pieces[i].processors;
    return largest;
}

/* ---- of all ---- */

double live_makespan_s(const struct live_outcome *outcomes, int count)
{
    double first = INFINITY, last = 0;
    for (int i = 0; i < count; i++) {
        first = fmin(first, outcomes[i].submit_s);
        last = fmax(last, outcomes[i].end_s);
    }
    return last - first;
}

double live_utilization(const struct live_outcome *outcomes, int count, int processors)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += live_processor_s(&outcomes[i]);
    return sum / processors / live_makespan_s(outcomes, count);
}

bool live_is_between(const struct bench_series *live, const struct bench_series *least,
                     const struct bench_series *most, double alike)
{
    int within = 0;
    for (int i = 0; i < live->count; i++)
        within += live->values[i] >= least->values[i] / (1 + alike) &&
                  live->values[i] <= most->values[i] * (1 + alike);
    return 2 * within > live->count;
}

struct live_changes live_changes(const struct live_outcome *outcomes, int count,
                                 struct live_changes otherwise)
{
    struct live_changes changes = otherwise;
    struct live_growths all = {0};
    double shrink_s = 0, free_s = 0, before_s = 0;
    int shrunk = 0;
    for (int i = 0; i < count; i++) {
        const struct live_growths *of = &outcomes[i].growths;
        all.count += of->count;
        all.more += of->more;
        all.more_squared += of->more_squared;
        all.took_s += of->took_s;
        all.more_took += of->more_took;
        shrunk += outcomes[i].shrunk;
        shrink_s += outcomes[i].shrink_s;
        free_s += outcomes[i].free_s;
        before_s += outcomes[i].before_s;
    }
    if (all.count > 0) {
        changes.before_s = before_s / all.count;
        double spread = all.count * all.more_squared - all.more * all.more;
        changes.more_s = spread > 1e-9
                             ? fmax(0, (all.count * all.more_took - all.more * all.took_s) / spread)
                             : 0;
        changes.grow_s = fmax(0, (all.took_s - changes.more_s * all.more) / all.count);
    }
    if (shrunk > 0) {
        changes.shrink_s = shrink_s / shrunk;
        changes.free_s = free_s / shrunk;
    }
    return changes;
}

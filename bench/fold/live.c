#include "live.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_S 240.0
#define WARM "warm" /* the daemon starts its agent for the first job */
#define WARM_S 0.3
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

static void compose_jobs(struct pleat_string *text, const struct live_mix *mix)
{
    pleat_string_addf(text, "0 " WARM " -n 1 -- /bin/true\n");
    for (int i = 0; i < mix->count; i++)
        pleat_string_addf(text, "%.4f %s %s\n", WARM_S + mix->jobs[i].at_s, mix->jobs[i].name,
                          mix->jobs[i].line);
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

static void take_job(const json_t *job, double origin_s, const char *what,
                     struct live_outcome *outcome)
{
    size_t i;
    json_t *size;
    *outcome = (struct live_outcome){.submit_s = number(job, "submit_s") - origin_s,
                                     .start_s = number(job, "start_s") - origin_s,
                                     .end_s = number(job, "end_s") - origin_s,
                                     .starts = whole(job, "attempt") + 1, /* which counts from 0 */
                                     .processes = whole(job, "processes"),
                                     .grown = whole(job, "grown"),
                                     .shrunk = whole(job, "shrunk"),
                                     .resize_s = number(job, "resize_s")};
    json_array_foreach(json_object_get(json_object_get(job, "history"), "sizes"), i, size)
    {
        add_piece(outcome, number(size, "time_s") - origin_s, whole(size, "processors"), what);
    }
}

/* The jobs are those of the mix, in its order, behind the one that warms up. */
static void take_jobs(const json_t *jobs, const struct live_mix *mix, struct live_outcome *outcomes)
{
    if (json_array_size(jobs) != (size_t)mix->count + 1)
        trial_give_up(mix->name, "what pleat mix says of its jobs is not understood");
    double origin_s = INFINITY;
    for (int i = 0; i < mix->count; i++) {
        json_t *job = json_array_get(jobs, (size_t)i + 1);
        if (!is(job, "result", "ok") || !is(job, "name", mix->jobs[i].name))
            trial_give_up("a job of a mix failed", json_dumps(job, 0));
        origin_s = fmin(origin_s, number(job, "submit_s"));
    }
    for (int i = 0; i < mix->count; i++)
        take_job(json_array_get(jobs, (size_t)i + 1), origin_s, mix->name, &outcomes[i]);
}

double live_run(const struct live_mix *mix, struct live_outcome *outcomes)
{
    static struct trial_result result;
    char texts[WORDS][WORD];
    const char *options[WORDS];
    struct pleat_string jobs = {0};
    json_error_t error;
    compose_policies(mix->policies, texts, options);
    compose_jobs(&jobs, mix);
    if (jobs.failed)
        trial_give_up(mix->name, "no memory");
    const struct trial_setup setup = {.mpi = mix->mpi,
                                      .way = TRIAL_MIX,
                                      .cpus = mix->cpus,
                                      .site = mix->config,
                                      .mix = jobs.text,
                                      .options = options,
                                      .limit_s = LIMIT_S};
    double others = trial_run(&setup, &result);
    if (result.outcome != TRIAL_DONE)
        trial_give_up(mix->name, "the mix takes too long");
    json_t *report = json_loads(result.report, 0, &error);
    if (!report)
        trial_give_up(mix->name, error.text);
    take_jobs(json_object_get(report, "jobs"), mix, outcomes);
    json_decref(report);
    trial_release(&result);
    pleat_string_finish(&jobs);
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
        if (change->from == 0)
            outcome->processes = change->processes;
    }
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

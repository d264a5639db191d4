/* generate_lublin.c - the model of Lublin and Feitelson 2003 ("The workload on parallel
 * supercomputers: modeling the characteristics of rigid jobs", Journal of Parallel and Distributed
 * Computing 63). The parameters, the limits and the way in which the daily cycle is applied are
 * those of the authors' program in the Parallel Workloads Archive (lublin99). */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "workload/generate-internal.h"

enum {
    SLOTS = 48, /* half hours of a day */
    SLOT_S = 86400 / SLOTS,
    FIRST_SLOT = 11, /* where the gamma distribution of arrivals over the day begins */
};
#define LOG_RUN_MAX 12.0 /* no run time above exp(12) s, about 45 hours */
#define LOG_GAP_MAX 13.0 /* no gap above exp(13) s, about 5 days */
/* the break of the distribution of sizes is this much below the largest (log2) */
#define BREAK_BELOW 2.5

struct parameters {
    double serial, power; /* shares of jobs */
    /* log2 of sizes: the least; by how much the largest is below the machine; the share of the
     * lower part */
    double low, below, first;
    double a1, b1, a2, b2, pa, pb; /* a hyper-gamma distribution of the logarithm of run times */
    /* a gamma distribution of the logarithm of gaps in rush hours; ratio: that of all gaps to these
     */
    double gap_a, gap_b, ratio;
    double day_a, day_b; /* a gamma distribution of arrivals over the day, in slots */
};

static const struct parameters published[] = {
    [PLEAT_LUBLIN_BATCH] = {0.2927, 0.6686, 1.2, 0, 0.875, 6.57, 0.823, 639.1, 0.0156, -0.003,
                            0.6986, 6.0415, 0.8531, 1.0519, 6.1271, 5.2740},
    [PLEAT_LUBLIN_INTERACTIVE] = {0.1541, 0.625, 1, 1.5, 0.705, 3.8351, 0.6605, 7.073, 0.6856,
                                  -0.0118, 0.9156, 6.5510, 0.6621, 0.9797, 8.9186, 3.6680},
    [PLEAT_LUBLIN_TOGETHER] = {0.244, 0.576, 0.8, 0, 0.86, 4.2, 0.94, 312, 0.03, -0.0054, 0.78,
                               10.2303, 0.4871, 1.0225, 8.1737, 3.9631},
};

static const char *const class_names[] = {
    [PLEAT_LUBLIN_BATCH] = "batch",
    [PLEAT_LUBLIN_INTERACTIVE] = "interactive",
    [PLEAT_LUBLIN_BOTH] = "both",
    [PLEAT_LUBLIN_TOGETHER] = "together",
};

const char *pleat_lublin_class_name(enum pleat_lublin_class kind)
{
    return (unsigned)kind < PLEAT_LUBLIN_CLASS_COUNT ? class_names[kind] : NULL;
}

enum { GAPS, SIZES, RUNS, STREAMS };
enum { ESTIMATES = 2 * STREAMS }; /* the stream after those of both sources */

/* One of the classes that jobs come from. */
struct source {
    const struct parameters *p;
    int32_t machine, user;
    double middle, high; /* log2 of sizes: the break; the largest */
    double slots[SLOTS]; /* weights of the slots of a day, with mean 1 */
    double credit; /* sum of gaps until the next job, in slots, as if all slots had weight 1 */
    struct pleat_stream *streams[STREAMS];
};

/* ---- arrivals ---- */

static void set_slots(struct source *source)
{
    const struct parameters *p = source->p;
    double sum = 0;
    for (int i = FIRST_SLOT; i < FIRST_SLOT + SLOTS; i++) {
        double weight = gsl_cdf_gamma_P(i + 0.5, p->day_a, p->day_b) -
                        gsl_cdf_gamma_P(i - 0.5, p->day_a, p->day_b);
        source->slots[(i - 1) % SLOTS] = weight;
        sum += weight;
    }
    for (int i = 0; i < SLOTS; i++)
        source->slots[i] *= SLOTS / sum;
}

static void next_gap(struct source *source)
{
    const struct parameters *p = source->p;
    double log_gap;
    do
        log_gap = gsl_ran_gamma(&source->streams[GAPS]->rng, p->gap_a * p->ratio, p->gap_b);
    while (log_gap > LOG_GAP_MAX);
    source->credit += exp(log_gap) / SLOT_S;
}

/* The time in seconds at which a credit is used up: each slot of a day uses its weight of credit.
 */
static double clock_at(const struct source *source, double credit)
{
    double days = floor(credit / SLOTS);
    double rest = credit - days * SLOTS;
    int slot = 0;
    while (slot < SLOTS - 1 && rest > source->slots[slot])
        rest -= source->slots[slot++];
    return days * SLOTS * SLOT_S + (slot + fmin(rest / source->slots[slot], 1)) * SLOT_S;
}

/* ---- jobs ---- */

static int32_t draw_size(struct source *source)
{
    const struct parameters *p = source->p;
    const gsl_rng *rng = &source->streams[SIZES]->rng;
    double kind = gsl_rng_uniform(rng);
    if (kind < p->serial || source->machine == 1)
        return 1;
    double low = fmin(p->low, source->high);
    double logarithm = gsl_rng_uniform(rng) < p->first
                           ? gsl_ran_flat(rng, low, source->middle)
                           : gsl_ran_flat(rng, source->middle, source->high);
    if (kind < p->serial + p->power)
        return pleat_generate_power_below(
            (int32_t)fmin(exp2(floor(logarithm + 0.5)), source->machine));
    return (int32_t)fmin(round(exp2(logarithm)), source->machine);
}

static int64_t draw_run(struct source *source, int32_t size)
{
    const struct parameters *p = source->p;
    const gsl_rng *rng = &source->streams[RUNS]->rng;
    bool first = gsl_rng_uniform(rng) < p->pa * size + p->pb;
    double logarithm;
    do
        logarithm = first ? gsl_ran_gamma(rng, p->a1, p->b1) : gsl_ran_gamma(rng, p->a2, p->b2);
    while (logarithm > LOG_RUN_MAX);
    return (int64_t)exp(logarithm) * 1000000;
}

static int open_source(struct source *source, const struct pleat_lublin_model *model,
                       enum pleat_lublin_class kind, uint32_t number, struct pleat_error *err)
{
    *source = (struct source){.p = &published[kind], .machine = model->machine, .user = -1};
    if (model->kind == PLEAT_LUBLIN_BOTH)
        source->user = kind == PLEAT_LUBLIN_BATCH;
    source->high = fmax(log2(model->machine) - source->p->below, 1);
    source->middle = source->high - BREAK_BELOW;
    /* on a small machine both parts of the distribution remain */
    if (source->middle <= source->p->low)
        source->middle = (fmin(source->p->low, source->high) + source->high) / 2;
    set_slots(source);
    for (uint32_t i = 0; i < STREAMS; i++) {
        source->streams[i] = pleat_generate_stream(model->seed, number * STREAMS + i);
        if (!source->streams[i])
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    next_gap(source);
    return 0;
}

/* ---- load ---- */

/* The first and last arrival of a source's jobs, when all are drawn. */
struct range {
    double first, last; /* in credit; last < first: the source has no jobs */
};

static double span_at(const struct source *sources, const struct range *ranges, int count,
                      double factor)
{
    double first = INFINITY, last = 0;
    for (int i = 0; i < count; i++) {
        if (ranges[i].last < ranges[i].first)
            continue;
        first = fmin(first, clock_at(&sources[i], factor * ranges[i].first));
        last = fmax(last, clock_at(&sources[i], factor * ranges[i].last));
    }
    return last - first;
}

/* Finds the factor of all gaps with which arrivals span `span` seconds. Gaps are scaled instead of
 * the clock, so that a day keeps its 24 hours. */
static double find_factor(const struct source *sources, const struct range *ranges, int count,
                          double span)
{
    double low = 1, high = 1;
    while (span_at(sources, ranges, count, high) < span && high < 1e15)
        high *= 2;
    while (span_at(sources, ranges, count, low) > span && low > 1e-15)
        low /= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (span_at(sources, ranges, count, middle) < span)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- all of it ---- */

static int compare_submission(const void *left, const void *right)
{
    const struct pleat_workload_job *a = left, *b = right;
    if (a->submit_us != b->submit_us)
        return a->submit_us < b->submit_us ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int set_times(const struct pleat_lublin_model *model, const struct source *sources,
                     int count, const double *credit, struct pleat_workload_job *jobs,
                     struct pleat_error *err)
{
    struct range ranges[2] = {{INFINITY, 0}, {INFINITY, 0}};
    double factor = 1, work = 0;
    for (size_t i = 0; i < model->jobs; i++) {
        struct range *range = &ranges[jobs[i].app];
        range->first = fmin(range->first, credit[i]);
        range->last = credit[i];
        work += (double)jobs[i].processors * (double)jobs[i].run_us / 1e6;
    }
    if (model->load > 0)
        factor = find_factor(sources, ranges, count, work / (model->load * model->machine));
    double span = span_at(sources, ranges, count, factor);
    if (!(span <= GENERATE_TIME_MAX_S))
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the arrivals would last %g s, and the limit is %g: take fewer "
                               "jobs or more load",
                               span, GENERATE_TIME_MAX_S);
    for (size_t i = 0; i < model->jobs; i++) {
        const struct source *source = &sources[jobs[i].app];
        jobs[i].submit_us = (int64_t)clock_at(source, factor * credit[i]) * 1000000;
        jobs[i].app = 0;
    }
    qsort(jobs, model->jobs, sizeof(*jobs), compare_submission);
    for (size_t i = 0; i < model->jobs; i++)
        jobs[i].number = (int64_t)i + 1;
    return 0;
}

/* Draws the jobs. Until their times are set, the app of a job is the index of its source. */
static void draw_jobs(const struct pleat_lublin_model *model, struct source *sources, int count,
                      double *credit, struct pleat_workload_job *jobs)
{
    for (size_t i = 0; i < model->jobs; i++) {
        uint32_t next = count == 2 && clock_at(&sources[1], sources[1].credit) <
                                          clock_at(&sources[0], sources[0].credit);
        struct source *source = &sources[next];
        int32_t size = draw_size(source);
        jobs[i] = pleat_generate_job((int64_t)i + 1, size);
        jobs[i].run_us = draw_run(source, size);
        jobs[i].user = source->user;
        jobs[i].app = next;
        credit[i] = source->credit;
        next_gap(source);
    }
}

/* Draws estimates, from a stream of their own: without estimates the jobs are the same. */
static int draw_estimates(const struct pleat_lublin_model *model, struct pleat_workload_job *jobs,
                          struct pleat_error *err)
{
    struct pleat_stream *stream = pleat_generate_stream(model->seed, ESTIMATES);
    if (!stream)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < model->jobs; i++)
        jobs[i].estimate_us = pleat_generate_estimate(
            jobs[i].run_us, gsl_ran_flat(&stream->rng, 1, model->estimate), 1);
    pleat_stream_destroy(stream);
    return 0;
}

static int generate(const struct pleat_lublin_model *model, struct source *sources, int count,
                    struct pleat_workload *workload, struct pleat_error *err)
{
    double *credit = calloc(model->jobs, sizeof(*credit));
    if (!credit)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int status = pleat_generate_reserve(workload, model->jobs, err);
    if (!status) {
        draw_jobs(model, sources, count, credit, workload->jobs.items);
        status = set_times(model, sources, count, credit, workload->jobs.items, err);
    }
    if (!status && model->estimate > 0)
        status = draw_estimates(model, workload->jobs.items, err);
    if (!status)
        status = pleat_generate_accept(workload, model->jobs, model->machine, err);
    free(credit);
    return status;
}

int pleat_generate_lublin(const struct pleat_lublin_model *model, struct pleat_workload *workload,
                          struct pleat_error *err)
{
    struct source sources[2] = {0};
    int status = pleat_generate_check(model->jobs, model->machine, 2, model->load, err);
    if (!status && !pleat_lublin_class_name(model->kind))
        status =
            pleat_error_set(err, PLEAT_E_INVALID, "there is no class %d of jobs", (int)model->kind);
    if (!status && model->estimate != 0 && !(model->estimate >= 1 && model->estimate <= 1e6))
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "estimates up to %g times the run time: must be from 1 to 1e6, or "
                                 "0 for none",
                                 model->estimate);
    if (status)
        return status;
    bool both = model->kind == PLEAT_LUBLIN_BOTH;
    status = open_source(&sources[0], model, both ? PLEAT_LUBLIN_BATCH : model->kind, 0, err);
    if (!status && both)
        status = open_source(&sources[1], model, PLEAT_LUBLIN_INTERACTIVE, 1, err);
    if (!status)
        status = generate(model, sources, both ? 2 : 1, workload, err);
    for (int i = 0; i < 2; i++)
        for (int s = 0; s < STREAMS; s++)
            pleat_stream_destroy(sources[i].streams[s]);
    return status;
}

/* generate_simple.c - independent draws from distributions. */
#include <math.h>

#include "workload/generate-internal.h"

enum { GAPS, SIZES, RUNS, ESTIMATES, STREAMS };

static int check(const struct pleat_simple_model *model, struct pleat_error *err)
{
    int status = pleat_generate_check(model->jobs, model->machine, 1, model->load, err);
    if (status)
        return status;
    if (model->estimate != 0 && !(model->estimate >= 1 && model->estimate <= 1e6))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "estimates up to %g times the run time: must be from 1 to 1e6, or "
                               "0 for none",
                               model->estimate);
    if (!(model->tick == 0 || (model->tick >= 1e-6 && model->tick <= 1e6)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "times in multiples of %g s: must be from 1e-6 to 1e6, or 0",
                               model->tick);
    return 0;
}

static void draw_job(const struct pleat_simple_model *model, struct pleat_stream **streams,
                     struct pleat_workload_job *job)
{
    static const struct pleat_distribution one = {.kind = PLEAT_DIST_UNIFORM, .a = 0, .b = 1};
    int64_t tick = model->tick > 0 ? pleat_generate_us(model->tick, 0) : 1;
    int32_t size =
        (int32_t)pleat_distribution_draw_whole(&model->size, streams[SIZES], 1, model->machine);
    *job = pleat_generate_job(job->number, model->powers ? pleat_generate_power_below(size) : size);
    double run = fmin(pleat_distribution_draw(&model->run, streams[RUNS]), GENERATE_RUN_MAX_S);
    job->run_us = pleat_generate_us(run, model->tick);
    if (job->run_us < tick)
        job->run_us = tick;
    if (model->estimate > 0) {
        double times =
            1 + (model->estimate - 1) * pleat_distribution_draw(&one, streams[ESTIMATES]);
        job->estimate_us = pleat_generate_estimate(job->run_us, times, model->tick);
    }
}

/* Finds the factor of the gaps that gives the load; 1 where no load is asked for. */
static int scale_for(const struct pleat_simple_model *model, const struct pleat_workload_job *jobs,
                     const double *submit, double *scale, struct pleat_error *err)
{
    double work = 0, span = submit[model->jobs - 1] - submit[0];
    *scale = 1;
    for (size_t i = 0; model->load > 0 && i < model->jobs; i++)
        work += (double)jobs[i].processors * (double)jobs[i].run_us / 1e6;
    if (model->load > 0 && !(span > 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "load %g: all jobs arrive at once, so that no scale of the gaps "
                               "gives it; take gaps above 0, or load 0",
                               model->load);
    if (model->load > 0)
        *scale = work / (model->load * model->machine * span);
    if (!(submit[model->jobs - 1] * *scale <= GENERATE_TIME_MAX_S))
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "the last job would arrive after %g s, and the limit is %g: take "
                               "fewer jobs or smaller gaps",
                               submit[model->jobs - 1] * *scale, GENERATE_TIME_MAX_S);
    return 0;
}

static int generate(const struct pleat_simple_model *model, struct pleat_stream **streams,
                    double *submit, struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_workload_job *jobs = workload->jobs.items;
    double at = 0, scale;
    for (size_t i = 0; i < model->jobs; i++) {
        at += pleat_distribution_draw(&model->gap, streams[GAPS]);
        submit[i] = at;
        jobs[i].number = (int64_t)i + 1;
        draw_job(model, streams, &jobs[i]);
    }
    int status = scale_for(model, jobs, submit, &scale, err);
    if (status)
        return status;
    for (size_t i = 0; i < model->jobs; i++)
        jobs[i].submit_us = pleat_generate_us(submit[i] * scale, model->tick);
    return pleat_generate_accept(workload, model->jobs, model->machine, err);
}

int pleat_generate_simple(const struct pleat_simple_model *model, struct pleat_workload *workload,
                          struct pleat_error *err)
{
    int status = check(model, err);
    if (!status)
        status = pleat_generate_reserve(workload, model->jobs, err);
    if (status)
        return status;
    struct pleat_stream *streams[STREAMS];
    double *submit = calloc(model->jobs, sizeof(*submit));
    bool whole = submit != NULL;
    for (uint32_t i = 0; i < STREAMS; i++) {
        streams[i] = pleat_generate_stream(model->seed, i);
        whole = whole && streams[i];
    }
    status = whole ? generate(model, streams, submit, workload, err)
                   : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < STREAMS; i++)
        pleat_stream_destroy(streams[i]);
    free(submit);
    return status;
}

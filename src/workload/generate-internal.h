/* generate-internal.h - what the generators share. */
#ifndef PLEAT_WORKLOAD_GENERATE_INTERNAL_H
#define PLEAT_WORKLOAD_GENERATE_INTERNAL_H

#include <gsl/gsl_rng.h>

#include "workload/generate.h"

/* Beyond these a simulated time could not be counted in microseconds any more. */
#define GENERATE_TIME_MAX_S 1e11
#define GENERATE_RUN_MAX_S 1e9

struct pleat_stream {
    gsl_rng rng;
    unsigned long state[]; /* as the type of the rng wants it */
};

/* One of several independent streams of a seed. NULL: out of memory. */
struct pleat_stream *pleat_generate_stream(uint64_t seed, uint32_t which);

/* PLEAT_E_INVALID: not a number of jobs, of processors (at least `least`), or a load up to `most`
 * (0: none). */
int pleat_generate_check(size_t jobs, int32_t machine, int32_t least, double load,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* A rigid job of app 0 with all else unknown. */
struct pleat_workload_job pleat_generate_job(int64_t number, int32_t processors);

/* Makes room for all jobs, so that later pushes cannot fail. */
int pleat_generate_reserve(struct pleat_workload *workload, size_t jobs,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* The workload has these jobs now. PLEAT_E_INVALID: one of them could not be run (err names it);
 * the workload is without jobs again. */
int pleat_generate_accept(struct pleat_workload *workload, size_t jobs, int32_t machine,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Seconds to microseconds, rounded to a multiple of the tick (seconds; 0: a microsecond). */
int64_t pleat_generate_us(double seconds, double tick);

/* A run time times a factor (at least 1), in ticks as the run time. */
int64_t pleat_generate_estimate(int64_t run_us, double times, double tick);

int32_t pleat_generate_power_below(int32_t size);

#endif

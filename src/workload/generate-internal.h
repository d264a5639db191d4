/* generate-internal.h - what the generators share. */
#ifndef PLEAT_WORKLOAD_GENERATE_INTERNAL_H
#define PLEAT_WORKLOAD_GENERATE_INTERNAL_H

#include <gsl/gsl_rng.h>

#include "workload/generate.h"

/* Limits beyond which a simulated time could not be counted in microseconds. */
#define GENERATE_TIME_MAX_S 1e11
#define GENERATE_RUN_MAX_S 1e9

struct pleat_stream {
    gsl_rng rng;
    unsigned long state[]; /* of the type that the rng wants */
};

/* Makes one of several independent streams of a seed. NULL: out of memory. */
struct pleat_stream *pleat_generate_stream(uint64_t seed, uint32_t which);

/* PLEAT_E_INVALID: the number of jobs or of processors (at least `least`) is out of range, or the
 * load is above `most` (0: no limit). */
int pleat_generate_check(size_t jobs, int32_t machine, int32_t least, double load,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* A rigid job of application 0; everything else is unknown. */
struct pleat_workload_job pleat_generate_job(int64_t number, int32_t processors);

/* Reserves room for all jobs, so that later pushes cannot fail. */
int pleat_generate_reserve(struct pleat_workload *workload, size_t jobs,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* Gives the workload the number of jobs that were pushed, and checks them. PLEAT_E_INVALID: one of
 * them could not be run (err names it); the workload has no jobs then. */
int pleat_generate_accept(struct pleat_workload *workload, size_t jobs, int32_t machine,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Turns seconds into microseconds, rounded to a multiple of the tick (in seconds; 0: a
 * microsecond). */
int64_t pleat_generate_us(double seconds, double tick);

/* An estimate: a run time times a factor (at least 1), in the ticks of the run time. */
int64_t pleat_generate_estimate(int64_t run_us, double times, double tick);

int32_t pleat_generate_power_below(int32_t size);

#endif

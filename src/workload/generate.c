/* generate.c - what the generators share. */
#include <math.h>

#include "workload/generate-internal.h"

int pleat_generate_check(size_t jobs, int32_t machine, int32_t least, double load,
                         struct pleat_error *err)
{
    if (jobs < 1 || jobs > PLEAT_GENERATE_JOBS_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%zu jobs: must be from 1 to %d", jobs,
                               PLEAT_GENERATE_JOBS_MAX);
    if (machine < least || machine > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a machine of %d processors: must be from %d to %d", machine, least,
                               PLEAT_SIZE_MAX);
    if (!(load >= 0 && load <= 100))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "load %g: must be from 0 to 100, where 1 keeps the machine just "
                               "busy, and 0 takes the arrivals as they come",
                               load);
    if (load > 0 && jobs < 2)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "load %g: one job has no load; take at least 2 jobs, or load 0",
                               load);
    return 0;
}

struct pleat_workload_job pleat_generate_job(int64_t number, int32_t processors)
{
    return (struct pleat_workload_job){.number = number,
                                       .processors = processors,
                                       .minimum = processors,
                                       .maximum = processors,
                                       .site = PLEAT_NONE,
                                       .user = -1,
                                       .kind = PLEAT_RIGID,
                                       .sizes_kind = PLEAT_SIZES_ANY};
}

int pleat_generate_reserve(struct pleat_workload *workload, size_t jobs, struct pleat_error *err)
{
    if (pleat_array_reserve(&workload->jobs, jobs))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for %zu jobs", jobs);
    return 0;
}

int pleat_generate_accept(struct pleat_workload *workload, size_t jobs, int32_t machine,
                          struct pleat_error *err)
{
    workload->jobs.count = jobs;
    workload->machine = machine;
    int status = pleat_workload_check(workload, err);
    if (status) {
        workload->jobs.count = 0;
        workload->machine = 0;
    }
    return status;
}

int64_t pleat_generate_us(double seconds, double tick)
{
    int64_t unit = tick > 0 ? llround(tick * 1e6) : 1;
    return llround(seconds * 1e6 / (double)unit) * unit;
}

int64_t pleat_generate_estimate(int64_t run_us, double times, double tick)
{
    return pleat_generate_us(fmin((double)run_us / 1e6 * times, GENERATE_TIME_MAX_S), tick);
}

int32_t pleat_generate_power_below(int32_t size)
{
    int32_t power = 1;
    while (power <= size / 2)
        power *= 2;
    return power;
}

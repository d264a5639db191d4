#include "jobs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "progress.h"
#include "steady.h"

#define LIMIT_S 120

void jobs_init(struct jobs *jobs, enum trial_mpi mpi, const struct case_program *program,
               bool quick)
{
    static const struct jobs_way ways[JOBS_WAYS] = {
        [JOBS_PARTITIONS] = {.name = "partitions", .way = TRIAL_FOLDED},
        [JOBS_SHARED_OWN] = {.name = "shared_own", .way = TRIAL_YIELD, .shared = true},
        [JOBS_SHARED_BLOCK] = {.name = "shared_block",
                               .way = TRIAL_FOLDED,
                               .settings = "wait=block",
                               .shared = true},
        [JOBS_SHARED_FOLDED] = {.name = "shared_folded", .way = TRIAL_FOLDED, .shared = true}};
    *jobs = (struct jobs){.mpi = mpi, .program = program, .quick = quick};
    snprintf(jobs->name, sizeof(jobs->name), "%s_jobs_%s", trial_mpi_name(mpi), program->name);
    memcpy(jobs->ways, ways, sizeof(ways));
}

/* Each job's CPUs where it has its own: the first, the second. */
static const char *cpus_of(int job, bool shared)
{
    const char *both = machine_cpus(JOBS);
    const char *comma = strchr(both, ',');
    return shared ? both : job == 0 ? machine_cpus(1) : comma + 1;
}

static void run_way(struct jobs *jobs, struct jobs_way *way)
{
    static struct trial_result results[JOBS];
    struct trial_setup setups[JOBS];
    double begin = INFINITY, end = 0, cpu = 0;
    bool late = false;
    progress_step(jobs->name, way->name);
    for (int i = 0; i < JOBS; i++)
        setups[i] = (struct trial_setup){
            .mpi = jobs->mpi,
            .way = way->way,
            .settings = way->settings,
            .processes = CASE_PROCESSES,
            .cpus = cpus_of(i, way->shared),
            .program = jobs->program->program,
            .options = case_options(jobs->program, CASE_PROCESSES, jobs->quick ? CASE_QUICK : 1),
            .limit_s = LIMIT_S};
    for (int again = 0;;) {
        steady_begin();
        for (int i = 0; i < JOBS; i++)
            trial_start(&setups[i], &results[i]);
        while (trial_next())
            ;
        if (!steady_again(jobs->name, &again))
            break;
        for (int i = 0; i < JOBS; i++)
            trial_release(&results[i]);
    }
    bench_add(&jobs->others, trial_others());
    for (int i = 0; i < JOBS; i++)
        late |= results[i].outcome == TRIAL_TIMED_OUT;
    if (late) {
        way->late++;
        return;
    }
    for (int i = 0; i < JOBS; i++) {
        begin = fmin(begin, results[i].own_begun_s);
        end = fmax(end, results[i].own_ended_s);
        cpu += results[i].own_cpu_s;
        bench_add(&way->elapsed, results[i].own_elapsed_s);
    }
    bench_add(&way->makespan, end - begin);
    bench_add(&way->cpu, cpu);
    for (int i = 0; i < JOBS; i++)
        trial_release(&results[i]);
}

/* Without folding, these jobs of MPICH do not end in any time that one could wait for. */
static bool is_run(const struct jobs *jobs, const struct jobs_way *way)
{
    return jobs->mpi != TRIAL_MPICH || way->way == TRIAL_FOLDED;
}

int jobs_runs(const struct jobs *jobs)
{
    int runs = 0;
    for (int i = 0; i < JOBS_WAYS; i++)
        runs += is_run(jobs, &jobs->ways[i]);
    return runs;
}

void jobs_round(struct jobs *jobs, int round)
{
    for (int i = 0; i < JOBS_WAYS; i++) {
        struct jobs_way *way = &jobs->ways[(i + round) % JOBS_WAYS];
        if (is_run(jobs, way))
            run_way(jobs, way);
    }
}

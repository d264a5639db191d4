#include "arrivals.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "machine.h"
#include "progress.h"

#define LIMIT_S 60 /* and as much for each time the work is longer */
#define WARM "warm"
#define WARM_S 0.5 /* the daemon starts its agent for the first job */

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct arrivals_way arrivals_ways[ARRIVALS_WAYS] = {
    [ARRIVALS_FCFS] = {"FCFS", 1, "--min 2 --max 2", NULL},
    [ARRIVALS_SCS] = {"SCS", 1, "--min 1 --max 2", WORDS("--malleability", "equipartition")},
    [ARRIVALS_CS] = {"CS BI+RR", 2,
                     "--min 2 --max 2 --fold share=time,wait=immediate,next=round-robin", NULL},
    [ARRIVALS_CS_BLOCK] = {"CS block", 2, "--min 2 --max 2 --fold wait=block,queue=local", NULL},
    [ARRIVALS_CS_YIELD] = {"CS yield", 2, "--min 2 --max 2 --fold wait=yield,queue=local", NULL},
};

/* ---- the mix ---- */

/* When each job arrives: the gaps of a Poisson process, of which all together are as long as they
 * are on average. */
static void draw(double *at_s, double gap_s, uint64_t seed)
{
    struct pleat_random random;
    double gaps[LOAD_JOBS], sum = 0;
    pleat_random_init(&random, seed);
    for (int i = 0; i < LOAD_JOBS; i++)
        sum += gaps[i] = -log(1 - pleat_random_unit(&random));
    at_s[0] = 0;
    for (int i = 1; i < LOAD_JOBS; i++)
        at_s[i] = at_s[i - 1] + gaps[i - 1] * LOAD_JOBS * gap_s / sum;
}

static void compose(struct pleat_string *text, const struct arrivals *arrivals,
                    const struct arrivals_way *way, const double *at_s)
{
    pleat_string_addf(text, "0 " WARM " -n 1 -- /bin/true\n");
    for (int i = 0; i < LOAD_JOBS; i++) {
        const struct case_program *program =
            case_find(arrivals->mix->programs[i % load_mix_programs(arrivals->mix)]);
        int processes = case_processes(program, arrivals->processes);
        pleat_string_addf(text, "%.3f %s --processes %d %s -- %s/%s", WARM_S + at_s[i],
                          program->name, processes, way->size, trial_apps(arrivals->mpi),
                          program->program);
        for (const char *const *word = case_options(program, processes, arrivals->times); *word;
             word++)
            pleat_string_addf(text, " %s", *word);
        pleat_string_add(text, "\n");
    }
}

/* ---- what came of it ---- */

static double number(const json_t *job, const char *name)
{
    return json_number_value(json_object_get(job, name));
}

static bool is(const json_t *job, const char *name, const char *text)
{
    const char *has = json_string_value(json_object_get(job, name));
    return has && !strcmp(has, text);
}

static json_t *jobs_of(const struct trial_result *result)
{
    json_error_t error;
    json_t *report = json_loads(result->report, 0, &error);
    json_t *jobs = json_incref(json_object_get(report, "jobs"));
    json_decref(report);
    if (json_array_size(jobs) != LOAD_JOBS + 1)
        trial_give_up("what pleat mix says of its jobs is not understood", error.text);
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job)
    {
        if (!is(job, "name", WARM) && !is(job, "result", "ok"))
            trial_give_up("a job of a mix failed", json_dumps(job, 0));
    }
    return jobs;
}

/* NULL: it took too long. */
static json_t *run(const struct arrivals *arrivals, const struct arrivals_way *way,
                   const double *at_s, double *others)
{
    static struct trial_result result;
    struct pleat_string mix = {0}, site = {0};
    const char *cpus = machine_cpus(2);
    pleat_string_addf(&site, "site \"local\" { cpus = \"%s", cpus);
    for (int i = 1; i < way->jobs; i++)
        pleat_string_addf(&site, ",%s", cpus);
    pleat_string_addf(&site, "\" background = ignore }\n");
    compose(&mix, arrivals, way, at_s);
    if (mix.failed || site.failed)
        trial_give_up("a mix", "no memory");
    struct trial_setup setup = {.mpi = arrivals->mpi,
                                .way = TRIAL_MIX,
                                .cpus = cpus,
                                .site = site.text,
                                .mix = mix.text,
                                .options = way->options,
                                .limit_s = LIMIT_S * (1 + arrivals->times)};
    *others = trial_run(&setup, &result);
    json_t *jobs = result.outcome == TRIAL_DONE ? jobs_of(&result) : NULL;
    trial_release(&result);
    pleat_string_finish(&mix);
    pleat_string_finish(&site);
    return jobs;
}

double arrivals_service_s(const struct arrivals *arrivals)
{
    const double at_s[LOAD_JOBS] = {0};
    double others, first = INFINITY, last = 0;
    size_t i;
    json_t *job, *jobs;
    jobs = run(arrivals, &arrivals_ways[ARRIVALS_FCFS], at_s, &others);
    if (!jobs)
        trial_give_up(arrivals->name, "six jobs one after another take too long");
    json_array_foreach(jobs, i, job)
    {
        if (is(job, "name", WARM))
            continue;
        first = fmin(first, number(job, "submit_s"));
        last = fmax(last, number(job, "end_s"));
    }
    json_decref(jobs);
    return (last - first) / LOAD_JOBS;
}

static void note(const struct arrivals *arrivals, struct arrivals_result *result,
                 const json_t *jobs)
{
    double all = 0;
    for (int p = 0; p < load_mix_programs(arrivals->mix); p++) {
        double sum = 0;
        int count = 0;
        size_t i;
        json_t *job;
        json_array_foreach(jobs, i, job)
        {
            if (!is(job, "name", arrivals->mix->programs[p]))
                continue;
            sum += number(job, "response_s");
            count++;
        }
        bench_add(&result->of[p], sum / count);
        all += sum;
    }
    bench_add(&result->response, all / LOAD_JOBS);
}

void arrivals_round(struct arrivals *arrivals, double service_s, int round, uint64_t seed)
{
    double at_s[LOAD_JOBS], others;
    draw(at_s, service_s / arrivals->utilization, seed);
    for (int i = 0; i < ARRIVALS_WAYS; i++) {
        int w = (i + round) % ARRIVALS_WAYS;
        progress_step(arrivals->name, arrivals_ways[w].name);
        json_t *jobs = run(arrivals, &arrivals_ways[w], at_s, &others);
        bench_add(&arrivals->others, others);
        if (jobs)
            note(arrivals, &arrivals->results[w], jobs);
        else
            arrivals->results[w].late++;
        json_decref(jobs);
    }
}

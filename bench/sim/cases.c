#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "workload/convert.h"
#include "workload/generate.h"
#include "workload/swf.h"

#define GENERATED_LOAD 0.7
#define GENERATED_MACHINE 1024

const char *const kind_names[KIND_COUNT + 1] = {"fcfs", "easy", "malleable", NULL};
const char *const model_names[MODEL_COUNT] = {"poisson", "lublin"};

void case_fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_sim: %s: %s\n", what, why);
    exit(1);
}

static void prepare(struct bench_case *bench, int32_t machine)
{
    size_t jobs = bench->workload.jobs.count;
    bench->machine = machine;
    bench->outcomes = calloc(jobs, sizeof(*bench->outcomes));
    bench->starts = calloc(jobs, sizeof(*bench->starts));
    if (!bench->outcomes || !bench->starts ||
        pleat_platform_add(&bench->platform, "machine", machine))
        case_fail("preparing", "out of memory");
}

void case_read(struct bench_case *bench, const char *path, int32_t machine)
{
    struct pleat_swf_options options = {.zero = PLEAT_SWF_ZERO_SKIP};
    struct pleat_error err;
    memset(bench, 0, sizeof(*bench));
    if (pleat_workload_init(&bench->workload))
        case_fail(path, "out of memory");
    if (pleat_swf_read(path, &options, &bench->workload, NULL, &err))
        case_fail(path, err.text);
    prepare(bench, machine);
}

static int draw_poisson(size_t jobs, struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_simple_model model = {
        .jobs = jobs,
        .machine = GENERATED_MACHINE,
        .load = GENERATED_LOAD,
        .gap = {.kind = PLEAT_DIST_EXPONENTIAL, .a = 100},
        .run = {.kind = PLEAT_DIST_LOGNORMAL, .a = 6, .b = 1.5},
        .size = {.kind = PLEAT_DIST_DISCRETE,
                 .count = 10,
                 .values = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
                 .weights = {0.2, 0.1, 0.12, 0.15, 0.15, 0.12, 0.08, 0.05, 0.02, 0.01}},
        .tick = 1,
        .seed = 1};
    return pleat_generate_simple(&model, workload, err);
}

static int draw_lublin(size_t jobs, struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_lublin_model model = {
        .jobs = jobs, .machine = GENERATED_MACHINE, .load = GENERATED_LOAD, .seed = 1};
    return pleat_generate_lublin(&model, workload, err);
}

void case_generate(struct bench_case *bench, enum model model, size_t jobs)
{
    struct pleat_error err;
    memset(bench, 0, sizeof(*bench));
    if (pleat_workload_init(&bench->workload))
        case_fail("generating", "out of memory");
    if (model == MODEL_LUBLIN ? draw_lublin(jobs, &bench->workload, &err)
                              : draw_poisson(jobs, &bench->workload, &err))
        case_fail("generating", err.text);
    prepare(bench, GENERATED_MACHINE);
}

void case_convert(struct bench_case *bench)
{
    struct pleat_conversion conversion;
    struct pleat_error err;
    pleat_conversion_default(&conversion);
    conversion.machine = bench->machine;
    if (pleat_workload_convert(&bench->workload, &conversion, NULL, &err))
        case_fail("making jobs malleable", err.text);
}

void case_finish(struct bench_case *bench)
{
    pleat_workload_finish(&bench->workload);
    pleat_platform_finish(&bench->platform);
    free(bench->outcomes);
    free(bench->starts);
}

static const struct pleat_policy *policy(enum pleat_question question, const char *name)
{
    const struct pleat_policy *found = pleat_policy_find(question, name);
    if (!found)
        case_fail(name, "there is no such policy");
    return found;
}

void case_simulate(struct bench_case *bench, enum kind kind)
{
    struct pleat_sim_options options = {.platform = &bench->platform};
    struct pleat_error err;
    options.policies[PLEAT_QUEUE] = policy(PLEAT_QUEUE, kind == KIND_EASY ? "easy" : "fcfs");
    if (kind == KIND_MALLEABLE) {
        options.policies[PLEAT_APPROACH] = policy(PLEAT_APPROACH, "pwa");
        options.policies[PLEAT_MALLEABILITY] = policy(PLEAT_MALLEABILITY, "egs");
    }
    if (pleat_sim_run(&bench->workload, &options, bench->outcomes, &bench->totals, &err))
        case_fail(kind_names[kind], err.text);
    if (bench->totals.fates[PLEAT_SIM_DONE] != bench->workload.jobs.count)
        case_fail(kind_names[kind], "not every job was run");
}

void case_bare(struct bench_case *bench, enum kind kind)
{
    int rc = kind == KIND_EASY ? bare_easy(&bench->workload, bench->machine, bench->starts)
                               : bare_fcfs(&bench->workload, bench->machine, bench->starts);
    if (rc)
        case_fail("the bare loop", "out of memory");
}

void case_compare(const struct bench_case *bench, const char *name)
{
    for (size_t i = 0; i < bench->workload.jobs.count; i++)
        if (bench->outcomes[i].start_us != bench->starts[i]) {
            fprintf(stderr, "job %lld starts at %lld us, in the bare loop at %lld us\n",
                    (long long)bench->workload.jobs.items[i].number,
                    (long long)bench->outcomes[i].start_us, (long long)bench->starts[i]);
            case_fail(name, "not the textbook schedule");
        }
}

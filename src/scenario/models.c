/* models.c - the options of the models of workloads. */
#include "scenario/models.h"
#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "describe/option_reader.h"
#include "describe/values.h"
#include "workload/estimate.h"

enum {
    OPTION_JOBS = 1,
    OPTION_MACHINE,
    OPTION_LOAD,
    OPTION_SEED,
    OPTION_GAP,
    OPTION_RUN,
    OPTION_SIZE,
    OPTION_POWERS,
    OPTION_ESTIMATE,
    OPTION_TICK,
    OPTION_CLASS,
    OPTION_MIX,
    OPTION_DURATION,
    OPTION_KIND
};

/* Reads the value of one option, as in struct pleat_model. */
typedef int take_option(struct pleat_model_request *request, int option, struct pleat_error *err);

static int take_distribution(const char *what, struct pleat_distribution *distribution,
                             struct pleat_error *err)
{
    int rc = pleat_distribution_parse(optarg, distribution, err);
    return rc ? pleat_error_prefix(err, rc, "%s", what) : 0;
}

static int take_jobs(size_t *jobs, struct pleat_error *err)
{
    int64_t number = 0;
    int status = pleat_parse_int("--jobs", optarg, 1, PLEAT_GENERATE_JOBS_MAX, &number, err);
    if (!status)
        *jobs = (size_t)number;
    return status;
}

static int take_machine(int32_t *machine, struct pleat_error *err)
{
    int64_t number = 0;
    int status = pleat_parse_int("--machine", optarg, 1, PLEAT_SIZE_MAX, &number, err);
    if (!status)
        *machine = (int32_t)number;
    return status;
}

static int take_seed(uint64_t *seed, struct pleat_error *err)
{
    int64_t number = 0;
    int status = pleat_parse_int("--seed", optarg, 0, INT64_MAX, &number, err);
    if (!status)
        *seed = (uint64_t)number;
    return status;
}

bool pleat_parse_popular(const char *option, const char *text, struct pleat_popular *popular,
                         struct pleat_error *err)
{
    static const char word[] = "popular";
    size_t length = sizeof(word) - 1;
    double seconds = 0;
    if (strncmp(text, word, length) != 0 || (text[length] && text[length] != ':'))
        return false;
    if (text[length] && pleat_parse_duration(option, text + length + 1, &seconds, err))
        return true;
    if (text[length] && !(seconds >= PLEAT_ESTIMATE_LONGEST_LEAST_S && seconds <= 1e9)) {
        pleat_error_set(err, PLEAT_E_INVALID,
                        "%s: the longest estimate of '%s' must be from %d s on, up to 1e9 s",
                        option, text, PLEAT_ESTIMATE_LONGEST_LEAST_S);
        return true;
    }
    *popular = (struct pleat_popular){.wanted = true, .longest_us = llround(seconds) * 1000000};
    return true;
}

/* Reads an estimate: a factor of the run times, or popular values. */
static int take_estimate(struct pleat_model_request *request, double *factor,
                         struct pleat_error *err)
{
    struct pleat_error own = {0};
    request->estimates.wanted = false;
    *factor = 0;
    if (!pleat_parse_popular("--estimate", optarg, &request->estimates, &own))
        return pleat_parse_seconds("--estimate", optarg, 1, 1e6, factor, err);
    if (own.code)
        *err = own;
    return own.code;
}

static int take_simple(struct pleat_model_request *request, int option, struct pleat_error *err)
{
    struct pleat_simple_model *model = &request->simple;
    switch (option) {
    case OPTION_JOBS:
        return take_jobs(&model->jobs, err);
    case OPTION_MACHINE:
        return take_machine(&model->machine, err);
    case OPTION_LOAD:
        request->has_load = true;
        return pleat_parse_seconds("--load", optarg, 1e-6, 1e6, &model->load, err);
    case OPTION_GAP:
        request->has_gap = true;
        return take_distribution("--gap", &model->gap, err);
    case OPTION_RUN:
        return take_distribution("--run", &model->run, err);
    case OPTION_SIZE:
        request->has_size = true;
        return take_distribution("--size", &model->size, err);
    case OPTION_POWERS:
        model->powers = true;
        return 0;
    case OPTION_ESTIMATE:
        return take_estimate(request, &model->estimate, err);
    case OPTION_TICK:
        return pleat_parse_seconds("--tick", optarg, 0, 1e6, &model->tick, err);
    default:
        return take_seed(&model->seed, err);
    }
}

static int take_lublin(struct pleat_model_request *request, int option, struct pleat_error *err)
{
    struct pleat_lublin_model *model = &request->lublin;
    const char *names[PLEAT_LUBLIN_CLASS_COUNT];
    size_t index = 0;
    int status;
    switch (option) {
    case OPTION_JOBS:
        return take_jobs(&model->jobs, err);
    case OPTION_MACHINE:
        return take_machine(&model->machine, err);
    case OPTION_LOAD:
        return pleat_parse_seconds("--load", optarg, 1e-6, 1e6, &model->load, err);
    case OPTION_CLASS:
        for (int i = 0; i < PLEAT_LUBLIN_CLASS_COUNT; i++)
            names[i] = pleat_lublin_class_name((enum pleat_lublin_class)i);
        status = pleat_parse_word("--class", optarg, names, PLEAT_LUBLIN_CLASS_COUNT, &index, err);
        if (!status)
            model->kind = (enum pleat_lublin_class)index;
        return status;
    case OPTION_ESTIMATE:
        return take_estimate(request, &model->estimate, err);
    default:
        return take_seed(&model->seed, err);
    }
}

enum { MPL_MAX = 4 }; /* as in Utrera 2010 */

static int take_utrera(struct pleat_model_request *request, int option, struct pleat_error *err)
{
    static const char *const kinds[] = {[PLEAT_RIGID] = "rigid",
                                        [PLEAT_MOLDABLE] = "moldable",
                                        [PLEAT_MALLEABLE] = "malleable",
                                        [PLEAT_MALLEABLE + 1] = "folding"};
    struct pleat_utrera_model *model = &request->utrera;
    size_t index = 0;
    int status;
    switch (option) {
    case OPTION_JOBS:
        return take_jobs(&model->jobs, err);
    case OPTION_MACHINE:
        return take_machine(&model->machine, err);
    case OPTION_LOAD:
        return pleat_parse_seconds("--load", optarg, 1e-6, 2, &model->load, err);
    case OPTION_MIX:
        model->mix = optarg;
        return 0;
    case OPTION_DURATION:
        return pleat_parse_seconds("--duration", optarg, 1, 1e9, &model->duration_s, err);
    case OPTION_KIND:
        status = pleat_parse_word("--kind", optarg, kinds, sizeof(kinds) / sizeof(kinds[0]), &index,
                                  err);
        if (!status)
            model->kind = (enum pleat_job_kind)(index > PLEAT_MALLEABLE ? PLEAT_MALLEABLE : index);
        model->mpl_max = !status && index > PLEAT_MALLEABLE ? MPL_MAX : 0;
        return status;
    default:
        return take_seed(&model->seed, err);
    }
}

static int estimate(const struct pleat_model_request *request, uint64_t seed,
                    struct pleat_workload *workload, struct pleat_error *err)
{
    if (!request->estimates.wanted)
        return 0;
    int rc = pleat_estimate_popular(&workload->jobs, request->estimates.longest_us, seed, err);
    return rc ? pleat_error_prefix(err, rc, "--estimate popular") : 0;
}

static int generate_simple(const struct pleat_model_request *request,
                           struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_simple_model model = request->simple;
    if (!request->has_size)
        model.size = (struct pleat_distribution){
            .kind = PLEAT_DIST_UNIFORM, .a = 1, .b = (double)model.machine};
    if (!request->has_gap && !request->has_load)
        model.load = 0.7;
    int rc = pleat_generate_simple(&model, workload, err);
    return rc ? rc : estimate(request, model.seed, workload, err);
}

static int generate_lublin(const struct pleat_model_request *request,
                           struct pleat_workload *workload, struct pleat_error *err)
{
    int rc = pleat_generate_lublin(&request->lublin, workload, err);
    return rc ? rc : estimate(request, request->lublin.seed, workload, err);
}

static int generate_utrera(const struct pleat_model_request *request,
                           struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_utrera_model model = request->utrera;
    if (model.jobs == 0 && model.duration_s <= 0)
        model.duration_s = 600;
    return pleat_generate_utrera(&model, workload, err);
}

/* ---- all models ---- */

static void seed_simple(struct pleat_model_request *request, uint64_t seed)
{
    request->simple.seed = seed;
}

static void seed_lublin(struct pleat_model_request *request, uint64_t seed)
{
    request->lublin.seed = seed;
}

static void seed_utrera(struct pleat_model_request *request, uint64_t seed)
{
    request->utrera.seed = seed;
}

static const struct option simple_options[] = {
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"machine", required_argument, NULL, OPTION_MACHINE},
    {"load", required_argument, NULL, OPTION_LOAD},
    {"gap", required_argument, NULL, OPTION_GAP},
    {"run", required_argument, NULL, OPTION_RUN},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"powers", no_argument, NULL, OPTION_POWERS},
    {"estimate", required_argument, NULL, OPTION_ESTIMATE},
    {"tick", required_argument, NULL, OPTION_TICK},
    {"seed", required_argument, NULL, OPTION_SEED},
    {0}};
static const struct option lublin_options[] = {
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"machine", required_argument, NULL, OPTION_MACHINE},
    {"load", required_argument, NULL, OPTION_LOAD},
    {"class", required_argument, NULL, OPTION_CLASS},
    {"estimate", required_argument, NULL, OPTION_ESTIMATE},
    {"seed", required_argument, NULL, OPTION_SEED},
    {0}};
static const struct option utrera_options[] = {
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"machine", required_argument, NULL, OPTION_MACHINE},
    {"load", required_argument, NULL, OPTION_LOAD},
    {"mix", required_argument, NULL, OPTION_MIX},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"kind", required_argument, NULL, OPTION_KIND},
    {"seed", required_argument, NULL, OPTION_SEED},
    {0}};

const struct pleat_model pleat_model_simple = {"simple", simple_options, take_simple, seed_simple,
                                               generate_simple};
const struct pleat_model pleat_model_lublin = {"lublin", lublin_options, take_lublin, seed_lublin,
                                               generate_lublin};
const struct pleat_model pleat_model_utrera = {"utrera", utrera_options, take_utrera, seed_utrera,
                                               generate_utrera};

void pleat_model_request_init(struct pleat_model_request *request)
{
    *request = (struct pleat_model_request){
        .simple = {.jobs = 1000,
                   .machine = 128,
                   .gap = {.kind = PLEAT_DIST_EXPONENTIAL, .a = 60},
                   .run = {.kind = PLEAT_DIST_EXPONENTIAL, .a = 600},
                   .tick = 1,
                   .seed = 1},
        .lublin = {.jobs = 1000, .machine = 256, .seed = 1},
        .utrera = {.machine = 60, .mix = "w1", .kind = PLEAT_MALLEABLE, .seed = 1},
    };
}

/* ---- in one text ---- */

enum { WORDS_MAX = 64 };

static const struct pleat_model *const models[] = {&pleat_model_simple, &pleat_model_lublin,
                                                   &pleat_model_utrera};
#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

static int find_model(struct pleat_generator *generator, const char *name, struct pleat_error *err)
{
    const char *names[MODEL_COUNT];
    for (size_t i = 0; i < MODEL_COUNT; i++) {
        names[i] = models[i]->name;
        if (!strcmp(names[i], name))
            generator->model = models[i];
    }
    if (generator->model)
        return 0;
    const char *near = pleat_nearest(name, names, MODEL_COUNT);
    return pleat_error_set(
        err, PLEAT_E_INVALID,
        "there is no model '%s' that makes a workload for each seed%s%s%s; there "
        "are: simple, lublin, utrera",
        name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static int read_words(struct pleat_generator *generator, int count, char **words,
                      struct pleat_error *err)
{
    struct pleat_option_reader reader;
    struct pleat_error own = {0};
    pleat_option_reader_init(&reader, count, words, generator->model->options, NULL);
    for (int option; (option = pleat_option_reader_next(&reader, &own)) != PLEAT_OPTION_END;) {
        if (own.code)
            break;
        if (option == OPTION_SEED)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "the seeds are those of --seed and --seeds beside it");
        if (generator->model->take(&generator->request, option, &own))
            break;
    }
    if (own.code)
        return pleat_error_set(err, own.code, "%s: %s", words[0], own.text);
    if (reader.first < count)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: unexpected argument '%s'", words[0],
                               words[reader.first]);
    return 0;
}

int pleat_generator_init(struct pleat_generator *generator, const char *text,
                         struct pleat_error *err)
{
    char *words[WORDS_MAX + 1] = {0}, *rest = NULL;
    int count = 0, rc = 0;
    *generator = (struct pleat_generator){.text = strdup(text), .words = strdup(text)};
    pleat_model_request_init(&generator->request);
    if (!generator->text || !generator->words)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (char *word = rc ? NULL : strtok_r(generator->words, " \t\n", &rest); !rc && word;
         word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == WORDS_MAX)
            rc = pleat_error_set(err, PLEAT_E_INVALID, "more than %d words", WORDS_MAX);
        else
            words[count++] = word;
    }
    if (!rc)
        rc = find_model(generator, count ? words[0] : "", err);
    if (!rc)
        rc = read_words(generator, count, words, err);
    if (rc)
        pleat_generator_finish(generator);
    return rc;
}

void pleat_generator_finish(struct pleat_generator *generator)
{
    free(generator->text);
    free(generator->words);
    *generator = (struct pleat_generator){0};
}

int pleat_generator_draw(const struct pleat_generator *generator, uint64_t seed,
                         struct pleat_workload *workload, struct pleat_error *err)
{
    struct pleat_model_request request = generator->request;
    generator->model->seed(&request, seed);
    return generator->model->generate(&request, workload, err);
}

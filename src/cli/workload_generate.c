/* workload_generate.c - workloads from models of arrivals, sizes and run times. */
#include <stdio.h>
#include <string.h>

#include "cli/workload.h"
#include "workload/generate.h"

/* What was asked of any of the models; each reads what it has. */
struct request {
    struct pleat_simple_model simple;
    struct pleat_lublin_model lublin;
    struct pleat_utrera_model utrera;
    bool has_size, has_gap, has_load;
    const char *out;
};

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

/* Reads one option's value; as the models do. */
typedef int take_option(struct request *request, int option, struct pleat_error *err);

static int take_distribution(const char *what, struct pleat_distribution *distribution,
                             struct pleat_error *err)
{
    return pleat_distribution_parse(optarg, distribution, err) ? pleat_error_prefix(err, "%s", what)
                                                               : 0;
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

static int take_simple(struct request *request, int option, struct pleat_error *err)
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
        return pleat_parse_seconds("--estimate", optarg, 1, 1e6, &model->estimate, err);
    case OPTION_TICK:
        return pleat_parse_seconds("--tick", optarg, 0, 1e6, &model->tick, err);
    default:
        return take_seed(&model->seed, err);
    }
}

static int take_lublin(struct request *request, int option, struct pleat_error *err)
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
    default:
        return take_seed(&model->seed, err);
    }
}

enum { MPL_MAX = 4 }; /* in the thesis */

static int take_utrera(struct request *request, int option, struct pleat_error *err)
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

static int generate_simple(const struct request *request, struct pleat_workload *workload,
                           struct pleat_error *err)
{
    struct pleat_simple_model model = request->simple;
    if (!request->has_size)
        model.size = (struct pleat_distribution){
            .kind = PLEAT_DIST_UNIFORM, .a = 1, .b = (double)model.machine};
    if (!request->has_gap && !request->has_load)
        model.load = 0.7;
    return pleat_generate_simple(&model, workload, err);
}

static int generate_lublin(const struct request *request, struct pleat_workload *workload,
                           struct pleat_error *err)
{
    return pleat_generate_lublin(&request->lublin, workload, err);
}

static int generate_utrera(const struct request *request, struct pleat_workload *workload,
                           struct pleat_error *err)
{
    struct pleat_utrera_model model = request->utrera;
    if (model.jobs == 0 && model.duration_s <= 0)
        model.duration_s = 600;
    return pleat_generate_utrera(&model, workload, err);
}

/* ---- all models ---- */

struct model {
    const struct pleat_command *command;
    const struct option *own;
    take_option *take;
    int (*generate)(const struct request *request, struct pleat_workload *workload,
                    struct pleat_error *err);
};

static void init_request(struct request *request)
{
    *request = (struct request){
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

static int read_options(const struct model *model, struct pleat_options *options,
                        struct request *request)
{
    struct pleat_error err = {0};
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if (model->take(request, option, &err))
            return pleat_workload_usage(options, &err);
    }
    request->out = options->argv[options->first];
    return pleat_options_count(options, 1, 1);
}

static int run_model(const struct model *model, int argc, char **argv)
{
    struct pleat_options options;
    struct request request;
    struct pleat_workload workload = {0};
    struct pleat_string comment = {0};
    struct pleat_error err;
    init_request(&request);
    pleat_options_init(&options, model->command, argc, argv, model->own, NULL);
    int code = read_options(model, &options, &request);
    if (!code && request.out) {
        pleat_workload_comment(&options, &comment);
        int status = pleat_workload_init(&workload)
                         ? pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory")
                         : model->generate(&request, &workload, &err);
        if (status == PLEAT_E_INVALID)
            code = pleat_workload_usage(&options, &err);
        else if (status)
            code = pleat_fail(&err);
        else
            code = pleat_workload_save(&workload, NULL, request.out, comment.text);
    }
    pleat_workload_finish(&workload);
    pleat_string_finish(&comment);
    return code;
}

static int run_simple(int argc, char **argv)
{
    static const struct option own[] = {{"jobs", required_argument, NULL, OPTION_JOBS},
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
    const struct model model = {&pleat_cmd_workload_simple, own, take_simple, generate_simple};
    return run_model(&model, argc, argv);
}

static int run_lublin(int argc, char **argv)
{
    static const struct option own[] = {{"jobs", required_argument, NULL, OPTION_JOBS},
                                        {"machine", required_argument, NULL, OPTION_MACHINE},
                                        {"load", required_argument, NULL, OPTION_LOAD},
                                        {"class", required_argument, NULL, OPTION_CLASS},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {0}};
    const struct model model = {&pleat_cmd_workload_lublin, own, take_lublin, generate_lublin};
    return run_model(&model, argc, argv);
}

static int run_utrera(int argc, char **argv)
{
    static const struct option own[] = {{"jobs", required_argument, NULL, OPTION_JOBS},
                                        {"machine", required_argument, NULL, OPTION_MACHINE},
                                        {"load", required_argument, NULL, OPTION_LOAD},
                                        {"mix", required_argument, NULL, OPTION_MIX},
                                        {"duration", required_argument, NULL, OPTION_DURATION},
                                        {"kind", required_argument, NULL, OPTION_KIND},
                                        {"seed", required_argument, NULL, OPTION_SEED},
                                        {0}};
    const struct model model = {&pleat_cmd_workload_utrera, own, take_utrera, generate_utrera};
    return run_model(&model, argc, argv);
}

static int run_generate(int argc, char **argv)
{
    return pleat_command_run_part(&pleat_cmd_workload_generate, argc, argv);
}

const struct pleat_command pleat_cmd_workload_simple = {
    .name = "workload generate simple",
    .arguments = "[OPTION...] OUT",
    .summary = "Gaps, run times and sizes from distributions",
    .help =
        "Each is drawn on its own. A distribution DIST is one of\n"
        "  constant:A  uniform:A,B  normal:MEAN,SD  poisson:MEAN (= exponential:MEAN)\n"
        "  lognormal:ZETA,SIGMA  weibull:SCALE,SHAPE  gamma:SHAPE,SCALE\n"
        "  discrete:1=0.2,2=0.3,4=0.5 (values with weights)\n"
        "with [LEAST..MOST] at its end to clip what is drawn: 'lognormal:5,2[1..86400]'.\n"
        "OUT is the file to write ('-': standard output).\n\n"
        "Options:\n"
        "      --jobs N     how many (default: 1000)\n"
        "      --machine N  the machine's processors (default: 128)\n"
        "      --gap DIST   seconds between submissions (default: poisson:60, scaled to --load)\n"
        "      --run DIST   seconds that jobs run (default: exponential:600)\n"
        "      --size DIST  processors (default: uniform from 1 to the machine)\n"
        "      --powers     sizes are rounded down to powers of two\n"
        "      --load F     gaps are scaled so that F of the machine is asked for (default: 0.7\n"
        "                   without --gap, else gaps stay as they are drawn)\n"
        "      --estimate F  users estimate up to F times the run time (default: no estimates)\n"
        "      --tick S     times are multiples of S seconds (default: 1; 0: no rounding)\n"
        "      --seed N     (default: 1); the same options and seed give the same file\n\n"
        "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n\n"
        "Example:\n"
        "  pleat workload generate simple --jobs 5000 --machine 64 --load 0.8 \\\n"
        "      --run 'lognormal:5,2[1..86400]' --size 'discrete:1=3,2=2,4=2,8=1' out.swf\n",
    .run = run_simple,
};

const struct pleat_command pleat_cmd_workload_lublin = {
    .name = "workload generate lublin",
    .arguments = "[OPTION...] OUT",
    .summary = "The model of Lublin and Feitelson (2003) of rigid jobs",
    .help =
        "Sizes with serial jobs and powers of two, run times that depend on the size, arrivals\n"
        "with a daily cycle; the published parameters, scaled to the machine.\n"
        "OUT is the file to write ('-': standard output).\n\n"
        "Options:\n"
        "      --jobs N     how many (default: 1000)\n"
        "      --machine N  the machine's processors, at least 2 (default: 256)\n"
        "      --load F     gaps are scaled so that F of the machine is asked for: 0.7\n"
        "                   (default: as the model gives)\n"
        "      --class C    batch (default), interactive, both, together\n"
        "      --seed N     (default: 1); the same options and seed give the same file\n\n"
        "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n\n"
        "Example:\n"
        "  pleat workload generate lublin --jobs 10000 --machine 1024 --load 0.7 out.swf\n",
    .run = run_lublin,
};

const struct pleat_command pleat_cmd_workload_utrera = {
    .name = "workload generate utrera",
    .arguments = "[OPTION...] OUT",
    .summary = "Mixes of long and short applications of Utrera (2010)",
    .help =
        "Applications with measured run times arrive so that each has its share of a nominal\n"
        "load (equation 3.2). OUT is the file to write ('-': standard output).\n\n"
        "Options:\n"
        "      --mix MIX    w1 (default) to w6, high, low\n"
        "      --jobs N     how many (default: as many as arrive within --duration)\n"
        "      --duration S  of arrivals (default: until all of --jobs have come; 600 where\n"
        "                   neither is given)\n"
        "      --machine N  the machine's processors (default: 60)\n"
        "      --load F     nominal load (default: the mix's own)\n"
        "      --kind KIND  of the jobs: malleable (default), moldable, rigid, folding (up to 4\n"
        "                   processes on a processor)\n"
        "      --seed N     (default: 1); the same options and seed give the same file\n\n"
        "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n\n"
        "Example:\n"
        "  pleat workload generate utrera --mix w3 --jobs 200 out.swf\n",
    .run = run_utrera,
};

static const struct pleat_command *const parts[] = {
    &pleat_cmd_workload_simple, &pleat_cmd_workload_lublin, &pleat_cmd_workload_utrera,
    &pleat_cmd_workload_grid, NULL};

const struct pleat_command pleat_cmd_workload_generate = {
    .name = "workload generate",
    .arguments = "MODEL [OPTION...] OUT",
    .summary = "Makes a workload by a model",
    .help = "'pleat workload generate MODEL --help' has the options of each.\n\n"
            "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n\n"
            "Example:\n"
            "  pleat workload generate simple --jobs 100 - | pleat workload stat -\n",
    .run = run_generate,
    .parts = parts,
};

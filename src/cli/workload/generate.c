/* generate.c - pleat workload generate: workloads from models of arrivals, sizes and run times. */
#include <stdio.h>
#include <string.h>

#include "cli/workload/workload.h"
#include "scenario/models.h"

static int read_options(const struct pleat_model *model, struct pleat_options *options,
                        struct pleat_model_request *request, const char **out)
{
    struct pleat_error err = {0};
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if (model->take(request, option, &err))
            return pleat_workload_usage(options, &err);
    }
    *out = options->argv[options->first];
    return pleat_options_count(options, 1, 1);
}

static int run_model(const struct pleat_cli_command *command, const struct pleat_model *model,
                     int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_model_request request;
    const char *out = NULL;
    struct pleat_workload workload = {0};
    struct pleat_string comment = {0};
    struct pleat_error err;
    pleat_model_request_init(&request);
    pleat_options_init(&options, command, argc, argv, model->options, NULL);
    int code = read_options(model, &options, &request, &out);
    if (!code && out) {
        pleat_workload_comment(&options, &comment);
        int status = pleat_workload_init(&workload)
                         ? pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory")
                         : model->generate(&request, &workload, &err);
        if (status == PLEAT_E_INVALID)
            code = pleat_workload_usage(&options, &err);
        else if (status)
            code = pleat_fail(&err);
        else
            code = pleat_workload_save(&workload, NULL, out, comment.text);
    }
    pleat_workload_finish(&workload);
    pleat_string_finish(&comment);
    return code;
}

static int run_simple(int argc, char **argv)
{
    return run_model(&pleat_cmd_workload_simple, &pleat_model_simple, argc, argv);
}

static int run_lublin(int argc, char **argv)
{
    return run_model(&pleat_cmd_workload_lublin, &pleat_model_lublin, argc, argv);
}

static int run_utrera(int argc, char **argv)
{
    return run_model(&pleat_cmd_workload_utrera, &pleat_model_utrera, argc, argv);
}

static int run_generate(int argc, char **argv)
{
    return pleat_command_run_part(&pleat_cmd_workload_generate, argc, argv);
}

const struct pleat_cli_command pleat_cmd_workload_simple = {
    .name = "workload generate simple",
    .arguments = "[OPTION...] OUT",
    .summary = "Gaps, run times and sizes from distributions",
    .help = "Gaps, run times and sizes are drawn independently. A distribution DIST is "
            "one of\n"
            "  constant:A  uniform:A,B  normal:MEAN,SD  poisson:MEAN (= exponential:MEAN)\n"
            "  lognormal:ZETA,SIGMA  weibull:SCALE,SHAPE  gamma:SHAPE,SCALE\n"
            "  discrete:1=0.2,2=0.3,4=0.5 (values with weights)\n"
            "Limits [LEAST..MOST] at its end clip the values drawn: "
            "'lognormal:5,2[1..86400]'.\n"
            "OUT is the file to write ('-': standard output).\n"
            "\n"
            "Options:\n"
            "      --jobs N     the number of jobs (default: 1000)\n"
            "      --machine N  the machine's processors (default: 128)\n"
            "      --gap DIST   seconds between submissions (default: poisson:60, scaled "
            "to --load)\n"
            "      --run DIST   seconds that a job runs (default: exponential:600)\n"
            "      --size DIST  processors of a job (default: uniform from 1 to the "
            "machine)\n"
            "      --powers     sizes are rounded down to powers of two\n"
            "      --load F     gaps are scaled so that the offered load is F (default: "
            "0.7 without\n"
            "                   --gap, else gaps stay as they are drawn)\n"
            "      --estimate F  users' estimates are 1 to F times the run time "
            "(default: no estimates);\n"
            "                   popular or popular:MAX: most users choose one of few "
            "round values, often\n"
            "                   the longest allowed, MAX\n"
            "      --tick S     times are multiples of S seconds (default: 1; 0: no "
            "rounding)\n"
            "      --seed N     (default: 1); the same options and seed give the same file\n"
            "\n"
            "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n"
            "\n"
            "Example:\n"
            "  pleat workload generate simple --jobs 5000 --machine 64 --load 0.8 \\\n"
            "      --run 'lognormal:5,2[1..86400]' --size 'discrete:1=3,2=2,4=2,8=1' "
            "out.swf\n",
    .run = run_simple,
};

const struct pleat_cli_command pleat_cmd_workload_lublin = {
    .name = "workload generate lublin",
    .arguments = "[OPTION...] OUT",
    .summary = "The model of Lublin and Feitelson (2003) of rigid jobs",
    .help = "The model has serial jobs and preferred powers of two, run times that "
            "depend on the size,\n"
            "and arrivals with a daily cycle. Its published parameters are scaled to the "
            "machine.\n"
            "OUT is the file to write ('-': standard output).\n"
            "\n"
            "Options:\n"
            "      --jobs N     the number of jobs (default: 1000)\n"
            "      --machine N  the machine's processors, at least 2 (default: 256)\n"
            "      --load F     gaps are scaled so that the offered load is F (default: "
            "as the model\n"
            "                   gives)\n"
            "      --class C    batch (default), interactive, both (side by side), "
            "together (the model\n"
            "                   fitted to all jobs without distinction)\n"
            "      --estimate F  users' estimates are 1 to F times the run time; 1: "
            "exactly (default: no\n"
            "                   estimates); popular or popular:MAX (popular:60h): most "
            "users choose one\n"
            "                   of few round values, often the longest allowed, MAX\n"
            "      --seed N     (default: 1); the same options and seed give the same file\n"
            "\n"
            "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n"
            "\n"
            "Example:\n"
            "  pleat workload generate lublin --jobs 10000 --machine 1024 --load 0.7 "
            "out.swf\n",
    .run = run_lublin,
};

const struct pleat_cli_command pleat_cmd_workload_utrera = {
    .name = "workload generate utrera",
    .arguments = "[OPTION...] OUT",
    .summary = "Mixes of long and short applications of Utrera (2010)",
    .help = "Applications with measured run times arrive so that each has its share of a "
            "nominal\n"
            "load (equation 3.2). OUT is the file to write ('-': standard output).\n"
            "\n"
            "Options:\n"
            "      --mix MIX    w1 (default) to w6, high, low\n"
            "      --jobs N     the number of jobs (default: as many as arrive within "
            "--duration)\n"
            "      --duration S  jobs arrive for S seconds (default: until all of --jobs "
            "have come;\n"
            "                   600 without --jobs)\n"
            "      --machine N  the machine's processors (default: 60)\n"
            "      --load F     nominal load (default: the mix's own)\n"
            "      --kind KIND  the kind of the jobs: malleable (default), moldable, "
            "rigid, folding (up\n"
            "                   to 4 processes on a processor)\n"
            "      --seed N     (default: 1); the same options and seed give the same file\n"
            "\n"
            "Exit codes: 0; 1 OUT cannot be written; 2 usage.\n"
            "\n"
            "Example:\n"
            "  pleat workload generate utrera --mix w3 --jobs 200 out.swf\n",
    .run = run_utrera,
};

static const struct pleat_cli_command *const parts[] = {
    &pleat_cmd_workload_simple, &pleat_cmd_workload_lublin, &pleat_cmd_workload_utrera,
    &pleat_cmd_workload_grid, NULL};

const struct pleat_cli_command pleat_cmd_workload_generate = {
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

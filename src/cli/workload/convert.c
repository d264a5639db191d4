/* convert.c - pleat workload convert: reads a log and writes another one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/workload/workload.h"
#include "workload/convert.h"

/* The request. Numbers that were not given are NAN, texts NULL. */
struct request {
    const char *in, *out, *app;
    bool has_sizes;
    struct pleat_sizes sizes;
    struct pleat_app described; /* read from `app`, without its tables */
    double malleable, moldable; /* shares of the jobs */
    double minimum, maximum, initial, scale;
    int64_t machine; /* 0: that of the header */
    int64_t seed, first;
    struct pleat_reading reading;
};

enum {
    OPTION_MALLEABLE = 1,
    OPTION_MOLDABLE,
    OPTION_MINIMUM,
    OPTION_MAXIMUM,
    OPTION_INITIAL,
    OPTION_SIZES,
    OPTION_APP,
    OPTION_SEED,
    OPTION_MACHINE,
    OPTION_SCALE,
    OPTION_FIRST,
    OPTION_ZERO,
    OPTION_FORMAT,
    OPTION_FLOPS
};

static const struct option own[] = {{"malleable", required_argument, NULL, OPTION_MALLEABLE},
                                    {"moldable", required_argument, NULL, OPTION_MOLDABLE},
                                    {"min-factor", required_argument, NULL, OPTION_MINIMUM},
                                    {"max-factor", required_argument, NULL, OPTION_MAXIMUM},
                                    {"initial-factor", required_argument, NULL, OPTION_INITIAL},
                                    {"sizes", required_argument, NULL, OPTION_SIZES},
                                    {"app", required_argument, NULL, OPTION_APP},
                                    {"seed", required_argument, NULL, OPTION_SEED},
                                    {"machine", required_argument, NULL, OPTION_MACHINE},
                                    {"scale-load", required_argument, NULL, OPTION_SCALE},
                                    {"first", required_argument, NULL, OPTION_FIRST},
                                    {"zero-run-times", required_argument, NULL, OPTION_ZERO},
                                    {"format", required_argument, NULL, OPTION_FORMAT},
                                    {"flops", required_argument, NULL, OPTION_FLOPS},
                                    {0}};

/* Checks the text of an application. It is read again when there is a workload for its tables. */
static int check_app(const char *text, struct pleat_app *app, struct pleat_error *err)
{
    struct pleat_workload scratch = {0};
    int status = pleat_workload_init(&scratch)
                     ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                     : pleat_app_parse(text, &scratch, app, err);
    pleat_workload_finish(&scratch);
    return status ? pleat_error_prefix(err, status, "--app") : 0;
}

static int take(struct request *request, int option, struct pleat_error *err)
{
    int rc;
    switch (option) {
    case OPTION_MALLEABLE:
        return pleat_parse_percent("--malleable", optarg, &request->malleable, err);
    case OPTION_MOLDABLE:
        return pleat_parse_percent("--moldable", optarg, &request->moldable, err);
    case OPTION_MINIMUM:
        return pleat_parse_seconds("--min-factor", optarg, 0, 1, &request->minimum, err);
    case OPTION_MAXIMUM:
        return pleat_parse_seconds("--max-factor", optarg, 1, 1e6, &request->maximum, err);
    case OPTION_INITIAL:
        return pleat_parse_seconds("--initial-factor", optarg, 0, 1e6, &request->initial, err);
    case OPTION_SIZES:
        request->has_sizes = true;
        rc = pleat_conversion_sizes_parse(optarg, &request->sizes, err);
        return rc ? pleat_error_prefix(err, rc, "--sizes") : 0;
    case OPTION_APP:
        request->app = optarg;
        return check_app(optarg, &request->described, err);
    case OPTION_SEED:
        return pleat_parse_int("--seed", optarg, 0, INT64_MAX, &request->seed, err);
    case OPTION_MACHINE:
        return pleat_parse_int("--machine", optarg, 1, PLEAT_SIZE_MAX, &request->machine, err);
    case OPTION_SCALE:
        return pleat_parse_seconds("--scale-load", optarg, 1e-6, 1e6, &request->scale, err);
    case OPTION_FIRST:
        return pleat_parse_int("--first", optarg, 1, INT64_MAX, &request->first, err);
    case OPTION_FORMAT:
        return pleat_format_parse(optarg, &request->reading.format, err);
    case OPTION_FLOPS:
        return pleat_parse_flops(optarg, &request->reading, err);
    default:
        return pleat_parse_zero("--zero-run-times", optarg, &request->reading.swf.zero, err);
    }
}

/* Checks the options: those that say how jobs are converted need one that says which jobs. */
static int check(const struct request *request, struct pleat_error *err)
{
    bool shares = !isnan(request->malleable) || !isnan(request->moldable);
    const char *lonely = !isnan(request->minimum)   ? "--min-factor"
                         : !isnan(request->maximum) ? "--max-factor"
                         : !isnan(request->initial) ? "--initial-factor"
                         : request->has_sizes       ? "--sizes"
                         : request->app             ? "--app"
                                                    : NULL;
    if (!isnan(request->malleable) && !isnan(request->moldable))
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "--malleable and --moldable: one at a time (convert twice, with another --seed)");
    if (lonely && !shares)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s needs --malleable PCT or --moldable PCT: no job is converted",
                               lonely);
    int rc = request->sizes.kind == PLEAT_SIZES_LIST
                 ? pleat_workload_check_list(&request->described, err)
                 : 0;
    return rc ? pleat_error_prefix(err, rc, "--sizes table, --app") : 0;
}

static int read_options(struct pleat_options *options, struct request *request)
{
    struct pleat_error err = {0};
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if (take(request, option, &err))
            return pleat_workload_usage(options, &err);
    }
    if (check(request, &err))
        return pleat_workload_usage(options, &err);
    request->in = options->argv[options->first];
    request->out = request->in ? options->argv[options->first + 1] : NULL;
    return pleat_options_count(options, 2, 2);
}

/* ---- converting ---- */

static int convert(const struct request *request, struct pleat_workload *workload,
                   struct pleat_error *err)
{
    struct pleat_conversion conversion;
    size_t converted = 0;
    bool malleable = !isnan(request->malleable);
    if (!malleable && isnan(request->moldable))
        return 0;
    pleat_conversion_default(&conversion);
    conversion.share = malleable ? request->malleable : request->moldable;
    conversion.kind = malleable ? PLEAT_MALLEABLE : PLEAT_MOLDABLE;
    conversion.machine = workload->machine;
    conversion.seed = (uint64_t)request->seed;
    if (!isnan(request->minimum))
        conversion.minimum = request->minimum;
    if (!isnan(request->maximum))
        conversion.maximum = request->maximum;
    if (!isnan(request->initial))
        conversion.initial = request->initial;
    conversion.sizes_kind = request->sizes.kind;
    conversion.sizes_parameter = request->sizes.step;
    int status = request->app ? pleat_app_parse(request->app, workload, &conversion.app, err) : 0;
    if (!status)
        status = pleat_workload_convert(workload, &conversion, &converted, err);
    if (!status)
        pleat_say("%zu of %zu jobs made %s", converted, workload->jobs.count,
                  malleable ? "malleable" : "moldable");
    return status;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Reads the workload. What else its log has goes to *source, if it is one. */
static int read_log(struct request *request, struct pleat_workload *workload,
                    struct pleat_swf_source *source, struct pleat_error *err)
{
    struct pleat_reading *reading = &request->reading;
    struct pleat_oddities oddities;
    const char *name = strcmp(request->in, "-") != 0 ? request->in : "standard input";
    reading->swf.most = (size_t)request->first;
    reading->swf.source = source;
    if (pleat_workload_init(workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int status = pleat_workload_read(request->in, reading, workload, err);
    if (status)
        return status;
    pleat_say("%s: %zu jobs read", name, reading->report.jobs);
    size_t count = pleat_workload_oddities(&reading->report, &reading->swf, false, &oddities);
    for (size_t i = 0; i < count; i++)
        pleat_say("  %s", oddities.text[i]);
    pleat_say_notes(" ", &reading->notes);
    return 0;
}

static int run_convert(int argc, char **argv)
{
    struct request request = {.malleable = (double)NAN,
                              .moldable = (double)NAN,
                              .minimum = (double)NAN,
                              .maximum = (double)NAN,
                              .initial = (double)NAN,
                              .scale = 1,
                              .seed = 1};
    struct pleat_options options;
    struct pleat_workload workload = {0};
    struct pleat_swf_source source = {0};
    struct pleat_string comment = {0};
    struct pleat_error err;
    pleat_options_init(&options, &pleat_cmd_workload_convert, argc, argv, own, NULL);
    int code = read_options(&options, &request);
    if (code || !request.out)
        return code;
    pleat_workload_comment(&options, &comment);
    pleat_string_addf(&comment, " %s", base_name(request.in));
    int status = read_log(&request, &workload, &source, &err);
    if (!status) {
        if (request.machine)
            workload.machine = (int32_t)request.machine;
        pleat_workload_scale_load(&workload, request.scale);
        status = convert(&request, &workload, &err);
    }
    bool is_log = request.reading.format == PLEAT_FORMAT_SWF;
    code = status
               ? pleat_fail_input(&err)
               : pleat_workload_save(&workload, is_log ? &source : NULL, request.out, comment.text);
    pleat_workload_finish(&workload);
    pleat_swf_source_finish(&source);
    pleat_string_finish(&request.reading.notes);
    pleat_string_finish(&comment);
    return code;
}

const struct pleat_cli_command pleat_cmd_workload_convert = {
    .name = "workload convert",
    .arguments = "[OPTION...] IN OUT",
    .summary = "Makes jobs moldable or malleable, changes the load",
    .help = "Reads the workload IN and writes OUT ('-': standard input, standard "
            "output). The number of\n"
            "a job and the seed decide whether it is converted, so the jobs converted at "
            "20 % are\n"
            "among those converted at 50 %. A converted job gets\n"
            "  minimum = max(1, ceil(min-factor x size))\n"
            "  maximum = min(machine, floor(max-factor x size))\n"
            "and its run time and estimate hold for its recorded size. All else that IN "
            "says of its\n"
            "jobs, and its header, is copied to OUT.\n"
            "\n"
            "Options:\n"
            "      --malleable PCT  PCT percent of the jobs may change their size while "
            "they run\n"
            "      --moldable PCT   PCT percent are moldable: their size is chosen when "
            "they start\n"
            "      --min-factor F   the smallest size, times the recorded one (default: "
            "0.25)\n"
            "      --max-factor F   the largest size, times the recorded one (default: 2)\n"
            "      --initial-factor F  malleable jobs start with F times the recorded "
            "size (default:\n"
            "                   what is available)\n"
            "      --sizes SIZES  the sizes that converted jobs can use: any (default), "
            "powers, squares,\n"
            "                   grids, multiples:N, or table: exactly those of --app "
            "'table:...'\n"
            "      --app TEXT   how run time depends on size, and what a resize costs: "
            "'linear',\n"
            "                   'amdahl:0.02' (default), 'downey:A,SIGMA', "
            "'table:1=600,2=330'; then\n"
            "                   options such as 'adapt=30s' and 'resize=2s' "
            "(docs/user-guide.md)\n"
            "      --seed N     decides which jobs are converted (default: 1)\n"
            "      --machine N  the machine has N processors (default: as the header says)\n"
            "      --scale-load F  gaps between submissions are divided by F (default: 1)\n"
            "      --first N    only the first N jobs\n"
            "      --zero-run-times skip|keep  whether jobs whose run time is 0 are left "
            "out (default:\n"
            "                   skip)\n"
            "      --format FORMAT  what IN is: swf, batsim, elastisim (default: auto: as the "
            "file begins;\n"
            "                   standard input is swf)\n"
            "      --flops RATE  operations that a processor does in a second, for jobs of "
            "Batsim or\n"
            "                   ElastiSim that count them\n"
            "\n"
            "Exit codes: 0; 1 OUT cannot be written; 2 usage, or IN is missing or wrong "
            "(nothing is\n"
            "written).\n"
            "\n"
            "Examples:\n"
            "  pleat workload convert --malleable 50 log.swf half.swf\n"
            "  pleat workload convert --malleable 100 --app 'downey:32,1 adapt=30s "
            "resize=2s' \\\n"
            "      --scale-load 1.2 log.swf heavy.swf\n",
    .run = run_convert,
};

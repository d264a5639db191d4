/* grid.c - pleat workload grid: mixes of a grid workload generator, to be simulated, run, or both.
 */
#include <stdio.h>
#include <string.h>

#include "cli/workload/workload.h"
#include "figure/replace.h"
#include "scenario/models.h"
#include "workload/grid.h"

struct request {
    const char *from, *mix, *out;
    int64_t jobs, total, seed; /* jobs, total: 0: as in the description */
    /* estimate: --estimate was given, and replaces that of the description */
    bool example, estimate;
    double factor;
    struct pleat_popular popular;
};

static int take_estimate(struct request *request, struct pleat_error *err)
{
    struct pleat_error own = {0};
    request->estimate = true;
    request->factor = 0;
    request->popular = (struct pleat_popular){0};
    if (!pleat_parse_popular("--estimate", optarg, &request->popular, &own))
        return pleat_parse_seconds("--estimate", optarg, 1, 1e6, &request->factor, err);
    if (own.code)
        *err = own;
    return own.code;
}

static int take(struct request *request, int option, struct pleat_error *err)
{
    switch (option) {
    case 'f':
        request->from = optarg;
        return 0;
    case 'm':
        request->mix = optarg;
        return 0;
    case 'e':
        request->example = true;
        return 0;
    case 'j':
        return pleat_parse_int("--jobs", optarg, 1, PLEAT_GENERATE_JOBS_MAX, &request->jobs, err);
    case 't':
        return pleat_parse_int("--total", optarg, 1, PLEAT_SIZE_MAX, &request->total, err);
    case 'E':
        return take_estimate(request, err);
    default:
        return pleat_parse_int("--seed", optarg, 0, INT64_MAX, &request->seed, err);
    }
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
    request->out = options->argv[options->first];
    return pleat_options_count(options, request->example || request->mix ? 0 : 1,
                               request->example ? 0 : 1);
}

static int read_mix(const struct request *request, struct pleat_grid_mix *mix,
                    struct pleat_error *err)
{
    int status = request->from ? pleat_grid_mix_read(request->from, mix, err)
                               : pleat_grid_mix_read_text(pleat_grid_default_text(),
                                                          "the built-in description", mix, err);
    if (!status && request->jobs)
        mix->jobs = (size_t)request->jobs;
    if (!status && request->total)
        mix->total = (int32_t)request->total;
    if (!status && request->estimate) {
        mix->estimate = request->factor;
        mix->popular = request->popular.wanted;
        mix->popular_longest_us = request->popular.longest_us;
    }
    return status;
}

static int save_mix(const struct request *request, const struct pleat_grid_mix *mix,
                    const struct pleat_grid_draw *draw)
{
    struct pleat_string text = {0};
    struct pleat_error err;
    int status = pleat_grid_text(mix, draw, &text, &err);
    if (!status)
        status = pleat_replace_text(request->mix, &text, &err);
    pleat_string_finish(&text);
    if (status)
        return pleat_fail(&err);
    pleat_say("%s: %zu jobs of %zu components; 'pleat mix' runs it",
              strcmp(request->mix, "-") != 0 ? request->mix : "standard output", draw->jobs,
              draw->list.count);
    return 0;
}

static int save_workload(const struct request *request, const struct pleat_grid_mix *mix,
                         const struct pleat_grid_draw *draw, const char *comment)
{
    struct pleat_workload workload = {0};
    struct pleat_error err;
    int status = pleat_workload_init(&workload)
                     ? pleat_error_set(&err, PLEAT_E_NOMEM, "out of memory")
                     : pleat_grid_workload(mix, draw, &workload, &err);
    int code =
        status ? pleat_fail(&err) : pleat_workload_save(&workload, NULL, request->out, comment);
    pleat_workload_finish(&workload);
    return code;
}

static int generate(const struct request *request)
{
    char comment[80]; /* without the names of files, so that the same jobs give the same bytes */
    snprintf(comment, sizeof(comment), "pleat workload generate grid --seed %lld",
             (long long)request->seed);
    struct pleat_grid_mix mix = {0};
    struct pleat_grid_draw draw = {0};
    struct pleat_error err;
    if (read_mix(request, &mix, &err))
        return pleat_fail_input(&err);
    if (pleat_grid_draw(&mix, (uint64_t)request->seed, &draw, &err)) {
        pleat_grid_mix_finish(&mix);
        return pleat_fail_input(&err);
    }
    if (draw.capped)
        pleat_say("%zu of %zu jobs were cut to the processors that there are", draw.capped,
                  draw.jobs);
    int code = request->mix ? save_mix(request, &mix, &draw) : 0;
    if (!code && request->out)
        code = save_workload(request, &mix, &draw, comment);
    pleat_grid_draw_finish(&draw);
    pleat_grid_mix_finish(&mix);
    return code;
}

static int run_grid(int argc, char **argv)
{
    static const struct option own[] = {
        {"from", required_argument, NULL, 'f'},     {"mix", required_argument, NULL, 'm'},
        {"jobs", required_argument, NULL, 'j'},     {"total", required_argument, NULL, 't'},
        {"estimate", required_argument, NULL, 'E'}, {"seed", required_argument, NULL, 's'},
        {"example", no_argument, NULL, 'e'},        {0}};
    struct pleat_options options;
    struct request request = {.seed = 1};
    pleat_options_init(&options, &pleat_cmd_workload_grid, argc, argv, own, NULL);
    int code = read_options(&options, &request);
    if (!code && request.example)
        fputs(pleat_grid_default_text(), stdout);
    else if (!code && (request.out || request.mix))
        code = generate(&request);
    return code;
}

const struct pleat_cli_command pleat_cmd_workload_grid = {
    .name = "workload generate grid",
    .arguments = "[OPTION...] [OUT]",
    .summary = "Types of applications, to be simulated or run for real",
    .help = "A file describes types of applications with weights, jobs of one or several "
            "components, at\n"
            "fixed sites or anywhere, and distributions of sizes and run times. OUT is "
            "the workload to\n"
            "write ('-': standard output); it may be left out with --mix.\n"
            "\n"
            "Options:\n"
            "      --from FILE  the description ('-': standard input; default: a "
            "built-in one, of the\n"
            "                   applications in apps/)\n"
            "      --example    print the built-in description; docs/user-guide.md has "
            "all keys\n"
            "      --mix FILE   write the same jobs as a job mix for 'pleat mix'\n"
            "      --jobs N     the number of jobs (default: as described)\n"
            "      --total N    the most processors that a job has in all (default: as "
            "described)\n"
            "      --estimate F  users' estimates are 1 to F times the run time; popular "
            "or popular:MAX\n"
            "                   (popular:48h): most users choose one of few round "
            "values, often the\n"
            "                   longest allowed, MAX (default: as described)\n"
            "      --seed N     (default: 1); the same description and seed give the "
            "same files\n"
            "\n"
            "Exit codes: 0; 1 a file cannot be written; 2 usage, or the description is "
            "missing or\n"
            "wrong (its line is named).\n"
            "\n"
            "Examples:\n"
            "  pleat workload generate grid --example > my.grid\n"
            "  pleat workload generate grid --from my.grid --jobs 20 --mix apps/my.mix "
            "my.swf\n"
            "  pleat mix apps/my.mix\n",
    .run = run_grid,
};

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/sim/commands.h"
#include "cli/sim/experiment.h"
#include "cli/sim/platform_file.h"
#include "cli/workload/workload.h"
#include "figure/picture.h"
#include "figure/replace.h"

/* ---- the command line ---- */

enum {
    OPTION_WORKLOAD = 1,
    OPTION_GENERATE,
    OPTION_SITE,
    OPTION_PLATFORM,
    OPTION_MALLEABLE,
    OPTION_MOLDABLE,
    OPTION_MIN_FACTOR,
    OPTION_MAX_FACTOR,
    OPTION_INITIAL_FACTOR,
    OPTION_APP,
    OPTION_SIZES,
    OPTION_ESTIMATES,
    OPTION_KILL,
    OPTION_ZERO,
    OPTION_JOBS,
    OPTION_LOAD,
    OPTION_HOLD_LOAD,
    OPTION_FEEDBACK,
    OPTION_WARMUP,
    OPTION_COOLDOWN,
    OPTION_SEED,
    OPTION_SEEDS,
    OPTION_THREADS,
    OPTION_CSV,
    OPTION_CHART,
    OPTION_CLOCK,
    OPTION_FROM,
    OPTION_TO,
    OPTION_FIRST,
    OPTION_REPLAY,
    OPTION_PARAMETER,
    OPTION_COUNT,
    FIRST_QUESTION = 300
};

static const struct option own[] = {
    {"workload", required_argument, NULL, OPTION_WORKLOAD},
    {"generate", required_argument, NULL, OPTION_GENERATE},
    {"site", required_argument, NULL, OPTION_SITE},
    {"platform", required_argument, NULL, OPTION_PLATFORM},
    {"malleable", required_argument, NULL, OPTION_MALLEABLE},
    {"moldable", required_argument, NULL, OPTION_MOLDABLE},
    {"min-factor", required_argument, NULL, OPTION_MIN_FACTOR},
    {"max-factor", required_argument, NULL, OPTION_MAX_FACTOR},
    {"initial-factor", required_argument, NULL, OPTION_INITIAL_FACTOR},
    {"app", required_argument, NULL, OPTION_APP},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"estimates", required_argument, NULL, OPTION_ESTIMATES},
    {"kill-at-estimate", no_argument, NULL, OPTION_KILL},
    {"zero-run-times", required_argument, NULL, OPTION_ZERO},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"load", required_argument, NULL, OPTION_LOAD},
    {"hold-load", no_argument, NULL, OPTION_HOLD_LOAD},
    {"feedback", no_argument, NULL, OPTION_FEEDBACK},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"cooldown", required_argument, NULL, OPTION_COOLDOWN},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"seeds", required_argument, NULL, OPTION_SEEDS},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"chart", required_argument, NULL, OPTION_CHART},
    {"clock", no_argument, NULL, OPTION_CLOCK},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"first", required_argument, NULL, OPTION_FIRST},
    {"replay", required_argument, NULL, OPTION_REPLAY},
    {"parameter", required_argument, NULL, OPTION_PARAMETER}};

#define OWN_COUNT (sizeof(own) / sizeof(own[0]))

static int parse_count(const char *option, int64_t most, size_t *count, struct pleat_error *err)
{
    int64_t value;
    int rc = pleat_parse_int(option, optarg, 1, most, &value, err);
    if (!rc)
        *count = (size_t)value;
    return rc;
}

static int take_conversion(struct pleat_sim_request *request, int option, struct pleat_error *err)
{
    switch (option) {
    case OPTION_MALLEABLE:
        return pleat_sim_request_malleable(request, optarg, err);
    case OPTION_MOLDABLE:
        return pleat_parse_percent("--moldable", optarg, &request->moldable, err);
    case OPTION_MIN_FACTOR:
        return pleat_parse_seconds("--min-factor", optarg, 0, 1, &request->minimum, err);
    case OPTION_MAX_FACTOR:
        return pleat_parse_seconds("--max-factor", optarg, 1, 1e6, &request->maximum, err);
    case OPTION_INITIAL_FACTOR:
        return pleat_parse_seconds("--initial-factor", optarg, 0, 1e6, &request->initial, err);
    case OPTION_APP:
        request->app = optarg;
        return 0;
    default:
        request->sizes = optarg;
        return 0;
    }
}

static int take_run(struct pleat_sim_request *request, int option, struct pleat_error *err)
{
    static const char *const estimates[] = {"given", "exact"};
    size_t word = 0;
    int64_t number;
    int rc;
    switch (option) {
    case OPTION_ESTIMATES:
        request->popular.wanted = false;
        if (pleat_parse_popular("--estimates", optarg, &request->popular, err))
            return err->code;
        rc = pleat_parse_word("--estimates", optarg, estimates, 2, &word, err);
        if (rc)
            return pleat_error_set(
                err, PLEAT_E_INVALID,
                "--estimates: '%s' is none of given, exact, popular, popular:MAX", optarg);
        request->estimates = word == 1 ? PLEAT_ESTIMATES_EXACT : PLEAT_ESTIMATES_GIVEN;
        return rc;
    case OPTION_KILL:
        request->kill_at_estimate = true;
        return 0;
    case OPTION_ZERO:
        return pleat_parse_zero("--zero-run-times", optarg, &request->zero, err);
    case OPTION_JOBS:
        return parse_count("--jobs", INT32_MAX, &request->jobs, err);
    case OPTION_LOAD:
        return pleat_parse_seconds("--load", optarg, 1e-3, 1e3, &request->load, err);
    case OPTION_HOLD_LOAD:
        request->hold_load = true;
        return 0;
    case OPTION_FEEDBACK:
        request->feedback = true;
        return 0;
    case OPTION_WARMUP:
        return pleat_sim_request_cut("--warmup", optarg, &request->warmup, err);
    case OPTION_COOLDOWN:
        return pleat_sim_request_cut("--cooldown", optarg, &request->cooldown, err);
    case OPTION_SEED:
        rc = pleat_parse_int("--seed", optarg, 0, INT64_MAX / 2, &number, err);
        if (!rc)
            request->seed = (uint64_t)number;
        return rc;
    case OPTION_SEEDS:
        return parse_count("--seeds", PLEAT_SIM_RUNS_MAX, &request->seeds, err);
    case OPTION_THREADS:
        return parse_count("--threads", 1024, &request->threads, err);
    default:
        return pleat_sim_request_parameter(request, optarg, err);
    }
}

static int take_output(struct pleat_sim_request *request, int option, struct pleat_error *err)
{
    switch (option) {
    case OPTION_CSV:
        request->csv = optarg;
        return 0;
    case OPTION_CHART:
        request->chart = optarg;
        return 0;
    case OPTION_CLOCK:
        request->clock = true;
        return 0;
    case OPTION_FROM:
        return pleat_parse_seconds("--from", optarg, -1e11, 1e11, &request->from_s, err);
    case OPTION_TO:
        return pleat_parse_seconds("--to", optarg, -1e11, 1e11, &request->to_s, err);
    case OPTION_FIRST:
        return parse_count("--first", INT32_MAX, &request->first, err);
    default:
        request->replay = optarg;
        return 0;
    }
}

static int take_option(struct pleat_sim_request *request, int option, struct pleat_error *err)
{
    if (option >= FIRST_QUESTION)
        return pleat_sim_request_choose(request, (enum pleat_question)(option - FIRST_QUESTION),
                                        optarg, err);
    switch (option) {
    case OPTION_WORKLOAD:
        return pleat_sim_request_workload(request, optarg, err);
    case OPTION_GENERATE:
        request->generate = optarg;
        return 0;
    case OPTION_SITE:
        return pleat_sim_request_site(request, optarg, err);
    case OPTION_PLATFORM:
        request->platform_file = optarg;
        return 0;
    default:
        if (option <= OPTION_SIZES)
            return take_conversion(request, option, err);
        if (option >= OPTION_CSV && option <= OPTION_REPLAY)
            return take_output(request, option, err);
        return take_run(request, option, err);
    }
}

/* What belongs together; given: which options there were. */
static int check(const struct pleat_sim_request *request, const bool *given,
                 struct pleat_error *err)
{
    static const int of_conversions[] = {OPTION_MIN_FACTOR, OPTION_MAX_FACTOR,
                                         OPTION_INITIAL_FACTOR, OPTION_APP, OPTION_SIZES};
    static const int of_arrivals[] = {OPTION_HOLD_LOAD, OPTION_WARMUP, OPTION_COOLDOWN};
    static const int of_charts[] = {OPTION_CLOCK, OPTION_FROM, OPTION_TO, OPTION_FIRST};
    if (request->replay) {
        for (int i = 1; i < OPTION_COUNT; i++)
            if (given[i] && i != OPTION_REPLAY)
                return pleat_error_set(err, PLEAT_E_INVALID,
                                       "--replay decides a log again: --%s has no place there",
                                       own[i - 1].name);
        return 0;
    }
    if (!request->workload_count && !request->generate)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "which workload? --workload FILE, or --generate MODEL");
    if (request->workload_count && request->generate)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--workload and --generate: not both (several workloads are "
                               "--workload A,B)");
    if (request->workload_count > 1 && given[OPTION_SEEDS])
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--seeds is for one workload or a generator: %zu workloads are "
                               "%zu runs by themselves, each with a seed of its own",
                               request->workload_count, request->workload_count);
    if (request->warmup.share + request->cooldown.share >= 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--warmup and --cooldown leave nothing in between");
    for (size_t i = 0; request->feedback && i < sizeof(of_arrivals) / sizeof(of_arrivals[0]); i++)
        if (given[of_arrivals[i]])
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--%s goes by the recorded submissions, and with --feedback "
                                   "there are others",
                                   own[of_arrivals[i] - 1].name);
    double malleable = pleat_sim_request_most_malleable(request);
    if (malleable + request->moldable > 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--malleable and --moldable are more than 100 %% together");
    for (size_t i = 0; i < sizeof(of_conversions) / sizeof(of_conversions[0]); i++)
        if (given[of_conversions[i]] && malleable <= 0 && request->moldable <= 0)
            return pleat_error_set(err, PLEAT_E_INVALID, "--%s is for --malleable and --moldable",
                                   own[of_conversions[i] - 1].name);
    for (size_t i = 0; i < sizeof(of_charts) / sizeof(of_charts[0]); i++)
        if (given[of_charts[i]] && !request->chart)
            return pleat_error_set(err, PLEAT_E_INVALID, "--%s is for --chart",
                                   own[of_charts[i] - 1].name);
    return 0;
}

static int read_options(struct pleat_options *options, int argc, char **argv,
                        struct pleat_sim_request *request)
{
    struct option table[OWN_COUNT + PLEAT_QUESTION_COUNT + 1] = {0};
    struct pleat_error err = {0};
    bool given[OPTION_COUNT] = {false};
    memcpy(table, own, sizeof(own));
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        table[OWN_COUNT + (size_t)q] = (struct option){pleat_question_name((enum pleat_question)q),
                                                       required_argument, NULL, FIRST_QUESTION + q};
    pleat_options_init(options, &pleat_cmd_sim, argc, argv, table, NULL);
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return PLEAT_OPTION_EXIT;
        given[option < OPTION_COUNT ? option : 0] = true;
        if (take_option(request, option, &err))
            break;
    }
    if (!err.code && !(options->exit_code = pleat_options_count(options, 0, 0)) &&
        !check(request, given, &err))
        return 0;
    if (err.code)
        options->exit_code = pleat_usage(&pleat_cmd_sim, "%s", err.text);
    return PLEAT_OPTION_EXIT;
}

/* ---- the work ---- */

static int tell(const struct pleat_sim_experiment *experiment)
{
    const struct pleat_sim_totals *totals = &experiment->runs[0].totals;
    if (!pleat_settings.json)
        return pleat_sim_print(experiment);
    size_t skipped = totals->fates[PLEAT_SIM_SKIPPED];
    if (skipped > 0)
        pleat_say("%zu job%s larger than every site: skipped", skipped,
                  skipped == 1 ? " is" : "s are");
    json_t *json = pleat_sim_json(experiment, true);
    int code = pleat_reply_print(json);
    json_decref(json);
    return code;
}

static int commit(struct pleat_sim_csv *csv, const struct pleat_sim_experiment *experiment,
                  struct pleat_error *err)
{
    json_t *summary = pleat_sim_json(experiment, false);
    int rc = summary ? pleat_sim_csv_commit(csv, summary, err)
                     : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for summary.json");
    json_decref(summary);
    return rc;
}

static int report(const struct pleat_sim_request *request, struct pleat_sim_csv *csv,
                  const struct pleat_sim_experiment *experiment)
{
    struct pleat_error err = {0};
    struct pleat_string drawn = {0};
    int code = 0;
    if (csv && commit(csv, experiment, &err))
        return pleat_fail(&err);
    if (request->chart && pleat_sim_chart_write(experiment, &drawn, &err))
        code = pleat_fail(&err); /* what was simulated is shown all the same */
    int told = tell(experiment);
    if (csv && !pleat_settings.json)
        printf("\nAll jobs and resizes: %s\n", request->csv);
    if (drawn.text && !code && !pleat_settings.json)
        printf("%s%s\n", csv ? "" : "\n", drawn.text);
    pleat_string_finish(&drawn);
    return code ? code : told;
}

/* Where something is to be written must be writable before anything is simulated. */
static int open_outputs(const struct pleat_sim_request *request, struct pleat_sim_csv **csv,
                        struct pleat_error *err)
{
    struct pleat_replacement chart;
    int rc = 0;
    if (request->chart && (rc = pleat_picture_check(request->chart, err)))
        return rc;
    if (request->chart && !(rc = pleat_replacement_open(&chart, request->chart, err)))
        pleat_replacement_abandon(&chart);
    return !rc && request->csv ? pleat_sim_csv_open(csv, request, err) : rc;
}

static int simulate(struct pleat_sim_request *request, struct pleat_sim_csv *csv)
{
    struct pleat_sim_experiment experiment;
    struct pleat_error err = {0};
    int code = 0;
    if (pleat_sim_experiment_init(&experiment, request, &err)) {
        if (!pleat_interrupt_signal()) /* else reading was broken off */
            pleat_fail(&err);
        code = err.code == PLEAT_E_NOMEM ? PLEAT_EXIT_FAILED : PLEAT_EXIT_USAGE;
    } else {
        experiment.csv = csv;
        int rc = pleat_sim_experiment_run(&experiment, &err);
        if (rc == PLEAT_E_CLOSED)
            code = PLEAT_EXIT_FAILED; /* a signal's: below */
        else if (rc) /* a job of the workload that makes no sense, or the run itself */
            code = rc == PLEAT_E_INVALID ? pleat_fail_input(&err) : pleat_fail(&err);
        else
            code = report(request, csv, &experiment);
        if (code && pleat_interrupt_signal())
            code = PLEAT_EXIT_SIGNAL + pleat_interrupt_signal();
    }
    pleat_sim_experiment_finish(&experiment);
    return code;
}

static int attend(struct pleat_sim_request *request)
{
    struct pleat_error err = {0};
    struct pleat_sim_csv *csv = NULL;
    if (request->replay)
        return pleat_sim_replay(request->replay);
    if (request->generate && pleat_generator_init(&request->generator, request->generate, &err))
        return pleat_usage(&pleat_cmd_sim, "--generate: %s", err.text);
    if (request->workload_count > 1)
        request->seeds = request->workload_count;
    if ((request->platform_file &&
         pleat_platform_read(request->platform_file, &request->platform, &err)) ||
        pleat_sim_request_combine(request, &err))
        return pleat_fail_input(&err);
    if (request->first > 0 && request->combinations.count * request->seeds > 1)
        return pleat_usage(&pleat_cmd_sim, "--first is for the drawing of a single run");
    pleat_interrupt_catch();
    if (open_outputs(request, &csv, &err))
        return pleat_fail(&err);
    int code = simulate(request, csv);
    pleat_sim_csv_close(csv);
    return code;
}

static int run_sim(int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_sim_request request;
    pleat_sim_request_init(&request);
    int code = read_options(&options, argc, argv, &request) == PLEAT_OPTION_EXIT ? options.exit_code
                                                                                 : attend(&request);
    pleat_sim_request_finish(&request);
    return code;
}

const struct pleat_command pleat_cmd_sim = {
    .name = "sim",
    .arguments = "--workload FILE|--generate MODEL [OPTION...]",
    .summary = "Simulates a workload: the same policies in simulated time",
    .help =
        "FILE is a log in the Standard Workload Format ('-': standard input); what comes out are\n"
        "waits, response times and slowdowns of its jobs, and how the processors were used.\n\n"
        "Workloads (several, a,b,c or repeated: each is run, and means are compared):\n"
        "      --workload FILE  a log\n"
        "      --generate MODEL  made anew for each seed: a model with the options that 'pleat\n"
        "                       workload generate' has, such as \"lublin --jobs 5000 --load "
        "0.7\"\n\n"
        "What it runs on (default: one site as large as the log says):\n"
        "      --site NAME:PROCESSORS  a site; may be repeated\n"
        "      --platform FILE  sites with speeds, delays, local users, failures\n\n"
        "What decides (several names, a,b,c: all combinations are run and compared):\n"
        "      --approach, --queue, --order, --placement POLICY  --queue also takes an order: "
        "--queue\n"
        "                       sjf is --order sjf\n"
        "      --moldability, --malleability, --buffer POLICY  what they do: 'pleat policies'\n"
        "      --parameter NAME=VALUE  as in pleat.conf; may be repeated\n\n"
        "What is run:\n"
        "      --malleable PCT, --moldable PCT  so many of the jobs are made so (--malleable "
        "0,50:\n"
        "                       both are run and compared), from\n"
        "      --min-factor X, --max-factor X  times their size (default: 0.25, 2), and start "
        "with\n"
        "      --initial-factor X  times it (default: as much as is available)\n"
        "      --app APP        how they behave (default: \"amdahl:0.02\"), such as\n"
        "                       \"amdahl:0.02 adapt=30s resize=2s\"\n"
        "      --sizes SIZES    which they take: any, powers, squares, grids, multiples:N, or\n"
        "                       table: exactly those of --app \"table:...\"\n"
        "      --estimates WHICH  given: the log's (default); exact: the run times; popular or\n"
        "                       popular:MAX (popular:48h): as users do, round values, often MAX\n"
        "      --kill-at-estimate  jobs that run longer are ended\n"
        "      --zero-run-times WHICH  skip or keep jobs that ran for no time (default: skip)\n"
        "      --jobs N         only the first N\n"
        "      --load FACTOR    they arrive so many times as densely\n"
        "      --hold-load      the load stays that of the workload whatever sizes jobs get: in "
        "each\n"
        "                       run, arrivals are made denser by what the jobs take less\n"
        "      --feedback       a job that names a preceding one (columns 17 and 18 of the log) "
        "is\n"
        "                       submitted its think time after that ended, not when it was "
        "recorded\n"
        "      --warmup T, --cooldown T  jobs submitted in the first or last part of the time "
        "count\n"
        "                       nowhere: 10%, or 2d\n"
        "      --seed N         of all that is random (default: 1)\n"
        "      --seeds N        N runs with N seeds: means and confidence intervals. Seeds choose "
        "the\n"
        "                       jobs to convert; with --generate they make the workload, too\n"
        "      --threads N      run at once (default: one for each processor)\n\n"
        "What comes out, besides the summary:\n"
        "      --csv DIR        jobs.csv, skipped.csv, resizes.csv, series.csv (processors and\n"
        "                       queue over time), summary.json\n"
        "      --chart FILE     a drawing (.svg, .png, .pdf) of processors, queue, distributions\n"
        "      --clock          its axes have the time of day, if the log says when it began\n"
        "      --from S, --to S, --first N  a part of the time, or of the jobs, in the drawing\n\n"
        "Or:\n"
        "      --replay LOG     decide a daemon's log.sqlite again: 0 if all came out the same\n\n"
        "Exit codes: 0; 1 it did not work, or a replay was different; 2 usage, or an error in a\n"
        "file; 130 Ctrl-C (nothing is written then).\n\n"
        "Example:\n"
        "  pleat sim --workload log.swf --site big:256 --queue fcfs,easy --chart compared.svg\n",
    .json = true,
    .run = run_sim,
};

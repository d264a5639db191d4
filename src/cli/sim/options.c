/* options.c - the command line of `pleat sim`. */
#include <math.h>
#include <string.h>

#include "cli/sim/commands.h"
#include "cli/sim/experiment.h"
#include "cli/workload/workload.h"

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
    OPTION_NOISE,
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
    OPTION_FORMAT,
    OPTION_FLOPS,
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
    {"noise", required_argument, NULL, OPTION_NOISE},
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
    {"parameter", required_argument, NULL, OPTION_PARAMETER},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"flops", required_argument, NULL, OPTION_FLOPS}};

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
    case OPTION_NOISE:
        return pleat_parse_percent("--noise", optarg, &request->noise, err);
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
    case OPTION_FORMAT:
        return pleat_format_parse(optarg, &request->format, err);
    case OPTION_FLOPS:
        return pleat_parse_seconds("--flops", optarg, 1, 1e30, &request->flops, err);
    default:
        if (option <= OPTION_SIZES)
            return take_conversion(request, option, err);
        if (option >= OPTION_CSV && option <= OPTION_REPLAY)
            return take_output(request, option, err);
        return take_run(request, option, err);
    }
}

/* Checks that the options fit together. given: the options that were given. */
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
            return pleat_error_set(
                err, PLEAT_E_INVALID,
                "--%s uses the recorded submissions, and --feedback changes them: leave out "
                "one of these options",
                own[of_arrivals[i] - 1].name);
    double malleable = pleat_sim_request_most_malleable(request);
    if (malleable + request->moldable > 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--malleable and --moldable are more than 100 %% together");
    for (size_t i = 0; i < sizeof(of_conversions) / sizeof(of_conversions[0]); i++)
        if (given[of_conversions[i]] && malleable <= 0 && request->moldable <= 0)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--%s needs --malleable or --moldable: no job is converted",
                                   own[of_conversions[i] - 1].name);
    for (size_t i = 0; i < sizeof(of_charts) / sizeof(of_charts[0]); i++)
        if (given[of_charts[i]] && !request->chart)
            return pleat_error_set(err, PLEAT_E_INVALID, "--%s is for --chart",
                                   own[of_charts[i] - 1].name);
    return 0;
}

int pleat_sim_request_read(struct pleat_sim_request *request, struct pleat_options *options,
                           int argc, char **argv)
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

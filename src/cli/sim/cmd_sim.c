#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/sim/commands.h"
#include "cli/sim/experiment.h"
#include "cli/sim/platform_file.h"
#include "figure/picture.h"
#include "figure/replace.h"

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
        code = pleat_fail(&err); /* the results are printed all the same */
    int told = tell(experiment);
    if (csv && !pleat_settings.json)
        printf("\nAll jobs and resizes: %s\n", request->csv);
    if (drawn.text && !code && !pleat_settings.json)
        printf("%s%s\n", csv ? "" : "\n", drawn.text);
    pleat_string_finish(&drawn);
    return code ? code : told;
}

/* Opens the outputs: what is to be written must be writable before anything is simulated. */
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
        if (!pleat_interrupt_signal()) /* otherwise a signal ended the reading */
            pleat_fail(&err);
        code = err.code == PLEAT_E_NOMEM ? PLEAT_EXIT_FAILED : PLEAT_EXIT_USAGE;
    } else {
        experiment.csv = csv;
        int rc = pleat_sim_experiment_run(&experiment, &err);
        if (rc == PLEAT_E_CLOSED)
            code = PLEAT_EXIT_FAILED; /* ended by a signal: handled below */
        else if (rc) /* a job of the workload makes no sense, or the run itself failed */
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
    int code = pleat_sim_request_read(&request, &options, argc, argv) == PLEAT_OPTION_EXIT
                   ? options.exit_code
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

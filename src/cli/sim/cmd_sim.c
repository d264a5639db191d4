#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/sim/commands.h"
#include "cli/sim/experiment.h"
#include "cli/workload/workload.h"
#include "figure/picture.h"
#include "figure/replace.h"
#include "scenario/platform_file.h"

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

static int read_platform(struct pleat_sim_request *request, struct pleat_error *err)
{
    struct pleat_string notes = {0};
    if (!request->platform_file)
        return 0;
    int rc = pleat_platform_read(request->platform_file, &request->platform, &notes, err);
    if (!rc)
        pleat_say_notes(request->platform_file, &notes);
    pleat_string_finish(&notes);
    return rc;
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
    if (read_platform(request, &err) || pleat_sim_request_combine(request, &err))
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

const struct pleat_cli_command pleat_cmd_sim = {
    .name = "sim",
    .arguments = "--workload FILE|--generate MODEL [OPTION...]",
    .summary = "Simulates a workload: the same policies in simulated time",
    .help = "FILE is a log in the Standard Workload Format ('-': standard input). The "
            "results are\n"
            "waits, response times and slowdowns of its jobs, and the use of the "
            "processors.\n"
            "\n"
            "Workloads (several, a,b,c or repeated: each is run, and means are compared):\n"
            "      --workload FILE  a log; or jobs of Batsim or ElastiSim (JSON)\n"
            "      --format FORMAT  what FILE is: swf, batsim, elastisim (default: auto)\n"
            "      --flops RATE     operations that a processor does in a second, where jobs "
            "count them\n"
            "                       (default: as a platform of SimGrid's says)\n"
            "      --generate MODEL  a workload that is generated anew for each seed: a "
            "model with\n"
            "                       options of 'pleat workload generate', quoted as one "
            "word:\n"
            "                       \"lublin --jobs 5000 --load 0.7\"\n"
            "\n"
            "Sites (default: one site as large as the log says):\n"
            "      --site NAME:PROCESSORS  a site; may be repeated\n"
            "      --platform FILE  sites with speeds, delays, local users, failures; or a "
            "platform of\n"
            "                       SimGrid's (XML)\n"
            "\n"
            "Policies (several names, a,b,c: all combinations are run and compared):\n"
            "      --approach, --queue, --order, --placement POLICY  --queue also takes "
            "an order: --queue\n"
            "                       sjf is --order sjf\n"
            "      --moldability, --malleability, --buffer, --need, --reward POLICY\n"
            "                       'pleat policies' explains them\n"
            "      --parameter NAME=VALUE  as in pleat.conf; may be repeated\n"
            "\n"
            "Jobs:\n"
            "      --malleable PCT, --moldable PCT  the share of the rigid jobs that is "
            "made malleable,\n"
            "                       or moldable. With --malleable 0,50 both are run and "
            "compared\n"
            "      --min-factor X, --max-factor X  the least and largest size of these "
            "jobs, times their\n"
            "                       recorded size (default: 0.25, 2)\n"
            "      --initial-factor X  malleable jobs start with X times their recorded "
            "size (default:\n"
            "                       what is available)\n"
            "      --app APP        the application model of these jobs, such as\n"
            "                       \"amdahl:0.02 adapt=30s resize=2s\" (default: "
            "\"amdahl:0.02\")\n"
            "      --sizes SIZES    the sizes that these jobs can use: any, powers, "
            "squares, grids,\n"
            "                       multiples:N, or table: exactly those of --app "
            "\"table:...\"\n"
            "      --estimates WHICH  given: the log's (default); exact: the run times; "
            "popular or\n"
            "                       popular:MAX (popular:48h): drawn from a model of "
            "users' estimates\n"
            "      --kill-at-estimate  a job that runs longer than its estimate is ended\n"
            "      --zero-run-times WHICH  skip or keep jobs whose run time is 0 "
            "(default: skip)\n"
            "      --jobs N         only the first N jobs\n"
            "      --load FACTOR    gaps between submissions are divided by FACTOR "
            "(default: 1)\n"
            "      --hold-load      the load stays that of the workload, whatever sizes "
            "jobs get: if jobs\n"
            "                       need less processor time, arrivals are made denser "
            "by the same factor\n"
            "      --feedback       a job that names a preceding job (column 17 of the "
            "log) is submitted\n"
            "                       a think time (column 18) after that job ended, not "
            "at its recorded\n"
            "                       time\n"
            "      --noise P        iterations that applications report differ by P % of their "
            "mean (default: 0)\n"
            "      --warmup T, --cooldown T  jobs submitted in the first, or last, part "
            "of the time are\n"
            "                       left out of the results: 10%, or 2d\n"
            "      --seed N         the seed of all random numbers (default: 1)\n"
            "      --seeds N        N runs with N seeds: means and confidence intervals. "
            "A seed decides\n"
            "                       which jobs are converted; with --generate the "
            "workload, too\n"
            "      --threads N      the number of runs simulated at the same time "
            "(default: one for each\n"
            "                       processor)\n"
            "\n"
            "Output, besides the summary:\n"
            "      --csv DIR        write into DIR jobs.csv, skipped.csv, resizes.csv, "
            "series.csv (processors and\n"
            "                       queue over time), summary.json\n"
            "      --chart FILE     a drawing (.svg, .png, .pdf) of processors, queue, "
            "distributions\n"
            "      --clock          the drawing's axes have the time of day, if the log "
            "says when it\n"
            "                       began\n"
            "      --from S, --to S, --first N  the part of the time that the drawing shows: "
            "seconds of\n"
            "                       the log, or until the first N jobs have ended\n"
            "\n"
            "Instead of a simulation:\n"
            "      --replay LOG     decide a daemon's log.sqlite again; the exit code is "
            "0 if all\n"
            "                       decisions are the same\n"
            "\n"
            "Exit codes: 0; 1 it did not work, or a replay was different; 2 usage, or an "
            "error in a\n"
            "file; 130 Ctrl-C (nothing is written then).\n"
            "\n"
            "Example:\n"
            "  pleat sim --workload log.swf --site big:256 --queue fcfs,easy --chart "
            "compared.svg\n",
    .json = true,
    .run = run_sim,
};

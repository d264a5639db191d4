#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/charts/chart.h"
#include "cli/common/daemon.h"
#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/jobs/submit.h"
#include "cli/mix/commands.h"
#include "cli/mix/mix.h"

static const char *const questions[] = {"approach",     "queue", "placement", "moldability",
                                        "malleability", "order", "need",      "reward"};

#define QUESTION_COUNT (sizeof(questions) / sizeof(questions[0]))
#define FIRST_QUESTION 300 /* values of the options of questions, above all letters */

struct request {
    const char *svg;
    const char *expect;
    const char *policies[QUESTION_COUNT];
    struct pleat_mix_parameters files;
    double scale;
};

/* ---- policies, for the time of the mix ---- */

/* Puts the policies of the request in force. *before gets the policies that they replace (NULL:
 * none were). */
static int change_policies(struct pleat_client *client, const struct request *request,
                           json_t **before)
{
    json_t *info, *wanted = json_object(), *replaced = json_object();
    *before = NULL;
    int code = 0;
    for (size_t i = 0; i < QUESTION_COUNT; i++)
        if (request->policies[i])
            json_object_set_new(wanted, questions[i], json_string(request->policies[i]));
    if (json_object_size(wanted) > 0) {
        code = pleat_daemon_ask(client, "info", NULL, &info);
        const char *name;
        json_t *ignored;
        json_object_foreach(wanted, name, ignored)
        {
            json_t *now = code ? NULL : json_object_get(json_object_get(info, "policies"), name);
            if (now)
                json_object_set(replaced, name, now);
        }
        if (!code)
            json_decref(info);
        if (!code)
            code =
                pleat_daemon_ask(client, "configure", json_pack("{s:O}", "policies", wanted), NULL);
        if (!code)
            *before = json_incref(replaced);
    }
    json_decref(wanted);
    json_decref(replaced);
    return code;
}

static int restore_policies(struct pleat_client *client, json_t *before)
{
    if (!before)
        return 0;
    return pleat_daemon_ask(client, "configure", json_pack("{s:o}", "policies", before), NULL);
}

/* ---- afterwards ---- */

static json_t *numbers_of(const struct pleat_mix *mix)
{
    json_t *numbers = json_array();
    for (size_t i = 0; i < mix->jobs.count; i++)
        if (mix->jobs.items[i].job)
            json_array_append_new(numbers, json_integer(mix->jobs.items[i].job));
    return numbers;
}

static int show(const struct request *request, const struct pleat_mix *mix,
                const struct pleat_gantt *gantt)
{
    struct pleat_string missed = {0};
    struct pleat_error err = {0};
    int code = 0;
    int status = request->expect ? pleat_mix_expect(request->expect, mix, &missed, &err) : 0;
    if (pleat_settings.json) {
        json_t *json = pleat_mix_json(mix, gantt, missed.text);
        code = pleat_reply_print(json);
        json_decref(json);
    } else {
        code = pleat_mix_print(mix, gantt);
        putchar('\n');
        if (!code)
            code = pleat_chart_print(gantt, false);
    }
    if (!status && request->svg)
        status = pleat_gantt_write(gantt, request->svg, &err);
    if (status)
        code = pleat_fail(&err);
    else if (request->svg && !pleat_settings.json)
        printf("\nThe chart as a drawing: %s\n", request->svg);
    if (missed.length) {
        pleat_say("the mix did not go as expected (--expect %s):", request->expect);
        pleat_submit_say_notes(missed.text);
        code = PLEAT_EXIT_FAILED;
    }
    pleat_string_finish(&missed);
    return code;
}

static int report(struct pleat_client *client, const struct request *request,
                  const struct pleat_mix *mix)
{
    struct pleat_chart_data data = {.after = mix->first_event};
    struct pleat_gantt gantt;
    struct pleat_error err = {0};
    int code = pleat_chart_fetch(client, &data);
    if (code)
        return code;
    json_t *numbers = numbers_of(mix);
    int status = pleat_chart_build(&data, numbers, &gantt, &err);
    json_decref(numbers);
    if (status) {
        code = pleat_fail(&err);
    } else {
        code = show(request, mix, &gantt);
        pleat_gantt_finish(&gantt);
    }
    pleat_chart_data_finish(&data);
    return code;
}

static int attend(const struct request *request, struct pleat_mix *mix)
{
    struct pleat_client *client;
    json_t *before;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    code = change_policies(client, request, &before);
    if (!code) {
        pleat_interrupt_catch();
        code = pleat_mix_run(mix, client);
        int restored = code == PLEAT_EXIT_NO_DAEMON ? 0 : restore_policies(client, before);
        if (!code)
            code = report(client, request, mix);
        code = code ? code : restored;
    }
    pleat_client_close(client);
    return mix->interrupted && code != PLEAT_EXIT_NO_DAEMON && pleat_interrupt_signal()
               ? PLEAT_EXIT_SIGNAL + pleat_interrupt_signal()
               : code;
}

/* ---- the command line ---- */

static int take_option(struct request *request, int option, struct pleat_error *err)
{
    if (option == 's')
        request->svg = optarg;
    else if (option == 'a')
        request->files.applications = optarg;
    else if (option == 'c')
        request->files.counts = optarg;
    else if (option == 't')
        request->files.types = optarg;
    else if (option == 'x')
        return pleat_parse_seconds("--time-scale", optarg, 0, 1e6, &request->scale, err);
    else if (option == 'e') {
        request->expect = optarg;
        return pleat_mix_expect(optarg, NULL, NULL, err);
    } else
        request->policies[option - FIRST_QUESTION] = optarg;
    return 0;
}

static int run_mix(int argc, char **argv)
{
    static const struct option own[] = {
        {"svg", required_argument, NULL, 's'},
        {"time-scale", required_argument, NULL, 'x'},
        {"expect", required_argument, NULL, 'e'},
        {"applications", required_argument, NULL, 'a'},
        {"counts", required_argument, NULL, 'c'},
        {"types", required_argument, NULL, 't'},
        {"approach", required_argument, NULL, FIRST_QUESTION},
        {"queue", required_argument, NULL, FIRST_QUESTION + 1},
        {"placement", required_argument, NULL, FIRST_QUESTION + 2},
        {"moldability", required_argument, NULL, FIRST_QUESTION + 3},
        {"malleability", required_argument, NULL, FIRST_QUESTION + 4},
        {"order", required_argument, NULL, FIRST_QUESTION + 5},
        {"need", required_argument, NULL, FIRST_QUESTION + 6},
        {"reward", required_argument, NULL, FIRST_QUESTION + 7},
        {0}};
    struct pleat_options options;
    struct request request = {.scale = 1};
    struct pleat_error err = {0};
    struct pleat_string notes = {0};
    pleat_options_init(&options, &pleat_cmd_mix, argc, argv, own, NULL);
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (take_option(&request, option, &err))
            return pleat_usage(&pleat_cmd_mix, "%s", err.text);
    }
    int code = pleat_options_count(&options, 1, 1);
    if (code)
        return code;
    if ((request.files.counts || request.files.types) && !request.files.applications)
        return pleat_usage(&pleat_cmd_mix, "--counts and --types need --applications");
    struct pleat_mix mix = {.scale = request.scale, .quiet = pleat_settings.json};
    const char *path = argv[options.first];
    int status = request.files.applications
                     ? pleat_mix_read_trace(&mix, path, &request.files, &notes, &err)
                     : pleat_mix_read(&mix, path, &notes, &err);
    if (status) {
        pleat_fail(&err);
        code = PLEAT_EXIT_USAGE;
    } else {
        pleat_submit_say_notes(notes.text);
        code = attend(&request, &mix);
    }
    pleat_string_finish(&notes);
    pleat_mix_finish(&mix);
    return code;
}

const struct pleat_cli_command pleat_cmd_mix = {
    .name = "mix",
    .arguments = "[OPTION...] FILE",
    .summary = "Runs a job mix: jobs that arrive over time, from a file",
    .help = "Each line of FILE is a job:\n"
            "  AT NAME [OPTION...] -- PROGRAM [ARGUMENT...]\n"
            "AT: seconds after the start. OPTION: those of 'pleat submit'. Words are "
            "quoted as in a\n"
            "shell, # begins a comment, a line that ends with \\ goes on in the next. A "
            "program is\n"
            "looked up beside FILE (a path: from the directory of FILE), then in PATH. "
            "If FILE has a\n"
            "mistake, nothing is submitted. The command shows the progress, then a "
            "table, then the\n"
            "chart. In the table RESIZES has the number of resizes of a job and the mean "
            "cost of one,\n"
            "COST the cost of all. Ctrl-C cancels the jobs.\n"
            "\n"
            "With --applications FILE is a trace in the Standard Workload Format. Of "
            "each line two\n"
            "fields are used: the time of arrival (field 2) and the number of the "
            "application (field\n"
            "14, from 0 on). All jobs are folded then.\n"
            "\n"
            "Options:\n"
            "      --applications A  FILE is a trace; A is a file with the command of "
            "each application,\n"
            "                   one a line, with N for the number of processes: mpirun "
            "-np N bin/cg.B.N\n"
            "      --counts C   a file with a line for each application: the numbers of "
            "processes that\n"
            "                   it can use, 8 4 2 1; 8 -1 means any number up to 8 "
            "(default: 1)\n"
            "      --types T    a file with a line for each application: 1 if it is "
            "long, 2 if it is\n"
            "                   short (default: unknown)\n"
            "      --svg FILE   write the chart as a drawing, too (.svg, .png or .pdf)\n"
            "      --time-scale X  arrival times are multiplied by X (default: 1)\n"
            "      --expect LIST   what must have happened, else the exit code is 1: "
            "grown (a job grew),\n"
            "                   shrunk (a job was shrunk), results (all jobs exited with "
            "0, and each\n"
            "                   line of output that begins with RESULT has ok in it)\n"
            "      --approach POLICY, --queue POLICY, --order POLICY, --placement POLICY,\n"
            "      --moldability POLICY, --malleability POLICY, --need POLICY, --reward "
            "POLICY  in force\n"
            "                   while the mix runs (default: as 'pleat info' says)\n"
            "\n"
            "Exit codes: 0; 1 a job was refused, or an expectation not met; 2 usage, or "
            "an error in\n"
            "FILE; 3 no daemon, or the connection broke; 130 Ctrl-C.\n"
            "\n"
            "Example:\n"
            "  pleat mix --svg chart.svg apps/demo.mix\n",
    .json = true,
    .run = run_mix,
};

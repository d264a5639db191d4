/* cmd_hold.c - pleat hold, release and requeue: jobs that wait until their user releases them, and
 * jobs that have to wait again. */
#include "cli/jobs/commands.h"
#include "cli/jobs/selection.h"

enum { OPTION_HOLD = 1, OPTION_FORCE };

struct what {
    const char *method, *done;
    enum pleat_selects selects;
    const struct option *options;
};

static int run(const struct pleat_cli_command *command, const struct what *what, int argc,
               char **argv)
{
    struct pleat_selection selection = {.command = command};
    struct pleat_options options;
    struct pleat_error err;
    json_t *params = json_object();
    int code = 0;
    pleat_options_init(&options, command, argc, argv, what->options, NULL);
    for (int option; !code && (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT) {
            json_decref(params);
            return options.exit_code;
        }
        if (option == OPTION_HOLD)
            json_object_set_new(params, "hold", json_true());
        else if (option == OPTION_FORCE)
            json_object_set_new(params, "force", json_true());
        else if (pleat_selection_take(&selection, option, optarg, &err))
            code = pleat_usage(command, "%s", err.text);
    }
    if (!code) {
        selection.words = argv + options.first;
        selection.count = argc - options.first;
        code = pleat_selection_change(&selection, what->selects, what->method, params, what->done);
    }
    json_decref(params);
    return code;
}

static int run_hold(int argc, char **argv)
{
    static const struct option options[] = {PLEAT_SELECTION_OPTIONS, {0}};
    static const struct what hold = {"hold", "held", PLEAT_SELECTS_WAITING, options};
    return run(&pleat_cmd_hold, &hold, argc, argv);
}

static int run_release(int argc, char **argv)
{
    static const struct option options[] = {PLEAT_SELECTION_OPTIONS, {0}};
    static const struct what release = {"release", "released", PLEAT_SELECTS_HELD, options};
    return run(&pleat_cmd_release, &release, argc, argv);
}

static int run_requeue(int argc, char **argv)
{
    static const struct option options[] = {PLEAT_SELECTION_OPTIONS,
                                            {"hold", no_argument, NULL, OPTION_HOLD},
                                            {"force", no_argument, NULL, OPTION_FORCE},
                                            {0}};
    static const struct what requeue = {"requeue", "requeued", PLEAT_SELECTS_RUNNING, options};
    return run(&pleat_cmd_requeue, &requeue, argc, argv);
}

#define EXIT_CODES                                                                                 \
    "Exit codes: 0; 1 refused; 2 usage; 3 no daemon; 4 no such job, or none is selected.\n\n"

const struct pleat_cli_command pleat_cmd_hold = {
    .name = "hold",
    .arguments = "[JOB...] [--name PATTERN] [--state STATE] [--all]",
    .summary = "Keeps waiting jobs from being started",
    .help = "A held job is not started before 'pleat release', which puts it at the end "
            "of the queue.\n"
            "JOB is a number, or a range such as 3-7.\n"
            "\n"
            "Options:\n" PLEAT_SELECTION_HELP "\n" EXIT_CODES "Example:\n"
            "  pleat hold 3-7\n",
    .run = run_hold,
};

const struct pleat_cli_command pleat_cmd_release = {
    .name = "release",
    .arguments = "[JOB...] [--name PATTERN] [--state STATE] [--all]",
    .summary = "Lets held jobs start",
    .help = "The jobs are put at the end of the queue, unless they still wait for other "
            "jobs.\n"
            "JOB is a number, or a range such as 3-7.\n"
            "\n"
            "Options:\n" PLEAT_SELECTION_HELP "\n" EXIT_CODES "Example:\n"
            "  pleat release --all\n",
    .run = run_release,
};

const struct pleat_cli_command pleat_cmd_requeue = {
    .name = "requeue",
    .arguments = "[JOB...] [--name PATTERN] [--state STATE] [--all] [--hold] [--force]",
    .summary = "Ends running jobs and lets them wait again",
    .help = "Their processes are ended as by 'pleat cancel'. Then the jobs wait at the "
            "end of the\n"
            "queue, and start from their beginning. JOB is a number, or a range such as "
            "3-7.\n"
            "\n"
            "Options:\n" PLEAT_SELECTION_HELP
            "      --hold       the jobs are held until 'pleat release'\n"
            "      --force      also requeue jobs that were submitted with --no-requeue\n"
            "\n" EXIT_CODES "Example:\n"
            "  pleat requeue 17\n",
    .run = run_requeue,
};

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/jobs/commands.h"
#include "cli/jobs/launching.h"
#include "launch/detect.h"
#include "launch/fold.h"
#include "launch/launch.h"
#include "launch/library.h"
#include "launch/pmi.h"
#include "model/types.h"
#include "shm/mailbox.h"
#include "wire/launching.h"

struct launch {
    int64_t processes; /* 0: the job's present number */
    const char *mpi;   /* NULL: the MPI that the program is linked with */
    bool print;
    char **argv;
    char path[PATH_MAX];
    struct pleat_launch_detected found;
};

/* The number of processes that the last malleable program of this job had; 0: none has run yet. */
static int64_t size_in_mailbox(void)
{
    const char *path = getenv(PLEAT_MAILBOX_ENV);
    struct pleat_mailbox *mailbox;
    struct pleat_mailbox_status status;
    if (!path || !*path || pleat_mailbox_open(path, &mailbox, NULL))
        return 0;
    pleat_mailbox_status(mailbox, &status);
    pleat_mailbox_close(mailbox);
    return status.size;
}

/* How many processors each process of this job has; 0: not given. */
static int64_t cpus_per_task(void)
{
    const char *text = getenv("PLEAT_CPUS_PER_TASK");
    int64_t cpus = 0;
    return text && !pleat_parse_int("PLEAT_CPUS_PER_TASK", text, 1, PLEAT_SIZE_MAX, &cpus, NULL)
               ? cpus
               : 0;
}

static int present_size(int64_t *size, struct pleat_error *err)
{
    /* for a job that folds: the number of its processes, which does not change */
    const char *processes = getenv("PLEAT_PROCESSES");
    const char *started_with = processes ? processes : getenv("PLEAT_PROCESSORS");
    if (!getenv("PLEAT_JOB") || !started_with)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "not inside a job: 'pleat launch' is for batch scripts; to run a "
                               "program as a job use 'pleat run'");
    const char *agent = getenv(PLEAT_LAUNCHING_ENV);
    uint32_t now = 0;
    if (agent && *agent && !processes) {
        int status = pleat_launching_ask(agent, &now, err);
        *size = now;
        return status;
    }
    *size = size_in_mailbox();
    if (*size > 0)
        return 0;
    int status = pleat_parse_int("PLEAT_PROCESSORS", started_with, 0, PLEAT_SIZE_MAX, size, err);
    int64_t cpus = cpus_per_task();
    if (!status && cpus > 1)
        *size /= cpus;
    if (!status && *size == 0)
        *size = 1;
    return status;
}

/* Finds the program, and what kind of program it is. */
static int look_at(struct launch *launch, struct pleat_error *err)
{
    int status = pleat_launch_find(launch->argv[0], getenv("PATH"), NULL, launch->path,
                                   sizeof(launch->path), err);
    if (!status)
        status = pleat_launch_detect(launch->path, &launch->found, err);
    if (!status && launch->mpi)
        status = pleat_mpi_parse(launch->mpi, &launch->found.mpi, err);
    return status;
}

/* Whether the program may change its size: it is linked with libpleat, or its file cannot be read.
 */
static bool may_be_resized(const struct launch *launch)
{
    const char *agent = getenv(PLEAT_LAUNCHING_ENV);
    return agent && *agent && !launch->print && launch->found.mpi != PLEAT_MPI_NONE &&
           (launch->found.malleable || launch->mpi);
}

static int compose(const struct launch *launch, int64_t size, struct pleat_launch_command *command,
                   struct pleat_error *err)
{
    char preload[PATH_MAX], pmi[PATH_MAX], loopback[PATH_MAX];
    int status = 0;
    bool folds = getenv("PLEAT_PROCESSES") && launch->found.mpi != PLEAT_MPI_NONE;
    if (folds)
        status = pleat_launch_fold_check(launch->path, err);
    if (folds && !status)
        status = pleat_launch_fold_library(launch->found.mpi, preload, sizeof(preload), err);
    bool by_pmi = launch->found.mpi == PLEAT_MPI_MPICH || cpus_per_task() > 0;
    if (!status && by_pmi)
        status = pleat_launch_pmi(pmi, sizeof(pmi), err);
    if (!status && launch->found.mpi == PLEAT_MPI_OPENMPI)
        status = pleat_launch_loopback(loopback, sizeof(loopback), err);
    if (status)
        return status;
    struct pleat_launch_request request = {
        .mpi = launch->found.mpi,
        .preload = folds ? preload : NULL,
        .pmi = by_pmi ? pmi : NULL,
        .cpus_per_task = folds ? 0 : (uint32_t)cpus_per_task(),
        .loopback = launch->found.mpi == PLEAT_MPI_OPENMPI ? loopback : NULL,
        .processes = (uint32_t)size,
        .argv = (const char *const *)launch->argv,
        .env = (const char *const *)environ,
        .scratch = getenv("PLEAT_SCRATCH"),
        .is_root = geteuid() == 0,
        .oversubscribed = true, /* as for every job: other jobs may grow on the same node */
    };
    return pleat_launch_compose(&request, command, err);
}

/* Composes the command with the size that the agent gives; the first time with the size that the
 * user gave. */
static int compose_again(void *arg, uint32_t processes, struct pleat_launch_command *command,
                         struct pleat_error *err)
{
    struct launch *launch = arg;
    int64_t size = launch->processes > 0 ? launch->processes : processes;
    launch->processes = 0;
    return compose(launch, size, command, err);
}

static int compose_once(const struct launch *launch, struct pleat_launch_command *command,
                        struct pleat_error *err)
{
    int64_t size = 0;
    int status = present_size(&size, err);
    if (status)
        return status;
    if (launch->processes > 0)
        size = launch->processes;
    if (launch->found.mpi == PLEAT_MPI_NONE && size > 1) {
        pleat_say("launch: '%s' is not linked with an MPI (--mpi openmpi or mpich, if it uses one "
                  "in another way): one process is started",
                  launch->argv[0]);
        size = 1;
    }
    return compose(launch, size, command, err);
}

static int execute(const struct launch *launch, struct pleat_launch_command *command)
{
    if (launch->print) {
        for (size_t i = 0; i < command->argc; i++)
            printf("%s%s", i ? " " : "", command->argv[i]);
        puts("");
        return pleat_finish_output(PLEAT_EXIT_OK);
    }
    execvpe(command->argv[0], command->argv, command->env);
    int code = errno == ENOENT ? PLEAT_EXIT_NO_PROGRAM : PLEAT_EXIT_NOT_EXECUTABLE;
    pleat_say("launch: cannot start '%s': %s", command->argv[0], strerror(errno));
    return code;
}

/* The program reads it when it begins; for the other programs of the job --save of its submission
 * counts. */
static int take_save(const char *value, struct pleat_error *err)
{
    char text[PLEAT_SAVE_TEXT] = "";
    int status =
        strcmp(value, "off") ? pleat_save_text("--save", value, text, sizeof(text), err) : 0;
    if (!status && setenv("PLEAT_SAVE_EVERY", text, 1))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return status;
}

static int take(struct launch *launch, int option, struct pleat_error *err)
{
    static const char *const names[] = {"openmpi", "mpich", "none", "auto"};
    size_t index = 0;
    if (option == 'n')
        return pleat_parse_int("--processes", optarg, 1, PLEAT_LAUNCH_PROCESSES_MAX,
                               &launch->processes, err);
    if (option == 'p') {
        launch->print = true;
        return 0;
    }
    if (option == 's')
        return take_save(optarg, err);
    int status = pleat_parse_word("--mpi", optarg, names, 4, &index, err);
    launch->mpi = index < 3 ? names[index] : NULL;
    return status;
}

static int run_launch(int argc, char **argv)
{
    static const struct option own[] = {{"processes", required_argument, NULL, 'n'},
                                        {"mpi", required_argument, NULL, 'm'},
                                        {"print", no_argument, NULL, 'p'},
                                        {"save", required_argument, NULL, 's'},
                                        {0}};
    struct pleat_options options;
    struct launch launch = {0};
    struct pleat_launch_command command = {0};
    struct pleat_error err = {0};
    pleat_options_init(&options, &pleat_cmd_launch, argc, argv, own, "n:");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (take(&launch, option, &err))
            return pleat_usage(&pleat_cmd_launch, "%s", err.text);
    }
    if (pleat_options_count(&options, 1, -1))
        return PLEAT_EXIT_USAGE;
    launch.argv = argv + options.first;
    int64_t size = 0;
    int status = getenv("PLEAT_JOB") ? look_at(&launch, &err) : present_size(&size, &err);
    if (!status && may_be_resized(&launch)) {
        status =
            pleat_launching_run(getenv(PLEAT_LAUNCHING_ENV), launch.argv[0],
                                pleat_mpi_spawns(launch.found.mpi), compose_again, &launch, &err);
        if (status >= 0)
            return status;
    } else if (!status) {
        status = compose_once(&launch, &command, &err);
    }
    if (status) {
        pleat_say("launch: %s", err.text);
        return status == PLEAT_E_NOTFOUND ? PLEAT_EXIT_NO_PROGRAM : PLEAT_EXIT_BEFORE_RUN;
    }
    int code = execute(&launch, &command);
    pleat_launch_command_finish(&command);
    return code;
}

const struct pleat_cli_command pleat_cmd_launch = {
    .name = "launch",
    .arguments = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
    .summary = "In a batch script: starts a program on the processors that the job has",
    .help =
        "PROGRAM is started with the launcher of its MPI. The number of processes is "
        "the number of\n"
        "processors that the job has at that moment. In a malleable job a program "
        "linked with\n"
        "libpleat changes its size from then on; 'pleat launch' waits for its end, "
        "and starts it\n"
        "again where a resize needs that. One such program runs at a time. A program "
        "without MPI\n"
        "is just executed.\n"
        "\n"
        "Options:\n"
        "  -n, --processes N  the number of processes (default: the number of "
        "processors of the job,\n"
        "                     divided by C if the job has --cpus-per-task C)\n"
        "      --mpi WHICH    auto, openmpi, mpich, none (default: auto, the MPI "
        "that PROGRAM is\n"
        "                     linked with)\n"
        "      --print        print the command and do not execute it\n"
        "      --save EVERY   a program linked with libpleat saves a copy of its data each time "
        "EVERY\n"
        "                     has passed: a duration (10min) or a number of iterations (200it); "
        "it goes\n"
        "                     on from the copy should its ranks die; 'off': it saves none "
        "(default:\n"
        "                     as the job)\n"
        "\n"
        "Exit codes: the program's; 125 not in a job, or PROGRAM cannot be launched; "
        "126 PROGRAM\n"
        "cannot be executed; 127 there is no such program; 2 usage.\n"
        "\n"
        "Example, in a script:\n"
        "  #PLEAT --min 2 --max 8 --malleable\n"
        "  pleat launch build/apps/heat\n",
    .program = true,
    .run = run_launch,
};

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/doctor/commands.h"
#include "cli/doctor/run.h"
#include "client/client.h"

/* Long enough for a start of two ranks on a machine that is very busy. */
#define LIMIT_S 30.0

static const struct doctor_check checks[] = {
#define CHECK(name, function, what, hung) {name, what, hung, function},
#include "cli/doctor/checks.def"
#undef CHECK
};

enum { CHECKS = sizeof(checks) / sizeof(checks[0]) };

struct request {
    double limit_s;
    bool start, chosen[CHECKS];
};

/* ---- what is printed ---- */

static int64_t count_of(const json_t *results, enum doctor_state state)
{
    size_t i;
    json_t *result;
    int64_t count = 0;
    json_array_foreach(results, i, result) count +=
        pleat_reply_is(result, "state", doctor_state_name(state));
    return count;
}

static const char *colour_of(const json_t *result)
{
    return pleat_reply_is(result, "state", "ok")        ? "green"
           : pleat_reply_is(result, "state", "failed")  ? "red"
           : pleat_reply_is(result, "state", "warning") ? "yellow"
                                                        : "cyan";
}

static int print_table(const json_t *results)
{
    static const struct pleat_column columns[] = {{"CHECK", PLEAT_COLUMN_TEXT},
                                                  {"STATE", PLEAT_COLUMN_TEXT},
                                                  {"SEEN AND WHAT TO DO", PLEAT_COLUMN_WRAP}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;
    json_t *result;
    json_array_foreach(results, i, result)
    {
        const char *subject = pleat_reply_text(result, "subject", "");
        const char *advice = pleat_reply_text(result, "advice", "");
        pleat_table_row(table);
        pleat_table_setf(table, 0, "%s%s%s", pleat_reply_text(result, "check", ""),
                         *subject ? ": " : "", subject);
        pleat_table_set(table, 1, pleat_reply_text(result, "state", ""));
        pleat_table_colour(table, 1, colour_of(result));
        pleat_table_setf(table, 2, "%s%s%s", pleat_reply_text(result, "seen", ""),
                         *advice ? ". To do: " : "", advice);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int print(json_t *results)
{
    int64_t failed = count_of(results, DOCTOR_FAILED);
    int code;
    if (pleat_settings.json) {
        json_t *all =
            json_pack("{s:O, s:I, s:I, s:I, s:I}", "checks", results, "ok",
                      count_of(results, DOCTOR_OK), "warnings", count_of(results, DOCTOR_WARNING),
                      "failed", failed, "not_checked", count_of(results, DOCTOR_UNCHECKED));
        code = pleat_reply_print(all);
        json_decref(all);
    } else {
        code = print_table(results);
    }
    return code ? code : failed > 0 ? PLEAT_EXIT_FAILED : PLEAT_EXIT_OK;
}

/* ---- the run ---- */

/* Starts a pleatd where none runs. In a process of its own, which has ended when this returns, so
 * that pleatd is no descendant of this program, which ends all of these. */
static void start_pleatd(struct doctor *doctor)
{
    int ends[2];
    if (pipe(ends))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        struct pleat_client *client;
        struct pleat_error err = {0};
        close(ends[0]);
        if (pleat_client_open_or_start(&doctor->paths, NULL, NULL, &client, &err))
            (void)!write(ends[1], &err, sizeof(err));
        _exit(0);
    }
    close(ends[1]);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    struct pleat_error err;
    if (pid > 0 && read(ends[0], &err, sizeof(err)) == (ssize_t)sizeof(err))
        doctor->start_wrong = err;
    close(ends[0]);
}

static int look(const struct request *request)
{
    struct doctor doctor = {.report = -1};
    json_t *results = json_array();
    bool goes_on = true;
    (void)!pleat_paths_init(&doctor.paths, &doctor.paths_wrong);
    if (request->start && !doctor.paths_wrong.code)
        start_pleatd(&doctor);
    pleat_interrupt_catch();
    doctor_run_begin();
    for (size_t i = 0; goes_on && i < CHECKS; i++)
        if (request->chosen[i])
            goes_on = doctor_run_check(&doctor, &checks[i], request->limit_s, results);
    int code = goes_on ? print(results) : PLEAT_EXIT_SIGNAL + pleat_interrupt_signal();
    json_decref(results);
    return code;
}

/* ---- the command line ---- */

static int choose(struct request *request, const char *name)
{
    const char *names[CHECKS];
    for (size_t i = 0; i < CHECKS; i++) {
        names[i] = checks[i].name;
        if (strcmp(names[i], name))
            continue;
        request->chosen[i] = true;
        return 0;
    }
    const char *near = pleat_nearest(name, names, CHECKS);
    if (near)
        return pleat_usage(&pleat_cmd_doctor, "there is no check '%s'; did you mean '%s'?", name,
                           near);
    return pleat_usage(&pleat_cmd_doctor, "there is no check '%s'", name);
}

static int run_doctor(int argc, char **argv)
{
    static const struct option own[] = {
        {"start", no_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'}, {0}};
    struct pleat_options options;
    struct pleat_error err;
    struct request request = {.limit_s = LIMIT_S};
    int code = 0;
    pleat_options_init(&options, &pleat_cmd_doctor, argc, argv, own, "");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (option == 's')
            request.start = true;
        else if (pleat_parse_seconds("--limit", optarg, 0.1, 3600, &request.limit_s, &err))
            return pleat_usage(&pleat_cmd_doctor, "%s", err.text);
    }
    for (int i = options.first; !code && i < argc; i++)
        code = choose(&request, argv[i]);
    for (size_t i = 0; options.first >= argc && i < CHECKS; i++)
        request.chosen[i] = true;
    return code ? code : look(&request);
}

const struct pleat_cli_command pleat_cmd_doctor = {
    .name = "doctor",
    .arguments = "[OPTION...] [CHECK...]",
    .summary = "Checks whether all that Pleat needs is here and works, and says what to do",
    .help = "Makes all checks, or those that are named:\n"
            "  programs       Pleat's programs and libraries: there, executable, of one "
            "version\n"
            "  configuration  pleat.conf, as pleatd would read it\n"
            "  directory      where the socket, the log and the output of jobs are\n"
            "  openmpi        Open MPI: its launcher, libpleat, and a start of two ranks\n"
            "  mpich          MPICH: its launcher, libpleat, and a start of two ranks\n"
            "  memory         files in memory, and room in /dev/shm\n"
            "  groups         control groups that this user may use\n"
            "  limits         limits of processes, files and locked memory\n"
            "  clock          the clock of this machine\n"
            "  pleatd         whether pleatd runs, answers and writes its log\n"
            "  sites          each site that pleatd has, each node and its agent\n"
            "  batch          each cluster: its adapter, its controller, what it offers this user\n"
            "  leftovers      what crashes have left: processes, files\n"
            "Nothing is changed, and nothing is left. Without --start no pleatd is started: "
            "then what\n"
            "only pleatd knows is not checked.\n"
            "\n"
            "Options:\n"
            "      --start      start a pleatd, if none runs\n"
            "      --limit S    a check that takes longer is ended, and has failed (default: "
            "30 s)\n"
            "\n"
            "Exit codes: 0 nothing failed (there may be warnings); 1 something failed; 2 "
            "usage; 128 + N:\n"
            "signal N (Ctrl-C: 130).\n"
            "\n"
            "Example:\n"
            "  pleat doctor openmpi limits\n",
    .json = true,
    .run = run_doctor,
};

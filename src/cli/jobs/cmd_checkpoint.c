#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/checkpoint_file.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/job_argument.h"

#define TIMEOUT_S 600.0 /* --wait */

struct wish {
    const char *to; /* a file or a directory; NULL: the job's directory */
    const char *show, *verify;
    bool stop, wait, has_timeout;
    double timeout_s;
    int64_t job;
};

/* ---- what ends the wait ---- */

static atomic_int caught;

static void on_signal(int number)
{
    caught = number;
}

static void catch_signals(double timeout_s)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    const struct sigaction action = {.sa_handler = on_signal};
    struct itimerval timer = {0};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
    timer.it_value.tv_sec = (time_t)timeout_s;
    timer.it_value.tv_usec = (suseconds_t)((timeout_s - (double)(time_t)timeout_s) * 1e6);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* When the connection closes the daemon withdraws what is not under way yet. */
static int given_up(const struct wish *wish)
{
    char span[PLEAT_TIME_SIZE];
    if (caught == SIGALRM)
        pleat_say("job %lld has written no checkpoint within %s: its program has come to no "
                  "adaptation point; the checkpoint is withdrawn",
                  (long long)wish->job, pleat_time_span(wish->timeout_s, span));
    else
        pleat_say("interrupted: the checkpoint is withdrawn, unless its ranks are writing it "
                  "already");
    return caught == SIGALRM ? PLEAT_EXIT_FAILED : PLEAT_EXIT_INTERRUPTED;
}

/* ---- asking ---- */

/* The path as the job's ranks see it, which may run in another directory. */
static int absolute_path(const struct wish *wish, char path[PATH_MAX], struct pleat_error *err)
{
    char here[PATH_MAX] = "";
    struct stat st;
    bool directory = stat(wish->to, &st) == 0 && S_ISDIR(st.st_mode);
    if (wish->to[0] != '/' && !getcwd(here, sizeof(here)))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "--to: this directory has no name any more");
    int length = snprintf(path, PATH_MAX, "%s%s%s", here, *here ? "/" : "", wish->to);
    if (directory && length > 0 && length < PATH_MAX)
        length += snprintf(path + length, (size_t)(PATH_MAX - length), "/pleat-%lld.checkpoint",
                           (long long)wish->job);
    return length > 0 && length < PATH_MAX
               ? 0
               : pleat_error_set(err, PLEAT_E_TOOBIG, "--to: the path is too long");
}

static int print_asked(const struct wish *wish, const json_t *answer)
{
    if (pleat_settings.json)
        return pleat_reply_print(answer);
    printf("job %lld: checkpoint to %s asked for\n", (long long)wish->job,
           pleat_reply_text(answer, "path", "?"));
    return PLEAT_EXIT_OK;
}

static int print_written(const struct wish *wish, const json_t *answer)
{
    char span[PLEAT_TIME_SIZE];
    if (pleat_settings.json)
        return pleat_reply_print(answer);
    printf("job %lld: checkpoint at iteration %lld: %s, %.1f MB in %s%s\n", (long long)wish->job,
           (long long)pleat_reply_int(answer, "iteration", 0),
           pleat_reply_text(answer, "path", "?"), (double)pleat_reply_int(answer, "bytes", 0) / 1e6,
           pleat_time_span(pleat_reply_real(answer, "write_s"), span),
           wish->stop ? "; the job has stopped" : "");
    return PLEAT_EXIT_OK;
}

static int ask(const struct wish *wish)
{
    struct pleat_client *client;
    struct pleat_error err;
    char path[PATH_MAX];
    json_t *answer = NULL;
    if (wish->to && absolute_path(wish, path, &err))
        return pleat_fail(&err);
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    json_t *params = json_pack("{s:I, s:b, s:b}", "job", (json_int_t)wish->job, "stop", wish->stop,
                               "wait", wish->wait);
    if (wish->to && json_object_set_new(params, "path", json_string(path))) {
        json_decref(params);
        pleat_client_close(client);
        pleat_say("--to: the path is not valid UTF-8");
        return PLEAT_EXIT_USAGE;
    }
    if (wish->wait) {
        catch_signals(wish->timeout_s);
        pleat_client_set_interrupt(client, &caught);
    }
    int rc = pleat_client_call(client, "checkpoint", params, &answer, &err);
    if (rc == PLEAT_INTERRUPTED)
        code = given_up(wish);
    else if (rc)
        code = pleat_daemon_failed(&err, true);
    else
        code = wish->wait ? print_written(wish, answer) : print_asked(wish, answer);
    json_decref(answer);
    pleat_client_close(client);
    return code;
}

/* ---- the command line ---- */

enum { TO = 1, STOP, WAIT, TIMEOUT, SHOW, VERIFY };

static int take(struct wish *wish, int option, struct pleat_error *err)
{
    switch (option) {
    case TO:
        wish->to = optarg;
        return *optarg ? 0 : pleat_error_set(err, PLEAT_E_INVALID, "--to: it must not be empty");
    case STOP:
        wish->stop = true;
        return 0;
    case 'w':
    case WAIT:
        wish->wait = true;
        return 0;
    case TIMEOUT:
        wish->wait = true;
        if (pleat_parse_duration("--timeout", optarg, &wish->timeout_s, err))
            return PLEAT_E_INVALID;
        return wish->timeout_s > 0
                   ? 0
                   : pleat_error_set(err, PLEAT_E_INVALID, "--timeout: it must be above 0");
    case SHOW:
        wish->show = optarg;
        return 0;
    default:
        wish->verify = optarg;
        return 0;
    }
}

static int run_checkpoint(int argc, char **argv)
{
    static const struct option own[] = {{"to", required_argument, NULL, TO},
                                        {"stop", no_argument, NULL, STOP},
                                        {"wait", no_argument, NULL, WAIT},
                                        {"timeout", required_argument, NULL, TIMEOUT},
                                        {"show", required_argument, NULL, SHOW},
                                        {"verify", required_argument, NULL, VERIFY},
                                        {0}};
    struct pleat_options options;
    struct pleat_error err;
    struct wish wish = {.timeout_s = TIMEOUT_S};
    pleat_options_init(&options, &pleat_cmd_checkpoint, argc, argv, own, "w");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (take(&wish, option, &err))
            return pleat_usage(&pleat_cmd_checkpoint, "%s", err.text);
    }
    bool file = wish.show || wish.verify;
    if (file && (wish.to || wish.stop || wish.wait || (wish.show && wish.verify)))
        return pleat_usage(&pleat_cmd_checkpoint,
                           "--show and --verify go alone: they are about a file, not about a job");
    int code = pleat_options_count(&options, !file, !file);
    if (code)
        return code;
    if (file)
        return pleat_checkpoint_file_show(wish.show ? wish.show : wish.verify, !wish.show);
    code = pleat_job_argument(&pleat_cmd_checkpoint, argv[options.first], &wish.job);
    return code ? code : ask(&wish);
}

const struct pleat_cli_command pleat_cmd_checkpoint = {
    .name = "checkpoint",
    .arguments = "[OPTION...] JOB | --show FILE | --verify FILE",
    .summary = "Has a job write what it has registered to a file",
    .help =
        "The ranks of a program linked with libpleat write the file together, at their next\n"
        "adaptation point, and go on. 'pleat run --from FILE' starts the program from it, on any\n"
        "day, with any number of processes, and with the other MPI. Until the new file is\n"
        "complete and on the disk, an older one of that name stays as it was.\n"
        "\n"
        "Options:\n"
        "      --to PATH      the file, or a directory (default: pleat-JOB.checkpoint in the\n"
        "                     job's working directory)\n"
        "      --stop         the job ends with it (it is cancelled)\n"
        "  -w, --wait         wait until it is written; Ctrl-C withdraws it\n"
        "      --timeout TIME as --wait, and withdraw it after this time (default: 10min)\n"
        "      --show FILE    print what is in a checkpoint\n"
        "      --verify FILE  the same, and read all of it to compare the checksums\n"
        "\n"
        "Exit codes: 0 asked for (with --wait: written; --verify: it is whole); 1 refused, not\n"
        "written, or damaged; 2 usage; 3 no daemon; 4 no such job; 130 Ctrl-C.\n"
        "\n"
        "Examples:\n"
        "  pleat checkpoint --wait 17\n"
        "  pleat checkpoint --stop --to /data/run.checkpoint 17\n",
    .json = true,
    .run = run_checkpoint,
};

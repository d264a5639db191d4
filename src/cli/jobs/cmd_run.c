#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/daemon.h"
#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/input.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/output.h"
#include "cli/jobs/submit.h"
#include "cli/jobs/terminal.h"
#include "describe/submission_help.h"
#include "model/types.h"

/* Copying the job's standard error, in a thread with a connection of its own. */
struct errors_copy {
    struct pleat_output output;
    pthread_t thread;
    bool started;
};

static void *copy_errors(void *arg)
{
    struct errors_copy *copy = arg;
    struct pleat_error err;
    int64_t before = 0;
    int losses = 0;
    /* an error is reported by the main thread; stderr itself may be gone */
    while (pleat_output_copy(&copy->output, STDERR_FILENO, &err) != 0 &&
           pleat_client_is_lost(copy->output.client) &&
           pleat_daemon_resume(&copy->output.client, NULL, &losses, &err) == 0) {
        /* the copy has gone on after this loss */
        losses = copy->output.offset > before ? 0 : losses;
        before = copy->output.offset;
    }
    return NULL;
}

static void start_errors_copy(struct errors_copy *copy, int64_t job)
{
    struct pleat_paths paths;
    sigset_t all, before;
    *copy = (struct errors_copy){.output = {.job = job, .stream = "stderr", .follow = true}};
    if (pleat_paths_init(&paths, NULL) || pleat_client_open(&paths, &copy->output.client, NULL)) {
        pleat_say("the job's standard error is not shown: no second connection to pleatd");
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are left to the main thread */
    copy->started = pthread_create(&copy->thread, NULL, copy_errors, copy) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Waits until all of standard error is copied. When the daemon is lost (lost), the thread usually
 * sees that itself. It is then given a moment to end, and is left alone if it does not. */
static void finish_errors_copy(struct errors_copy *copy, bool lost)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    if (copy->started && !lost)
        pthread_join(copy->thread, NULL);
    else if (copy->started && pthread_timedjoin_np(copy->thread, NULL, &limit))
        return;
    pleat_client_close(copy->output.client);
}

/* ---- the job ---- */

/* The daemon is lost. The job runs on, and the next daemon knows it. */
static int resume(struct pleat_client **client, int *losses, const struct pleat_error *err)
{
    int code = pleat_daemon_resume(client, pleat_interrupt_flag(), losses, err);
    if (!code)
        pleat_client_set_interrupt(*client, pleat_interrupt_flag());
    return code;
}

/* Cancels the job: the first time its processes are told to end, the second time (now) they are
 * killed. */
static int cancel(struct pleat_client **client, int64_t job, bool now)
{
    struct pleat_error err;
    int status, losses = 0;
    pleat_interrupt_reset();
    if (now)
        pleat_interrupt_again(); /* a further signal ends this program at once */
    do {
        pleat_client_set_interrupt(*client, NULL);
        status = pleat_client_call(*client, "cancel",
                                   json_pack("{s:I, s:b}", "job", (json_int_t)job, "now", now),
                                   NULL, &err);
    } while (status && pleat_client_is_lost(*client) &&
             pleat_daemon_resume(client, NULL, &losses, &err) == 0);
    if (status == PLEAT_E_STATE || status == PLEAT_E_NOTFOUND)
        return 0; /* the job has ended by itself meanwhile */
    if (status)
        return pleat_daemon_failed(&err, false);
    if (now)
        pleat_say("job %lld is being killed; Ctrl-C again leaves without waiting for its end",
                  (long long)job);
    else
        pleat_say(
            "job %lld is told to end (SIGTERM), and killed if it has not in %d s; Ctrl-C again "
            "kills it at once",
            (long long)job, PLEAT_END_GRACE_S);
    if (!now)
        pleat_client_set_interrupt(*client, pleat_interrupt_flag());
    return 0;
}

/* Copies stdout until the job has ended, and cancels the job on a signal. Returns 0 or an exit
 * code. *cancelled: the exit code in case the job was cancelled. */
static int copy_output(struct pleat_client **client, int64_t job, int *cancelled)
{
    struct pleat_error err;
    struct pleat_output output = {.client = *client,
                                  .job = job,
                                  .stream = "stdout",
                                  .follow = true,
                                  .interrupted = pleat_interrupt_flag()};
    int64_t before = 0;
    int losses = 0;
    bool now = false;
    for (;;) {
        int status = pleat_output_copy(&output, STDOUT_FILENO, &err);
        if (status == 0)
            return 0;
        if (status == PLEAT_OUTPUT_UNREADABLE) { /* the job has ended all the same */
            pleat_say("%s", err.text);
            return 0;
        }
        if (status == PLEAT_INTERRUPTED) {
            now = *cancelled != 0;
            *cancelled = PLEAT_EXIT_SIGNAL + pleat_interrupt_signal();
        } else if (status == PLEAT_OUTPUT_UNWRITABLE) {
            *cancelled =
                output.write_errno == EPIPE ? PLEAT_EXIT_SIGNAL + SIGPIPE : PLEAT_EXIT_FAILED;
            if (output.write_errno != EPIPE)
                pleat_say("cannot write to standard output: %s; job %lld is cancelled",
                          strerror(output.write_errno), (long long)job);
        } else {
            losses = output.offset > before ? 0 : losses;
            before = output.offset;
            int code = resume(client, &losses, &err);
            if (code)
                return code;
            output.client = *client; /* goes on where it was */
            continue;
        }
        int code = cancel(client, job, now);
        output.client = *client;
        if (code || status == PLEAT_OUTPUT_UNWRITABLE)
            return code;
    }
}

/* Waits for the job's end. */
static int ending(struct pleat_client **client, int64_t job, int *exit_code)
{
    json_t *answer = NULL;
    struct pleat_error err = {0};
    int losses = 0;
    while (pleat_client_call(*client, "wait", json_pack("{s:I}", "job", (json_int_t)job), &answer,
                             &err)) {
        int code = pleat_daemon_resume(client, NULL, &losses, &err);
        if (code)
            return code;
    }
    const json_t *ended = json_array_get(pleat_reply_array(answer, "jobs"), 0);
    *exit_code = pleat_job_exit_code(ended);
    bool by_itself =
        pleat_reply_is(ended, "reason", "exited") && !pleat_reply_int(ended, "signal", 0);
    if (!pleat_reply_is(ended, "state", "done") && !by_itself) {
        struct pleat_string text = {0};
        const char *remark = pleat_reply_text(ended, "text", NULL);
        pleat_job_add_ending(ended, &text);
        pleat_say("job %lld: %s%s%s", (long long)job, text.text ? text.text : "failed",
                  remark ? ": " : "", remark ? remark : "");
        pleat_string_finish(&text);
    }
    json_decref(answer);
    return 0;
}

/* Waits for the end of a job that has a terminal. Keys go to the job, but signals to this program
 * cancel it, as for any job. */
static int attend_terminal(struct pleat_client **client, int64_t job,
                           struct pleat_terminal *terminal)
{
    struct pleat_error err;
    int cancelled = 0, losses = 0, exit_code = PLEAT_EXIT_BEFORE_RUN, code = 0;
    for (;;) {
        json_t *answer = NULL;
        /* on another host its terminal lasts as long as this connection, or the next one */
        int status = pleat_client_call(
            *client, "wait", json_pack("{s:I, s:b}", "job", (json_int_t)job, "terminal", 1),
            &answer, &err);
        json_decref(answer);
        if (status == 0)
            break;
        if (status == PLEAT_INTERRUPTED) {
            bool now = cancelled != 0;
            cancelled = PLEAT_EXIT_SIGNAL + pleat_interrupt_signal();
            pleat_terminal_leave();
            code = cancel(client, job, now);
        } else {
            code = resume(client, &losses, &err);
        }
        if (code) {
            pleat_terminal_leave();
            return code;
        }
    }
    pleat_terminal_end(terminal);
    pleat_client_set_interrupt(*client, NULL);
    pleat_interrupt_again();
    code = ending(client, job, &exit_code);
    return code ? code : cancelled ? cancelled : exit_code;
}

static int attend(struct pleat_client **client, int64_t job)
{
    /* static: a thread that is left alone may use it until the program ends */
    static struct errors_copy copy;
    struct errors_copy *errors = &copy;
    int cancelled = 0, exit_code = PLEAT_EXIT_BEFORE_RUN;
    start_errors_copy(errors, job);
    int code = copy_output(client, job, &cancelled);
    if (*client)
        pleat_client_set_interrupt(*client, NULL);
    finish_errors_copy(errors, code != 0);
    if (code)
        return code;
    pleat_interrupt_again();
    code = ending(client, job, &exit_code);
    return code ? code : cancelled ? cancelled : exit_code;
}

static int submit(struct pleat_client **client, json_t *spec, int64_t *job)
{
    json_t *answer = NULL;
    struct pleat_error err = {0};
    int status = pleat_daemon_submit(client, spec, &answer, &err);
    if (status == 0) {
        pleat_submit_say_warnings(answer);
        *job = pleat_reply_int(answer, "job", 0);
        json_decref(answer);
        return 0;
    }
    int code = pleat_daemon_failed(&err, false);
    return code == PLEAT_EXIT_NO_DAEMON ? code : PLEAT_EXIT_BEFORE_RUN;
}

/* Passes standard input on to the job, unless the user has chosen another input. */
static void pass_input(struct pleat_standard_input *input, json_t *spec)
{
    struct pleat_paths paths;
    struct pleat_error err;
    struct pleat_string pattern = {0};
    *input = (struct pleat_standard_input){.path = ""};
    if (json_is_string(json_object_get(spec, "input")))
        return;
    if (pleat_paths_init(&paths, &err) || pleat_standard_input_begin(input, &paths, &err)) {
        pleat_say("%s: the job has no input", err.text);
        *input->path = '\0';
        return;
    }
    for (const char *at = input->path; *at; at++) { /* in patterns of paths '%%' stands for '%' */
        pleat_string_add_bytes(&pattern, at, 1);
        if (*at == '%')
            pleat_string_add_bytes(&pattern, at, 1);
    }
    if (pattern.length && !pattern.failed)
        json_object_set_new(spec, "input", json_string(pattern.text));
    pleat_string_finish(&pattern);
}

/* Submits the job with a terminal as its input and output. Steals spec. */
static int run_on_terminal(struct pleat_client **client, json_t *spec)
{
    struct pleat_terminal terminal;
    struct pleat_error err;
    int64_t job = 0;
    int status = pleat_terminal_begin(&terminal, &err);
    if (!status)
        status = pleat_terminal_start(&terminal, &err);
    if (status) {
        pleat_terminal_end(&terminal);
        json_decref(spec);
        pleat_fail(&err);
        return PLEAT_EXIT_BEFORE_RUN;
    }
    json_object_set_new(spec, "terminal", json_string(terminal.path));
    json_object_set_new(spec, "terminal_sent", json_true());
    /* not interrupted: otherwise the number of the job would be lost */
    int code = submit(client, spec, &job);
    if (!code) {
        pleat_client_set_interrupt(*client, pleat_interrupt_flag());
        pleat_terminal_is_of(job);
        code = attend_terminal(client, job, &terminal);
    }
    pleat_terminal_end(&terminal);
    return code;
}

static int run(const struct pleat_submit_options *submission)
{
    struct pleat_error err = {0};
    struct pleat_string notes = {0};
    struct pleat_client *client;
    json_t *spec;
    int64_t job = 0;
    if (submission->pty && pleat_terminal_check(&err)) /* before a pleatd is started for nothing */
        return pleat_usage(&pleat_cmd_run, "%s", err.text);
    int status = pleat_submission_spec(submission, &spec, &notes, &err);
    if (!status)
        pleat_submit_say_notes(notes.text);
    pleat_string_finish(&notes);
    if (status == PLEAT_E_INVALID)
        return pleat_usage(&pleat_cmd_run, "%s", err.text);
    if (status) {
        pleat_fail(&err);
        return status == PLEAT_E_NOTFOUND     ? PLEAT_EXIT_NO_PROGRAM
               : status == PLEAT_E_PERMISSION ? PLEAT_EXIT_NOT_EXECUTABLE
                                              : PLEAT_EXIT_BEFORE_RUN;
    }
    int code = pleat_daemon_connect(&client);
    if (code) {
        json_decref(spec);
        return code;
    }
    pleat_interrupt_catch();
    if (submission->pty) {
        code = run_on_terminal(&client, spec);
        pleat_client_close(client);
        return code;
    }
    struct pleat_standard_input input;
    pass_input(&input, spec);
    /* not interrupted: otherwise the number of the job would be lost */
    code = submit(&client, spec, &job);
    if (!code) {
        pleat_client_set_interrupt(client, pleat_interrupt_flag());
        pleat_standard_input_start(&input);
        pleat_standard_input_send(&input, job);
        code = attend(&client, job);
    }
    pleat_standard_input_end(&input);
    pleat_client_close(client);
    return code;
}

static int run_run(int argc, char **argv)
{
    struct pleat_submit_options submission;
    int code = PLEAT_EXIT_OK;
    struct pleat_submission_place place = {.terminals = true};
    if (pleat_submit_read(&pleat_cmd_run, argc, argv, place, &submission, &code))
        return code;
    code = run(&submission);
    pleat_submission_finish(&submission);
    return code;
}

const struct pleat_cli_command pleat_cmd_run = {
    .name = "run",
    .arguments = "[OPTION...] [--] PROGRAM|SCRIPT [ARGUMENT...]",
    .summary = "Runs a job: submits it, shows what it writes, returns its exit code",
    .help = "Ctrl-C cancels the job, and so do SIGTERM, SIGHUP and a closed pipe behind "
            "the output.\n"
            "Then 'run' waits for the job's end. A second Ctrl-C kills the job at once; "
            "after a third\n"
            "'run' does not wait. Standard input is passed on to the job: of an MPI "
            "program, to rank 0.\n"
            "In a shell loop that reads its own standard input, use < /dev/null. With "
            "--pty keys go to\n"
            "the job's own terminal, Ctrl-C among them; 'pleat cancel' from another "
            "terminal ends the\n"
            "job.\n"
            "\n"
            "Options (those of 'pleat submit'):\n" PLEAT_SUBMISSION_HELP "\n"
            "Exit codes: the job's; 128 + N if signal N ended it; 125 Pleat failed or "
            "refused; 126 the\n"
            "program cannot be executed; 127 there is no such program; 2 usage; 3 no "
            "daemon could\n"
            "be reached or started, or the connection broke (the job goes on); 130 "
            "Ctrl-C, or the job\n"
            "was cancelled.\n"
            "\n"
            "Example:\n"
            "  pleat run --min 2 --max 8 -- build/apps/heat\n",
    .program = true,
    .run = run_run,
};

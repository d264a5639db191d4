/* run.c - submits the jobs of a mix when their times come, and follows them to their ends. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/common/daemon.h"
#include "cli/common/interrupt.h"
#include "cli/common/reply.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/output.h"
#include "cli/jobs/submit.h"
#include "cli/mix/mix.h"

#define REDRAW_MS 500

struct run {
    struct pleat_mix *mix;
    struct pleat_client *client;
    struct pleat_mix_progress progress;
    int64_t start_us; /* monotonic */
};

static double now_of(const struct run *run)
{
    return (double)(pleat_clock_monotonic_us() - run->start_us) / 1e6;
}

static struct pleat_mix_job *find(struct pleat_mix *mix, int64_t number)
{
    for (size_t i = 0; number && i < mix->jobs.count; i++)
        if (mix->jobs.items[i].job == number)
            return &mix->jobs.items[i];
    return NULL;
}

static void set_state(struct pleat_mix_job *job, const char *state)
{
    snprintf(job->state, sizeof(job->state), "%s", state);
    job->ended = !strcmp(state, "done") || !strcmp(state, "failed") || !strcmp(state, "cancelled");
    if (job->ended)
        job->processors = 0;
}

/* ---- what happens ---- */

static void take_event(struct run *run, const json_t *event)
{
    struct pleat_mix_job *job = find(run->mix, pleat_reply_int(event, "job", 0));
    if (!job)
        return;
    if (pleat_reply_is(event, "kind", "state"))
        set_state(job, pleat_reply_text(event, "to", "?"));
    else if (pleat_reply_is(event, "kind", "size"))
        job->processors = pleat_reply_small(event, "processors", 0, 1 << 24);
    if (!run->mix->quiet && !run->progress.term.terminal)
        pleat_mix_progress_event(&run->progress, run->mix, job, event);
}

/* Fetches the iterations of jobs, which events do not tell. */
static int look_at_jobs(struct run *run)
{
    json_t *jobs, *entry;
    size_t i;
    int code = pleat_daemon_jobs(run->client, PLEAT_JOBS_BRIEF, &jobs);
    if (code)
        return code;
    json_array_foreach(jobs, i, entry)
    {
        struct pleat_mix_job *job = find(run->mix, pleat_reply_int(entry, "job", 0));
        if (job)
            job->iteration = pleat_reply_int(json_object_get(entry, "progress"), "iteration", -1);
    }
    json_decref(jobs);
    return 0;
}

static int submit_one(struct run *run, struct pleat_mix_job *job)
{
    json_t *answer;
    json_t *spec = job->spec;
    job->spec = NULL;
    int code = pleat_daemon_ask(run->client, "submit", spec, &answer);
    if (code) {
        set_state(job, "failed");
        pleat_say("that was %s:%d; the jobs submitted so far are cancelled", run->mix->path,
                  job->line);
        return code;
    }
    pleat_submit_say_warnings(answer);
    job->job = pleat_reply_int(answer, "job", 0);
    if (!job->job)
        set_state(job, "failed"); /* an answer without a job: there is nothing to wait for */
    else
        set_state(job, "queued");
    json_decref(answer);
    return 0;
}

/* Submits the jobs that are due. *next_s: when the next one is due; NAN: there is none. */
static int submit_due(struct run *run, double *next_s)
{
    struct pleat_mix *mix = run->mix;
    *next_s = (double)NAN;
    for (size_t i = 0; i < mix->jobs.count && !mix->interrupted; i++) {
        struct pleat_mix_job *job = &mix->jobs.items[i];
        if (!job->spec)
            continue;
        double at_s = job->at_s * mix->scale;
        if (at_s > now_of(run)) {
            *next_s = at_s;
            return 0;
        }
        int code = submit_one(run, job);
        if (code)
            return code;
    }
    return 0;
}

static bool over(const struct pleat_mix *mix)
{
    for (size_t i = 0; i < mix->jobs.count; i++) {
        const struct pleat_mix_job *job = &mix->jobs.items[i];
        if (job->spec ? !mix->interrupted : !job->ended)
            return false;
    }
    return true;
}

/* Cancels all jobs. A refusal for a job that has ended meanwhile is no failure. */
static void cancel_all(struct run *run)
{
    struct pleat_error err;
    run->mix->interrupted = true;
    for (size_t i = 0; i < run->mix->jobs.count; i++) {
        const struct pleat_mix_job *job = &run->mix->jobs.items[i];
        if (!job->job || job->ended)
            continue;
        int status = pleat_client_call(run->client, "cancel",
                                       json_pack("{s:I}", "job", (json_int_t)job->job), NULL, &err);
        if (status < 0 && status != PLEAT_E_STATE && status != PLEAT_E_NOTFOUND)
            pleat_say("job %lld could not be cancelled: %s", (long long)job->job, err.text);
    }
}

static int wait_for_something(struct run *run, double next_s)
{
    struct pleat_error err;
    const struct pleat_message *message;
    double left_ms = isfinite(next_s) ? fmax(0, (next_s - now_of(run)) * 1000) : -1;
    bool redrawn = run->progress.term.terminal && !run->mix->quiet;
    int timeout_ms = left_ms < 0 ? -1 : left_ms < 1e9 ? (int)ceil(left_ms) : 1000000000;
    if (redrawn && (timeout_ms < 0 || timeout_ms > REDRAW_MS))
        timeout_ms = REDRAW_MS;
    pleat_client_set_interrupt(run->client, run->mix->interrupted ? NULL : pleat_interrupt_flag());
    int status = pleat_client_next_notification(run->client, timeout_ms, &message, &err);
    pleat_client_set_interrupt(run->client, NULL); /* from here on calls are completed */
    while (status == 1) {
        take_event(run, message->params);
        status = pleat_client_next_notification(run->client, 0, &message, &err);
    }
    if (status < 0)
        return pleat_daemon_failed(&err, false);
    if (status == PLEAT_INTERRUPTED)
        cancel_all(run);
    if (redrawn) {
        int code = look_at_jobs(run);
        if (code)
            return code;
        pleat_mix_progress_draw(&run->progress, run->mix, now_of(run));
    }
    return 0;
}

static int run_to_end(struct run *run)
{
    double next_s;
    while (!over(run->mix)) {
        int code = submit_due(run, &next_s);
        if (code == PLEAT_EXIT_NO_DAEMON)
            return code;
        if (code) { /* a job was refused: ends the running jobs, then leaves with this code */
            cancel_all(run);
            while (!over(run->mix))
                if (wait_for_something(run, (double)NAN))
                    break;
            return code;
        }
        if (ferror(stdout) && !run->mix->interrupted)
            cancel_all(run); /* the reader of the output is gone */
        if (over(run->mix))
            break;
        code = wait_for_something(run, next_s);
        if (code)
            return code;
    }
    return 0;
}

/* ---- afterwards ---- */

/* The result that a line of output tells; NULL: none. */
static const char *result_of(const char *line)
{
    if (strncmp(line, "RESULT", 6) != 0)
        return NULL;
    for (const char *at = line + 6; (at = strstr(at, "ok")); at += 2)
        if (strchr(" =:\t", at[-1]) && (!at[2] || strchr(" ,;.\t\r", at[2])))
            return "ok";
    return "wrong";
}

/* Reads what a job wrote, line by line. */
struct result_lines {
    struct pleat_mix_job *job;
    struct pleat_string rest; /* the beginning of a line whose end has not come */
};

static int take_output(void *arg, const char *bytes, size_t count)
{
    struct result_lines *lines = arg;
    pleat_string_add_bytes(&lines->rest, bytes, count);
    char *line = lines->rest.failed ? NULL : lines->rest.text;
    for (char *newline; line && (newline = strchr(line, '\n')); line = newline + 1) {
        *newline = 0;
        const char *result = result_of(line);
        lines->job->result = result ? result : lines->job->result;
    }
    size_t left = line ? strlen(line) : 0;
    if (line)
        memmove(lines->rest.text, line, left + 1);
    lines->rest.length = left;
    return lines->rest.failed ? ENOMEM : 0;
}

/* Takes the last RESULT line from the job's output. */
static int fetch_result(struct pleat_client *client, struct pleat_mix_job *job)
{
    struct result_lines lines = {.job = job};
    struct pleat_error err;
    struct pleat_output output = {.client = client, .job = job->job, .stream = "stdout"};
    int status = pleat_output_take(&output, take_output, &lines, &err);
    if (!status && lines.rest.length && result_of(lines.rest.text))
        job->result = result_of(lines.rest.text);
    pleat_string_finish(&lines.rest);
    if (status == PLEAT_OUTPUT_UNREADABLE)
        pleat_say("%s", err.text);
    return status < 0 ? pleat_daemon_failed(&err, true) : status ? PLEAT_EXIT_FAILED : 0;
}

static int fetch_reports(struct run *run)
{
    for (size_t i = 0; i < run->mix->jobs.count; i++) {
        struct pleat_mix_job *job = &run->mix->jobs.items[i];
        if (!job->job)
            continue;
        json_t *params = json_pack("{s:I}", "job", (json_int_t)job->job);
        int code = pleat_daemon_ask(run->client, "job", params, &job->report);
        if (!code)
            code = fetch_result(run->client, job);
        if (code)
            return code;
    }
    return 0;
}

static int count_processors(struct run *run)
{
    json_t *answer, *site;
    size_t i;
    int code = pleat_daemon_ask(run->client, "sites", NULL, &answer);
    if (code)
        return code;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site) run->mix->processors +=
        pleat_reply_small(site, "processors", 0, 1 << 24);
    json_decref(answer);
    return 0;
}

int pleat_mix_run(struct pleat_mix *mix, struct pleat_client *client)
{
    struct run run = {.mix = mix, .client = client};
    pleat_mix_progress_init(&run.progress);
    int code = count_processors(&run);
    if (!code)
        code = pleat_daemon_last_event(client, &mix->first_event);
    if (!code)
        code = pleat_daemon_ask(client, "follow",
                                json_pack("{s:I}", "after", (json_int_t)mix->first_event), NULL);
    if (code)
        return code;
    run.start_us = pleat_clock_monotonic_us();
    mix->started_s = (double)pleat_clock_real_us() / 1e6;
    code = run_to_end(&run);
    return code ? code : fetch_reports(&run);
}

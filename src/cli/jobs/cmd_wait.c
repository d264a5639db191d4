#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/jobs.h"

struct wait {
    struct pleat_client *client;
    struct pleat_job_numbers numbers; /* jobs that are waited for */
    struct pleat_job_numbers plain;   /* those of them that were named by their own numbers */
    json_t *jobs;                     /* jobs that have ended */
    double patience_s;
    int outcome;
};

static int out_of_memory(void)
{
    pleat_say("out of memory");
    return PLEAT_EXIT_FAILED;
}

/* Says of a job that is held that it is waited for: it will not end by itself, and who waits would
 * not know why nothing happens. */
static int note_held(struct wait *wait, int64_t number)
{
    json_t *job;
    int code = pleat_daemon_ask_patiently(&wait->client, wait->patience_s, "job",
                                          json_pack("{s:I}", "job", (json_int_t)number), &job);
    if (code)
        return code;
    if (!pleat_job_ended(job) && pleat_job_is_held(job))
        pleat_say("job %" PRId64 " is held: it is waited for until it has been released ('pleat "
                  "release %" PRId64 "') and has ended",
                  number, number);
    json_decref(job);
    return 0;
}

/* Waits for one job. The daemon may end and come back meanwhile: jobs do not notice, and this
 * command goes on. */
static int wait_for(struct wait *wait, int64_t number)
{
    json_t *answer, *job;
    size_t i;
    int code = note_held(wait, number);
    if (!code)
        code = pleat_daemon_ask_patiently(&wait->client, wait->patience_s, "wait",
                                          json_pack("{s:I}", "job", (json_int_t)number), &answer);
    if (code)
        return code;
    json_array_foreach(pleat_reply_array(answer, "jobs"), i, job)
    {
        json_array_append(wait->jobs, job);
        if (!pleat_job_succeeded(job))
            wait->outcome = PLEAT_EXIT_FAILED;
    }
    json_decref(answer);
    return 0;
}

/* Finds all jobs that wait or run now. Their numbers are needed, since the daemon's answer that no
 * job is left would not say how they have ended. */
static int find_living(struct wait *wait)
{
    json_t *jobs, *job;
    size_t i;
    int code = pleat_daemon_jobs(wait->client, PLEAT_JOBS_BRIEF, &jobs);
    if (code)
        return code;
    json_array_foreach(jobs, i, job)
    {
        if (!code && pleat_array_push(&wait->numbers, pleat_reply_int(job, "job", 0)))
            code = out_of_memory();
    }
    json_decref(jobs);
    return code;
}

static int read_jobs(struct wait *wait, const struct pleat_options *options)
{
    int code = 0;
    for (int i = options->first; !code && i < options->argc; i++) {
        code = pleat_job_arguments(&pleat_cmd_wait, options->argv[i], &wait->numbers);
        if (!code && !strchr(options->argv[i], '_') &&
            pleat_array_push(&wait->plain, wait->numbers.items[wait->numbers.count - 1]))
            code = out_of_memory();
    }
    return code;
}

static bool has(const struct pleat_job_numbers *numbers, int64_t number)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->items[i] == number)
            return true;
    return false;
}

/* How many tasks the array has whose number this is; 1: it is a job, or a later task. The daemon
 * says so if there is no such job. */
static int count_tasks(struct wait *wait, int64_t number, size_t *count)
{
    struct pleat_index_list indexes = {0};
    json_t *job;
    int32_t limit;
    int code = pleat_daemon_ask_patiently(&wait->client, wait->patience_s, "job",
                                          json_pack("{s:I}", "job", (json_int_t)number), &job);
    *count = 1;
    if (code)
        return code;
    const json_t *array = json_object_get(job, "array");
    if (pleat_reply_int(array, "job", 0) == number &&
        !pleat_indexes_parse(pleat_reply_text(array, "list", ""), &indexes, &limit, NULL))
        *count = indexes.count;
    pleat_array_finish(&indexes);
    json_decref(job);
    return 0;
}

/* The number of an array stands for all of its tasks, which have consecutive numbers. */
static int add_tasks(struct wait *wait)
{
    struct pleat_job_numbers all = {0};
    int code = 0;
    for (size_t i = 0; !code && i < wait->numbers.count; i++) {
        int64_t number = wait->numbers.items[i];
        size_t count = 1;
        if (has(&wait->plain, number))
            code = count_tasks(wait, number, &count);
        for (size_t n = 0; !code && n < count; n++)
            if (!has(&all, number + (int64_t)n) && pleat_array_push(&all, number + (int64_t)n))
                code = out_of_memory();
    }
    pleat_array_finish(&wait->numbers);
    wait->numbers = all;
    return code;
}

static int wait_for_all(struct wait *wait, bool named)
{
    int code = pleat_daemon_connect(&wait->client);
    if (!code)
        code = named ? add_tasks(wait) : find_living(wait);
    for (size_t i = 0; i < wait->numbers.count && !code; i++)
        code = wait_for(wait, wait->numbers.items[i]);
    if (!code && (json_array_size(wait->jobs) > 0 || pleat_settings.json))
        code = pleat_jobs_print(wait->jobs);
    pleat_client_close(wait->client);
    return code ? code : wait->outcome;
}

static int run_wait(int argc, char **argv)
{
    static const struct option own[] = {{"retry", required_argument, NULL, 'r'}, {0}};
    struct pleat_options options;
    struct pleat_error err;
    struct wait wait = {.patience_s = PLEAT_PATIENCE_S};
    pleat_options_init(&options, &pleat_cmd_wait, argc, argv, own, "");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (pleat_parse_duration("--retry", optarg, &wait.patience_s, &err))
            return pleat_usage(&pleat_cmd_wait, "%s", err.text);
    }
    wait.jobs = json_array();
    int code = read_jobs(&wait, &options);
    if (!code)
        code = wait_for_all(&wait, wait.numbers.count > 0);
    pleat_array_finish(&wait.numbers);
    pleat_array_finish(&wait.plain);
    json_decref(wait.jobs);
    return code;
}

const struct pleat_cli_command pleat_cmd_wait = {
    .name = "wait",
    .arguments = "[OPTION...] [JOB...]",
    .summary = "Waits until jobs have ended (without JOB: all that wait or run now)",
    .help = "Then it lists them as 'pleat ps' does, with how they ended. It does not "
            "wait for jobs that\n"
            "are submitted meanwhile. The number of an array stands for all of its jobs. Jobs that "
            "are held\n"
            "are waited for, too, and named. Ctrl-C ends 'pleat wait', not the jobs.\n"
            "\n"
            "Options:\n"
            "      --retry TIME how long to wait for a daemon that has ended (default: "
            "1min)\n"
            "\n"
            "Exit codes: 0 all jobs exited with 0 (or there was none); 1 one did not; 3 "
            "no daemon, or\n"
            "the connection broke; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat wait 17 18 && echo both are fine\n",
    .json = true,
    .run = run_wait,
};

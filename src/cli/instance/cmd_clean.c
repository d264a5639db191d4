#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/instance/commands.h"
#include "describe/moment.h"

struct clean {
    double before_s; /* since 1970; below 0: not given */
    bool outputs, dry_run;
};

struct sums {
    int64_t jobs, record_bytes, output_bytes, kept;
    char text[320]; /* why some jobs were kept */
};

static void add(struct sums *sums, const json_t *answer)
{
    sums->jobs += pleat_reply_int(answer, "jobs", 0);
    sums->record_bytes += pleat_reply_int(answer, "record_bytes", 0);
    sums->output_bytes += pleat_reply_int(answer, "output_bytes", 0);
    sums->kept += pleat_reply_int(answer, "kept", 0);
    const char *text = pleat_reply_text(answer, "text", "");
    if (*text)
        snprintf(sums->text, sizeof(sums->text), "%s", text);
}

/* Repeats the call until all is removed: in each the daemon takes a few jobs, so that it can do
 * other things between. */
static int ask(const struct clean *clean, struct sums *sums)
{
    struct pleat_client *client;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    int64_t after = 0;
    for (bool more = true; !code && more;) {
        json_t *answer = NULL;
        code = pleat_daemon_ask(client, "clean",
                                json_pack("{s:f, s:b, s:b, s:I}", "before_s", clean->before_s,
                                          "outputs", clean->outputs, "dry_run", clean->dry_run,
                                          "after", (json_int_t)after),
                                &answer);
        int64_t next = pleat_reply_int(answer, "after", 0);
        more = pleat_reply_true(answer, "more") && next > after;
        after = next;
        if (!code)
            add(sums, answer);
        json_decref(answer);
    }
    pleat_client_close(client);
    return code;
}

static const char *size_text(int64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1000;
        unit++;
    }
    snprintf(buffer, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

static int print(const struct clean *clean, const struct sums *sums)
{
    char records[40], output[40];
    if (pleat_settings.json) {
        json_t *object = json_pack("{s:b, s:f, s:I, s:I, s:I, s:I}", "dry_run", clean->dry_run,
                                   "before_s", clean->before_s, "jobs", (json_int_t)sums->jobs,
                                   "record_bytes", (json_int_t)sums->record_bytes, "output_bytes",
                                   (json_int_t)sums->output_bytes, "kept", (json_int_t)sums->kept);
        int code = pleat_reply_print(object);
        json_decref(object);
        return code;
    }
    printf("%s %lld job%s: records %s", clean->dry_run ? "would remove" : "removed",
           (long long)sums->jobs, sums->jobs == 1 ? "" : "s",
           size_text(sums->record_bytes, records, sizeof(records)));
    if (clean->outputs)
        printf(", output %s", size_text(sums->output_bytes, output, sizeof(output)));
    putchar('\n');
    return PLEAT_EXIT_OK;
}

static int clean_jobs(const struct clean *clean)
{
    struct sums sums = {0};
    int code = ask(clean, &sums);
    if (code) {
        if (sums.jobs > 0 && !clean->dry_run)
            pleat_say("%lld jobs were removed before that; the same command goes on",
                      (long long)sums.jobs);
        return code;
    }
    code = print(clean, &sums);
    if (sums.kept == 0)
        return code;
    pleat_say("%lld job%s kept: %s", (long long)sums.kept, sums.kept == 1 ? " is" : "s are",
              sums.text);
    return PLEAT_EXIT_FAILED;
}

static int read_options(struct pleat_options *options, struct clean *clean)
{
    struct pleat_error err;
    double now_s = (double)pleat_clock_real_us() / 1e6, age_s = 0;
    bool has_time = false;
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        int wrong = 0;
        if (option == PLEAT_OPTION_EXIT)
            return options->exit_code;
        if ((option == 'b' || option == 't') && has_time)
            return pleat_usage(&pleat_cmd_clean, "give one time: --before or --older-than, once");
        if (option == 'b')
            wrong = pleat_parse_past("--before", optarg, now_s, &clean->before_s, &err);
        else if (option == 't')
            wrong = pleat_parse_duration("--older-than", optarg, &age_s, &err);
        else if (option == 'o')
            clean->outputs = true;
        else
            clean->dry_run = true;
        if (wrong)
            return pleat_usage(&pleat_cmd_clean, "%s", err.text);
        if (option == 't')
            clean->before_s = now_s > age_s ? now_s - age_s : 0;
        has_time = has_time || option == 'b' || option == 't';
    }
    if (!has_time)
        return pleat_usage(&pleat_cmd_clean, "which jobs? --before TIME, or --older-than 30d");
    if (clean->before_s < 0)
        clean->before_s = 0;
    return pleat_options_count(options, 0, 0);
}

static int run_clean(int argc, char **argv)
{
    static const struct option own[] = {{"before", required_argument, NULL, 'b'},
                                        {"older-than", required_argument, NULL, 't'},
                                        {"outputs", no_argument, NULL, 'o'},
                                        {"dry-run", no_argument, NULL, 'd'},
                                        {0}};
    struct pleat_options options;
    struct clean clean = {0};
    pleat_options_init(&options, &pleat_cmd_clean, argc, argv, own, "");
    int code = read_options(&options, &clean);
    return code || options.first == 0 ? code : clean_jobs(&clean);
}

const struct pleat_cli_command pleat_cmd_clean = {
    .name = "clean",
    .arguments = "--before WHEN|--older-than TIME [OPTION...]",
    .summary = "Removes what is kept about jobs that ended long ago",
    .help = "What 'pleat show', 'history' and 'events' know about these jobs is lost for "
            "good. Their\n"
            "numbers are not used again. Jobs that wait or run are never removed. "
            "Without a time\n"
            "nothing is removed.\n"
            "\n"
            "Options:\n"
            "      --before WHEN      jobs that ended before WHEN: 2026-11-21, 10:30, "
            "-2h (or 2h)\n"
            "      --older-than TIME  jobs that ended at least TIME ago: 30d, 12h\n"
            "      --outputs          also remove their output where Pleat chose its "
            "place; never files\n"
            "                         that --output or --error named\n"
            "      --dry-run          only say what would be removed\n"
            "\n"
            "Exit codes: 0; 1 some jobs could not be removed, or the log cannot be "
            "written; 2 usage; 3 no\n"
            "daemon.\n"
            "\n"
            "Example:\n"
            "  pleat clean --older-than 30d --outputs --dry-run\n",
    .json = true,
    .run = run_clean,
};

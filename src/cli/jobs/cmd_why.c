#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/entry.h"
#include "cli/common/reply.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/why_text.h"

enum { LABEL = 11 };

static void print_entry(const struct pleat_term *term, const char *label, const char *text)
{
    pleat_entry_print(term, *label ? LABEL : 0, pleat_entry_width(term, 0), label, text);
}

static void print_string(const struct pleat_term *term, const char *label,
                         struct pleat_string *text)
{
    print_entry(term, label, text->text && text->length ? text->text : "-");
    pleat_string_finish(text);
}

/* Prints the jobs in front of a waiting one, the first of them by name. */
static void print_ahead(const struct pleat_term *term, const json_t *waiting)
{
    struct pleat_string text = {0};
    size_t i;
    json_t *one;
    long long count = (long long)pleat_reply_int(waiting, "ahead_count", 0);
    const json_t *ahead = pleat_reply_array(waiting, "ahead");
    if (count == 0 || pleat_reply_true(waiting, "aside"))
        return;
    json_array_foreach(ahead, i, one) pleat_string_addf(&text, "%sjob %lld (%lld)", i ? ", " : "",
                                                        (long long)pleat_reply_int(one, "job", 0),
                                                        (long long)pleat_reply_int(one, "need", 0));
    if (count > (long long)json_array_size(ahead))
        pleat_string_addf(&text, " and %lld more", count - (long long)json_array_size(ahead));
    print_string(term, "before it", &text);
}

static void print_waiting(const struct pleat_term *term, const json_t *waiting)
{
    size_t i;
    json_t *one;
    char moment[PLEAT_TIME_SIZE];
    print_ahead(term, waiting);
    if (isfinite(pleat_reply_real(waiting, "promised_s")))
        print_entry(term, "promised",
                    pleat_time_moment(pleat_reply_real(waiting, "promised_s"), moment));
    if (pleat_reply_int(waiting, "max_tries", 0) > 0) {
        struct pleat_string text = {0};
        pleat_string_addf(&text, "%lld, given up after %lld",
                          (long long)pleat_reply_int(waiting, "tries", 0),
                          (long long)pleat_reply_int(waiting, "max_tries", 0));
        print_string(term, "tries", &text);
    }
    json_array_foreach(pleat_reply_array(waiting, "sites"), i, one)
    {
        struct pleat_string text = {0};
        pleat_why_add_site(waiting, one, &text);
        print_string(term, pleat_reply_text(one, "site", "?"), &text);
    }
    json_array_foreach(pleat_reply_array(waiting, "holders"), i, one)
    {
        struct pleat_string text = {0};
        pleat_why_add_holder(one, &text);
        print_string(term, i ? " " : "held by", &text);
    }
}

/* Of a job that asks for processes itself. */
static void print_buffer(const struct pleat_term *term, const json_t *buffer)
{
    struct pleat_string text = {0}, requests = {0}, reclaimed = {0};
    if (!json_is_object(buffer))
        return;
    pleat_why_add_buffer(buffer, &text);
    print_string(term, "buffer", &text);
    if (pleat_reply_int(buffer, "waiting", 0) > 0) {
        pleat_why_add_requests(buffer, &requests);
        print_string(term, "requests", &requests);
    }
    if (pleat_reply_int(buffer, "reclaimed", 0) > 0) {
        pleat_why_add_reclaimed(buffer, &reclaimed);
        print_string(term, "gave", &reclaimed);
    }
}

static int print_why(const json_t *why)
{
    struct pleat_term term;
    struct pleat_string headline = {0};
    const json_t *waiting = json_object_get(why, "waiting");
    size_t i;
    json_t *decision;
    pleat_term_init(&term);
    pleat_why_add_headline(why, &headline);
    print_string(&term, "", &headline);
    if (json_is_object(waiting))
        print_waiting(&term, waiting);
    print_buffer(&term, json_object_get(json_object_get(why, "size"), "buffer"));
    json_array_foreach(pleat_reply_array(why, "decisions"), i, decision)
    {
        struct pleat_string text = {0};
        char moment[PLEAT_TIME_SIZE];
        pleat_time_moment(pleat_reply_real(decision, "time_s"), moment);
        if (strlen(moment) >= LABEL) { /* not today: the date, then the time with the text */
            pleat_string_addf(&text, "%s ", moment + strcspn(moment, " ") + 1);
            moment[strcspn(moment, " ")] = '\0';
        }
        pleat_why_add_decision(why, decision, &text);
        print_string(&term, moment, &text);
    }
    return PLEAT_EXIT_OK;
}

static int run_why(int argc, char **argv)
{
    struct pleat_options options;
    int64_t number;
    if (pleat_options_plain(&options, &pleat_cmd_why, argc, argv, 1, 1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_job_argument(&pleat_cmd_why, argv[options.first], &number);
    if (code)
        return code;
    return pleat_daemon_show("why", json_pack("{s:I}", "job", (json_int_t)number), print_why);
}

const struct pleat_cli_command pleat_cmd_why = {
    .name = "why",
    .arguments = "JOB",
    .summary = "Says why a job waits, has the size that it has, or ended",
    .help = "Of a waiting job: what it needs, what is free, which jobs stand before it, "
            "which jobs are\n"
            "being shrunk for it, which start it was promised. Of a running job: what "
            "keeps it from\n"
            "growing; if it asks for processes itself, how large its buffer is and why, why "
            "requests\n"
            "wait, and which job got processors of the buffer. Below that are the last "
            "decisions about\n"
            "the job: time, policy, reason.\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat why 17\n",
    .json = true,
    .run = run_why,
};

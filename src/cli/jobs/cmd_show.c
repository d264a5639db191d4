#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/common/term.h"
#include "cli/jobs/commands.h"
#include "cli/jobs/event_text.h"
#include "cli/jobs/history.h"
#include "cli/jobs/job_argument.h"
#include "cli/jobs/jobs.h"
#include "cli/jobs/show.h"
#include "cli/jobs/sizes_text.h"

/* Adds what the program says of the sizes that it can use, if it says anything. */
static void add_declared(const json_t *declared, struct pleat_string *text)
{
    const char *before = ", as its program says that it can use ";
    int64_t least = pleat_reply_int(declared, "min", 0), most = pleat_reply_int(declared, "max", 0);
    const char *sizes = pleat_reply_text(declared, "sizes", NULL);
    if (least > 0)
        pleat_string_addf(text, "%s%lld at least", before, (long long)least);
    if (most > 0)
        pleat_string_addf(text, "%s%lld at most", least > 0 ? " and " : before, (long long)most);
    if (sizes)
        pleat_string_addf(text, "%ssizes %s%s", least > 0 || most > 0 ? ", and only the " : before,
                          sizes, least > 0 || most > 0 ? "" : " only");
}

/* Prints the limits of a job; of a job that folds also those on processes. */
static void show_limits(const json_t *job)
{
    struct pleat_string text = {0};
    const json_t *fold = json_object_get(job, "fold");
    if (json_is_object(fold)) {
        int64_t least = pleat_reply_int(fold, "min", 0), most = pleat_reply_int(fold, "max", 0);
        pleat_string_addf(&text, "%lld", (long long)least);
        if (least != most)
            pleat_string_addf(&text, " to %lld", (long long)most);
        pleat_string_add(&text, " processes on ");
    }
    pleat_string_addf(
        &text, "%lld to %lld processors, sizes %s", (long long)pleat_reply_int(job, "min", 0),
        (long long)pleat_reply_int(job, "max", 0), pleat_reply_text(job, "sizes", "any"));
    add_declared(json_object_get(job, "declared"), &text);
    if (pleat_reply_int(job, "initial", 0) > 0)
        pleat_string_addf(&text, ", initially %lld", (long long)pleat_reply_int(job, "initial", 0));
    if (pleat_reply_int(fold, "mpl", 0) > 0)
        pleat_string_addf(&text, ", at most %lld processes on one",
                          (long long)pleat_reply_int(fold, "mpl", 0));
    if (pleat_reply_int(job, "cpus_per_task", 0) > 0)
        pleat_string_addf(&text, ", %lld for each process",
                          (long long)pleat_reply_int(job, "cpus_per_task", 0));
    pleat_show_line("limits", &text);
    pleat_string_finish(&text);
}

static void show_what(const json_t *job)
{
    struct pleat_string text = {0};
    size_t i;
    json_t *word;
    pleat_string_addf(&text, "%lld  %s", (long long)pleat_reply_int(job, "job", 0),
                      pleat_reply_text(job, "name", ""));
    pleat_show_line("job", &text);
    text.length = 0;
    json_array_foreach(pleat_reply_array(job, "argv"), i, word)
        pleat_string_addf(&text, i ? " %s" : "%s", json_string_value(word));
    pleat_show_line("command", &text);
    pleat_show_text("directory", pleat_reply_text(job, "cwd", NULL));
    text.length = 0;
    pleat_string_addf(&text, "%s, runner %s, MPI %s", pleat_reply_text(job, "kind", "?"),
                      pleat_reply_text(job, "runner", "?"), pleat_reply_text(job, "mpi", "?"));
    if (pleat_reply_text(job, "class", NULL))
        pleat_string_addf(&text, ", %s", pleat_reply_text(job, "class", ""));
    pleat_show_line("kind", &text);
    pleat_string_finish(&text);
    show_limits(job);
    if (json_is_object(json_object_get(job, "asked"))) {
        struct pleat_string asked = {0};
        pleat_add_asked(json_object_get(job, "asked"), &asked);
        pleat_show_line("asked", &asked);
        pleat_string_finish(&asked);
    }
    if (pleat_reply_int(job, "credit", 0) > 0) {
        struct pleat_string credit = {0};
        pleat_string_addf(&credit, "%lld processors that it gave up though it could have refused",
                          (long long)pleat_reply_int(job, "credit", 0));
        pleat_show_line("credit", &credit);
        pleat_string_finish(&credit);
    }
}

/* Whether two of a job's slots are of one node. */
static bool same_node(const json_t *one, const json_t *other)
{
    return pleat_reply_int(one, "node", 0) == pleat_reply_int(other, "node", 0) &&
           !strcmp(pleat_reply_text(one, "site", ""), pleat_reply_text(other, "site", ""));
}

/* How many processors of a job are on the node of its slots number `at`; 0: others before them are
 * of that node, too, so it was named. */
static json_int_t on_node(const json_t *slots, size_t at)
{
    json_int_t count = 0;
    for (size_t i = 0; i < json_array_size(slots); i++) {
        const json_t *piece = json_array_get(slots, i);
        if (!same_node(piece, json_array_get(slots, at)))
            continue;
        if (i < at)
            return 0;
        count += pleat_reply_int(piece, "count", 0);
    }
    return count;
}

/* Adds " node 1", or ", 4 on node 0, 2 on node 1", where the job's site has several; and ", 1 on
 * node 0 of there" for those at another site. */
static void add_nodes(struct pleat_string *text, const json_t *job)
{
    const json_t *slots = pleat_reply_array(job, "slots");
    json_int_t all = 0;
    for (size_t i = 0; i < json_array_size(slots); i++)
        all += pleat_reply_int(json_array_get(slots, i), "count", 0);
    for (size_t i = 0; i < json_array_size(slots); i++) {
        json_int_t count = on_node(slots, i);
        long long node = (long long)pleat_reply_int(json_array_get(slots, i), "node", 0);
        const char *site = pleat_reply_text(json_array_get(slots, i), "site", "");
        if (count && *site)
            pleat_string_addf(text, ", %lld on node %lld of %s", (long long)count, node, site);
        else if (!pleat_reply_true(job, "on_nodes"))
            continue;
        else if (count == all)
            pleat_string_addf(text, " node %lld", node);
        else if (count)
            pleat_string_addf(text, ", %lld on node %lld", (long long)count, node);
    }
}

/* Whether some of a job's processors are at another site than its own. */
static bool is_elsewhere(const json_t *job)
{
    const json_t *slots = pleat_reply_array(job, "slots");
    for (size_t i = 0; i < json_array_size(slots); i++)
        if (*pleat_reply_text(json_array_get(slots, i), "site", ""))
            return true;
    return false;
}

/* What an evolving job has asked for, and what its buffer was worth. */
static void show_buffer(const json_t *job, struct pleat_string *text)
{
    const json_t *buffer = json_object_get(job, "buffer");
    if (!json_is_object(buffer))
        return;
    text->length = 0;
    pleat_string_addf(text, "%lld processes asked for, %lld of them prepared",
                      (long long)pleat_reply_int(buffer, "requests", 0),
                      (long long)pleat_reply_int(buffer, "satisfied", 0));
    if (json_is_number(json_object_get(buffer, "satisfaction")))
        pleat_string_addf(text, " (S %.0f %%)", 100 * pleat_reply_real(buffer, "satisfaction"));
    if (pleat_reply_int(buffer, "waiting", 0))
        pleat_string_addf(text, ", %lld waited for",
                          (long long)pleat_reply_int(buffer, "waiting", 0));
    pleat_show_line("asked for", text);
    text->length = 0;
    pleat_string_addf(text, "%lld prepared, %lld coming, W %.1f %% of its processor time",
                      (long long)pleat_reply_int(buffer, "prepared", 0),
                      (long long)pleat_reply_int(buffer, "coming", 0),
                      100 * pleat_reply_real(buffer, "waste"));
    pleat_show_line("buffer", text);
}

static void show_state(const json_t *job)
{
    struct pleat_string text = {0};
    const char *reason = pleat_reply_text(job, "reason", NULL);
    const char *remark = pleat_reply_text(job, "text", NULL);
    pleat_string_add(&text, pleat_reply_text(job, "state", "?"));
    if (pleat_job_ended(job)) {
        pleat_string_add(&text, ", ");
        pleat_job_add_ending(job, &text);
    } else if (reason)
        pleat_string_addf(&text, " (%s)", reason);
    pleat_show_line("state", &text);
    if (remark)
        pleat_show_text("remark", remark);
    text.length = 0;
    pleat_string_addf(&text, "%lld", (long long)pleat_reply_int(job, "processors", 0));
    if (pleat_reply_int(job, "target", 0) != pleat_reply_int(job, "processors", 0))
        pleat_string_addf(&text, ", on the way to %lld",
                          (long long)pleat_reply_int(job, "target", 0));
    pleat_string_addf(&text, " %s %s", is_elsewhere(job) ? "led from" : "on",
                      pleat_reply_text(job, "site", "no site"));
    add_nodes(&text, job);
    pleat_string_addf(&text, ", %lld processes", (long long)pleat_reply_int(job, "processes", 0));
    if (pleat_reply_int(job, "mpl", 0) > 1)
        pleat_string_addf(&text, ", up to %lld on one", (long long)pleat_reply_int(job, "mpl", 0));
    pleat_show_line("processors", &text);
    pleat_show_folded(job);
    show_buffer(job, &text);
    const json_t *progress = json_object_get(job, "progress");
    if (json_is_object(progress)) {
        char span[PLEAT_TIME_SIZE];
        text.length = 0;
        pleat_string_addf(&text, "iteration %lld, %s each",
                          (long long)pleat_reply_int(progress, "iteration", 0),
                          pleat_time_span(pleat_reply_real(progress, "iteration_s"), span));
        pleat_show_line("progress", &text);
    }
    pleat_show_points(job);
    pleat_show_expectation(json_object_get(job, "expects"));
    if (pleat_reply_int(job, "not_now", 0) > 0) {
        text.length = 0;
        pleat_add_not_now(job, &text);
        pleat_show_line("not now", &text);
    }
    pleat_show_iterations(job, &text);
    pleat_show_grids(job);
    pleat_show_curve(job);
    pleat_string_finish(&text);
    pleat_show_saved(job);
    pleat_show_checkpoint(json_object_get(job, "checkpoint"));
}

static void show_notify(const json_t *job)
{
    struct pleat_string text = {0};
    const json_t *when = json_object_get(job, "notify_on"), *word;
    size_t i;
    pleat_string_add(&text, pleat_reply_text(job, "notify", ""));
    pleat_string_add(&text, " (on ");
    if (!when)
        pleat_string_add(&text, "end, fail");
    json_array_foreach(when, i, word)
        pleat_string_addf(&text, i ? ", %s" : "%s", json_string_value(word));
    pleat_string_add(&text, ")");
    pleat_show_line("notify", &text);
    pleat_string_finish(&text);
}

/* Prints the signal before the time limit. */
static void show_signal(const json_t *signal)
{
    char name[24], lead[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    if (!json_is_object(signal))
        return;
    pleat_string_addf(
        &text, "%s %s before the time limit%s",
        pleat_signal_name((int)pleat_reply_int(signal, "signal", 0), name, sizeof(name)),
        pleat_time_span(pleat_reply_real(signal, "lead_s"), lead),
        pleat_reply_true(signal, "script") ? ", to its script alone" : "");
    pleat_show_line("signal", &text);
    pleat_string_finish(&text);
}

/* Prints which checkpoints are written by themselves. */
static void show_timed(const json_t *wanted)
{
    char span[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    if (!json_is_object(wanted))
        return;
    if (pleat_reply_real(wanted, "every_s") > 0)
        pleat_string_addf(&text, "every %s, %lld kept",
                          pleat_time_span(pleat_reply_real(wanted, "every_s"), span),
                          (long long)pleat_reply_int(wanted, "keep", 2));
    if (pleat_reply_real(wanted, "before_limit_s") > 0)
        pleat_string_addf(&text, "%s%s before the time limit, then it %s", text.length ? "; " : "",
                          pleat_time_span(pleat_reply_real(wanted, "before_limit_s"), span),
                          pleat_reply_true(wanted, "go_on") ? "goes on" : "stops");
    if (pleat_reply_int(wanted, "signal", 0) > 0)
        pleat_string_addf(
            &text, "%sat %s", text.length ? "; " : "",
            pleat_signal_name((int)pleat_reply_int(wanted, "signal", 0), span, sizeof(span)));
    pleat_show_line("checkpoints", &text);
    pleat_string_finish(&text);
}

/* Prints what the job asked for beside processors. */
static void show_wishes(const json_t *job)
{
    static const struct {
        const char *name, *member;
    } times[] = {{"to begin", "begin_s"}, {"deadline", "deadline_s"}, {"ends by", "until_s"}};
    static const struct {
        const char *name, *member;
    } spans[] = {{"estimate", "estimate_s"},
                 {"time limit", "limit_s"},
                 {"notice", "notice_s"},
                 {"lifetime", "lifetime_s"}};
    char moment[PLEAT_TIME_SIZE];
    if (pleat_reply_int(job, "priority", 0) != 0)
        printf("%-12s %lld\n", "priority", (long long)pleat_reply_int(job, "priority", 0));
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        if (pleat_reply_real(job, spans[i].member) > 0)
            pleat_show_text(spans[i].name,
                            pleat_time_span(pleat_reply_real(job, spans[i].member), moment));
    show_signal(json_object_get(job, "limit_signal"));
    show_timed(json_object_get(job, "checkpoints"));
    if (strcmp(pleat_reply_text(job, "resize", "auto"), "auto") != 0)
        pleat_show_text("on resize", pleat_reply_text(job, "resize", ""));
    if (pleat_reply_text(job, "notify", NULL))
        show_notify(job);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        if (isfinite(pleat_reply_real(job, times[i].member)))
            pleat_show_text(times[i].name,
                            pleat_time_moment(pleat_reply_real(job, times[i].member), moment));
}

static void add_memory(const json_t *job, const char *member, const char *format,
                       struct pleat_string *text)
{
    char size[24];
    if (!(pleat_reply_real(job, member) > 0))
        return;
    pleat_history_memory(pleat_reply_real(job, member), size, sizeof(size));
    if (text->length)
        pleat_string_add_bytes(text, ", ", 2);
    pleat_string_addf(text, format, size);
}

static void show_memory(const json_t *job)
{
    struct pleat_string text = {0};
    add_memory(job, "memory_kb", "%s at its peak", &text);
    add_memory(job, "max_rss_kb", "%s its largest process", &text);
    add_memory(job, "memory_limit_kb", "limit %s", &text);
    if (text.length)
        pleat_show_line("memory", &text);
    pleat_string_finish(&text);
}

static void show_times(const json_t *job)
{
    char a[PLEAT_TIME_SIZE], b[PLEAT_TIME_SIZE];
    struct pleat_string text = {0};
    pleat_string_addf(&text, "%s, waited %s",
                      pleat_time_moment(pleat_reply_real(job, "submit_s"), a),
                      pleat_time_span(pleat_reply_real(job, "wait_s"), b));
    pleat_show_line("submitted", &text);
    show_wishes(job);
    if (isfinite(pleat_reply_real(job, "start_s"))) {
        text.length = 0;
        pleat_string_addf(&text, "%s, ran %s",
                          pleat_time_moment(pleat_reply_real(job, "start_s"), a),
                          pleat_time_span(pleat_reply_real(job, "run_s"), b));
        pleat_show_line("started", &text);
    }
    if (pleat_reply_int(job, "attempt", 1) > 1) {
        text.length = 0;
        pleat_string_addf(&text, "%lld", (long long)pleat_reply_int(job, "attempt", 1));
        pleat_show_line("attempt", &text);
    }
    show_memory(job);
    if (pleat_reply_text(job, "from", NULL))
        pleat_show_text("from", pleat_reply_text(job, "from", NULL));
    if (pleat_reply_text(job, "input", NULL))
        pleat_show_text("stdin", pleat_reply_text(job, "input", NULL));
    pleat_show_text("stdout", pleat_reply_text(job, "stdout", NULL));
    pleat_show_text("stderr", pleat_reply_text(job, "stderr", NULL));
    pleat_string_finish(&text);
}

static void add_resize(struct pleat_table *table, const struct pleat_term *term,
                       const json_t *resize, double start)
{
    static const char *const costs[] = {"wait_s", "processes_s", "redistribute_s", "total_s"};
    int64_t waiter = pleat_reply_int(resize, "waiter", 0);
    int64_t bytes = pleat_reply_int(resize, "bytes", -1);
    pleat_table_row(table);
    pleat_table_set_span(table, 0, pleat_reply_real(resize, "begun_s") - start);
    pleat_table_setf(table, 1, term->utf8 ? "%lld→%lld" : "%lld->%lld",
                     (long long)pleat_reply_int(resize, "from", 0),
                     (long long)pleat_reply_int(resize, "to", 0));
    if (waiter)
        pleat_table_setf(table, 2, "%s, for job %lld", pleat_reply_text(resize, "by", "?"),
                         (long long)waiter);
    else
        pleat_table_set(table, 2, pleat_reply_text(resize, "by", NULL));
    pleat_table_set(table, 3, pleat_reply_text(resize, "outcome", "under way"));
    pleat_table_set(table, 4, pleat_reply_text(resize, "way", NULL));
    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
        pleat_table_set_span(table, 5 + i, pleat_reply_real(resize, costs[i]));
    if (bytes >= 0)
        pleat_table_setf(table, 9, "%.1f MB", (double)bytes / 1e6);
    else
        pleat_table_set(table, 9, NULL);
}

static int show_resizes(const json_t *job, const struct pleat_term *term)
{
    static const struct pleat_column columns[] = {
        {"AT", PLEAT_COLUMN_NUMBER},        {"SIZE", PLEAT_COLUMN_TEXT},
        {"BY", PLEAT_COLUMN_CUT},           {"OUTCOME", PLEAT_COLUMN_CUT},
        {"WAY", PLEAT_COLUMN_TEXT},         {"WAIT", PLEAT_COLUMN_NUMBER},
        {"PROCESSES", PLEAT_COLUMN_NUMBER}, {"DATA", PLEAT_COLUMN_NUMBER},
        {"TOTAL", PLEAT_COLUMN_NUMBER},     {"MOVED", PLEAT_COLUMN_NUMBER}};
    const json_t *history = json_object_get(job, "history");
    const json_t *resizes = pleat_reply_array(history, "resizes");
    struct pleat_string sizes = {0};
    size_t i;
    json_t *resize;
    pleat_sizes_add_text(term, pleat_reply_array(history, "sizes"), &sizes);
    if (sizes.length)
        pleat_show_line("sizes", &sizes);
    pleat_string_finish(&sizes);
    if (json_array_size(resizes) == 0)
        return 0;
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    putchar('\n');
    json_array_foreach(resizes, i, resize)
        add_resize(table, term, resize, pleat_reply_real(job, "start_s"));
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int print_job(const json_t *job)
{
    const struct pleat_term *term = pleat_show_begin();
    show_what(job);
    show_state(job);
    show_times(job);
    return show_resizes(job, term);
}

static int run_show(int argc, char **argv)
{
    struct pleat_options options;
    int64_t number;
    if (pleat_options_plain(&options, &pleat_cmd_show, argc, argv, 1, 1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_job_argument(&pleat_cmd_show, argv[options.first], &number);
    if (code)
        return code;
    return pleat_daemon_show("job", json_pack("{s:I}", "job", (json_int_t)number), print_job);
}

const struct pleat_cli_command pleat_cmd_show = {
    .name = "show",
    .arguments = "JOB",
    .summary = "Shows all about a job, with its sizes over time and its resizes",
    .help = "For each resize it shows when (since the job's start), how it ended, and "
            "what it cost.\n"
            "WAIT: until the application reached a point where it can change. PROCESSES: "
            "while\n"
            "processes were started or ended. DATA: while data were redistributed.\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon; 4 no such job.\n"
            "\n"
            "Example:\n"
            "  pleat show 17\n",
    .json = true,
    .run = run_show,
};

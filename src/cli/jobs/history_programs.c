/* pleat history --program: what earlier runs of programs have measured, and asked for. */
#include <stdio.h>

#include "base/timefmt.h"
#include "cli/common/cli.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/jobs/history.h"

/* By how much iterations are shorter than at the next smaller size, as in Swaminathan 2004, tables
 * 1 and 2; of each size on the grid that was used last. */
static void add_gain(struct pleat_table *table, const json_t *before, double seconds)
{
    double before_s = pleat_reply_real(before, "iteration_s");
    if (before_s > 0)
        pleat_table_setf(table, 9, "%.1f %%", 100 * (1 - seconds / before_s));
}

static void add_size(struct pleat_table *table, const json_t *program, const json_t *size,
                     const json_t *before)
{
    double seconds = pleat_reply_real(size, "iteration_s");
    char moment[PLEAT_TIME_SIZE];
    pleat_table_row(table);
    pleat_table_set(table, 0, pleat_reply_text(program, "program", ""));
    pleat_table_set(table, 1, pleat_reply_text(program, "site", ""));
    pleat_table_set(table, 2, pleat_time_moment(pleat_reply_real(program, "used_s"), moment));
    pleat_table_setf(table, 3, "%lld", (long long)pleat_reply_int(program, "iterations", 0));
    pleat_table_setf(table, 4, "%lld", (long long)pleat_reply_int(size, "processors", 0));
    pleat_table_set(table, 5, pleat_reply_text(size, "grid", ""));
    pleat_table_setf(table, 6, "%lld", (long long)pleat_reply_int(size, "measured", 0));
    pleat_table_set_span(table, 7, seconds);
    if (seconds > 0 && pleat_reply_int(size, "measured", 0) > 1)
        pleat_table_setf(table, 8, "%.0f %%", 100 * pleat_reply_real(size, "spread_s") / seconds);
    add_gain(table, before, seconds);
    if (pleat_reply_real(size, "redistribution_s") > 0)
        pleat_table_set_span(table, 10, pleat_reply_real(size, "redistribution_s"));
}

/* "3: 2, 100: 0.5": at these iterations, so many processes in an execution, on average. */
static void add_asked(struct pleat_table *table, size_t column, const json_t *demand)
{
    enum { SHOWN = 8 };
    struct pleat_string text = {0};
    const json_t *asked = json_object_get(demand, "asked"), *row;
    double executions = pleat_reply_real(demand, "executions");
    size_t count = json_array_size(asked);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        row = json_array_get(asked, i);
        pleat_string_addf(&text, "%s%lld: %.3g", i ? ", " : "",
                          (long long)pleat_reply_int(row, "iteration", 0),
                          pleat_reply_real(row, "requests") / executions);
    }
    if (count > SHOWN)
        pleat_string_addf(&text, ", and at %zu more", count - SHOWN);
    pleat_table_set(table, column, text.text);
    pleat_string_finish(&text);
}

static void set_share(struct pleat_table *table, size_t column, const json_t *demand,
                      const char *member)
{
    if (json_is_number(json_object_get(demand, member)))
        pleat_table_setf(table, column, "%.1f %%", 100 * pleat_reply_real(demand, member));
}

static void add_demand(struct pleat_table *table, const json_t *program, const json_t *demand)
{
    char moment[PLEAT_TIME_SIZE];
    double executions = pleat_reply_real(demand, "executions");
    pleat_table_row(table);
    pleat_table_set(table, 0, pleat_reply_text(program, "program", ""));
    pleat_table_set(table, 1, pleat_reply_text(program, "site", ""));
    pleat_table_set(table, 2, pleat_time_moment(pleat_reply_real(program, "used_s"), moment));
    pleat_table_setf(table, 3, "%.0f", executions);
    pleat_table_setf(table, 4, "%.3g", pleat_reply_real(demand, "requests") / executions);
    set_share(table, 5, demand, "satisfaction");
    set_share(table, 6, demand, "waste");
    pleat_table_setf(table, 7, "%lld", (long long)pleat_reply_int(demand, "most", 0));
    if (pleat_reply_real(demand, "iteration_s") > 0)
        pleat_table_set_span(table, 8, pleat_reply_real(demand, "iteration_s"));
    add_asked(table, 9, demand);
}

/* What runs of evolving jobs asked for, and what their buffers were worth. `beside`: another table
 * stands above. */
static int print_demands(const json_t *programs, bool beside)
{
    static const struct pleat_column columns[] = {
        {"PROGRAM", PLEAT_COLUMN_CUT},      {"SITE", PLEAT_COLUMN_TEXT},
        {"LAST", PLEAT_COLUMN_TEXT},        {"RUNS", PLEAT_COLUMN_NUMBER},
        {"ASKED", PLEAT_COLUMN_NUMBER},     {"S", PLEAT_COLUMN_NUMBER},
        {"W", PLEAT_COLUMN_NUMBER},         {"IN A ROW", PLEAT_COLUMN_NUMBER},
        {"ITERATION", PLEAT_COLUMN_NUMBER}, {"AT", PLEAT_COLUMN_WRAP}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    const json_t *program;
    size_t p;
    bool any = false;
    json_array_foreach(programs, p, program)
    {
        const json_t *demand = json_object_get(program, "demand");
        if (pleat_reply_int(demand, "executions", 0) < 1)
            continue;
        any = true;
        add_demand(table, program, demand);
    }
    if (any && beside)
        printf("\n");
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int print_table(const json_t *programs)
{
    static const struct pleat_column columns[] = {
        {"PROGRAM", PLEAT_COLUMN_CUT},       {"SITE", PLEAT_COLUMN_TEXT},
        {"LAST", PLEAT_COLUMN_TEXT},         {"ITERATIONS", PLEAT_COLUMN_NUMBER},
        {"PROCESSORS", PLEAT_COLUMN_NUMBER}, {"GRID", PLEAT_COLUMN_TEXT},
        {"MEASURED", PLEAT_COLUMN_NUMBER},   {"ITERATION", PLEAT_COLUMN_NUMBER},
        {"SPREAD", PLEAT_COLUMN_NUMBER},     {"GAIN", PLEAT_COLUMN_NUMBER},
        {"PAUSE", PLEAT_COLUMN_NUMBER}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    const json_t *program, *size;
    size_t p, s;
    bool any = false;
    json_array_foreach(programs, p, program)
    {
        const json_t *before = NULL;
        json_array_foreach(json_object_get(program, "sizes"), s, size)
        {
            bool counts = pleat_reply_true(size, "counts");
            add_size(table, program, size, counts ? before : NULL);
            before = counts ? size : before;
            any = true;
        }
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code ? code : print_demands(programs, any);
}

int pleat_history_programs(const char *program, bool clear)
{
    struct pleat_client *client;
    json_t *answer = NULL;
    int code = pleat_daemon_connect(&client);
    if (code)
        return code;
    code = pleat_daemon_ask(client, clear ? "programs_clear" : "programs",
                            json_pack("{s:s}", "program", program), &answer);
    pleat_client_close(client);
    if (!code && pleat_settings.json)
        code = pleat_reply_print(answer);
    else if (!code && clear)
        printf("%lld forgotten\n", (long long)pleat_reply_int(answer, "cleared", 0));
    else if (!code && json_array_size(json_object_get(answer, "programs")) == 0)
        pleat_say("nothing is known of such a program");
    else if (!code)
        code = print_table(json_object_get(answer, "programs"));
    json_decref(answer);
    return code;
}

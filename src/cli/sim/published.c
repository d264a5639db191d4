#include "cli/sim/published.h"

#include "base/array.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "experiments/published.h"

static void add_command(struct pleat_string *text, const struct pleat_published_page *page,
                        bool live)
{
    if (live)
        pleat_string_add(text, pleat_published_command(page->page));
    else
        pleat_string_addf(text, "pleat experiment %s", page->page);
}

/* ---- JSON ---- */

static json_t *page_json(const struct pleat_published_page *page, bool live)
{
    if (!page->page)
        return json_null();
    struct pleat_string command = {0};
    add_command(&command, page, live);
    json_t *json = json_pack("{s:s, s:s, s:s}", "page", page->page, "labels", page->labels,
                             "command", command.failed ? "" : command.text);
    pleat_string_finish(&command);
    return json;
}

static json_t *row_json(const struct pleat_published *row)
{
    json_t *live = json_array();
    for (size_t i = 0; i < PLEAT_PUBLISHED_LIVE; i++)
        if (row->live[i].page)
            json_array_append_new(live, page_json(&row->live[i], true));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?}", "paper", row->paper, "what", row->what,
                     "how", pleat_published_how(row), "simulated",
                     page_json(&row->simulated, false), "live", live, "note", row->note);
}

static int print_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; pleat_published_at(i); i++)
        json_array_append_new(list, row_json(pleat_published_at(i)));
    json_t *json = json_pack("{s:o}", "published", list);
    int code = pleat_reply_print(json);
    json_decref(json);
    return code;
}

/* ---- the table ---- */

static void add_page(struct pleat_string *labels, struct pleat_string *commands,
                     const struct pleat_published_page *page, bool live)
{
    if (!page->page)
        return;
    pleat_string_addf(labels, "%s%s", labels->length > 0 ? "; " : "",
                      *page->labels ? page->labels : "shown");
    if (commands->length > 0)
        pleat_string_add(commands, "; ");
    add_command(commands, page, live);
}

static void print_row(struct pleat_table *table, const struct pleat_published *row)
{
    struct pleat_string labels = {0}, commands = {0};
    add_page(&labels, &commands, &row->simulated, false);
    for (size_t i = 0; i < PLEAT_PUBLISHED_LIVE; i++)
        add_page(&labels, &commands, &row->live[i], true);
    pleat_table_row(table);
    pleat_table_set(table, 0, row->paper);
    pleat_table_set(table, 1, row->what);
    pleat_table_set(table, 2, pleat_published_how(row));
    pleat_table_set(table, 3, labels.text);
    pleat_table_set(table, 4, row->note ? row->note : commands.text);
    pleat_string_finish(&labels);
    pleat_string_finish(&commands);
}

int pleat_published_print(void)
{
    static const struct pleat_column columns[] = {{"PAPER", PLEAT_COLUMN_WRAP},
                                                  {"FIGURE OR TABLE", PLEAT_COLUMN_WRAP},
                                                  {"DONE AGAIN", PLEAT_COLUMN_TEXT},
                                                  {"LABELS", PLEAT_COLUMN_WRAP},
                                                  {"COMMAND OR NOTE", PLEAT_COLUMN_WRAP}};
    if (pleat_settings.json)
        return print_json();
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; pleat_published_at(i); i++)
        print_row(table, pleat_published_at(i));
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

#include <stdio.h>

#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/reply.h"
#include "cli/table.h"

static int print_policies(const json_t *policies)
{
    static const struct pleat_column columns[] = {{"QUESTION", PLEAT_COLUMN_TEXT},
                                                  {"POLICY", PLEAT_COLUMN_TEXT},
                                                  {"IN FORCE", PLEAT_COLUMN_TEXT},
                                                  {"WHAT IT DOES", PLEAT_COLUMN_WRAP},
                                                  {"FROM", PLEAT_COLUMN_CUT}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;
    json_t *policy;
    json_array_foreach(policies, i, policy)
    {
        bool active = pleat_reply_true(policy, "active");
        pleat_table_row(table);
        pleat_table_set(table, 0, pleat_reply_text(policy, "question", ""));
        pleat_table_set(table, 1, pleat_reply_text(policy, "name", ""));
        pleat_table_set(table, 2, active ? "yes" : "");
        if (active)
            pleat_table_colour(table, 2, "green");
        pleat_table_set(table, 3, pleat_reply_text(policy, "summary", ""));
        pleat_table_set(table, 4, pleat_reply_text(policy, "source", ""));
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int run_policies(int argc, char **argv)
{
    struct pleat_options options;
    json_t *answer;
    if (pleat_options_plain(&options, &pleat_cmd_policies, argc, argv, 0, 0) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_daemon_ask_once("policies", NULL, &answer);
    if (code)
        return code;
    code = pleat_settings.json ? pleat_reply_print(answer)
                               : print_policies(pleat_reply_array(answer, "policies"));
    json_decref(answer);
    return code;
}

const struct pleat_command pleat_cmd_policies = {
    .name = "policies",
    .arguments = "",
    .summary = "Lists the policies there are, and which are in force",
    .help = "They are chosen in pleat.conf, or for one job mix with the options of 'pleat mix'.\n\n"
            "Exit codes: 0; 3 no daemon.\n\n"
            "Example:\n"
            "  pleat policies\n",
    .json = true,
    .run = run_policies,
};

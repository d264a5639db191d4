#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/instance/commands.h"

static int print_policies(const json_t *policies)
{
    static const struct pleat_column columns[] = {{"QUESTION", PLEAT_COLUMN_TEXT},
                                                  {"POLICY", PLEAT_COLUMN_TEXT},
                                                  {"IN FORCE", PLEAT_COLUMN_TEXT},
                                                  {"WHAT IT DOES", PLEAT_COLUMN_WRAP},
                                                  {"FROM", PLEAT_COLUMN_WRAP}};
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

/* Turns the arguments "QUESTION=POLICY" into what the daemon takes. NULL: one of them has not this
 * form. */
static json_t *read_wishes(int argc, char **argv)
{
    json_t *wanted = json_object();
    for (int i = 0; wanted && i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals || equals == argv[i] || !equals[1]) {
            json_decref(wanted);
            return NULL;
        }
        char *question = strndup(argv[i], (size_t)(equals - argv[i]));
        if (question)
            json_object_set_new(wanted, question, json_string(equals + 1));
        free(question);
    }
    return wanted;
}

static int run_policies(int argc, char **argv)
{
    struct pleat_options options;
    struct pleat_client *client;
    json_t *answer = NULL;
    if (pleat_options_plain(&options, &pleat_cmd_policies, argc, argv, 0, -1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    json_t *wanted = read_wishes(argc - options.first, argv + options.first);
    if (!wanted)
        return pleat_usage(&pleat_cmd_policies,
                           "a change is written QUESTION=POLICY, for example approach=pra");
    int code = pleat_daemon_connect(&client);
    if (!code && json_object_size(wanted) > 0)
        code = pleat_daemon_ask(client, "configure", json_pack("{s:O}", "policies", wanted), NULL);
    if (!code)
        code = pleat_daemon_ask(client, "policies", NULL, &answer);
    json_decref(wanted);
    pleat_client_close(client);
    if (code)
        return code;
    code = pleat_settings.json ? pleat_reply_print(answer)
                               : print_policies(pleat_reply_array(answer, "policies"));
    json_decref(answer);
    return code;
}

const struct pleat_cli_command pleat_cmd_policies = {
    .name = "policies",
    .arguments = "[QUESTION=POLICY...]",
    .summary = "Lists the policies there are and which are in force, or changes them",
    .help = "A change holds until the daemon ends. For a lasting change edit pleat.conf; "
            "for one job\n"
            "mix use the options of 'pleat mix'.\n"
            "\n"
            "Exit codes: 0; 1 no such question or policy (nothing was changed); 2 usage;\n"
            "3 no daemon.\n"
            "\n"
            "Example:\n"
            "  pleat policies approach=pra malleability=fpsma\n",
    .json = true,
    .run = run_policies,
};

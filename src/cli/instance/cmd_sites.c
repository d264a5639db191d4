#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "cli/instance/commands.h"

/* The CPUs to which the processes of jobs are bound: those of their slots, or all of the site's
 * where jobs share them. Where only jobs that fold are bound, agents know to which. */
static const char *bound_text(const json_t *site)
{
    static char text[400];
    const char *cpus = pleat_reply_text(site, "slot_cpus", "yes");
    if (!pleat_reply_true(site, "bound"))
        return pleat_reply_true(site, "folds") ? "folded" : "no";
    bool shares = !strcmp(pleat_reply_text(site, "sharing", ""), "time");
    snprintf(text, sizeof(text), shares ? "%.380s (shared)" : "%.380s", cpus);
    return text;
}

static void add_nodes(struct pleat_table *table, const json_t *site)
{
    size_t i;
    const json_t *node;
    json_array_foreach(pleat_reply_array(site, "nodes"), i, node)
    {
        pleat_table_row(table);
        pleat_table_setf(table, 0, "- node %lld", (long long)pleat_reply_int(node, "node", 0));
        pleat_table_setf(table, 1, "%lld", (long long)pleat_reply_int(node, "processors", 0));
        pleat_table_setf(table, 2, "%lld", (long long)pleat_reply_int(node, "used", 0));
        pleat_table_setf(table, 3, "%lld", (long long)pleat_reply_int(node, "background", 0));
        pleat_table_setf(table, 4, "%lld", (long long)pleat_reply_int(node, "free", 0));
        pleat_table_set(table, 8, pleat_reply_text(node, "state", "ok"));
        pleat_table_set(table, 11, pleat_reply_text(node, "slot_cpus", ""));
    }
}

/* Adds the age of the number of busy processors, if it is not the present one. */
static void add_age(struct pleat_table *table, const json_t *site)
{
    double ago_s = pleat_reply_real(site, "polled_ago_s");
    if (ago_s > 2 * pleat_reply_real(site, "poll_s") && ago_s >= 10)
        pleat_table_setf(table, 3, "%lld (%.0f s ago)",
                         (long long)pleat_reply_int(site, "background", 0), ago_s);
}

static int print_sites(const json_t *answer)
{
    static const struct pleat_column columns[] = {
        {"SITE", PLEAT_COLUMN_TEXT},   {"PROCESSORS", PLEAT_COLUMN_NUMBER},
        {"USED", PLEAT_COLUMN_NUMBER}, {"BACKGROUND", PLEAT_COLUMN_NUMBER},
        {"FREE", PLEAT_COLUMN_NUMBER}, {"THRESHOLD", PLEAT_COLUMN_NUMBER},
        {"CPUS", PLEAT_COLUMN_NUMBER}, {"OVERSUBSCRIBED", PLEAT_COLUMN_TEXT},
        {"STATE", PLEAT_COLUMN_TEXT},  {"FAILED", PLEAT_COLUMN_NUMBER},
        {"FROM", PLEAT_COLUMN_TEXT},   {"BOUND", PLEAT_COLUMN_CUT}};
    static const char *const numbers[] = {"processors", "used",      "background",
                                          "free",       "threshold", "cpus"};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;
    json_t *site;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site)
    {
        pleat_table_row(table);
        pleat_table_set(table, 0, pleat_reply_text(site, "name", ""));
        for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
            pleat_table_setf(table, n + 1, "%lld", (long long)pleat_reply_int(site, numbers[n], 0));
        add_age(table, site);
        pleat_table_set(table, 7, pleat_reply_true(site, "oversubscribed") ? "yes" : "no");
        pleat_table_set(table, 8, pleat_reply_text(site, "state", "ok"));
        pleat_table_setf(table, 9, "%lld", (long long)pleat_reply_int(site, "failed_starts", 0));
        pleat_table_set(table, 10, pleat_reply_text(site, "from", ""));
        pleat_table_set(table, 11, bound_text(site));
        add_nodes(table, site);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* ---- --nodes ---- */

/* The age of what is shown: "now", "12 s", "not known". */
static const char *age_text(const json_t *site)
{
    static char text[32];
    double ago_s = pleat_reply_real(site, "ago_s");
    if (!json_is_number(json_object_get(site, "ago_s")))
        return "-";
    snprintf(text, sizeof(text), ago_s < 1 ? "now" : "%.0f s", ago_s);
    return text;
}

static void add_site_nodes(struct pleat_table *table, const json_t *site)
{
    static const char *const numbers[] = {"processors", "used", "background", "free"};
    json_t *nodes = pleat_reply_array(site, "nodes");
    size_t i;
    const json_t *node;
    json_array_foreach(nodes, i, node)
    {
        pleat_table_row(table);
        pleat_table_set(table, 0, pleat_reply_text(site, "name", ""));
        pleat_table_set(table, 1, pleat_reply_text(node, "name", ""));
        for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
            pleat_table_setf(table, n + 2, "%lld", (long long)pleat_reply_int(node, numbers[n], 0));
        pleat_table_set(table, 6, pleat_reply_text(node, "state", ""));
        pleat_table_set(table, 7, age_text(site));
    }
    if (json_array_size(nodes) > 0)
        return;
    pleat_table_row(table);
    pleat_table_set(table, 0, pleat_reply_text(site, "name", ""));
    pleat_table_set(table, 6, "not known yet");
}

static int print_nodes(const json_t *answer)
{
    static const struct pleat_column columns[] = {
        {"SITE", PLEAT_COLUMN_TEXT},         {"NODE", PLEAT_COLUMN_CUT},
        {"PROCESSORS", PLEAT_COLUMN_NUMBER}, {"USED", PLEAT_COLUMN_NUMBER},
        {"BACKGROUND", PLEAT_COLUMN_NUMBER}, {"FREE", PLEAT_COLUMN_NUMBER},
        {"STATE", PLEAT_COLUMN_TEXT},        {"AGE", PLEAT_COLUMN_NUMBER}};
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;
    json_t *site;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site) add_site_nodes(table, site);
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

/* Is a site being asked that has said nothing of its nodes, or long ago? */
static bool is_looking(const json_t *answer)
{
    size_t i;
    json_t *site;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site)
    {
        bool old = !json_is_number(json_object_get(site, "ago_s")) ||
                   pleat_reply_real(site, "ago_s") > pleat_reply_real(site, "poll_s");
        if (old && pleat_reply_true(site, "looking"))
            return true;
    }
    return false;
}

/* Asks again while an answer is on its way, for two seconds at most: then what is known is told. */
static int ask_nodes(struct pleat_client **client, json_t **answer)
{
    enum { LOOK_MS = 50, LOOKS = 40 };
    for (int i = 0;; i++) {
        int code = pleat_daemon_ask_patiently(client, PLEAT_PATIENCE_S, "nodes", NULL, answer);
        if (code || i == LOOKS || !is_looking(*answer))
            return code;
        json_decref(*answer);
        *answer = NULL;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

static int ask_sites(struct pleat_client **client, json_t **answer)
{
    return pleat_daemon_ask_patiently(client, PLEAT_PATIENCE_S, "sites", NULL, answer);
}

/* ---- again and again ---- */

/* What is shown: the sites, or their nodes. */
struct shown {
    int (*ask)(struct pleat_client **client, json_t **answer);
    int (*print)(const json_t *answer);
};

static int show_once(const struct shown *shown)
{
    struct pleat_client *client;
    json_t *answer = NULL;
    int code = pleat_daemon_connect(&client);
    if (!code)
        code = shown->ask(&client, &answer);
    if (!code)
        code = pleat_settings.json ? pleat_reply_print(answer) : shown->print(answer);
    json_decref(answer);
    pleat_client_close(client);
    return code;
}

/* Prints the sites again and again, until a signal ends the program: on a terminal over what was
 * there, in a pipe one table, or object, after the other. Waits for another daemon where one ends.
 */
static int watch(const struct shown *shown, double interval_s)
{
    struct pleat_client *client;
    bool terminal = !pleat_settings.json && isatty(STDOUT_FILENO), first = true;
    int code = pleat_daemon_connect(&client);
    for (; !code; first = false) {
        json_t *answer = NULL;
        code = shown->ask(&client, &answer);
        if (code)
            break;
        if (terminal)
            fputs("\033[H\033[J", stdout); /* to the top, and nothing below */
        else if (!pleat_settings.json && !first)
            putchar('\n');
        code = pleat_settings.json ? pleat_reply_print_line(answer) : shown->print(answer);
        json_decref(answer);
        code = pleat_finish_output(code);
        if (!code)
            (void)poll(NULL, 0, (int)(interval_s * 1000));
    }
    pleat_client_close(client);
    return code;
}

static int run_sites(int argc, char **argv)
{
    static const struct option own[] = {{"watch", no_argument, NULL, 'w'},
                                        {"interval", required_argument, NULL, 'i'},
                                        {"nodes", no_argument, NULL, 'n'},
                                        {0}};
    static const struct shown sites = {ask_sites, print_sites}, nodes = {ask_nodes, print_nodes};
    const struct shown *shown = &sites;
    struct pleat_options options;
    struct pleat_error err;
    double interval_s = 1;
    bool watches = false, has_interval = false;
    pleat_options_init(&options, &pleat_cmd_sites, argc, argv, own, "wi:");
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (option == 'w')
            watches = true;
        else if (option == 'n')
            shown = &nodes;
        else if (pleat_parse_seconds("--interval", optarg, 0.1, 3600, &interval_s, &err))
            return pleat_usage(&pleat_cmd_sites, "%s", err.text);
        else
            has_interval = true;
    }
    if (has_interval && !watches)
        return pleat_usage(&pleat_cmd_sites, "--interval goes with --watch");
    int code = pleat_options_count(&options, 0, 0);
    if (code)
        return code;
    return watches ? watch(shown, interval_s) : show_once(shown);
}

const struct pleat_cli_command pleat_cmd_sites = {
    .name = "sites",
    .arguments = "[OPTION...]",
    .summary = "Lists the sites: where processors come from, and how many are free",
    .help =
        "BACKGROUND: processors that other programs keep busy; how long ago, if that is "
        "not of now:\n"
        "it is looked at while there are jobs. THRESHOLD: free processors that are\n"
        "never used for growing. OVERSUBSCRIBED: the site offers more processors "
        "than it has CPUs.\n"
        "STATE: ok; draining, drained ('pleat site drain': jobs run there still; none "
        "does); leaving\n"
        "('pleat site remove', or pleat.conf does not have it any more: gone when it is empty); "
        "paused\n"
        "(the site could not start jobs, and is tried again after a while); left "
        "alone (more errors in\n"
        "a row than site_errors allows). FAILED: the number of recent starts that "
        "failed there. FROM:\n"
        "pleat.conf; command ('pleat site add'); default (pleat.conf has no site). BOUND: the CPUs "
        "of its\n"
        "processors, in order, if jobs are bound to them.\n"
        "A site that is divided into nodes has a line for each of them, too.\n"
        "\n"
        "--nodes has a line for each node instead: of sites with a batch system as that says it, "
        "of\n"
        "this machine as Pleat knows it. USED: by Pleat's jobs at that site. BACKGROUND: by "
        "others. AGE:\n"
        "how long ago that was asked. It is asked again after poll_s of the site: for whoever "
        "looks, and\n"
        "while jobs wait that might run there.\n"
        "\n"
        "Options:\n"
        "      --nodes          the nodes of all sites\n"
        "  -w, --watch          print them again and again, until Ctrl-C: on a terminal in "
        "place, in a\n"
        "                       pipe one table after the other, with --json an object on "
        "each line\n"
        "  -i, --interval S     with --watch: seconds between two of these (default: 1)\n"
        "\n"
        "Exit codes: 0; 2 usage; 3 no daemon.\n"
        "\n"
        "Example:\n"
        "  pleat sites --json\n",
    .json = true,
    .run = run_sites,
};

#include <stdio.h>

#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/entry.h"
#include "cli/common/reply.h"
#include "cli/instance/commands.h"
#include "cli/instance/info_site.h"

enum { LABEL = 16 };

static void print_line(const struct pleat_term *term, const char *name, const char *value)
{
    pleat_entry_print(term, LABEL, pleat_entry_width(term, PLEAT_PIPE_WIDTH), name, value);
}

static void print_configuration(const struct pleat_term *term, const json_t *info)
{
    const char *path = pleat_reply_text(info, "configuration", NULL);
    const char *place = pleat_reply_text(info, "configuration_place", NULL);
    char text[4200] = "none (the defaults)";
    if (!path && place)
        snprintf(text, sizeof(text), "none: the defaults; it would be %s, read when pleatd starts",
                 place);
    print_line(term, "configuration", path ? path : text);
}

/* Prints {"a":1,"b":"x"} as "a 1, b x". */
static void print_members(const struct pleat_term *term, const char *name, json_t *object)
{
    struct pleat_string text = {0};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        pleat_string_add(&text, text.length ? ", " : "");
        if (json_is_string(value))
            pleat_string_addf(&text, "%s %s", key, json_string_value(value));
        else if (json_is_number(value))
            pleat_string_addf(&text, "%s %.10g", key, json_number_value(value));
    }
    print_line(term, name, text.length ? text.text : "none");
    pleat_string_finish(&text);
}

/* A line for each site that has several nodes: "8 processors on 2 nodes: 4, 4". */
static void print_nodes(const struct pleat_term *term, const json_t *info)
{
    size_t s, n;
    const json_t *site, *node;
    json_array_foreach(pleat_reply_array(info, "sites"), s, site)
    {
        struct pleat_string text = {0};
        char name[80];
        json_t *nodes = pleat_reply_array(site, "nodes");
        if (json_array_size(nodes) == 0)
            continue;
        pleat_string_addf(&text, "%lld processors on %zu nodes:",
                          (long long)pleat_reply_int(site, "processors", 0),
                          json_array_size(nodes));
        json_array_foreach(nodes, n, node)
        {
            pleat_string_addf(&text, "%s %lld", n ? "," : "",
                              (long long)pleat_reply_int(node, "processors", 0));
        }
        snprintf(name, sizeof(name), "site %s", pleat_reply_text(site, "name", "?"));
        print_line(term, name, text.text ? text.text : "?");
        pleat_string_finish(&text);
    }
}

static int print_info(const json_t *info)
{
    struct pleat_term term;
    char pid[32], records[32], since[PLEAT_TIME_SIZE];
    pleat_term_init(&term);
    snprintf(pid, sizeof(pid), "%lld", (long long)pleat_reply_int(info, "pid", 0));
    print_line(&term, "version", pleat_reply_text(info, "version", "?"));
    print_line(&term, "pid", pid);
    print_line(&term, "running since",
               pleat_time_moment(pleat_reply_real(info, "started_s"), since));
    print_line(&term, "directory", pleat_reply_text(info, "directory", "?"));
    print_line(&term, "socket", pleat_reply_text(info, "socket", "?"));
    print_configuration(&term, info);
    print_line(&term, "instance", pleat_reply_text(info, "instance", "?"));
    print_nodes(&term, info);
    print_members(&term, "policies", json_object_get(info, "policies"));
    print_members(&term, "parameters", json_object_get(info, "parameters"));
    print_members(&term, "jobs", json_object_get(info, "jobs"));
    snprintf(records, sizeof(records), "%lld", (long long)pleat_reply_int(info, "log_records", 0));
    print_line(&term, "log records", records);
    const char *holding = pleat_reply_text(info, "holding", NULL);
    if (holding)
        print_line(&term, "log not written", holding);
    const char *damage = pleat_reply_text(info, "damage", NULL);
    if (damage)
        print_line(&term, "damage", damage);
    return PLEAT_EXIT_OK;
}

static int run_info(int argc, char **argv)
{
    struct pleat_options options;
    if (pleat_options_plain(&options, &pleat_cmd_info, argc, argv, 0, 1) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    if (options.first < argc)
        return pleat_info_site(argv[options.first]);
    return pleat_daemon_show("info", NULL, print_info);
}

const struct pleat_cli_command pleat_cmd_info = {
    .name = "info",
    .arguments = "[SITE]",
    .summary = "Says which daemon runs, where it keeps its things, and which policies are in force",
    .help =
        "With a SITE: what that has, and, if it is a cluster, what its batch system offers you: "
        "partitions\n"
        "(queues of Grid Engine) and their limits, features that a constraint may name, accounts "
        "and\n"
        "qualities of service, and whether a job of one processor would be taken.\n\n"
        "Exit codes: 0; 1 there is no such site; 2 usage; 3 no daemon.\n\n"
        "Examples:\n"
        "  pleat info --json\n"
        "  pleat info cluster\n",
    .json = true,
    .run = run_info,
};

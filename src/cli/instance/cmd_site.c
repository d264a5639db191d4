#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/instance/commands.h"

/* Between two looks at whether jobs have left a site. */
enum { LOOK_MS = 200 };

/* The site in the daemon's answer; NULL: it is not there. Borrowed. */
static const json_t *find(const json_t *answer, const char *name)
{
    size_t i;
    const json_t *site;
    json_array_foreach(pleat_reply_array(answer, "sites"), i, site)
    {
        if (pleat_reply_is(site, "name", name))
            return site;
    }
    return NULL;
}

/* Processors that jobs have of a node, -1: the site has no such node; *drained: nobody gets more.
 */
static int64_t used_on(const json_t *site, int64_t number, bool *drained)
{
    size_t i;
    const json_t *node;
    json_array_foreach(pleat_reply_array(site, "nodes"), i, node)
    {
        *drained = !pleat_reply_is(node, "state", "ok");
        if (pleat_reply_int(node, "node", -1) == number)
            return pleat_reply_int(node, "used", 0);
    }
    return -1;
}

enum look { EMPTY, IN_USE, RESUMED };

/* What the command is about: a node of a site, by number or by name, or the whole site. */
struct part {
    int64_t node;     /* -1: none */
    const char *host; /* NULL: none */
};

/* How far a site, or its node, is that is to run empty. */
static enum look look_at(const json_t *answer, const char *name, const struct part *part)
{
    const json_t *site = find(answer, name);
    int64_t node = part->node;
    bool drained = false;
    if (!site)
        return RESUMED;
    if (node >= 0 && !pleat_reply_is(site, "state", "draining") &&
        !pleat_reply_is(site, "state", "drained")) {
        int64_t used = used_on(site, node, &drained);
        return used < 0 || !drained ? RESUMED : used > 0 ? IN_USE : EMPTY;
    }
    if (node >= 0)
        return used_on(site, node, &drained) > 0 ? IN_USE : EMPTY;
    return pleat_reply_is(site, "state", "drained")    ? EMPTY
           : pleat_reply_is(site, "state", "draining") ? IN_USE
           : pleat_reply_is(site, "state", "leaving")  ? IN_USE
                                                       : RESUMED;
}

/* The same for a node that a batch system knows by name: `answer` is that of "nodes". A site that
 * knows none of its nodes yet uses none. */
static enum look look_at_host(const json_t *answer, const char *name, const struct part *part)
{
    const json_t *nodes = pleat_reply_array(find(answer, name), "nodes"), *node;
    size_t i;
    json_array_foreach(nodes, i, node)
    {
        if (pleat_reply_is(node, "name", part->host))
            return pleat_reply_int(node, "used", 0) > 0 ? IN_USE : EMPTY;
    }
    return find(answer, name) ? EMPTY : RESUMED;
}

/* A site that is removed is there until it is empty. */
static enum look look_if_there(const json_t *answer, const char *name, const struct part *part)
{
    const json_t *site = find(answer, name);
    (void)part;
    return !site ? EMPTY : pleat_reply_is(site, "state", "leaving") ? IN_USE : RESUMED;
}

/* Waits until jobs have no processor of the site any more, also over restarts of the daemon. */
static int wait_for_end(struct pleat_client **client, const char *name, const struct part *part,
                        enum look (*look)(const json_t *answer, const char *name,
                                          const struct part *part))
{
    const char *method = part->host ? "nodes" : "sites";
    for (;;) {
        json_t *answer = NULL;
        int code = pleat_daemon_ask_patiently(client, PLEAT_PATIENCE_S, method, NULL, &answer);
        if (code)
            return code;
        enum look now = look(answer, name, part);
        json_decref(answer);
        if (now == EMPTY)
            return PLEAT_EXIT_OK;
        if (now == RESUMED) {
            pleat_say("site %s was resumed meanwhile", name);
            return PLEAT_EXIT_FAILED;
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
}

/* ---- drain, resume ---- */

/* Drains or resumes a site, or one of its nodes. */
static int change(const char *method, const char *name, const struct part *part, bool waits)
{
    struct pleat_client *client;
    json_t *params = json_pack("{s:s}", "site", name);
    int code = pleat_daemon_connect(&client);
    if (part->host)
        json_object_set_new(params, "host", json_string(part->host));
    else if (part->node >= 0)
        json_object_set_new(params, "node", json_integer(part->node));
    if (!code)
        code = pleat_daemon_ask(client, method, params, NULL);
    else
        json_decref(params);
    if (!code && waits)
        code = wait_for_end(&client, name, part, part->host ? look_at_host : look_at);
    pleat_client_close(client);
    return code;
}

static int run_change(int argc, char **argv, const struct pleat_cli_command *command,
                      const char *method)
{
    static const struct option both[] = {
        {"node", required_argument, NULL, 'n'}, {"wait", no_argument, NULL, 'w'}, {0}};
    static const struct option one[] = {{"node", required_argument, NULL, 'n'}, {0}};
    struct pleat_options options;
    struct pleat_error err;
    struct part part = {-1, NULL};
    bool waits = false;
    pleat_options_init(&options, command, argc, argv, command == &pleat_cmd_site_drain ? both : one,
                       NULL);
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        if (option == 'w')
            waits = true;
        else if (*optarg && optarg[strspn(optarg, "-0123456789")])
            part.host = optarg; /* a name, as a batch system has it */
        else if (pleat_parse_int("--node", optarg, 0, INT32_MAX, &part.node, &err))
            return pleat_usage(command, "%s", err.text);
    }
    int code = pleat_options_count(&options, 1, 1);
    return code ? code : change(method, argv[options.first], &part, waits);
}

static int run_drain(int argc, char **argv)
{
    return run_change(argc, argv, &pleat_cmd_site_drain, "drain");
}

static int run_resume(int argc, char **argv)
{
    return run_change(argc, argv, &pleat_cmd_site_resume, "undrain");
}

/* ---- add, remove ---- */

/* Adds KEY=VALUE to the options. PLEAT_EXIT_USAGE. */
static int take_option(json_t *options, const char *text)
{
    const char *equals = strchr(text, '=');
    char key[64];
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (length == 0 || length >= sizeof(key))
        return pleat_usage(&pleat_cmd_site_add, "'%.100s' is not KEY=VALUE", text);
    memcpy(key, text, length);
    key[length] = '\0';
    if (json_object_get(options, key))
        return pleat_usage(&pleat_cmd_site_add, "%s is given twice", key);
    if (json_object_set_new(options, key, json_string(equals + 1)))
        return pleat_usage(&pleat_cmd_site_add, "'%.100s' is not text in UTF-8", text);
    return 0;
}

static int print_state(const char *name, const char *state)
{
    if (!pleat_settings.json)
        return PLEAT_EXIT_OK;
    json_t *answer = json_pack("{s:s, s:s}", "site", name, "state", state);
    int code = pleat_reply_print_line(answer);
    json_decref(answer);
    return code;
}

static int run_add(int argc, char **argv)
{
    struct pleat_options options;
    if (pleat_options_plain(&options, &pleat_cmd_site_add, argc, argv, 1, 200) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    const char *name = argv[options.first];
    json_t *given = json_object();
    int code = 0;
    for (int i = options.first + 1; !code && i < argc; i++)
        code = take_option(given, argv[i]);
    if (code) {
        json_decref(given);
        return code;
    }
    code = pleat_daemon_ask_once("site_add",
                                 json_pack("{s:s, s:o}", "site", name, "options", given), NULL);
    return code ? code : print_state(name, "added");
}

static int run_remove(int argc, char **argv)
{
    static const struct option own[] = {
        {"drain", no_argument, NULL, 'd'}, {"wait", no_argument, NULL, 'w'}, {0}};
    struct pleat_options options;
    struct pleat_client *client;
    bool drains = false, waits = false;
    pleat_options_init(&options, &pleat_cmd_site_remove, argc, argv, own, NULL);
    for (int option; (option = pleat_options_next(&options)) != PLEAT_OPTION_END;) {
        if (option == PLEAT_OPTION_EXIT)
            return options.exit_code;
        drains = drains || option == 'd';
        waits = waits || option == 'w';
    }
    int code = pleat_options_count(&options, 1, 1);
    if (code)
        return code;
    const char *name = argv[options.first];
    waits = waits || !drains;
    code = pleat_daemon_connect(&client);
    if (!code)
        code = pleat_daemon_ask(client, "site_remove",
                                json_pack("{s:s, s:b}", "site", name, "drain", drains), NULL);
    if (!code && waits)
        code = wait_for_end(&client, name, &(struct part){-1, NULL}, look_if_there);
    pleat_client_close(client);
    return code ? code : print_state(name, waits ? "removed" : "leaving");
}

static int run_site(int argc, char **argv)
{
    return pleat_command_run_part(&pleat_cmd_site, argc, argv);
}

const struct pleat_cli_command pleat_cmd_site_drain = {
    .name = "site drain",
    .arguments = "[OPTION...] NAME",
    .summary = "Lets a site, or one of its nodes, run empty: no job is started or grown there",
    .help =
        "Jobs that run there, or whose processors are asked for already, go on. Those "
        "that wait start\n"
        "at other sites, if they may; else they wait until the site is resumed, and "
        "'pleat why' says so.\n"
        "This lasts over restarts of the daemon.\n"
        "\n"
        "Options:\n"
        "      --node K     only node K of a site that is divided into nodes; of a cluster: the "
        "node of\n"
        "                   that name ('pleat sites --nodes' lists them)\n"
        "      --wait       return when jobs have no processor of the site, or of the node, any "
        "more\n"
        "\n"
        "Exit codes: 0; 1 there is no such site or node, or it was resumed while this "
        "waited; 2 usage;\n"
        "3 no daemon.\n"
        "\n"
        "Examples:\n"
        "  pleat site drain --wait local\n"
        "  pleat site drain --node 1 local\n"
        "  pleat site drain --node n017 cluster\n",
    .run = run_drain,
};

const struct pleat_cli_command pleat_cmd_site_resume = {
    .name = "site resume",
    .arguments = "[--node K] NAME",
    .summary = "Lets jobs be started and grown again at a drained site, or on a drained node",
    .help =
        "A site that is being removed ('pleat site remove --drain') stays, if it is resumed before "
        "it is\n"
        "empty.\n"
        "\n"
        "Options:\n"
        "      --node K     only node K, or the node of that name\n"
        "\n"
        "Exit codes: 0 (also if nothing was drained); 1 there is no such site or node; 2 "
        "usage;\n"
        "3 no daemon.\n"
        "\n"
        "Example:\n"
        "  pleat site resume local\n",
    .run = run_resume,
};

const struct pleat_cli_command pleat_cmd_site_add = {
    .name = "site add",
    .arguments = "NAME [KEY=VALUE...]",
    .summary = "Adds a site while the daemon runs",
    .help =
        "KEY=VALUE: an option of sites, as in a block of pleat.conf (pleat.conf(5)): kind=slurm,\n"
        "processors=8, poll_s=10, ... Jobs can be placed there at once. The site is kept in the "
        "log, and is\n"
        "there after a restart of the daemon, too. If pleat.conf has a site of that name at a "
        "later start,\n"
        "what is there counts. 'pleat sites' shows where each site comes from.\n"
        "\n"
        "Exit codes: 0; 1 there is such a site already, or an option cannot be; 2 usage; 3 no "
        "daemon.\n"
        "\n"
        "Examples:\n"
        "  pleat site add cluster kind=slurm\n"
        "  pleat site add spare processors=2 background=ignore\n",
    .json = true,
    .run = run_add,
};

const struct pleat_cli_command pleat_cmd_site_remove = {
    .name = "site remove",
    .arguments = "[OPTION...] NAME",
    .summary = "Removes a site while the daemon runs",
    .help =
        "Refused while jobs run there, unless --drain is given; while jobs wait that can only run "
        "there\n"
        "(--site); for the last site; and for one that pleat.conf has: take it out of that file "
        "first.\n"
        "What was at the site is gone with it: agents, helper programs, files.\n"
        "\n"
        "Options:\n"
        "      --drain      let its jobs go on, and remove it when the last one has ended; "
        "'pleat site\n"
        "                   resume' takes that back until then\n"
        "      --wait       with --drain: return when it is removed\n"
        "\n"
        "Exit codes: 0; 1 there is no such site, it cannot be removed, or it was resumed while "
        "this waited;\n"
        "2 usage; 3 no daemon.\n"
        "\n"
        "Example:\n"
        "  pleat site remove --drain --wait cluster\n",
    .json = true,
    .run = run_remove,
};

static const struct pleat_cli_command *const parts[] = {&pleat_cmd_site_add, &pleat_cmd_site_remove,
                                                        &pleat_cmd_site_drain,
                                                        &pleat_cmd_site_resume, NULL};

const struct pleat_cli_command pleat_cmd_site = {
    .name = "site",
    .arguments = "SUBCOMMAND [OPTION...] NAME",
    .summary = "Adds, removes, drains or resumes a site",
    .help = "'pleat sites' lists the sites, where they come from, and whether they are drained.\n"
            "\n"
            "Exit codes: those of the subcommand.\n"
            "\n"
            "Examples:\n"
            "  pleat site add cluster kind=slurm\n"
            "  pleat site drain --wait local\n"
            "  pleat site resume local\n",
    .run = run_site,
    .parts = parts,
};

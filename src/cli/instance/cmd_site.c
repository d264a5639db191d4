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

/* Waits until jobs have no processor of the site any more, also over restarts of the daemon. */
static int wait_for_end(struct pleat_client **client, const char *name)
{
    for (;;) {
        json_t *answer = NULL;
        int code = pleat_daemon_ask_patiently(client, PLEAT_PATIENCE_S, "sites", NULL, &answer);
        if (code)
            return code;
        const json_t *site = find(answer, name);
        bool empty = site && pleat_reply_is(site, "state", "drained");
        bool waits = site && pleat_reply_is(site, "state", "draining");
        json_decref(answer);
        if (empty)
            return PLEAT_EXIT_OK;
        if (!waits) {
            pleat_say("site %s was resumed meanwhile", name);
            return PLEAT_EXIT_FAILED;
        }
        (void)poll(NULL, 0, LOOK_MS);
    }
}

static int change(const char *method, const char *name, bool waits)
{
    struct pleat_client *client;
    int code = pleat_daemon_connect(&client);
    if (!code)
        code = pleat_daemon_ask(client, method, json_pack("{s:s}", "site", name), NULL);
    if (!code && waits)
        code = wait_for_end(&client, name);
    pleat_client_close(client);
    return code;
}

static int run_drain(int argc, char **argv)
{
    static const struct option own[] = {{"wait", no_argument, NULL, 'w'}, {0}};
    struct pleat_options options;
    bool waits = false;
    int option;
    pleat_options_init(&options, &pleat_cmd_site_drain, argc, argv, own, NULL);
    while ((option = pleat_options_next(&options)) == 'w')
        waits = true;
    if (option == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_options_count(&options, 1, 1);
    return code ? code : change("drain", argv[options.first], waits);
}

static int run_resume(int argc, char **argv)
{
    struct pleat_options options;
    if (pleat_options_plain(&options, &pleat_cmd_site_resume, argc, argv, 1, 1) ==
        PLEAT_OPTION_EXIT)
        return options.exit_code;
    return change("undrain", argv[options.first], false);
}

static int run_site(int argc, char **argv)
{
    return pleat_command_run_part(&pleat_cmd_site, argc, argv);
}

const struct pleat_command pleat_cmd_site_drain = {
    .name = "site drain",
    .arguments = "[--wait] NAME",
    .summary = "Lets a site run empty: no job is started or grown there",
    .help = "Jobs that run there, or whose processors are asked for already, go on. Those "
            "that wait start\n"
            "at other sites, if they may; else they wait until the site is resumed, and "
            "'pleat why' says so.\n"
            "This lasts over restarts of the daemon.\n"
            "\n"
            "Options:\n"
            "      --wait       return when jobs have no processor of the site any more\n"
            "\n"
            "Exit codes: 0; 1 there is no such site, or it was resumed while this "
            "waited; 2 usage; 3 no daemon.\n"
            "\n"
            "Example:\n"
            "  pleat site drain --wait local\n",
    .run = run_drain,
};

const struct pleat_command pleat_cmd_site_resume = {
    .name = "site resume",
    .arguments = "NAME",
    .summary = "Lets jobs be started and grown again at a drained site",
    .help = "Exit codes: 0 (also if the site was not drained); 1 there is no such site; 2 "
            "usage;\n"
            "3 no daemon.\n"
            "\n"
            "Example:\n"
            "  pleat site resume local\n",
    .run = run_resume,
};

static const struct pleat_command *const parts[] = {&pleat_cmd_site_drain, &pleat_cmd_site_resume,
                                                    NULL};

const struct pleat_command pleat_cmd_site = {
    .name = "site",
    .arguments = "SUBCOMMAND [OPTION...] NAME",
    .summary = "Drains a site, or resumes it",
    .help = "'pleat sites' lists the sites and whether they are drained.\n"
            "\n"
            "Exit codes: those of the subcommand.\n"
            "\n"
            "Examples:\n"
            "  pleat site drain --wait local\n"
            "  pleat site resume local\n",
    .run = run_site,
    .parts = parts,
};

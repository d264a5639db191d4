/* The program of an adapter: pleatd's way to one cluster with a batch system, as an ordinary user.
 * It speaks Pleat's protocol on its standard input and output. It keeps nothing: what was allocated
 * is found again by the jobs' names. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/requests.h"

enum { EXIT_USAGE = 2, INTERVAL_MS = 1000, LIMIT_MS = 20000, MS_MAX = 3600000, OPTIONS_MAX = 16 };
enum { OPTION_OWN = 256 }; /* and on: the system's own options, in their order */

extern char **environ;

struct settings {
    uint64_t interval_ms, limit_ms;
};

static int complain(const struct pleat_adapter_system *system, const char *what, const char *word)
{
    fprintf(stderr, "%s: %s '%s' (see %s --help)\n", system->program, what, word, system->program);
    return EXIT_USAGE;
}

static int read_ms(const char *text, uint64_t *ms)
{
    char *end = NULL;
    unsigned long value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!end || *end || value < 1 || value > MS_MAX)
        return -1;
    *ms = value;
    return 0;
}

static bool begins_with_one(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strncmp(text, *list, strlen(*list)))
            return true;
    return false;
}

/* Forgets variables of a job of that batch system in which this may run, and the user's defaults
 * for the system's commands: they are not meant for Pleat's jobs. */
static void forget_settings(const struct pleat_adapter_system *system)
{
    for (char **at = environ; *at;) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*at, "="), *at);
        if (!begins_with_one(name, system->forget) || begins_with_one(name, system->keep) ||
            unsetenv(name))
            at++;
    }
}

static int serve(struct pleat_adapter *adapter, const struct pleat_adapter_system *system,
                 const struct settings *settings)
{
    struct pleat_error err;
    uv_loop_t *loop = uv_default_loop();
    adapter->calls.loop = loop;
    adapter->calls.system = system;
    adapter->calls.limit_ms = settings->limit_ms;
    adapter->calls.lines = &adapter->lines;
    adapter->lines.program = system->program;
    adapter->lines.message = pleat_adapter_request;
    adapter->lines.arg = adapter;
    if (system->begin(&err) || pleat_adapter_lines_open(&adapter->lines, loop, &err)) {
        fprintf(stderr, "%s: %s\n", system->program, err.text);
        return 1;
    }
    adapter->calls.ops = system->ops();
    pleat_adapter_pace_open(&adapter->pace, loop, settings->interval_ms);
    pleat_adapter_watch_open(&adapter->watch, &adapter->calls, &adapter->pace);
    pleat_adapter_nodes_open(&adapter->nodes, &adapter->calls, &adapter->pace);
    pleat_adapter_greet(&adapter->lines, system->role,
                        json_pack("{ss}", "by", adapter->calls.ops->name));
    return uv_run(loop, UV_RUN_DEFAULT);
}

static void list_options(const struct pleat_adapter_system *system, struct option *options)
{
    static const struct option common[] = {{"interval", required_argument, NULL, 'i'},
                                           {"limit", required_argument, NULL, 'l'},
                                           {"help", no_argument, NULL, 'h'},
                                           {"version", no_argument, NULL, 'V'}};
    size_t count = sizeof(common) / sizeof(common[0]);
    memcpy(options, common, sizeof(common));
    for (int i = 0; system->options[i].name && count < OPTIONS_MAX; i++, count++)
        options[count] = (struct option){
            system->options[i].name, system->options[i].has_value ? required_argument : no_argument,
            NULL, OPTION_OWN + i};
}

/* -1: go on; else the exit code. */
static int take_option(const struct pleat_adapter_system *system, int option,
                       struct settings *settings)
{
    struct pleat_error err;
    switch (option) {
    case 'i':
    case 'l':
        if (read_ms(optarg, option == 'i' ? &settings->interval_ms : &settings->limit_ms))
            return complain(system, "no number of milliseconds:", optarg);
        return -1;
    case 'h':
        fputs(system->usage, stdout);
        return 0;
    case 'V':
        printf("%s %s\n", system->program, PLEAT_VERSION);
        return 0;
    default:
        break;
    }
    if (option < OPTION_OWN)
        return EXIT_USAGE; /* getopt has said why */
    if (system->options[option - OPTION_OWN].take(optarg, &err))
        return complain(system, err.text, optarg);
    return -1;
}

int pleat_adapter_main(int argc, char **argv, const struct pleat_adapter_system *system)
{
    static struct pleat_adapter adapter;
    struct option options[OPTIONS_MAX + 1] = {{0}};
    struct settings settings = {.interval_ms = INTERVAL_MS, .limit_ms = LIMIT_MS};
    forget_settings(system);
    list_options(system, options);
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        int code = take_option(system, option, &settings);
        if (code >= 0)
            return code;
    }
    if (optind < argc)
        return complain(system, "unexpected word", argv[optind]);
    signal(SIGPIPE, SIG_IGN);
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* operations are called one at a time */
    return serve(&adapter, system, &settings);
}

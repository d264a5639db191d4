/* The kind gridengine: nodes of a Grid Engine cluster. */
#include <stdio.h>
#include <string.h>

#include "site/batch_kind.h"

enum { PORT_MAX = 65535 };

struct gridengine_options {
    struct pleat_batch_options common;
    char *root, *cell; /* "auto": as the environment and Grid Engine's commands have it */
    char *qmaster_port, *execd_port;                             /* a number, or "auto": as above */
    char *queue, *pe, *pe_nodes, *project, *account, *resources; /* "auto": not said */
};

static int check_port(const char *text, struct pleat_error *err)
{
    int port = 0;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && port <= PORT_MAX; i++)
        port = port * 10 + (text[i] - '0');
    if (!strcmp(text, "auto") || (digits > 0 && !text[digits] && port >= 1 && port <= PORT_MAX))
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID, "must be auto, or a number from 1 to %d",
                           PORT_MAX);
}

static int check_cell(const char *text, struct pleat_error *err)
{
    int failure = pleat_batch_check_word(text, err);
    if (!failure && strchr(text, '/'))
        return pleat_error_set(err, PLEAT_E_INVALID, "must be auto, or a name without '/'");
    return failure;
}

#define TEXT(member, checked_by, what)                                                             \
    {                                                                                              \
        .name = #member, .type = PLEAT_OPTION_TEXT,                                                \
        .offset = offsetof(struct gridengine_options, member), .usual = "auto",                    \
        .check = (checked_by), .help = (what)                                                      \
    }

static const struct pleat_site_option rows[] = {
    TEXT(root, pleat_batch_check_path, "Grid Engine's directory, SGE_ROOT"),
    TEXT(cell, check_cell, "the cell there, SGE_CELL"),
    TEXT(qmaster_port, check_port, "the port of its qmaster"),
    TEXT(execd_port, check_port, "the port of its execution daemons"),
    PLEAT_BATCH_WORD(struct gridengine_options, queue, "the queue that is asked"),
    PLEAT_BATCH_WORD(struct gridengine_options, pe, "the parallel environment of jobs on one node"),
    PLEAT_BATCH_WORD(struct gridengine_options, pe_nodes, "that of jobs on several nodes"),
    PLEAT_BATCH_WORD(struct gridengine_options, project, "the project that is charged"),
    PLEAT_BATCH_WORD(struct gridengine_options, account, "the account that is charged"),
    PLEAT_BATCH_WORD(struct gridengine_options, resources, "further resources that are asked for"),
    PLEAT_BATCH_ROWS,
    {0}};

static void add_word(const char **argv, int *count, const char *option, const char *value)
{
    if (!strcmp(value, "auto"))
        return;
    argv[(*count)++] = option;
    argv[(*count)++] = value;
}

static void words(const void *own, const char **argv, int *count)
{
    const struct gridengine_options *options = own;
    add_word(argv, count, "--root", options->root);
    add_word(argv, count, "--cell", options->cell);
    add_word(argv, count, "--qmaster-port", options->qmaster_port);
    add_word(argv, count, "--execd-port", options->execd_port);
}

static void wish(const void *own, json_t *params)
{
    const struct gridengine_options *options = own;
    pleat_batch_set_text(params, "queue", options->queue);
    pleat_batch_set_text(params, "pe", options->pe);
    pleat_batch_set_text(params, "pe_nodes", options->pe_nodes);
    pleat_batch_set_text(params, "project", options->project);
    pleat_batch_set_text(params, "account", options->account);
    pleat_batch_set_text(params, "resources", options->resources);
}

static const char *part(const void *own)
{
    const struct gridengine_options *options = own;
    return strcmp(options->queue, "auto") != 0 ? options->queue : NULL;
}

/* Reasons, as pleat-gridengine gives them. */
static const struct pleat_batch_wait waits[] = {{"Resources", PLEAT_WAIT_RESOURCES},
                                                {"Priority", PLEAT_WAIT_TURN},
                                                {"Held", PLEAT_WAIT_HELD},
                                                {"Down", PLEAT_WAIT_DOWN},
                                                {0}};

static const struct pleat_batch_kind gridengine = {.ops = &pleat_site_gridengine,
                                                   .title = "Grid Engine",
                                                   .program = "pleat-gridengine",
                                                   .role = "gridengine",
                                                   .announces = true,
                                                   .spreads = true,
                                                   .waits = waits,
                                                   .words = words,
                                                   .wish = wish,
                                                   .part = part};

static int gridengine_open(const struct pleat_site_options *options, const struct pleat_host *host,
                           struct pleat_site_instance **out, struct pleat_error *err)
{
    return pleat_batch_open(&gridengine, options, host, out, err);
}

const struct pleat_site_ops pleat_site_gridengine = {.name = "gridengine",
                                                     .options = rows,
                                                     .own_size = sizeof(struct gridengine_options),
                                                     .open = gridengine_open,
                                                     PLEAT_BATCH_OPERATIONS};

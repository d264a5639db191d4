/* pleat-gridengine: the adapter to one Grid Engine cluster. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/ask.h"
#include "gridengine/state.h"
#include "gridengine/system.h"

static const char usage[] =
    "usage: pleat-gridengine [--root PATH] [--cell NAME] [--qmaster-port N] [--execd-port N]\n"
    "                        [--interval MS] [--limit MS]\n"
    "\n"
    "Allocations of one Grid Engine cluster, for 'pleatd', which starts it and speaks with it on\n"
    "its standard input and output.\n"
    "\n"
    "  --root PATH        Grid Engine's directory; else SGE_ROOT, else where its commands have it\n"
    "  --cell NAME        the cell there; else SGE_CELL, else default\n"
    "  --qmaster-port N   where its qmaster listens; else SGE_QMASTER_PORT, else its service\n"
    "  --execd-port N     where its execution daemons do; else SGE_EXECD_PORT, else its service\n"
    "  --interval MS      ask the qmaster, for jobs or for nodes, every MS ms at most (1000)\n"
    "  --limit MS         answer a request that long after it at the latest (20000)\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 its input has ended; 1 it cannot go on, and says why; 2 usage.\n";

static int take_root(const char *value, struct pleat_error *err)
{
    if (value[0] != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "no absolute path:");
    setenv("SGE_ROOT", value, 1);
    return 0;
}

static int take_cell(const char *value, struct pleat_error *err)
{
    if (!pleat_adapter_is_word(value, 255) || strchr(value, '/'))
        return pleat_error_set(err, PLEAT_E_INVALID, "no name of a cell:");
    setenv("SGE_CELL", value, 1);
    return 0;
}

static int take_port(const char *variable, const char *value, struct pleat_error *err)
{
    int64_t port;
    if (!pleat_adapter_is_number(value, &port) || port < 1 || port > 65535)
        return pleat_error_set(err, PLEAT_E_INVALID, "no number of a port:");
    setenv(variable, value, 1);
    return 0;
}

static int take_qmaster_port(const char *value, struct pleat_error *err)
{
    return take_port("SGE_QMASTER_PORT", value, err);
}

static int take_execd_port(const char *value, struct pleat_error *err)
{
    return take_port("SGE_EXECD_PORT", value, err);
}

static int begin(struct pleat_error *err)
{
    const char *root = getenv("SGE_ROOT");
    if (root && root[0] != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "SGE_ROOT '%s' is no absolute path", root);
    if (root && access(root, R_OK | X_OK))
        return pleat_error_sys(err, errno, "cannot read '%s'", root);
    return 0;
}

static const struct pleat_adapter_ops *ops(void)
{
    return &pleat_gridengine_commands;
}

static const struct pleat_adapter_own_option options[] = {{"root", true, take_root},
                                                          {"cell", true, take_cell},
                                                          {"qmaster-port", true, take_qmaster_port},
                                                          {"execd-port", true, take_execd_port},
                                                          {NULL, false, NULL}};
static const char *const forget[] = {"SGE_", "JOB_", "QRSH_", "PE_HOSTFILE", NULL};
static const char *const keep[] = {"SGE_ROOT",         "SGE_CELL",       "SGE_ARCH",
                                   "SGE_QMASTER_PORT", "SGE_EXECD_PORT", NULL};
/* In the order of enum pleat_gridengine_text. */
static const char *const texts[] = {"queue",   "pe",        "pe_nodes", "project",
                                    "account", "resources", NULL};
static const char *const never[] = {"Error", NULL};

static const struct pleat_adapter_system gridengine = {
    .program = "pleat-gridengine",
    .role = "gridengine",
    .title = "Grid Engine",
    .usage = usage,
    .options = options,
    .forget = forget,
    .keep = keep,
    .texts = texts,
    .never = never,
    .starting = PLEAT_GRIDENGINE_STARTING,
    .starter = "qrsh",
    .passes_variables = false, /* they would be in a file that all on the node can read */
    .not_in_a_node = "[],/*@",
    .step = pleat_gridengine_step,
    .begin = begin,
    .ops = ops,
};

int main(int argc, char **argv)
{
    return pleat_adapter_main(argc, argv, &gridengine);
}

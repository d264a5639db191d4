/* pleat-slurm: the adapter to one Slurm cluster. It is a process of its own since libslurm blocks,
 * has one configuration for a process, and ends it when something is wrong with that. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/ask_cluster.h"
#include "slurm/system.h"

static bool by_commands, no_munge;

static const char usage[] =
    "usage: pleat-slurm [--conf PATH] [--interval MS] [--limit MS] [--commands]\n"
    "                   [--no-munge]\n"
    "\n"
    "Allocations of one Slurm cluster, for 'pleatd', which starts it and speaks with it on its\n"
    "standard input and output.\n"
    "\n"
    "  --conf PATH     the cluster's slurm.conf; else SLURM_CONF, else where Slurm has it\n"
    "  --interval MS   ask the controller, for jobs or for nodes, every MS ms at most (1000)\n"
    "  --limit MS      answer a request that long after it at the latest (20000)\n"
    "  --commands      by Slurm's commands, also if libslurm is there\n"
    "  --no-munge      secrets are sent over Slurm's network as they are\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 its input has ended; 1 it cannot go on, and says why; 2 usage.\n";

/* libslurm's operations, if its module is there and fits the libslurm that is there. */
static const struct pleat_adapter_ops *load_library(void)
{
    static const char *const places[] = {"../lib/pleat-slurm-library.so", PLEAT_SLURM_MODULE};
    char self[PATH_MAX], path[PATH_MAX + 256];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", self, places[i]);
        /* global: Slurm's plugins find libslurm's functions so */
        void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        const struct pleat_adapter_ops *ops =
            module ? dlsym(module, PLEAT_SLURM_MODULE_SYMBOL) : NULL;
        if (ops)
            return ops;
    }
    return NULL;
}

static int (*plain_nodes)(json_t **nodes, struct pleat_error *err);

static int nodes_and_reservations(json_t **nodes, struct pleat_error *err)
{
    int failure = plain_nodes(nodes, err);
    if (failure)
        return failure;
    failure = pleat_slurm_ask_reservations(*nodes, err);
    if (failure) {
        json_decref(*nodes);
        *nodes = NULL;
    }
    return failure;
}

static const struct pleat_adapter_ops *ops(void)
{
    static struct pleat_adapter_ops chosen;
    const struct pleat_adapter_ops *library = by_commands ? NULL : load_library();
    chosen = library ? *library : pleat_slurm_commands;
    chosen.accounts = pleat_slurm_ask_accounts;
    plain_nodes = chosen.nodes;
    chosen.nodes = nodes_and_reservations;
    if (no_munge)
        chosen.seal = NULL;
    return &chosen;
}

static int begin(struct pleat_error *err)
{
    const char *conf = getenv("SLURM_CONF");
    if (conf && conf[0] != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' is no absolute path of a slurm.conf",
                               conf);
    if (conf && access(conf, R_OK))
        return pleat_error_sys(err, errno, "cannot read '%s'", conf);
    setenv("SLURM_TIME_FORMAT", "%s", 1); /* of commands: seconds since 1970 */
    return 0;
}

static int take_conf(const char *value, struct pleat_error *err)
{
    (void)err;
    setenv("SLURM_CONF", value, 1);
    return 0;
}

static int take_commands(const char *value, struct pleat_error *err)
{
    (void)value;
    (void)err;
    by_commands = true;
    return 0;
}

static int take_no_munge(const char *value, struct pleat_error *err)
{
    (void)value;
    (void)err;
    no_munge = true;
    return 0;
}

static const struct pleat_adapter_own_option options[] = {{"conf", true, take_conf},
                                                          {"commands", false, take_commands},
                                                          {"no-munge", false, take_no_munge},
                                                          {NULL, false, NULL}};
static const char *const forget[] = {"SLURM_",   "SBATCH_", "SALLOC_", "SRUN_", "SQUEUE_",
                                     "SCANCEL_", "SINFO_",  "SLURMD_", NULL};
static const char *const keep[] = {"SLURM_CONF", NULL};
/* In the order of enum pleat_slurm_text. */
static const char *const texts[] = {"partition",  "account",     "qos",
                                    "constraint", "reservation", NULL};
static const char *const never[] = {"PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit",
                                    "BadConstraints", NULL};

static const struct pleat_adapter_system slurm = {
    .program = "pleat-slurm",
    .role = "slurm",
    .title = "Slurm",
    .usage = usage,
    .options = options,
    .forget = forget,
    .keep = keep,
    .texts = texts,
    .never = never,
    .starter = "srun",
    .passes_variables = true,
    .not_in_a_node = "[],/", /* a list, or the name of a file with one */
    .step = pleat_slurm_step,
    .begin = begin,
    .ops = ops,
};

int main(int argc, char **argv)
{
    return pleat_adapter_main(argc, argv, &slurm);
}

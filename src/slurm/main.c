/* pleat-slurm is pleatd's way to one Slurm cluster: an ordinary user's program that speaks Pleat's
 * protocol on its standard input and output, and libslurm's with the cluster. It is a process of
 * its own since libslurm blocks, has one configuration for a process, and ends it when something is
 * wrong with that. It keeps nothing: what was allocated is found again by the jobs' names.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slurm/requests.h"

enum { EXIT_USAGE = 2, INTERVAL_MS = 1000, LIMIT_MS = 20000, MS_MAX = 3600000 };

extern char **environ;

static const char usage[] =
    "usage: pleat-slurm [--conf PATH] [--interval MS] [--limit MS] [--commands]\n"
    "\n"
    "Allocations of one Slurm cluster, for 'pleatd', which starts it and speaks with it on its\n"
    "standard input and output.\n"
    "\n"
    "  --conf PATH     the cluster's slurm.conf; else SLURM_CONF, else where Slurm has it\n"
    "  --interval MS   ask the controller at most so often what has become of jobs (1000)\n"
    "  --limit MS      answer a request that long after it at the latest (20000)\n"
    "  --commands      by Slurm's commands, also if libslurm is there\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 its input has ended; 1 it cannot go on, and says why; 2 usage.\n";

static int complain(const char *what, const char *word)
{
    fprintf(stderr, "pleat-slurm: %s '%s' (see pleat-slurm --help)\n", what, word);
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

/* If this runs inside a job of Slurm's, or its user has defaults for Slurm's commands: they are not
 * meant for these jobs. */
static void forget_settings(void)
{
    static const char *const prefixes[] = {"SLURM_",  "SBATCH_",  "SALLOC_", "SRUN_",
                                           "SQUEUE_", "SCANCEL_", "SINFO_",  "SLURMD_"};
    for (char **at = environ; *at;) {
        bool ours = false;
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
            ours = ours || !strncmp(*at, prefixes[i], strlen(prefixes[i]));
        if (!ours || !strncmp(*at, "SLURM_CONF=", strlen("SLURM_CONF="))) {
            at++;
            continue;
        }
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*at, "="), *at);
        if (unsetenv(name))
            at++;
    }
    setenv("SLURM_TIME_FORMAT", "%s", 1); /* of commands: seconds since 1970 */
}

/* libslurm's operations, if its module is there and fits the libslurm that is there. */
static const struct pleat_slurm_ops *load_library(void)
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
        const struct pleat_slurm_ops *ops =
            module ? dlsym(module, PLEAT_SLURM_MODULE_SYMBOL) : NULL;
        if (ops)
            return ops;
    }
    return NULL;
}

static int check_conf(struct pleat_error *err)
{
    const char *conf = getenv("SLURM_CONF");
    if (conf && conf[0] != '/')
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s' is no absolute path of a slurm.conf",
                               conf);
    if (conf && access(conf, R_OK))
        return pleat_error_sys(err, errno, "cannot read '%s'", conf);
    return 0;
}

static int serve(struct pleat_slurm_adapter *adapter, uint64_t interval_ms, bool by_commands)
{
    struct pleat_error err;
    uv_loop_t *loop = uv_default_loop();
    const struct pleat_slurm_ops *library = by_commands ? NULL : load_library();
    adapter->calls.loop = loop;
    adapter->calls.ops = library ? library : &pleat_slurm_commands;
    adapter->calls.lines = &adapter->lines;
    adapter->lines.message = pleat_slurm_request;
    adapter->lines.arg = adapter;
    if (check_conf(&err) || pleat_slurm_lines_open(&adapter->lines, loop, &err)) {
        fprintf(stderr, "pleat-slurm: %s\n", err.text);
        return 1;
    }
    pleat_slurm_watch_open(&adapter->watch, &adapter->calls, interval_ms);
    pleat_slurm_greet(&adapter->lines, json_pack("{ss}", "by", adapter->calls.ops->name));
    return uv_run(loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"conf", required_argument, NULL, 'c'},
        {"interval", required_argument, NULL, 'i'},
        {"limit", required_argument, NULL, 'l'},
        {"commands", no_argument, NULL, 'C'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    static struct pleat_slurm_adapter adapter = {.calls.limit_ms = LIMIT_MS};
    uint64_t interval_ms = INTERVAL_MS;
    bool by_commands = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            setenv("SLURM_CONF", optarg, 1);
            break;
        case 'i':
            if (read_ms(optarg, &interval_ms))
                return complain("no number of milliseconds:", optarg);
            break;
        case 'l':
            if (read_ms(optarg, &adapter.calls.limit_ms))
                return complain("no number of milliseconds:", optarg);
            break;
        case 'C':
            by_commands = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'V':
            puts("pleat-slurm " PLEAT_VERSION);
            return 0;
        default:
            return EXIT_USAGE; /* getopt has said why */
        }
    }
    if (optind < argc)
        return complain("unexpected word", argv[optind]);
    forget_settings();
    signal(SIGPIPE, SIG_IGN);
    setenv("UV_THREADPOOL_SIZE", "1", 1); /* operations are called one at a time */
    return serve(&adapter, interval_ms, by_commands);
}

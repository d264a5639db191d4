#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/bind.h"
#include "agent/cpus.h"
#include "agent/granted.h"
#include "agent/guard.h"
#include "agent/kind.h"
#include "agent/link.h"
#include "agent/log.h"
#include "agent/look.h"
#include "agent/loop.h"
#include "agent/memgroup.h"
#include "agent/reaper.h"
#include "agent/scratch.h"
#include "agent/shared_files.h"
#include "agent/stray.h"
#include "base/oom.h"
#include "base/paths.h"
#include "base/utf8.h"

static const char usage[] =
    "usage: pleat-agent (--daemon SOCKET | --connect HOST:PORT) --instance ID --site NAME\n"
    "                   --node N [--state DIR] [--key-fd N]\n"
    "                   [--cpus LIST] [--share K/N | --processors N] [--no-cpusets]\n"
    "                   [--no-memory-groups] [--guarded] [--hold S] [--announced]\n"
    "       pleat-agent --check\n"
    "\n"
    "Starts, watches and ends the processes of jobs on one node, for pleatd, "
    "which starts it.\n"
    "\n"
    "  --daemon SOCKET   the daemon's socket, unless pleatd.lock in DIR names "
    "another one; tried\n"
    "                    again every 200 ms while no daemon answers\n"
    "  --connect HOST:PORT  the daemon's port for agents of other machines\n"
    "  --key-fd N        read IDENTITY:KEY for --connect from descriptor N, also sealed by munge\n"
    "                    (default: from the variable " PLEAT_AGENT_KEY_ENV ", which is removed)\n"
    "  --instance ID     the daemon's instance; all processes of jobs are marked "
    "with it\n"
    "  --site NAME       the site that this agent serves\n"
    "  --node N          the number of the node within the site\n"
    "  --state DIR       keep a lock in DIR, so that the node has only one agent\n"
    "  --cpus LIST       the CPUs of the slots, such as 0-3,8; CPUs may repeat "
    "(default: all that\n"
    "                    the agent may use, neighbours next to each other)\n"
    "  --share K/N       the slots have only share K (from 0) of N of these CPUs: the machine is\n"
    "                    divided into N nodes\n"
    "  --processors N    a batch system has granted N processors on this host: they are the CPUs\n"
    "                    that the agent may use, or, where these are more, N of them, which it\n"
    "                    chooses when a job is first to be bound to them\n"
    "  --choose          it chooses them now: its slots are CPUs of a run that another agent on "
    "this\n"
    "                    host has\n"
    "  --no-cpusets      do not use cpusets to bind jobs\n"
    "  --no-memory-groups  enforce limits of memory by measuring, not by control "
    "groups\n"
    "  --guarded         run below a guard: a process that ends what the agent "
    "leaves if the agent\n"
    "                    is killed\n"
    "  --hold S          at the first SIGTERM or SIGUSR2 runs are not ended yet, also while no "
    "daemon\n"
    "                    is there: they may leave this node, and are ended after S seconds, or at\n"
    "                    the next SIGTERM\n"
    "  --call S          without a daemon that lets it in, an agent with nothing to do calls for "
    "S\n"
    "                    seconds, not for 10: the daemon may have no room for so many at one time\n"
    "  --announced       SIGUSR1 and SIGUSR2 go to all processes here before they are stopped or "
    "killed,\n"
    "                    so ranks of programs on several nodes are started with these ignored\n"
    "  --check           print, as JSON, which control groups could be made and what crashes have\n"
    "                    left on this machine, and exit; nothing is changed\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM ends its jobs (SIGKILL after 5 s, or at a second SIGTERM), then the "
    "agent.\n";

static int read_node(const char *text, uint32_t *node)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)*text) || value >= UINT32_MAX)
        return -1;
    *node = (uint32_t)value;
    return 0;
}

static int complain(const char *text)
{
    fprintf(stderr, "pleat-agent: %s (see pleat-agent --help)\n", text);
    return 2;
}

/* What is not an option of the agent itself. */
struct seen {
    bool node;
    int *key_fd;
};

/* Carries out an option that has the program print something and end. Returns 0: it is another
 * option; 1: done, with success; 2: it failed. */
static int answer(int option)
{
    switch (option) {
    case 'h':
        fputs(usage, stdout);
        return 1;
    case 'k':
        return pleat_agent_look() ? 2 : 1;
    case 'v':
        puts("pleat-agent " PLEAT_VERSION);
        return 1;
    default:
        return 0;
    }
}

/* Where the text of an option goes; NULL: the option has no text. */
static const char **text_of(int option, struct pleat_agent_options *options)
{
    return option == 'd'   ? &options->daemon
           : option == 'C' ? &options->connect
           : option == 'i' ? &options->instance
           : option == 's' ? &options->site
           : option == 't' ? &options->state
           : option == 'c' ? &options->cpus
                           : NULL;
}

/* Takes one option. Returns 0, or 2: it is wrong. */
static int take_option(int option, struct pleat_agent_options *options, struct seen *seen)
{
    uint32_t descriptor = 0;
    switch (option) {
    case 'K':
        if (read_node(optarg, &descriptor) || descriptor > INT32_MAX)
            return complain("--key-fd must be a number from 0");
        *seen->key_fd = (int)descriptor;
        return 0;
    case 'n':
        seen->node = true;
        return read_node(optarg, &options->node) ? complain("--node must be a number from 0") : 0;
    case 'o':
        options->no_cpusets = true;
        return 0;
    case 'm':
        options->no_memory_groups = true;
        return 0;
    case 'g':
        options->guarded = true;
        return 0;
    case 'a':
        options->announced = true;
        return 0;
    case 'e':
        options->choose = true;
        return 0;
    case 'H':
        return read_node(optarg, &options->hold_s)
                   ? complain("--hold must be a number of seconds from 0")
                   : 0;
    case 'A':
        return read_node(optarg, &options->call_s)
                   ? complain("--call must be a number of seconds from 0")
                   : 0;
    case 'p':
        return read_node(optarg, &options->processors) || options->processors < 1 ||
                       options->processors > PLEAT_CPU_LIST_MAX
                   ? complain("--processors must be a number from 1 to 65536")
                   : 0;
    case 'r':
        if (sscanf(optarg, "%" SCNu32 "/%" SCNu32 "%c", &options->share, &options->shares,
                   &(char){0}) != 2 ||
            options->share >= options->shares)
            return complain("--share must be K/N, with K from 0 and below N");
        return 0;
    default:
        return complain("unknown or incomplete option");
    }
}

/* Checks whether the options fit together. Returns 0, or 2: they do not. */
static int check_options(const struct pleat_agent_options *options, bool has_node)
{
    if (!options->daemon == !options->connect || !options->instance || !options->site || !has_node)
        return complain("--daemon or --connect, --instance, --site and --node must be given");
    if (!pleat_name_is(options->instance) || !pleat_name_is(options->site))
        return complain("--instance and --site may have letters, digits, '-', '_' and '.', at most "
                        "63");
    if (options->processors && (options->cpus || options->shares))
        return complain("--processors goes with neither --cpus nor --share");
    if (options->choose && !options->processors)
        return complain("--choose goes with --processors");
    return 0;
}

/* Returns 0: go on; 1: done, with success; 2: the options are wrong. */
static int read_options(int argc, char **argv, struct pleat_agent_options *options, int *key_fd)
{
    static const struct option known[] = {
        {"daemon", required_argument, NULL, 'd'},
        {"instance", required_argument, NULL, 'i'},
        {"site", required_argument, NULL, 's'},
        {"node", required_argument, NULL, 'n'},
        {"state", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {"check", no_argument, NULL, 'k'},
        {"cpus", required_argument, NULL, 'c'},
        {"no-cpusets", no_argument, NULL, 'o'},
        {"no-memory-groups", no_argument, NULL, 'm'},
        {"guarded", no_argument, NULL, 'g'},
        {"share", required_argument, NULL, 'r'},
        {"processors", required_argument, NULL, 'p'},
        {"version", no_argument, NULL, 'v'},
        {"connect", required_argument, NULL, 'C'},
        {"key-fd", required_argument, NULL, 'K'},
        {"hold", required_argument, NULL, 'H'},
        {"call", required_argument, NULL, 'A'},
        {"announced", no_argument, NULL, 'a'},
        {"choose", no_argument, NULL, 'e'},
        {NULL, 0, NULL, 0},
    };
    struct seen seen = {.key_fd = key_fd};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        const char **text = text_of(option, options);
        int rc = answer(option);
        if (rc)
            return rc;
        if (text)
            *text = optarg;
        else if ((rc = take_option(option, options, &seen)))
            return rc;
    }
    return optind < argc ? complain("it takes only options") : check_options(options, seen.node);
}

/* Makes sure that descriptors 0 to 2 are open, so that no other file gets their numbers. */
static int open_standard_files(struct pleat_error *err)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return pleat_error_sys(err, errno, "cannot open /dev/null");
    } while (fd <= STDERR_FILENO);
    close(fd);
    return 0;
}

/* Writes the agent's pid into the lock file, so that pleatd can end an agent that does not answer.
 * Where that fails (on a full disk) the user has to end it. */
static void write_owner(int fd)
{
    char text[64];
    struct pleat_process_entry self;
    if (pleat_process_tree_read_one("/proc", getpid(), &self))
        return;
    int length = snprintf(text, sizeof(text), "%d %" PRIu64 "\n", (int)getpid(), self.start);
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)length, 0) != length)
        pleat_log("cannot write its process id into the lock");
}

/* Takes the lock. Only this process and its guard have its descriptor (*lock, -1: no lock was asked
 * for), so the lock ends with them, however they end. */
static int take_lock(const struct pleat_agent_options *options, int *lock, char *path, size_t size,
                     struct pleat_error *err)
{
    *lock = -1;
    if (!options->state)
        return 0;
    int result = pleat_paths_make_private(options->state, err);
    if (result)
        return result;
    int used = snprintf(path, size, "%s/agent-%s-%" PRIu32 ".lock", options->state, options->site,
                        options->node);
    if (used < 0 || (size_t)used >= size)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of the lock in '%s' is too long",
                               options->state);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open the lock '%s'", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *lock = fd; /* stays open */
        return 0;
    }
    int code = errno;
    close(fd);
    if (code == EWOULDBLOCK)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "another agent serves node %" PRIu32 " of site %s (it holds '%s'): "
                               "use that, or end it first",
                               options->node, options->site, path);
    return pleat_error_sys(err, code, "cannot take the lock '%s'", path);
}

/* The CPUs that this process could tell its processes to use. An affinity does not confine them, a
 * cpuset does: of all CPUs the kernel leaves those that the cpuset has. */
static struct pleat_cpu_set reach_of(const struct pleat_cpu_set *allowed)
{
    struct pleat_cpu_set all = {0}, reach = *allowed;
    for (uint32_t cpu = 0; cpu < PLEAT_CPUS_MAX; cpu++)
        pleat_cpu_set_add(&all, cpu);
    if (pleat_cpu_set_tell(0, &all) == 0 && pleat_cpu_set_get(0, &reach))
        reach = *allowed;
    (void)!pleat_cpu_set_tell(0, allowed);
    return reach;
}

static int find_cpus(struct pleat_agent *agent, struct pleat_error *err)
{
    int code = pleat_cpu_set_get(0, &agent->allowed);
    if (code)
        return pleat_error_sys(err, code, "cannot read which CPUs may be used");
    const struct pleat_agent_options *options = &agent->options;
    struct pleat_cpu_set own = agent->allowed;
    agent->reach = agent->allowed;
    if (options->processors) {
        agent->reach = reach_of(&agent->allowed);
        code = pleat_granted_begin(&agent->granted, options->processors, agent->proc,
                                   &agent->allowed, &agent->cpus, err);
        return code || !options->choose ? code
                                        : pleat_granted_choose(&agent->granted, agent->proc,
                                                               &agent->allowed, &agent->cpus, err);
    }
    if (!options->cpus && options->shares)
        code = pleat_cpus_share(NULL, options->share, options->shares, &own, err);
    if (!options->cpus)
        return code ? code : pleat_cpus_in_order(NULL, &own, &agent->cpus, err);
    int result = pleat_cpus_named(options->cpus, &agent->allowed, &agent->cpus, err);
    if (!result && options->shares)
        pleat_cpus_keep_share(&agent->cpus, options->share, options->shares);
    return result ? pleat_error_prefix(err, result, "--cpus") : 0;
}

static int prepare(struct pleat_agent *agent, struct pleat_error *err)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct pleat_process_entry self;
    agent->proc = "/proc";
    agent->kinds = pleat_kinds;
    agent->pid = getpid();
    if (pleat_process_tree_read_one(agent->proc, agent->pid, &self))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "cannot read /proc/%d/stat: an agent needs /proc", (int)agent->pid);
    agent->start = self.start;
    if (getrandom(&agent->number, sizeof(agent->number), 0) != sizeof(agent->number))
        return pleat_error_sys(err, errno, "no random number");
    agent->number = (agent->number & INT64_MAX) | 1;
    if (sigaction(SIGHUP, &ignore, NULL) || sigaction(SIGPIPE, &ignore, NULL))
        return pleat_error_sys(err, errno, "cannot ignore signals");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        return pleat_error_sys(err, errno, "cannot become a subreaper");
    if (getrlimit(RLIMIT_NOFILE, &agent->files))
        return pleat_error_sys(err, errno, "cannot read the limit of open files");
    int result = find_cpus(agent, err);
    if (result)
        return result;
    struct rlimit most = {agent->files.rlim_max, agent->files.rlim_max};
    pleat_oom_last();
    /* with the old limit the agent serves fewer malleable runs */
    (void)setrlimit(RLIMIT_NOFILE, &most);
    return 0;
}

static void name_log(const struct pleat_agent_options *options)
{
    static char name[160];
    snprintf(name, sizeof(name), "pleat-agent[%d] %s:%" PRIu32, (int)getpid(), options->site,
             options->node);
    pleat_log_name(name);
}

/* Starts a guard. Without one the agent goes on all the same. */
static void get_guard(struct pleat_agent *agent, char *name, int lock, const char *lock_path)
{
    struct pleat_error err;
    if (agent->options.guarded &&
        pleat_guard_divide(agent, name, lock, lock_path, &agent->guard, &err)) {
        agent->guard = 0;
        pleat_log("%s: if this agent is killed, the next one looks for what it leaves", err.text);
    }
    name_log(&agent->options);
}

static void find_groups(struct pleat_agent *agent)
{
    if (!agent->options.no_cpusets)
        (void)pleat_cpuset_find("", &agent->cpusets);
    if (!agent->options.no_memory_groups)
        (void)pleat_memgroup_find("", &agent->memgroups);
    /* in version 2 a process is in one group for all controllers */
    if (agent->cpusets.second && agent->memgroups.second &&
        strcmp(agent->cpusets.path, agent->memgroups.path) != 0)
        agent->memgroups = (struct pleat_cgroup_place){0};
}

/* Ends and removes what earlier agents of this node left. */
static void sweep(const struct pleat_agent *agent)
{
    pleat_strays_end(agent);
    pleat_bind_remove_old(agent);
    (void)pleat_scratch_sweep(PLEAT_SHARED_MEMORY, agent->options.instance);
    (void)pleat_shared_files_sweep(PLEAT_SHARED_MEMORY, 0);
}

int main(int argc, char **argv)
{
    static struct pleat_agent agent;
    struct pleat_error err;
    char lock_path[1024];
    int lock = -1, key_fd = -1;
    int result = read_options(argc, argv, &agent.options, &key_fd);
    if (result)
        return result == 1 ? 0 : result;
    name_log(&agent.options);
    pleat_reaper_title_room(argc, argv);
    result = open_standard_files(&err);
    if (!result) /* before there is any other process that could have the key */
        result = pleat_link_take(&agent, key_fd, &err);
    if (!result)
        pleat_link_find_state(&agent);
    if (!result)
        result = take_lock(&agent.options, &lock, lock_path, sizeof(lock_path), &err);
    if (!result)
        find_groups(&agent);
    if (!result)
        get_guard(&agent, argv[0], lock, lock_path);
    if (lock >= 0)
        write_owner(lock);
    if (!result)
        result = prepare(&agent, &err);
    if (!result) {
        pleat_scratch_mark(agent.options.site, agent.options.node, agent.mark);
        result = pleat_agent_run(&agent, sweep, &err);
    }
    if (result) {
        pleat_log("%s", err.text);
        return 1;
    }
    return 0;
}

#include "agent/bind.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/cpus.h"
#include "agent/kind.h"
#include "agent/log.h"
#include "agent/owner.h"
#include "agent/run.h"

/* How often the processes of a run are looked at, unless a look finds no thread that had to be
 * told. Processes that fork faster than that inherit what their parents were told. */
#define ROUNDS_MAX 20

/* ---- which CPUs ---- */

/* Decides which CPUs the slots of this node are, where that is still open. */
static int choose_cpus(struct pleat_agent *agent, struct pleat_error *err)
{
    if (!agent->granted.open)
        return 0;
    int result =
        pleat_granted_choose(&agent->granted, agent->proc, &agent->allowed, &agent->cpus, err);
    struct pleat_string text = {0};
    pleat_cpu_list_text(&agent->cpus, &text);
    if (!result && !text.failed)
        pleat_log("nothing confines jobs to their %" PRIu32 " processors here: those that are "
                  "bound have the CPUs %.200s",
                  agent->granted.count, text.text);
    pleat_string_finish(&text);
    return result;
}

/* Adds a CPU that was given to another agent of this host: {"cpu"}. */
static int add_foreign(const struct pleat_run *run, const json_t *one, struct pleat_cpu_list *cpus,
                       struct pleat_error *err)
{
    int64_t cpu = 0;
    int result = pleat_get_int(one, "cpu", true, 0, PLEAT_CPUS_MAX - 1, &cpu, err);
    if (!result && !pleat_cpu_set_has(&run->agent->reach, (uint32_t)cpu))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "its processes cannot use CPU %" PRId64
                               " of another allocation on their host: a cpuset confines them",
                               cpu);
    if (!result && pleat_array_push(cpus, (uint32_t)cpu))
        result = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of CPUs");
    return result;
}

/* Replaces the list by the CPUs of `slots`, in the order of the slots. */
static int find_cpus(const struct pleat_run *run, const json_t *slots, struct pleat_cpu_list *cpus,
                     struct pleat_error *err)
{
    struct pleat_agent *agent = run->agent;
    size_t index;
    const json_t *range;
    cpus->count = 0;
    int chosen = json_array_size(slots) > 0 ? choose_cpus(agent, err) : 0;
    if (chosen)
        return chosen;
    json_array_foreach(slots, index, range)
    {
        int64_t first = 0, count = 0;
        bool foreign = json_object_get(range, "cpu") != NULL;
        int result = foreign
                         ? add_foreign(run, range, cpus, err)
                         : pleat_get_int(range, "first", true, 0, PLEAT_CPU_LIST_MAX, &first, err);
        if (!result && !foreign)
            result = pleat_get_int(range, "count", true, 1, PLEAT_CPU_LIST_MAX, &count, err);
        if (!result && !foreign)
            result = pleat_cpus_of_slots(&agent->cpus, (uint32_t)first, (uint32_t)count, cpus, err);
        if (result) {
            cpus->count = 0;
            return result;
        }
    }
    return 0;
}

static struct pleat_cpu_set set_of(const struct pleat_run *run)
{
    struct pleat_cpu_set set = {0};
    if (run->binding.cpus.count == 0)
        return run->agent->allowed;
    pleat_cpu_set_add_list(&set, &run->binding.cpus);
    return set;
}

/* The CPUs of the run, and those of its planned change where there is one. */
static struct pleat_cpu_set set_of_both(const struct pleat_run *run)
{
    struct pleat_cpu_set set = set_of(run);
    pleat_cpu_set_add_list(&set, &run->binding.wanted);
    return set;
}

int pleat_bind_begin(struct pleat_run *run, const json_t *slots, struct pleat_error *err)
{
    int result = find_cpus(run, slots, &run->binding.cpus, err);
    run->binding.wanted.count = 0;
    run->binding.told = run->binding.first = set_of(run);
    return result;
}

const struct pleat_cpu_list *pleat_bind_cpus(const struct pleat_run *run, bool coming)
{
    const struct pleat_binding *binding = &run->binding;
    return coming && binding->wanted.count ? &binding->wanted : &binding->cpus;
}

bool pleat_bind_mask(const struct pleat_run *run, bool coming, struct pleat_cpu_set *mask)
{
    *mask = run->binding.told;
    if (coming && run->binding.wanted.count) {
        memset(mask, 0, sizeof(*mask));
        pleat_cpu_set_add_list(mask, &run->binding.wanted);
    }
    return run->binding.cpus.count != 0;
}

void pleat_bind_hand_over(struct pleat_run *run)
{
    (void)pleat_bind_mask(run, true, &run->binding.first);
}

/* ---- its cpuset ---- */

/* A colon separates the parts: names of instances and sites have none. */
static void group_prefix(const struct pleat_agent *agent, char *name)
{
    snprintf(name, PLEAT_GROUP_NAME_SIZE, "pleat:%s:%s:%" PRIu32 ":", agent->options.instance,
             agent->options.site, agent->options.node);
}

void pleat_bind_group_name(const struct pleat_run *run, char *name)
{
    group_prefix(run->agent, name);
    size_t used = strlen(name);
    snprintf(name + used, PLEAT_GROUP_NAME_SIZE - used, "%" PRIu64, run->id);
}

void pleat_bind_group(struct pleat_run *run, int *procs)
{
    char name[PLEAT_GROUP_NAME_SIZE];
    struct pleat_error err;
    *procs = -1;
    if (!*run->agent->cpusets.path || run->binding.cpus.count == 0 || run->kind->pins)
        return;
    pleat_bind_group_name(run, name);
    if (pleat_cpuset_make(&run->agent->cpusets, name, &run->binding.told, procs, &err)) {
        pleat_log("%s: doing without", err.text);
        run->binding.has_cpuset = false;
        return;
    }
    run->binding.has_cpuset = true;
}

static void change_group(const struct pleat_run *run, const struct pleat_cpu_set *cpus)
{
    char name[PLEAT_GROUP_NAME_SIZE];
    struct pleat_error err;
    if (!run->binding.has_cpuset)
        return;
    pleat_bind_group_name(run, name);
    if (pleat_cpuset_change(&run->agent->cpusets, name, cpus, &err))
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

void pleat_bind_over(struct pleat_run *run)
{
    char name[PLEAT_GROUP_NAME_SIZE];
    struct pleat_error err;
    if (!run->binding.has_cpuset)
        return;
    pleat_bind_group_name(run, name);
    int result = pleat_cgroup_remove(&run->agent->cpusets, name, &err);
    run->binding.has_cpuset = result == PLEAT_E_BUSY; /* until the run is forgotten */
    if (result && result != PLEAT_E_BUSY)
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
}

void pleat_bind_remove_old(const struct pleat_agent *agent)
{
    char prefix[PLEAT_GROUP_NAME_SIZE];
    group_prefix(agent, prefix);
    const struct pleat_cgroup_place *places[] = {&agent->cpusets, &agent->memgroups};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        size_t left = pleat_cgroup_remove_all(places[i], prefix);
        if (left)
            pleat_log("%zu groups of an earlier agent stay in %s: they are in use", left,
                      places[i]->path);
    }
}

void pleat_bind_finish(struct pleat_run *run)
{
    pleat_bind_over(run);
    pleat_array_finish(&run->binding.cpus);
    pleat_array_finish(&run->binding.wanted);
}

/* ---- telling threads ---- */

/* One walk over the threads of a run. */
struct walk {
    const struct pleat_agent *agent;
    struct pleat_cpu_set from, to;
    /* CPUs of the main process at its start; NULL: threads that have these do not follow */
    const struct pleat_cpu_set *first;
    size_t told;
    size_t refused;
    int why; /* errno of the last refusal */
};

/* Whether a thread has exactly the CPUs that the run had, and so gets those that the run has.
 * mpirun binds processes that are spawned later to the CPUs that it had at its own start, even
 * where it is told to bind none. */
static bool follows(const struct walk *walk, const struct pleat_cpu_set *now)
{
    return pleat_cpu_set_equal(now, &walk->from) ||
           (walk->first && pleat_cpu_set_equal(now, walk->first));
}

static void tell_thread(struct walk *walk, pid_t tid)
{
    struct pleat_cpu_set now, next = walk->to;
    if (pleat_cpu_set_get(tid, &now))
        return; /* the thread is gone */
    if (!follows(walk, &now)) {
        struct pleat_cpu_set own = pleat_cpu_set_both(&now, &walk->to);
        if (pleat_cpu_set_count(&own))
            next = own;
    }
    if (pleat_cpu_set_equal(&now, &next))
        return;
    int code = pleat_cpu_set_tell(tid, &next);
    if (code == 0) {
        walk->told++;
    } else if (code != ESRCH) {
        walk->refused++;
        walk->why = code;
    }
}

/* Opens the directory of threads of exactly this process; -1: the process is gone. What is read
 * there later is this process's, or nothing. */
static int open_threads(const struct pleat_agent *agent, pid_t pid, uint64_t start)
{
    char path[256];
    struct pleat_process_entry now;
    int used = snprintf(path, sizeof(path), "%s/%d/task", agent->proc, (int)pid);
    if (used < 0 || (size_t)used >= sizeof(path))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (pleat_process_tree_read_one(agent->proc, pid, &now) == 0 && now.start == start)
        return fd;
    close(fd);
    return -1;
}

static void tell_process(struct walk *walk, const struct pleat_process_entry *process)
{
    int fd = open_threads(walk->agent, process->pid, process->start);
    DIR *threads = fd < 0 ? NULL : fdopendir(fd);
    if (!threads) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(threads)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            tell_thread(walk, (pid_t)atoi(entry->d_name));
    closedir(threads);
}

/* Tells all threads of the run once. False: the processes cannot be read. */
static bool tell_once(struct pleat_run *run, struct walk *walk)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_error err;
    walk->told = walk->refused = 0;
    if (pleat_process_tree_read(agent->proc, &agent->tree, &err)) {
        pleat_log("run %" PRIu64 " (job %s): its CPUs cannot be changed: %s", run->id, run->job,
                  err.text);
        return false;
    }
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_process_entry *process = &agent->tree.items[i];
        if (!pleat_process_tree_is_dead(process) && pleat_run_of_process(agent, process) == run->id)
            tell_process(walk, process);
    }
    return true;
}

static struct pleat_cpu_set either(const struct pleat_cpu_set *a, const struct pleat_cpu_set *b)
{
    struct pleat_cpu_set set;
    CPU_OR_S(sizeof(set.sets), set.sets, a->sets, b->sets);
    return set;
}

/* The run's processes have these CPUs from now on. Returns how many threads could not be told. */
static size_t tell(struct pleat_run *run, const struct pleat_cpu_set *to)
{
    struct walk walk = {.agent = run->agent,
                        .from = run->binding.told,
                        .to = *to,
                        .first = run->kind->spawns ? &run->binding.first : NULL};
    if (pleat_cpu_set_equal(&walk.from, to) && !run->binding.unsettled)
        return 0;
    struct pleat_cpu_set both = either(&walk.from, to);
    change_group(run, &both); /* a thread cannot get CPUs that its cpuset does not have */
    run->binding.told = *to;
    run->binding.unsettled = false;
    for (int round = 0; pleat_run_is_live(run) && round < ROUNDS_MAX; round++)
        if (!tell_once(run, &walk) || walk.told == 0)
            break;
    change_group(run, to);
    if (walk.refused)
        pleat_log("run %" PRIu64 " (job %s): %zu of its threads keep their CPUs: %s", run->id,
                  run->job, walk.refused, strerror(walk.why));
    return walk.refused;
}

/* ---- a change ---- */

int pleat_bind_plan(struct pleat_run *run, const json_t *slots, struct pleat_error *err)
{
    return find_cpus(run, slots, &run->binding.wanted, err);
}

void pleat_bind_open(struct pleat_run *run)
{
    if (run->binding.wanted.count == 0)
        return;
    struct pleat_cpu_set both = set_of_both(run);
    (void)tell(run, &both);
}

void pleat_bind_accept(struct pleat_run *run, size_t count)
{
    struct pleat_binding *binding = &run->binding;
    if (binding->wanted.count == 0)
        return;
    struct pleat_cpu_list old = binding->cpus;
    binding->cpus = binding->wanted;
    binding->wanted = old;
    binding->wanted.count = 0;
    binding->unsettled = true;
    if (count > 0 && count < binding->cpus.count)
        binding->cpus.count = count;
}

void pleat_bind_cancel(struct pleat_run *run)
{
    run->binding.wanted.count = 0;
    (void)pleat_bind_close(run);
}

void pleat_bind_renew(struct pleat_run *run)
{
    pleat_bind_accept(run, SIZE_MAX);
    run->binding.told = run->binding.first = set_of(run);
    run->binding.unsettled = false;
}

/* Binds the process of a rank to the rank's own CPUs, where it has all of the run's CPUs, or none
 * of its own any more. */
static void tell_task(struct pleat_run *run, struct walk *walk, uint32_t rank, pid_t pid)
{
    struct pleat_process_entry *process = pleat_process_tree_find(&run->agent->tree, pid);
    memset(&walk->to, 0, sizeof(walk->to));
    pleat_cpu_set_add_task(&walk->to, &run->binding.cpus, rank, run->cpus_per_task);
    if (process && !pleat_process_tree_is_dead(process) &&
        pleat_run_of_process(run->agent, process) == run->id)
        tell_process(walk, process);
}

void pleat_bind_tasks(struct pleat_run *run)
{
    struct pleat_agent *agent = run->agent;
    struct walk walk = {.agent = agent, .from = run->binding.told, .first = &run->binding.first};
    uint32_t count = run->kind->ranks(run, NULL, 0);
    int32_t *pids = run->cpus_per_task && run->binding.cpus.count && count > 0
                        ? calloc(count, sizeof(*pids))
                        : NULL;
    if (!pids || pleat_process_tree_read(agent->proc, &agent->tree, NULL)) {
        free(pids);
        return;
    }
    count = run->kind->ranks(run, pids, count);
    for (uint32_t rank = 0; rank < count; rank++)
        tell_task(run, &walk, rank, pids[rank]);
    free(pids);
    if (walk.refused)
        pleat_log("run %" PRIu64 " (job %s): %zu of its threads keep their CPUs: %s", run->id,
                  run->job, walk.refused, strerror(walk.why));
}

size_t pleat_bind_close(struct pleat_run *run)
{
    struct pleat_cpu_set both = set_of_both(run);
    size_t refused = tell(run, &both);
    pleat_bind_tasks(run);
    return refused;
}

/* ---- single threads ---- */

int pleat_bind_thread(const struct pleat_agent *agent, pid_t pid, uint64_t start, pid_t tid,
                      uint32_t cpu, struct pleat_error *err)
{
    char name[16];
    struct pleat_cpu_set set = {0};
    int fd = open_threads(agent, pid, start);
    snprintf(name, sizeof(name), "%d", (int)tid);
    bool there = fd >= 0 && tid > 0 && faccessat(fd, name, F_OK, 0) == 0;
    if (fd >= 0)
        close(fd);
    pleat_cpu_set_add(&set, cpu);
    int code = there ? pleat_cpu_set_tell(tid, &set) : ESRCH;
    if (code == ESRCH)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "thread %d of process %d is gone", (int)tid,
                               (int)pid);
    return code ? pleat_error_sys(err, code, "cannot bind thread %d to CPU %u", (int)tid, cpu) : 0;
}

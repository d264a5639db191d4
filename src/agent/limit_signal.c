/* limit_signal.c - the signal before a run's time limit. */
#include "agent/limit_signal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/run.h"

/* Whether a process is a launcher, by the name of its program. Launchers get no signal. Open MPI's
 * mpirun hands SIGUSR1 and SIGUSR2 on, so that its processes would get them twice; other launchers
 * end at a signal that they do not know. */
static bool is_launcher(const struct pleat_agent *agent, pid_t pid)
{
    static const char *const beginnings[] = {"mpirun", "mpiexec", "orte",      "orted", "prte",
                                             "prted",  "hydra_",  "pleat-pmi", NULL};
    char name[PLEAT_TREE_NAME_SIZE];
    pleat_process_tree_name(agent->proc, pid, name);
    for (size_t i = 0; beginnings[i]; i++)
        if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
            return true;
    return !strcmp(name, "pleat");
}

static bool gets_it(const struct pleat_run *run, const struct pleat_process_entry *process,
                    enum pleat_signal_to to)
{
    bool is_main = process->pid == run->now.pid;
    if (to == PLEAT_SIGNAL_MAIN)
        return is_main;
    return !(to == PLEAT_SIGNAL_OTHERS && is_main) && !is_launcher(run->agent, process->pid);
}

/* Whether a process is one of the run, also where it has a run of its own in this agent. */
static bool is_of(const struct pleat_run *run, struct pleat_process_entry *process)
{
    uint64_t owner = pleat_run_of_process(run->agent, process);
    const struct pleat_run *of = owner ? pleat_run_find(run->agent, owner) : NULL;
    return of && (of == run || of->leader == run);
}

static int send_all(struct pleat_run *run, int number, enum pleat_signal_to to)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_error err;
    int sent = 0;
    if (pleat_process_tree_read(agent->proc, &agent->tree, &err)) {
        pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, err.text);
        return 0;
    }
    for (size_t i = 0; i < agent->tree.count; i++) {
        struct pleat_process_entry *process = &agent->tree.items[i];
        if (!pleat_process_tree_is_dead(process) && is_of(run, process) &&
            gets_it(run, process, to))
            sent += pleat_process_tree_signal(agent->proc, process->pid, process->start, number,
                                              NULL) == 0;
    }
    return sent;
}

void pleat_run_limit_signal(struct pleat_run *run, int number, enum pleat_signal_to to)
{
    if (!run->limit_signalled && pleat_run_is_live(run)) {
        int sent = send_all(run, number, to);
        run->signalled |= sent > 0;
        pleat_log("run %" PRIu64 " (job %s): its time limit is near: signal %d to %d process%s",
                  run->id, run->job, number, sent, sent == 1 ? "" : "es");
    }
    run->limit_signalled = true;
    pleat_agent_notify(run->agent, "signalled", json_pack("{s:I}", "run", (json_int_t)run->id));
}

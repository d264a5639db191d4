#include "agent/reap.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/execute.h"
#include "agent/kind.h"
#include "agent/log.h"
#include "agent/owner.h"
#include "agent/reaper.h"
#include "agent/succession.h"
#include "base/clock.h"

#define LEFT_GRACE_US (2 * PLEAT_US_PER_S)

static int64_t timeval_us(const struct timeval *value)
{
    return (int64_t)value->tv_sec * PLEAT_US_PER_S + value->tv_usec;
}

/* Processes that outlive the main process may end by themselves for linger_us, then they are ended
 * (ending.c). */
static void end_rest(struct pleat_run *run)
{
    if (run->killing)
        return;
    run->ending_us = pleat_clock_monotonic_us();
    run->term_at_us = run->ending_us + run->linger_us;
    run->kill_at_us = run->term_at_us + LEFT_GRACE_US;
}

/* How a main process ended. */
struct end {
    int status; /* as from wait(2) */
    bool unexecuted;
    struct rusage usage;
};

static void count_usage(struct pleat_run *run, const struct rusage *usage)
{
    run->cpu_us += timeval_us(&usage->ru_utime) + timeval_us(&usage->ru_stime);
    if (usage->ru_maxrss > run->max_rss_kb)
        run->max_rss_kb = usage->ru_maxrss;
    pleat_memory_largest(run, usage->ru_maxrss);
}

/* The main process of the second generation has ended, which is not the run's end. */
static void other_exited(struct pleat_run *run, const struct end *end)
{
    struct pleat_succession *succession = run->succession;
    if (succession->other.starting)
        pleat_run_execute_ended(run, &succession->other, end->unexecuted,
                                WIFSIGNALED(end->status) ? WTERMSIG(end->status) : 0);
    if (succession->ended)
        return;
    succession->other.pid = 0;
    succession->ended = true;
    succession->status = end->status;
    count_usage(run, &end->usage);
}

static void main_exited(struct pleat_run *run, const struct pleat_generation *generation,
                        const struct end *end)
{
    int status = end->status;
    if (generation != &run->now) {
        other_exited(run, end);
        return;
    }
    if (run->state == PLEAT_RUN_STARTING)
        pleat_run_execute_ended(run, &run->now, end->unexecuted,
                                WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    if (run->state != PLEAT_RUN_RUNNING)
        return; /* the program was not executed */
    run->now.pid = 0;
    run->state = PLEAT_RUN_ENDING;
    run->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    run->was_told = run->killing;
    count_usage(run, &end->usage);
    end_rest(run);
}

/* Where a run has two generations, what their processes have said before one ends may change which
 * of them is the run's. */
static void look_first(struct pleat_run *run)
{
    if (run->succession)
        run->kind->look(run);
}

/* The generation that has this reaper, and its run. NULL: none has. */
static struct pleat_generation *find_by_reaper(const struct pleat_agent *agent, pid_t reaper,
                                               struct pleat_run **run)
{
    for (size_t i = 0; i < agent->runs.count; i++) {
        *run = agent->runs.items[i];
        if (!pleat_run_generation(*run, reaper))
            continue;
        look_first(*run);
        return pleat_run_generation(*run, reaper);
    }
    return NULL;
}

static void read_records(struct pleat_agent *agent)
{
    struct pleat_reaper_record record;
    while (read(agent->records[0], &record, sizeof(record)) == sizeof(record)) {
        struct pleat_run *run = NULL;
        struct pleat_generation *generation = find_by_reaper(agent, record.reaper, &run);
        if (!generation)
            continue;
        generation->empty = record.alone;
        if (record.alone) /* the reaper writes nothing after this */
            generation->reaper = 0;
        if (generation == &run->now)
            run->reaper_told = record.told;
        const struct end end = {record.status, record.unexecuted, record.usage};
        main_exited(run, generation, &end);
    }
}

static bool is_child(pid_t pid)
{
    siginfo_t info;
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* A reaper has ended or was killed. Where it ended by itself nothing is left of its generation.
 * Where it was killed its processes are children of the agent now, also a main process that has
 * ended and whose end it has not told. Where there is none, it was killed before it had forked one.
 */
static void reaper_ended(struct pleat_run *run, struct pleat_generation *generation, int status)
{
    static const struct end unknown = {.status = SIGKILL, .unexecuted = true};
    generation->reaper = 0;
    generation->empty = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (generation->empty)
        return;
    if (pleat_run_is_live(run))
        pleat_log("run %" PRIu64 " (job %s): its reaper was killed: what takes another session, "
                  "and clears its environment, cannot be told from others any more",
                  run->id, run->job);
    if (generation->starting && pleat_run_execute_goes_on(run, generation))
        return;
    bool is_over = generation == &run->now && run->state != PLEAT_RUN_STARTING &&
                   run->state != PLEAT_RUN_RUNNING;
    if (!is_over && !(generation->pid && is_child(generation->pid)))
        main_exited(run, generation, &unknown);
}

/* The main process of a generation whose reaper was killed has ended, or another process of it. */
static void orphan_ended(struct pleat_agent *agent, pid_t pid, const struct end *end)
{
    for (size_t i = 0; i < agent->runs.count; i++) {
        struct pleat_run *run = agent->runs.items[i];
        look_first(run);
        /* the process may have told its number meanwhile */
        if (run->state == PLEAT_RUN_STARTING)
            (void)pleat_run_execute_goes_on(run, &run->now);
        struct pleat_generation *other = run->succession ? &run->succession->other : NULL;
        if (other && other->starting)
            (void)pleat_run_execute_goes_on(run, other);
        if (run->now.pid == pid || (other && other->pid == pid)) {
            main_exited(run, run->now.pid == pid ? &run->now : other, end);
            return;
        }
    }
}

void pleat_runs_reap(struct pleat_agent *agent)
{
    read_records(agent);
    for (;;) {
        siginfo_t info = {0};
        struct pleat_process_entry process;
        struct end end = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            return;
        end.unexecuted =
            !pleat_process_tree_read_one(agent->proc, info.si_pid, &process) && process.unexecuted;
        if (wait4(info.si_pid, &end.status, WNOHANG, &end.usage) != info.si_pid)
            return;
        /* the process may have been a reaper that wrote something before it ended */
        read_records(agent);
        struct pleat_run *run = NULL;
        struct pleat_generation *generation = find_by_reaper(agent, info.si_pid, &run);
        if (generation)
            reaper_ended(run, generation, end.status);
        else
            orphan_ended(agent, info.si_pid, &end);
    }
}

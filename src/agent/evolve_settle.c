/* evolve_settle.c - what is told and kept of processes of an evolving run that have ended. */
#include "agent/evolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/life.h"
#include "agent/log.h"

#define FAILURES_MAX 3 /* starts of a process that was asked for, until it is given up */

/* How its child has ended, if it had one. */
static struct pleat_proc_end end_of(const struct pleat_proc *proc)
{
    const struct pleat_run *child = proc->child;
    if (!child && !proc->far.part)
        return (struct pleat_proc_end){.failed = true};
    if (!child) {
        struct pleat_proc_end end = proc->far.end;
        end.failed = end.failed || proc->far.unreachable;
        end.text = proc->far.unreachable ? proc->far.unreachable : end.text;
        return end;
    }
    bool failed = child->state == PLEAT_RUN_FAILED;
    return (struct pleat_proc_end){.failed = failed,
                                   .user_fault = failed && child->user_fault,
                                   .code = child->code,
                                   .signal = child->signal,
                                   .cpu_us = child->cpu_us,
                                   .max_rss_kb = child->max_rss_kb,
                                   .text = child->failure.text[0] ? child->failure.text : NULL};
}

/* What the run has used counts all of its processes. */
static void count_use(struct pleat_run *run, const struct pleat_proc_end *end)
{
    run->cpu_us += end->cpu_us;
    if (end->max_rss_kb > run->max_rss_kb)
        run->max_rss_kb = end->max_rss_kb;
    pleat_memory_largest(run, end->max_rss_kb);
}

static const char *reason_of(const struct pleat_proc *proc, const struct pleat_proc_end *end)
{
    const bool well = proc->bye || (!end->lost && !end->code && !end->signal);
    /* one that leaves since its site takes its processor back may be too late */
    if (proc->stopping && (!proc->leaving || well))
        return "stopped";
    if (end->lost)
        return "lost";
    if (end->failed || (!proc->taken && !proc->registered))
        return "not started";
    return well ? "ended" : "died";
}

/* A process that was asked for could not be started: it waits again, unless that is its user's
 * fault, or it has failed too often; where any site will do, and that was another one than the
 * run's, in any case. True: it waits. */
static bool waits_again(struct pleat_proc *proc, const struct pleat_proc_end *end)
{
    if (proc->of_start || proc->stopping || proc->evolve->ending)
        return false;
    bool others_may = proc->any_site && proc->is_far && proc->far.site;
    if (!proc->unwanted && !others_may &&
        (end->user_fault || proc->far.unreachable || ++proc->failures >= FAILURES_MAX))
        return false;
    proc->claim = proc->order = 0;
    proc->ended = proc->registered = proc->prepared = proc->unwanted = proc->is_far = false;
    json_decref(proc->slots);
    proc->slots = NULL;
    return true;
}

static void warn_of_failure(const struct pleat_proc *proc, const struct pleat_proc_end *end)
{
    char text[400];
    if (!end->text)
        return;
    snprintf(text, sizeof(text), "process %" PRIu32 " was not started: %.300s", proc->id,
             end->text);
    pleat_evolve_warn(proc->evolve->run, text);
}

/* Nobody has ended it: its node could not start it, or is gone. */
static bool failed_by_itself(const struct pleat_proc *proc, const struct pleat_proc_end *end)
{
    return pleat_proc_has_child(proc) && (end->failed || end->lost);
}

/* The daemon's word for what became of the process on a claim. */
static const char *gone_reason(const struct pleat_proc *proc, const struct pleat_proc_end *end,
                               const char *reason)
{
    bool told = proc->unwanted || (proc->evolve->ending && !failed_by_itself(proc, end));
    if (!proc->taken && told)
        return "unused";
    if (!proc->taken && !proc->registered) /* which the node has nothing to do with: */
        return end->user_fault ? "died" : "not started";
    if (!proc->taken) /* it was nobody's yet, so that nobody has given it back, however it ended */
        return "died";
    return !strcmp(reason, "stopped") || !strcmp(reason, "ended") ? "stopped" : "died";
}

/* A process of the start has gone. The last processor of the start is given up, so the process that
 * is there takes the place that is free. */
static void close_ranks(struct pleat_evolve *evolve, const struct pleat_proc *gone)
{
    struct pleat_error err = {0};
    struct pleat_proc *last = NULL;
    evolve->start_left--;
    for (size_t i = 0; i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->of_start && evolve->procs.items[i]->place == evolve->start_left)
            last = evolve->procs.items[i];
    if (!last || last == gone)
        return;
    last->place = gone->place;
    json_decref(last->slots);
    last->slots = json_incref(gone->slots);
    if (!last->slots || !last->child)
        return; /* not bound, or not started: it is bound when it is */
    if (pleat_bind_plan(last->child, last->slots, &err)) {
        pleat_log("run %" PRIu64 " (job %s): process %" PRIu32 " stays where it was: %s",
                  evolve->run->id, evolve->run->job, last->id, err.text);
        return;
    }
    pleat_bind_open(last->child);
    pleat_bind_accept(last->child, SIZE_MAX);
    (void)pleat_bind_close(last->child);
}

static void drop_child(struct pleat_proc *proc)
{
    struct pleat_run *child = proc->child;
    proc->child = NULL;
    if (child)
        pleat_run_destroy(child);
    pleat_far_drop(proc);
}

/* The application has stopped it, or withdrawn its request, before it was there. That is no fault
 * of its node, and the daemon's order is for any process on that processor: for the next one that
 * can be there. */
static bool passes_on(const struct pleat_proc *proc, const struct pleat_proc_end *end)
{
    return proc->claim && !proc->of_start && proc->stopping && !proc->taken && !proc->unwanted &&
           !proc->evolve->ending && !failed_by_itself(proc, end);
}

/* Tells the daemon what has become of the processor of a process, of which nothing is left. */
static void give_up_processor(struct pleat_proc *proc, const struct pleat_proc_end *end,
                              const char *reason)
{
    struct pleat_evolve *evolve = proc->evolve;
    uint64_t claim = proc->claim;
    if (proc->of_start) {
        close_ranks(evolve, proc);
        pleat_evolve_tell_start_left(evolve);
    } else if (passes_on(proc, end)) {
        proc->claim = 0; /* two of one claim there are not */
        int result = pleat_proc_place(evolve, claim, proc->order, proc);
        if (result)
            pleat_evolve_tell_gone(evolve, claim, proc->order,
                                   result == PLEAT_E_UNSUPPORTED ? "unfit" : "not started");
    } else if (claim) {
        pleat_evolve_tell_gone(evolve, claim, proc->order, gone_reason(proc, end, reason));
    }
}

/* The daemon takes it off by itself, but for those of the start; it is told what is left in any
 * case. One that has said goodbye was leaving, and was counted, also if its node was lost then. */
static void take_off(const struct pleat_proc *proc, const char *reason)
{
    if (proc->leaving)
        return; /* it is none of those that the application has announced */
    bool given_back = proc->bye || !strcmp(reason, "stopped") || !strcmp(reason, "ended");
    if (proc->taken && given_back && proc->evolve->returning > 0)
        proc->evolve->returning--;
}

void pleat_proc_settle(struct pleat_proc *proc)
{
    struct pleat_evolve *evolve = proc->evolve;
    const struct pleat_proc_end end = end_of(proc);
    count_use(evolve->run, &end);
    if (proc->renews && !proc->stopping && !evolve->ending && !end.lost) {
        drop_child(proc);
        proc->ended = proc->registered = proc->renews = false;
        free(proc->address);
        free(proc->local);
        proc->address = proc->local = NULL;
        pleat_connection_close(proc->connection);
        proc->connection = NULL;
        return; /* it is started, with its own program, in this turn */
    }
    const char *reason = reason_of(proc, &end);
    warn_of_failure(proc, &end);
    give_up_processor(proc, &end, reason);
    take_off(proc, reason);
    bool waits = proc->handed && !proc->taken && waits_again(proc, &end);
    if (!waits && proc->handed)
        pleat_evolve_spread(proc, reason, end.lost ? 0 : end.code, end.signal);
    drop_child(proc);
    if (!waits)
        pleat_proc_remove(proc);
}

/* evolve_life.c - how processes of an evolving run are started and ended.
 *
 * Children are started, and settled when they have ended, only between two turns of the loop
 * (pleat_evolve_pump), since both change the agent's list of runs. */
#include "agent/evolve.h"

#include <inttypes.h>
#include <string.h>

#include "agent/ending.h"
#include "agent/life.h"
#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "base/clock.h"

/* A prepared process that has not said hello by then is ended: its program does not ask for
 * processes, or does not get as far. */
#define REGISTER_US (60 * PLEAT_US_PER_S)
#define LEAVE_US (2 * PLEAT_US_PER_S) /* from the word to leave to SIGTERM */
#define GRACE_US (5 * PLEAT_US_PER_S) /* from SIGTERM to SIGKILL */
#define UNUSED_LEAVE_US (PLEAT_US_PER_S / 4)
#define UNUSED_GRACE_US (2 * PLEAT_US_PER_S)
/* A process that waits for its hand-over, or is just starting, has nothing to lose. */
#define RENEW_GRACE_US (PLEAT_US_PER_S / 2)
#define LINGER_US (PLEAT_US_PER_S / 4)
/* So many children are started in a turn, so that those that ask are answered meanwhile; */
#define STARTS_MAX 4
/* and no more than so many are on their way to hello at a time, as they share the node's processors
 * until then, and wait for the agent only so long. One that takes longer is not counted. */
#define STARTING_MAX 16
#define STARTING_US (2 * PLEAT_US_PER_S)

static uint64_t next_run(const struct pleat_agent *agent)
{
    uint64_t last = agent->runs.count ? agent->runs.items[agent->runs.count - 1]->id : 0;
    return last >= PLEAT_EVOLVE_RUNS ? last + 1 : PLEAT_EVOLVE_RUNS;
}

/* ---- starting ---- */

static void start_here(struct pleat_proc *proc)
{
    struct pleat_run *run = proc->evolve->run;
    struct pleat_error err = {0};
    json_t *env = pleat_proc_variables(proc), *argv = pleat_proc_command(proc);
    const struct pleat_run_request request = {
        .id = next_run(run->agent),
        .job = run->job,
        .leader = run,
        .process_id = proc->id,
        .argv = argv,
        .env = env,
        .cwd = proc->directory ? proc->directory : run->cwd,
        .stdout_path = run->terminal ? run->terminal : run->stdout_path,
        .stderr_path = run->terminal ? run->terminal : run->stderr_path,
        .umask = run->umask,
        .limits = run->limits,
        .nice = run->nice,
        .linger_us = LINGER_US,
        .slots = proc->slots};
    int result = env && argv
                     ? pleat_run_start(run->agent, &request, &err)
                     : pleat_error_set(&err, PLEAT_E_NOMEM, "no memory for its environment");
    json_decref(env);
    json_decref(argv);
    if (result)
        pleat_log("run %" PRIu64 " (job %s): process %" PRIu32 " cannot be started: %s", run->id,
                  run->job, proc->id, err.text);
    else
        proc->child = pleat_run_find(run->agent, request.id);
    /* one that could not be started at all is settled as others that have ended */
    proc->ended = !proc->child || !pleat_run_is_live(proc->child);
}

static void start_child(struct pleat_proc *proc)
{
    proc->ended = proc->registered = proc->renews = false;
    proc->started_us = pleat_clock_monotonic_us();
    proc->due_us = proc->of_start || proc->argv ? 0 : proc->started_us + REGISTER_US;
    if (proc->is_far)
        pleat_far_start(proc);
    else
        start_here(proc);
}

void pleat_proc_started(struct pleat_proc *proc)
{
    if (!proc->argv || !proc->handed || proc->registered || pleat_proc_is_late(proc))
        return;
    proc->told_running = true; /* any program will do */
    if (proc->claim && !proc->taken) {
        proc->prepared = proc->taken = true;
        pleat_proc_tell(proc);
    }
    pleat_evolve_spread(proc, NULL, 0, 0);
}

void pleat_evolve_child_started(struct pleat_run *child, const struct pleat_error *failure)
{
    struct pleat_proc *proc = pleat_proc_of_child(child);
    if (!proc)
        return;
    proc->ended = failure != NULL;
    if (!failure)
        pleat_proc_started(proc);
}

void pleat_evolve_child_over(struct pleat_run *child)
{
    struct pleat_proc *proc = pleat_proc_of_child(child);
    if (proc)
        proc->ended = true;
}

/* The processes of its child are told to end when the turn is over. */
static void end_child(struct pleat_proc *proc, int64_t grace_us)
{
    pleat_far_end(proc); /* the daemon gives it a grace of its own */
    if (!proc->child)
        return;
    pleat_run_end(proc->child, grace_us);
    proc->evolve->sweeps = true;
}

/* ---- handing over ---- */

/* Its program is another one than that which is prepared: the processor is the application's, and
 * the program is started there when the prepared process has gone. */
static void renew(struct pleat_proc *proc)
{
    proc->renews = true;
    proc->due_us = 0;
    pleat_proc_say(proc, json_pack("{s:s}", "do", "leave"));
    end_child(proc, RENEW_GRACE_US);
}

void pleat_proc_hand_over(struct pleat_proc *proc)
{
    proc->handed = true;
    if (proc->argv && pleat_proc_has_child(proc)) {
        renew(proc);
    } else if (proc->registered) {
        proc->told_running = true;
        pleat_proc_go(proc);
    }
    if (proc->prepared) { /* else it is taken when it is there */
        proc->taken = true;
        pleat_proc_tell(proc);
    }
    pleat_evolve_spread(proc, NULL, 0, 0);
}

/* The site of a process's node, as requests name it; NULL: the run's own. */
static const char *place_of(const struct pleat_proc *proc)
{
    return proc->is_far ? proc->far.site : NULL;
}

/* How many requests that need this architecture, at this site, have no processor in sight: they
 * wait, and no prepared process is ending on such a node, whose processor passes on to one of them.
 */
static int64_t missing_on(const struct pleat_evolve *evolve, const char *machine, const char *site)
{
    int64_t missing = 0;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        const struct pleat_proc *proc = evolve->procs.items[i];
        const char *where = !proc->handed && proc->stopping ? pleat_proc_machine(proc) : NULL;
        missing += pleat_proc_waits(proc) && proc->architecture && proc->site == site &&
                   !strcmp(proc->architecture, machine);
        missing -= where && !proc->unwanted && place_of(proc) == site && !strcmp(where, machine);
    }
    return missing;
}

static bool needs_architecture(const struct pleat_evolve *evolve)
{
    for (size_t i = 0; i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->architecture && pleat_proc_waits(evolve->procs.items[i]))
            return true;
    return false;
}

/* A request that waits has a number, and a prepared process another one, so it cannot become that
 * process: it ends, and its processor passes on to the request. The others stay prepared. */
void pleat_evolve_match(struct pleat_evolve *evolve)
{
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        if (proc->handed || !proc->prepared || proc->stopping || proc->unwanted || proc->ended)
            continue;
        if (evolve->ending || !needs_architecture(evolve))
            return;
        const char *machine = pleat_proc_machine(proc);
        if (machine && missing_on(evolve, machine, place_of(proc)) > 0)
            pleat_proc_stop(proc, false);
    }
}

void pleat_proc_registered(struct pleat_proc *proc)
{
    bool first = !proc->registered;
    proc->registered = true;
    proc->evolve->asks = true;
    proc->due_us = proc->stopping || proc->unwanted ? proc->due_us : 0;
    bool comes = !pleat_proc_is_late(proc);
    if (comes)
        proc->told_running = proc->handed && !proc->renews;
    if (first && comes && proc->claim && !proc->prepared) {
        proc->prepared = true;
        proc->taken = proc->handed;
        pleat_proc_tell(proc);
    }
    pleat_proc_welcome(proc);
    if (first && comes && proc->handed)
        pleat_evolve_spread(proc, NULL, 0, 0);
    if (first && !proc->handed)
        pleat_evolve_match(proc->evolve);
    if (proc->stopping || proc->unwanted || proc->renews || proc->evolve->ending)
        pleat_proc_say(proc, json_pack("{s:s}", "do", "leave"));
}

/* ---- ending ---- */

/* Whether nothing of its program has happened yet, as far as is known, and it cannot be told to
 * leave. */
static bool is_starting(const struct pleat_proc *proc)
{
    return !proc->registered && !proc->told_running;
}

void pleat_proc_stop(struct pleat_proc *proc, bool unwanted)
{
    bool again = proc->stopping || proc->unwanted;
    /* both may be: its request is not wanted any more, and neither is its processor */
    proc->stopping = proc->stopping || !unwanted;
    proc->unwanted = proc->unwanted || unwanted;
    if (again)
        return;
    proc->due_us = pleat_clock_monotonic_us();
    if (!is_starting(proc))
        proc->due_us += unwanted || !proc->handed ? UNUSED_LEAVE_US : LEAVE_US;
    pleat_proc_say(proc, json_pack("{s:s}", "do", "leave"));
    if (!pleat_proc_has_child(proc) && proc->id > 0) /* it was not started yet */
        proc->ended = true;
}

void pleat_proc_leave(struct pleat_proc *proc, int64_t within_us)
{
    if (proc->stopping || proc->unwanted)
        return; /* it leaves already */
    proc->leaving = true;
    pleat_proc_stop(proc, false);
    if (!is_starting(proc) && within_us > LEAVE_US)
        proc->due_us += within_us - LEAVE_US;
}

void pleat_evolve_end(struct pleat_run *run, int64_t grace_us)
{
    struct pleat_evolve *evolve = run->evolve;
    if (!evolve)
        return;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        if (!evolve->ending)
            pleat_proc_say(proc, json_pack("{s:s}", "do", "leave"));
        proc->renews = false;
        end_child(proc, grace_us);
    }
    evolve->ending = true;
}

bool pleat_evolve_holds(const struct pleat_run *run)
{
    const struct pleat_evolve *evolve = run->evolve;
    /* without the daemon, which ends what is left of a run on other nodes, nothing is heard of that
     */
    bool far = run->agent->reporting;
    for (size_t i = 0; evolve && i < evolve->procs.count; i++) /* it lives, or is not settled */
        if (evolve->procs.items[i]->child || (far && evolve->procs.items[i]->far.part))
            return true;
    return false;
}

/* ---- after each turn ---- */

static void on_timer(uv_timer_t *timer)
{
    (void)timer; /* what is due is done when the turn is over */
}

/* From SIGTERM to SIGKILL. */
static int64_t grace_of(const struct pleat_proc *proc)
{
    if (is_starting(proc) && (proc->stopping || proc->unwanted))
        return RENEW_GRACE_US;
    return proc->unwanted || !proc->handed ? UNUSED_GRACE_US : GRACE_US;
}

static void look_at_time(struct pleat_proc *proc, int64_t now, int64_t *next)
{
    if (!proc->due_us)
        return;
    if (now < proc->due_us) {
        *next = *next && *next < proc->due_us ? *next : proc->due_us;
        return;
    }
    proc->due_us = 0;
    if (!proc->stopping && !proc->unwanted)
        pleat_evolve_warn(
            proc->evolve->run,
            "a prepared process has not registered (pleat_processes_begin) within 60 s, and is "
            "ended: a program that is run with --evolving has to call that");
    if (proc->id == 0)
        return; /* only the end of the run ends that */
    end_child(proc, grace_of(proc));
    proc->ended = !pleat_proc_has_child(proc) || proc->ended;
}

static bool is_to_start(const struct pleat_proc *proc)
{
    const struct pleat_evolve *evolve = proc->evolve;
    return !pleat_proc_has_child(proc) && !proc->ended && proc->id > 0 &&
           evolve->run->state == PLEAT_RUN_RUNNING && !evolve->ending && !evolve->run->killing &&
           (proc->of_start || (proc->claim && evolve->asks));
}

static bool has_ended(const struct pleat_proc *proc)
{
    return proc->ended && !(proc->child && pleat_run_is_live(proc->child));
}

/* Starts what is wanted, a few at a time; *next: when to look again. */
static void start_some(struct pleat_evolve *evolve, int64_t now, int64_t *next)
{
    int starting = 0, begun = 0;
    int64_t again = 0;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        const struct pleat_proc *proc = evolve->procs.items[i];
        int64_t until = proc->started_us + STARTING_US;
        if (!proc->child || proc->registered || proc->ended || proc->told_running || until <= now)
            continue;
        starting++;
        again = again && again < until ? again : until;
    }
    for (size_t i = 0; i < evolve->procs.count; i++) {
        if (!is_to_start(evolve->procs.items[i]))
            continue;
        if (begun == STARTS_MAX || starting == STARTING_MAX) {
            again = begun == STARTS_MAX && starting < STARTING_MAX ? now + 1 : again;
            *next = again && (!*next || again < *next) ? again : *next;
            return;
        }
        start_child(evolve->procs.items[i]);
        begun++;
        starting++;
    }
}

static void pump(struct pleat_run *run)
{
    struct pleat_evolve *evolve = run->evolve;
    int64_t now = pleat_clock_monotonic_us(), next = 0;
    if ((run->killing || run->state == PLEAT_RUN_ENDING) && !evolve->ending)
        pleat_evolve_end(run, run->killing ? run->kill_at_us - now : GRACE_US);
    for (size_t i = 0; i < evolve->procs.count; i++) {
        if (evolve->procs.items[i]->far.unreachable)
            pleat_far_end(evolve->procs.items[i]);
        look_at_time(evolve->procs.items[i], now, &next);
    }
    bool settled = false;
    for (size_t i = evolve->procs.count; i-- > 0;)
        if (i < evolve->procs.count && has_ended(evolve->procs.items[i])) {
            pleat_proc_settle(evolve->procs.items[i]);
            settled = true;
        }
    if (settled) /* a processor may have gone to another request than expected, or be lost */
        pleat_evolve_match(evolve);
    start_some(evolve, now, &next);
    if (evolve->sweeps)
        pleat_runs_sweep(run->agent);
    evolve->sweeps = false;
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        pleat_far_write(proc);
        /* what has ended is settled in the next turn; what does not take output is tried again */
        next = has_ended(proc) || pleat_far_is_full(proc) ? now : next;
    }
    pleat_evolve_tell_demand(evolve);
    int64_t news = pleat_evolve_send_news(evolve, now);
    if (news && (next <= now || news < next))
        next = news;
    if (next)
        (void)uv_timer_start(&evolve->timer, on_timer,
                             next > now ? (uint64_t)((next - now) / 1000 + 1) : 50, 0);
    else
        (void)uv_timer_stop(&evolve->timer);
}

void pleat_evolve_pump(struct pleat_agent *agent)
{
    /* runs of processes have the highest numbers: those before them keep their places */
    for (size_t i = 0; i < agent->runs.count && !agent->runs.items[i]->leader; i++)
        if (agent->runs.items[i]->evolve && pleat_run_is_live(agent->runs.items[i]))
            pump(agent->runs.items[i]);
}

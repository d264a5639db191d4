/* demand_sim.c - the same executions in simulated time: the core that pleatd has, with its policies
 * and all that it remembers, a site that gives processors after the delay that was measured, an
 * agent that prepares processes and hands them over as `pleat-agent` does (src/agent/evolve.h), and
 * the application of app.c (rule.h).
 *
 * The simulator's own application (`pleat experiment application-agent`) asks again after each
 * iteration, as the paper's does; this one asks once, and waits, as programs on libpleat-process
 * do. So it is not that simulator which runs here. */
#include "demand/demand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "core/core.h"
#include "policy/policies.h"

#define START_US 20000 /* of the first process */
#define LEAVE_US 20000 /* until a process that is told to leave is gone */
#define LEAST_US 1000  /* of starting a prepared process */

enum happening { CLAIMED, STARTED, RELEASED, PREPARED, UNUSED, STOPPED, STEP };

struct due {
    int64_t at_us;
    uint64_t order; /* of what happens at the same time, what was planned first comes first */
    enum happening what;
    uint32_t component, index; /* of the claim */
    uint64_t claim, run;
};
PLEAT_ARRAY(dues, struct due);

struct process { /* on a claim of the buffer's, or of one that was handed over */
    uint64_t claim;
    uint32_t index;
    bool registered, handed;
};
PLEAT_ARRAY(processes, struct process);

struct sim {
    const struct demand *demand;
    struct pleat_core *core;
    struct pleat_effects effects;
    size_t carried; /* effects carried out */
    struct dues dues;
    struct processes processes;
    struct pleat_random random;
    const struct demand_delay *delay;
    int64_t now_us;
    uint64_t order, run;
    uint32_t component;
    /* of the present execution */
    int step, has, coming, unserved; /* unserved: of those that come, those without a processor */
    bool over;
    bool known, holds; /* demand_simulate; decisions have to wait */
    double step_us, begun_us;
    struct demand_outcome *outcome;
    /* of all executions that are over: requests by step */
    int history[DEMAND_STEPS_MAX];
    int asked[DEMAND_STEPS_MAX]; /* of the present one */
    double iterations_us;        /* means of all, added up */
    uint32_t most;               /* requests in a row */
};

static void plan(struct sim *sim, struct due due, int64_t delay_us)
{
    due.at_us = sim->now_us + delay_us;
    due.order = sim->order++;
    if (pleat_array_push(&sim->dues, due))
        trial_give_up("a simulation", "no memory");
}

/* ---- what the core wants ---- */

static struct process *process_on(struct sim *sim, uint64_t claim)
{
    for (size_t i = 0; i < sim->processes.count; i++)
        if (sim->processes.items[i].claim == claim)
            return &sim->processes.items[i];
    return NULL;
}

static void forget(struct sim *sim, const struct process *process)
{
    size_t at = (size_t)(process - sim->processes.items);
    memmove(sim->processes.items + at, sim->processes.items + at + 1,
            (--sim->processes.count - at) * sizeof(*sim->processes.items));
}

/* From the claim until the process is there takes as long as was measured. */
static int64_t draw_starting_us(struct sim *sim)
{
    double radius = sqrt(-2 * log(1 - pleat_random_unit(&sim->random)));
    double normal = radius * cos(6.283185307179586 * pleat_random_unit(&sim->random));
    double s = sim->delay->mean_s + normal * sim->delay->deviation_s - sim->demand->scale.claim_s;
    return s * 1e6 > LEAST_US ? llround(s * 1e6) : LEAST_US;
}

/* A request that waits gets the process as soon as it is there. */
static void prepare(struct sim *sim, const struct due *due)
{
    struct process process = {due->claim, due->index, false, sim->unserved > 0};
    sim->unserved -= process.handed;
    if (pleat_array_push(&sim->processes, process))
        trial_give_up("a simulation", "no memory");
    struct due there = *due;
    there.what = PREPARED;
    plan(sim, there, draw_starting_us(sim));
}

static void unprepare(struct sim *sim, const struct due *due)
{
    const struct process *process = process_on(sim, due->claim);
    struct due gone = *due;
    gone.what = UNUSED;
    if (process && process->handed && process->registered)
        return; /* TAKEN was said already */
    sim->unserved += process && process->handed;
    if (process)
        forget(sim, process);
    plan(sim, gone, LEAVE_US);
}

static void carry_out(struct sim *sim)
{
    for (; sim->carried < sim->effects.count; sim->carried++) {
        const struct pleat_effect effect = sim->effects.items[sim->carried];
        struct due due = {.component = effect.component,
                          .index = effect.u.claim.index,
                          .claim = effect.id,
                          .run = effect.u.claim.run};
        switch (effect.kind) {
        case PLEAT_DO_CLAIM:
            due.what = CLAIMED;
            plan(sim, due, llround(sim->demand->scale.claim_s * 1e6));
            break;
        case PLEAT_DO_START:
            due.what = STARTED;
            due.run = effect.id;
            plan(sim, due, START_US);
            break;
        case PLEAT_DO_RELEASE:
            due.what = RELEASED;
            plan(sim, due, 0);
            break;
        case PLEAT_DO_PREPARE:
            prepare(sim, &due);
            break;
        case PLEAT_DO_UNPREPARE:
            unprepare(sim, &due);
            break;
        default: /* notes; and a claim that is divided asks for no answer */
            if (effect.kind < PLEAT_EFFECT_FIRST_NOTE && effect.kind != PLEAT_DO_SPLIT)
                trial_give_up("a simulation", "the core wants what nobody does here");
        }
    }
}

static void decide(struct sim *sim)
{
    struct pleat_error err = {0};
    int rc = 0;
    while (rc >= 0 && pleat_core_wants_pass(sim->core))
        rc = pleat_core_pass(sim->core, sim->now_us, NULL, &sim->effects, &err);
    if (rc < 0)
        trial_give_up("a simulation", err.text);
    carry_out(sim);
}

static void feed(struct sim *sim, struct pleat_event event)
{
    struct pleat_error err = {0};
    event.time_us = sim->now_us;
    if (pleat_core_apply(sim->core, &event, &sim->effects, &err) < 0)
        trial_give_up("a simulation", err.text);
    if (!sim->holds)
        decide(sim);
}

/* ---- what happens ---- */

static void say_of(struct sim *sim, uint16_t kind, uint64_t claim, uint32_t index, uint32_t reason)
{
    feed(sim, (struct pleat_event){.kind = kind,
                                   .component = index,
                                   .u.kept = {.claim = claim, .run = sim->run, .reason = reason}});
}

static void tell_demand(struct sim *sim)
{
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_DEMANDED,
                                   .component = sim->component,
                                   .u.demanded = {.run = sim->run,
                                                  .iteration = sim->step,
                                                  .requests = (uint32_t)sim->outcome->requests,
                                                  .satisfied = (uint32_t)sim->outcome->satisfied,
                                                  .waiting = (uint32_t)sim->coming}});
}

/* One that is prepared is handed over, or else the next one that is being started. */
static void add(struct sim *sim)
{
    struct process *found = NULL;
    for (size_t i = 0; i < sim->processes.count; i++) {
        struct process *process = &sim->processes.items[i];
        if (!process->handed && (!found || (process->registered && !found->registered)))
            found = process;
    }
    sim->outcome->requests++;
    sim->asked[sim->step]++;
    if (!found) {
        sim->coming++;
        sim->unserved++;
        tell_demand(sim);
        return;
    }
    const struct process taken = *found;
    found->handed = true; /* before the core is told, which may want others to end */
    sim->has += taken.registered;
    sim->coming += !taken.registered;
    sim->outcome->satisfied += taken.registered;
    tell_demand(sim);
    if (taken.registered)
        say_of(sim, PLEAT_EV_TAKEN, taken.claim, taken.index, 0);
}

/* The application stops the process that it has had last. */
static void stop(struct sim *sim)
{
    for (size_t i = sim->processes.count; i > 0; i--) {
        const struct process process = sim->processes.items[i - 1];
        if (!process.handed || !process.registered)
            continue;
        sim->has--;
        forget(sim, &sim->processes.items[i - 1]);
        plan(sim, (struct due){.what = STOPPED, .claim = process.claim, .index = process.index},
             LEAVE_US);
        return;
    }
}

static void end_execution(struct sim *sim)
{
    const struct pleat_view *view = pleat_core_view(sim->core);
    const struct pleat_buffer *buffer = &view->buffers[view->components[sim->component].buffer];
    int64_t idle = buffer->prepared + buffer->preparing + buffer->leaving;
    double waited_us = (double)(buffer->waited_us + idle * (sim->now_us - buffer->counted_us));
    sim->outcome->waste_s = waited_us / 1e6;
    sim->iterations_us += (double)buffer->iteration_us;
    sim->most = buffer->row_most > sim->most ? buffer->row_most : sim->most;
    sim->outcome->elapsed_s = ((double)sim->now_us - sim->begun_us) / 1e6;
    sim->over = true;
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_EXITED,
                                   .component = sim->component,
                                   .u.exit = {.run = sim->run, .reason = PLEAT_REASON_EXIT}});
}

/* The mean of this execution so far, as libpleat-process tells it: with steps that took longer, as
 * processes were missing. */
static void tell_speed(struct sim *sim)
{
    double mean_us = ((double)sim->now_us - sim->begun_us) / sim->step;
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_PROGRESS,
                                   .component = sim->component,
                                   .u.progress = {.run = sim->run,
                                                  .iteration = sim->step,
                                                  .iteration_us = llround(mean_us)}});
}

static void take_step(struct sim *sim)
{
    const struct demand *demand = sim->demand;
    if (++sim->step == demand->steps) {
        end_execution(sim);
        return;
    }
    struct demand_row row = demand->rows[sim->step];
    if (demand_stops(row, demand->scale.objects, sim->has, sim->coming))
        stop(sim);
    sim->holds = true; /* pleatd takes both that follow from one message, and decides then */
    tell_demand(sim);
    if (sim->step > 0)
        tell_speed(sim);
    if (!sim->known)
        decide(sim);
    sim->holds = sim->known;
    for (int adds = demand_adds(row, sim->has, sim->coming); adds > 0; adds--)
        add(sim);
    sim->holds = false;
    decide(sim);
    plan(sim, (struct due){.what = STEP}, llround(demand_step_us(row, sim->has, sim->step_us)));
}

static void claimed(struct sim *sim, const struct due *due)
{
    int32_t count = pleat_core_claim(sim->core, due->index)->count;
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_PIECE,
                                   .component = due->index,
                                   .u.piece = {.claim = due->claim,
                                               .first = (uint32_t)due->claim * 100,
                                               .count = (uint32_t)count}});
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_CLAIMED,
                                   .component = due->index,
                                   .u.claim = {.claim = due->claim, .count = count}});
}

static void started(struct sim *sim, const struct due *due)
{
    sim->run = due->run;
    sim->begun_us = (double)sim->now_us;
    feed(sim, (struct pleat_event){
                  .kind = PLEAT_EV_STARTED, .component = sim->component, .u.exit.run = due->run});
    plan(sim, (struct due){.what = STEP}, 0);
}

static void prepared(struct sim *sim, const struct due *due)
{
    struct process *process = process_on(sim, due->claim);
    if (!process || sim->over)
        return; /* it was ended before it was there */
    bool handed = process->handed;
    process->registered = true;
    sim->has += handed;
    sim->coming -= handed;
    say_of(sim, PLEAT_EV_PREPARED, due->claim, due->index, 0);
    if (!handed)
        return;
    tell_demand(sim); /* first that its request does not wait any more (evolve_tell.c) */
    say_of(sim, PLEAT_EV_TAKEN, due->claim, due->index, 0);
}

static void happen(struct sim *sim, const struct due *due)
{
    switch (due->what) {
    case CLAIMED:
        claimed(sim, due);
        break;
    case STARTED:
        started(sim, due);
        break;
    case RELEASED:
        feed(sim, (struct pleat_event){.kind = PLEAT_EV_RELEASED,
                                       .component = due->index,
                                       .u.claim.claim = due->claim});
        break;
    case PREPARED:
        prepared(sim, due);
        break;
    case UNUSED:
        say_of(sim, PLEAT_EV_PROCESS_GONE, due->claim, due->index, PLEAT_GONE_UNUSED);
        break;
    case STOPPED:
        say_of(sim, PLEAT_EV_PROCESS_GONE, due->claim, due->index, PLEAT_GONE_STOPPED);
        break;
    case STEP:
        take_step(sim);
        break;
    }
}

/* The next happening, or the core's next deadline, whichever comes first. False: nothing is left to
 * happen. */
static bool go_on(struct sim *sim)
{
    int64_t deadline_us = pleat_core_next_deadline(sim->core);
    size_t next = 0;
    for (size_t i = 1; i < sim->dues.count; i++) {
        const struct due *a = &sim->dues.items[i], *b = &sim->dues.items[next];
        if (a->at_us < b->at_us || (a->at_us == b->at_us && a->order < b->order))
            next = i;
    }
    if (sim->dues.count == 0)
        return false;
    if (deadline_us < sim->dues.items[next].at_us) {
        sim->now_us = deadline_us > sim->now_us ? deadline_us : sim->now_us;
        feed(sim, (struct pleat_event){.kind = PLEAT_EV_TIME, .component = PLEAT_NONE});
        return true;
    }
    const struct due due = sim->dues.items[next];
    sim->dues.items[next] = sim->dues.items[--sim->dues.count];
    sim->now_us = due.at_us;
    happen(sim, &due);
    return true;
}

/* ---- executions ---- */

static void set_policy(struct sim *sim, enum pleat_question question, const char *name)
{
    const struct pleat_policy *policy = pleat_policy_find(question, name);
    if (!policy)
        trial_give_up(name, "there is no such policy");
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_POLICY,
                                   .component = PLEAT_NONE,
                                   .u.policy = {.question = question,
                                                .policy = policy->number,
                                                .version = policy->version}});
}

static void set_parameter(struct sim *sim, enum pleat_parameter which, int64_t value)
{
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_PARAMETER,
                                   .component = PLEAT_NONE,
                                   .u.parameter = {.which = which, .value = value}});
}

/* What earlier executions asked for, as the store of pleatd tells it. */
static void tell_history(struct sim *sim, int executions)
{
    if (executions > 0)
        feed(sim, (struct pleat_event){
                      .kind = PLEAT_EV_RECALLED,
                      .component = sim->component,
                      .u.recalled = {.iteration_us = llround(sim->iterations_us / executions),
                                     .executions = executions,
                                     .most = sim->most}});
    for (int step = 0; executions > 0 && step < sim->demand->steps;) {
        struct pleat_event event = {.kind = PLEAT_EV_HISTORY,
                                    .component = sim->component,
                                    .u.history.executions = executions};
        for (; step < sim->demand->steps && event.u.history.count < 5; step++)
            if (sim->history[step] > 0) {
                event.u.history.rows[event.u.history.count].iteration = step;
                event.u.history.rows[event.u.history.count++].requests = sim->history[step];
            }
        feed(sim, event);
    }
}

static void execute(struct sim *sim, int round, int execution)
{
    sim->component = pleat_core_next_component(sim->core);
    sim->coming = sim->unserved = 0;
    sim->step = -1;
    sim->has = 1;
    sim->over = false;
    sim->processes.count = 0;
    sim->step_us = sim->demand->scale.step_s * 1e6 * demand_speed(round, execution);
    memset(sim->asked, 0, sizeof(sim->asked));
    feed(sim, (struct pleat_event){.kind = PLEAT_EV_SUBMIT,
                                   .flags = PLEAT_COMPONENT_EVOLVES | PLEAT_COMPONENT_PREPARES,
                                   .component = sim->component,
                                   .u.submit = {.job = (uint64_t)execution + 1,
                                                .minimum = 1,
                                                .maximum = DEMAND_MOST,
                                                .initial = 1,
                                                .site = PLEAT_NONE,
                                                .job_kind = PLEAT_MOLDABLE}});
    tell_history(sim, execution);
    while (go_on(sim)) /* also what is to be done after its end */
        ;
    if (!sim->over)
        trial_give_up("a simulation", "an execution does not end");
    for (int step = 0; step < sim->demand->steps; step++)
        sim->history[step] += sim->asked[step];
    sim->effects.count = sim->carried = 0;
}

void demand_simulate(const struct demand *demand, int policy, int round,
                     const struct demand_delay *delay, bool known,
                     struct demand_outcome outcomes[DEMAND_EXECUTIONS])
{
    static struct sim sim;
    sim = (struct sim){.demand = demand, .delay = delay, .known = known, .now_us = 1000000000};
    pleat_random_init(&sim.random, (uint64_t)round * 10 + (uint64_t)policy + 1);
    if (pleat_core_create(&sim.core))
        trial_give_up("a simulation", "no memory");
    set_policy(&sim, PLEAT_MALLEABILITY, "none");
    set_policy(&sim, PLEAT_BUFFER, demand_policies[policy].buffer);
    set_parameter(&sim, PLEAT_PARAM_BUFFER_LEVEL, DEMAND_LEVEL);
    set_parameter(&sim, PLEAT_PARAM_BUFFER_REVIEW_US, llround(demand->scale.review_s * 1e6));
    set_parameter(&sim, PLEAT_PARAM_BUFFER_RANGE, DEMAND_RANGE);
    set_parameter(&sim, PLEAT_PARAM_BUFFER_OWN, demand_policies[policy].own);
    feed(&sim, (struct pleat_event){.kind = PLEAT_EV_SITE, .u.site.capacity = DEMAND_PROCESSORS});
    for (int execution = 0; execution < demand->scale.executions; execution++) {
        sim.outcome = &outcomes[execution];
        *sim.outcome = (struct demand_outcome){.requests = 0};
        execute(&sim, round, execution);
    }
    pleat_core_destroy(sim.core);
    pleat_array_finish(&sim.effects);
    pleat_array_finish(&sim.dues);
    pleat_array_finish(&sim.processes);
}

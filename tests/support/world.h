/* world.h - a core with fake sites and a fake runner in simulated time, for tests. */
#ifndef PLEAT_TESTS_WORLD_H
#define PLEAT_TESTS_WORLD_H

#include "base/heap.h"
#include "base/random.h"
#include "core/core.h"
#include "fake_runner.h"
#include "fake_site.h"

struct world_call {
    void (*fn)(void *arg, uint64_t token);
    void *arg;
    uint64_t token;
};

PLEAT_ARRAY(world_calls, struct world_call);

/* A process that an agent has started, or is starting, on a claim of a buffer. */
struct world_process {
    uint64_t claim, run;
    uint32_t index, component; /* of the claim; of its owner */
    uint64_t order;            /* the latest PREPARE of that claim that its agent has */
    enum { WORLD_PROCESS_STARTING, WORLD_PROCESS_WAITING, WORLD_PROCESS_TAKEN } state;
};

/* What the agent of a component counts in a run. */
struct world_requests {
    uint64_t run;
    uint32_t asked, satisfied, waiting;
    uint32_t on, waiting_on; /* an architecture, and how many of those that wait need it */
    uint32_t at, waiting_at; /* likewise another site, plus 1 */
    uint32_t waiting_any;    /* that any site can serve */
    bool any;                /* some could: the sites are named */
};

PLEAT_ARRAY(world_processes, struct world_process);
PLEAT_ARRAY(world_requests_array, struct world_requests);

struct world {
    struct pleat_core *core;
    struct pleat_host host;
    int64_t now_us;
    struct pleat_heap timers; /* payload: index into calls */
    struct world_calls calls;
    struct pleat_events queue; /* emitted, not yet applied */
    struct pleat_events
        withheld;            /* whether runs were started: an agent that is away has not said */
    struct pleat_events log; /* applied: what a store would hold */
    struct pleat_effects effects;
    struct pleat_effects transfers; /* all STAGE so far */
    /* components whose processes agents prepare: world_processes.h */
    struct world_processes processes;
    struct world_requests_array requests; /* by component */
    struct pleat_effects told; /* PREPARE and UNPREPARE so far; orders are places in it */
    struct pleat_random handing;
    double prepare_fail;           /* a process that is prepared is not started, or dies */
    uint32_t crossed, gone_unused; /* processes handed over that were to be ended; ended so */
    uint32_t left;                 /* ended since their site took their processors back */
    uint32_t elsewhere;            /* requests that any site can serve, served at another one */
    uint32_t outdated;             /* what was said of orders that were given anew meanwhile */
    struct pleat_site_instance *sites[8];
    uint32_t site_count;
    struct pleat_runner *runner;
    bool check;                 /* recount after every event */
    struct pleat_random files;  /* decides the fate of files that are brought */
    double stage_fail;          /* probability, half of it by the user's fault */
    struct pleat_random agents; /* when they come back, and whether as another one */
    /* of each node of each site: its agent, 0: not said yet; it is away, and will be back */
    uint64_t agent[8][PLEAT_FAKE_NODES_MAX];
    bool coming[8][PLEAT_FAKE_NODES_MAX];
    uint32_t resizes_begun, resizes_ended;
    uint32_t outcomes[PLEAT_OUTCOME_COUNT];
    /* resizes that were done, off processors that a site takes back: when it had said, and sooner
     */
    uint32_t shrunk_off, shrunk_off_taken, moved;
    uint32_t warnings, passes;
    uint32_t unknown; /* starts that an agent may have made that is gone */
    /* called with each effect before it is carried out; may be NULL */
    void (*observe)(struct world *world, const struct pleat_effect *effect);
};

void world_init(struct world *world, const struct pleat_fake_runner_options *applications);
void world_finish(struct world *world);
void world_add_site(struct world *world, int32_t processors, int32_t threshold,
                    const struct pleat_fake_site_options *options);
/* One that answers at once (PLEAT_SITE_INSTANT): nobody plays it, its entry in sites is NULL. */
void world_add_instant_site(struct world *world, int32_t processors, int32_t threshold);
/* Applies one input now, decides, carries out effects. The result of apply. */
int world_event(struct world *world, struct pleat_event event, struct pleat_error *err);
/* Applies what was emitted, and the pass that follows, until nothing is left to do now. */
void world_settle(struct world *world);
/* Runs until nothing is left to happen (or a bound of simulated time); false at the bound. */
bool world_run(struct world *world, int64_t until_us);
void world_policy(struct world *world, enum pleat_question question, const char *name);
void world_parameter(struct world *world, enum pleat_parameter parameter, int64_t value);
/* The agent of a node goes away: the jobs that it leads are told nothing until it, or another
 * agent, comes. The result of apply. */
int world_agent_away(struct world *world, uint32_t site, uint32_t node);
/* Submits one; the component's index. Fails the test if it is refused. */
uint32_t world_submit(struct world *world, enum pleat_job_kind kind, int32_t minimum,
                      int32_t maximum, int32_t initial);
const struct pleat_component *world_job(const struct world *world, uint32_t component);

#endif

/* relaunch_plan.h - what is known of a relaunch that is wanted: which resize it belongs to, how far
 * it is, and what is started. What is done about it: relaunch.h. */
#ifndef PLEAT_AGENT_RELAUNCH_PLAN_H
#define PLEAT_AGENT_RELAUNCH_PLAN_H

#include "agent/run.h"
#include "shm/mailbox.h"

enum pleat_relaunch_stage {
    PLEAT_RELAUNCH_PLANNED,  /* the application is asked: it may refuse, or be too late */
    PLEAT_RELAUNCH_LEAVING,  /* the run is started again when no process of it is left */
    PLEAT_RELAUNCH_STARTING, /* the new start is under way */
    PLEAT_RELAUNCH_BEGINNING /* started; the application has not said yet that it goes on */
};

struct pleat_relaunch {
    enum pleat_relaunch_stage stage;
    bool demanded; /* wanted by the request `relaunch`; else by a resize */
    uint64_t resize;
    uint32_t processes;
    uint32_t before; /* number of old processes */
    int64_t grace_us;
    int64_t warm_us; /* as in the order; 0 also once it is known that the relaunch is cold */
    bool or_merges;  /* as in the order */
    bool moves;      /* as in the order */
    json_t *argv, *env;
    json_t *nodes;      /* all nodes of the new processes, as `start` has them; NULL: this one */
    int64_t leaving_us; /* when LEAVING began (monotonic) */
    bool told_to_end;   /* processes that did not leave were told to end */
    bool warm_failed;   /* new processes were started first, and did not come up */
    bool handed_over;   /* new processes were started first, and have taken over */
    bool anew;          /* the processes that leave have not begun: there is no state */
    bool from_state;    /* in STARTING: a state is held, */
    uint64_t iteration; /* and is of this iteration */
    struct pleat_mailbox_cost cost; /* cost of the old processes' part */
};

/* Borrowed for the call. */
struct pleat_relaunch_order {
    uint64_t resize;
    uint32_t processes;
    int64_t grace_us;   /* until processes that leave are ended, or from SIGTERM to SIGKILL */
    int64_t warm_us;    /* the new processes are started first, and must be ready within this time;
                         * 0: they are started last */
    bool moves;         /* it is started again by the agent of another node: not here */
    bool or_merges;     /* if they cannot be started first, the ranks merge or split instead */
    const json_t *argv; /* not empty; unused for launches, as is env */
    const json_t *env;
    const json_t *nodes; /* as `start` has them; NULL: this one */
    const json_t *slots; /* only of a demanded relaunch; NULL: the slots stay */
};

/* A relaunch as the order says, PLANNED. NULL: no memory. */
struct pleat_relaunch *pleat_relaunch_make(const struct pleat_run *run,
                                           const struct pleat_relaunch_order *order,
                                           struct pleat_error *err);
/* The resize is to be done by a relaunch. Replaces an earlier plan. PLEAT_E_NOMEM. */
int pleat_relaunch_plan(struct pleat_run *run, const struct pleat_relaunch_order *order,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The state is held, all `before` ranks are leaving. */
void pleat_relaunch_saved(struct pleat_run *run, uint32_t before,
                          const struct pleat_mailbox_cost *cost);
/* Drops the relaunch that was planned or demanded. */
void pleat_relaunch_drop(struct pleat_run *run);
/* Whether the run is relaunched as soon as nothing is left of it. */
bool pleat_relaunch_is_due(const struct pleat_run *run);

#endif

/* relaunch.h - ending all processes of a malleable run and starting it again, within the same run.
 *
 * Two requests lead to a relaunch. The first is `resize` with `relaunch`: the application saves its
 * state, and its processes leave by themselves or are ended after a grace. Its outcome is told as
 * that of any resize, once the new processes have begun. The second is the request `relaunch`,
 * whatever the processes are doing: they are ended, and `relaunched` is told when the new ones are
 * started.
 *
 * For a script (launching.h) all of this concerns the program that it launched last, not the
 * script.
 */
#ifndef PLEAT_AGENT_RELAUNCH_H
#define PLEAT_AGENT_RELAUNCH_H

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
    bool demanded; /* by the request `relaunch`; else by a resize */
    uint64_t resize;
    uint32_t processes;
    uint32_t before; /* number of old processes */
    int64_t grace_us;
    json_t *argv, *env;
    int64_t leaving_us;             /* when LEAVING began (monotonic) */
    bool told_to_end;               /* processes that did not leave were told to end */
    bool from_state;                /* in STARTING: a state is held, */
    uint64_t iteration;             /* and is of this iteration */
    struct pleat_mailbox_cost cost; /* of the old processes' part */
};

/* Borrowed for the call. */
struct pleat_relaunch_order {
    uint64_t resize;
    uint32_t processes;
    int64_t grace_us;   /* until processes that leave are ended, or from SIGTERM to SIGKILL */
    const json_t *argv; /* not empty; unused for launches, as is env */
    const json_t *env;
    const json_t *slots; /* only of a demanded relaunch; NULL: the slots stay */
};

/* The resize is to be done by a relaunch. Replaces an earlier plan. PLEAT_E_NOMEM. */
int pleat_relaunch_plan(struct pleat_run *run, const struct pleat_relaunch_order *order,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The state is held, all `before` ranks are leaving. */
void pleat_relaunch_saved(struct pleat_run *run, uint32_t before,
                          const struct pleat_mailbox_cost *cost);
/* The request `relaunch`. Returns 0 also where the same relaunch was demanded before: then its
 * outcome is told again. PLEAT_E_STATE: the run is over, or being ended. */
int pleat_relaunch_demand(struct pleat_run *run, const struct pleat_relaunch_order *order,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Only for launches: the program has ended and is not started again, whatever was planned. Settles
 * what is under way. */
void pleat_relaunch_ended(struct pleat_run *run);
/* Drops the relaunch that was planned or demanded. */
void pleat_relaunch_drop(struct pleat_run *run);
/* Whether the run is relaunched as soon as nothing is left of it. */
bool pleat_relaunch_is_due(const struct pleat_run *run);
/* No process is left: starts the run again. Where that fails, now or later, the run has exited. */
void pleat_relaunch_go(struct pleat_run *run);
/* Takes the outcome of that start. */
void pleat_relaunch_started(struct pleat_run *run, const struct pleat_error *failure);
/* Ends processes that should leave and have not left within their grace. To be called from time to
 * time. */
void pleat_relaunch_press(struct pleat_run *run);
/* The new processes go on: tells the outcome of the resize. */
void pleat_relaunch_begun(struct pleat_run *run, const struct pleat_mailbox_status *status);

#endif

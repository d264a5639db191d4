/* relaunch.h - ending all processes of a malleable run and starting it again, within the same run.
 *
 * Two ways lead there. A resize that is to be done so (`resize` with `relaunch`): the application
 * saves its state, its processes leave by themselves (or are ended after a grace), and what came of
 * it is told as of any resize once the new ones have begun. And the request `relaunch`, whatever
 * the processes are doing: they are ended, and `relaunched` is told when the new ones are started.
 *
 * Of a script (launching.h) that is about the program that it launched last, not about the script.
 */
#ifndef PLEAT_AGENT_RELAUNCH_H
#define PLEAT_AGENT_RELAUNCH_H

#include "agent/run.h"
#include "shm/mailbox.h"

enum pleat_relaunch_stage {
    PLEAT_RELAUNCH_PLANNED,  /* asked of the application: it may refuse, or be too late */
    PLEAT_RELAUNCH_LEAVING,  /* when nothing is left of the run it is started again */
    PLEAT_RELAUNCH_STARTING, /* that is under way */
    PLEAT_RELAUNCH_BEGINNING /* started; not yet said that it goes on */
};

struct pleat_relaunch {
    enum pleat_relaunch_stage stage;
    bool demanded; /* by `relaunch`; else the way of a resize */
    uint64_t resize;
    uint32_t processes;
    uint32_t before; /* processes of old */
    int64_t grace_us;
    json_t *argv, *env;
    int64_t leaving_us;             /* when LEAVING began (monotonic) */
    bool told_to_end;               /* those that did not leave */
    bool from_state;                /* of STARTING: a state is held, */
    uint64_t iteration;             /* ... of this iteration */
    struct pleat_mailbox_cost cost; /* of the old processes' part */
};

/* Borrowed for the call. */
struct pleat_relaunch_order {
    uint64_t resize;
    uint32_t processes;
    int64_t grace_us;   /* for processes to leave, or from SIGTERM to SIGKILL */
    const json_t *argv; /* not empty; of launches it and env do not count */
    const json_t *env;
    const json_t *slots; /* of a demanded one; NULL: they stay */
};

/* A resize is to be done so. Replaces what was planned. PLEAT_E_NOMEM. */
int pleat_relaunch_plan(struct pleat_run *run, const struct pleat_relaunch_order *order,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The state is held, all `before` ranks are leaving. */
void pleat_relaunch_saved(struct pleat_run *run, uint32_t before,
                          const struct pleat_mailbox_cost *cost);
/* `relaunch` was asked for. 0 also when the same was before: then what came of it is told again.
 * PLEAT_E_STATE: the run is over, or being ended. */
int pleat_relaunch_demand(struct pleat_run *run, const struct pleat_relaunch_order *order,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Of launches: the program ended, not to be started again, whatever was planned: what is under way
 * is settled. */
void pleat_relaunch_ended(struct pleat_run *run);
/* Forgets the relaunch that was planned or asked for: it will not happen. */
void pleat_relaunch_drop(struct pleat_run *run);
/* Whether the run is relaunched as soon as nothing is left of it. */
bool pleat_relaunch_is_due(const struct pleat_run *run);
/* Nothing is left: starts again. Where that fails, now or later, the run has exited. */
void pleat_relaunch_go(struct pleat_run *run);
/* Takes what came of that start. */
void pleat_relaunch_started(struct pleat_run *run, const struct pleat_error *failure);
/* Processes that should leave and do not are ended after their grace. To call now and then. */
void pleat_relaunch_press(struct pleat_run *run);
/* The new processes go on: tells what came of the resize. */
void pleat_relaunch_begun(struct pleat_run *run, const struct pleat_mailbox_status *status);

#endif

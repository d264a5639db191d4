/* kind.h - the kinds of runs: plain ones, malleable ones with a mailbox, scripts that launch such
 * programs, folded ones. What a run does beyond being started, watched and ended is its kind's; the
 * files below know no kind by name, and those that list them (kinds.c) are above all.
 *
 * Every function is there (kind.c has those that do nothing), and is also called where the kind's
 * part of a run could not be made, or is gone.
 */
#ifndef PLEAT_AGENT_KIND_H
#define PLEAT_AGENT_KIND_H

#include "agent/run.h"

struct pleat_run_kind {
    const char *name;
    bool spawns; /* its processes may be started by others of it, and bound as those began */
    bool pins;   /* it binds its processes itself: they get no cpuset */

    /* Whether a request asks for this kind. */
    bool (*is_wanted)(const struct pleat_run_request *request);
    /* Makes its part of a run that is about to be started. */
    int (*create)(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err);
    /* ... and that goes; also again. */
    void (*destroy)(struct pleat_run *run);
    /* Adds variables to those of the main process (pleat_run_add_variable). */
    void (*environment)(const struct pleat_run *run, struct pleat_string *own);

    /* What came of a start. True: it was one of the kind's own, which has told what there was. */
    bool (*started)(struct pleat_run *run, const struct pleat_error *failure);
    /* Takes note of what its processes said. */
    void (*look)(struct pleat_run *run);
    /* Nothing is left of the run. True: it is started again. */
    bool (*goes_on)(struct pleat_run *run);
    /* ... which ended abnormally: whether it could be relaunched; then run->failure may say more.
     */
    bool (*is_broken)(struct pleat_run *run);
    /* It has exited; broken: it may be relaunched. */
    void (*over)(struct pleat_run *run, bool broken);
    /* It is to end for good. */
    void (*unwanted)(struct pleat_run *run);
    /* The process below which everything is that run->part is about; 0: none. */
    pid_t (*part)(const struct pleat_run *run);
    /* Fills in the processes of its ranks, at most `room`, in order; NULL: how many there are. */
    uint32_t (*ranks)(const struct pleat_run *run, int32_t *pids, uint32_t room);

    /* Sends again what the daemon may have missed. */
    void (*report)(const struct pleat_run *run);
    /* Adds to what `list` says of it. Nonzero: no memory. */
    int (*describe)(const struct pleat_run *run, json_t *text);
    /* The requests `ask` and `resize`, `withdraw`, `relaunch`. */
    int (*change)(struct pleat_run *run, const json_t *params, bool ask, struct pleat_error *err);
    int (*withdraw)(struct pleat_run *run, const json_t *params, struct pleat_error *err);
    int (*relaunch)(struct pleat_run *run, const json_t *params, struct pleat_error *err);

    /* Starts and stops the timers of all runs of the kind, as needed now. */
    void (*arm)(struct pleat_agent *agent);
    /* There is a new connection. */
    void (*greeted)(struct pleat_agent *agent);
};

/* ---- kind.c: floor 1 ---- */

/* Nothing but what every run does; and the parts of it, for kinds that have no more either. */
extern const struct pleat_run_kind pleat_kind_plain;
bool pleat_kind_starts_itself(struct pleat_run *run, const struct pleat_error *failure);
void pleat_kind_nothing(struct pleat_run *run);
bool pleat_kind_never(struct pleat_run *run);
pid_t pleat_kind_no_part(const struct pleat_run *run);
uint32_t pleat_kind_no_ranks(const struct pleat_run *run, int32_t *pids, uint32_t room);
int pleat_kind_no_relaunch(struct pleat_run *run, const json_t *params, struct pleat_error *err);
void pleat_kind_no_timers(struct pleat_agent *agent);
/* "NAME=value", with its NUL. */
void pleat_run_add_variable(struct pleat_string *own, const char *name, const char *value);

/* ---- kinds.c: above all of them ---- */

extern const struct pleat_run_kind pleat_kind_malleable, pleat_kind_script; /* kind_malleable.c */
extern const struct pleat_run_kind pleat_kind_folded;                       /* kind_folded.c */
/* The plain one first; NULL at the end. */
extern const struct pleat_run_kind *const pleat_kinds[];

#endif

/* kind.h - the kinds of runs: plain ones, malleable ones with a mailbox, scripts that launch
 * malleable programs, and folded ones. What a run does beyond being started, watched and ended is
 * done by its kind. The files below know no kind by name; the file that lists the kinds (kinds.c)
 * stands above all.
 *
 * A kind has every function (kind.c has those that do nothing). A function may also be called where
 * the kind's part of the run could not be made, or is gone.
 */
#ifndef PLEAT_AGENT_KIND_H
#define PLEAT_AGENT_KIND_H

#include "agent/run.h"

struct pleat_run_kind {
    const char *name;
    /* the run's processes may be started by others of it, and are bound as those were at their
     * start */
    bool spawns;
    /* its processes are ranks of a program on several nodes, which may leave this one: signals by
     * which a batch system announces that it will kill do not end them */
    bool leaves;
    bool pins; /* the kind binds processes itself: the run gets no cpuset */

    /* Whether a request asks for this kind. */
    bool (*is_wanted)(const struct pleat_run_request *request);
    /* Makes the kind's part of a run that is about to be started. */
    int (*create)(struct pleat_run *run, const struct pleat_run_request *request,
                  struct pleat_error *err);
    /* Frees the kind's part of a run. May be called again. */
    void (*destroy)(struct pleat_run *run);
    /* Adds variables to those of the main process of a generation (pleat_run_add_variable). */
    void (*environment)(const struct pleat_run *run, const struct pleat_generation *generation,
                        struct pleat_string *own);

    /* The start of a program was settled. True: it was a start by the kind itself, which has told
     * its outcome. */
    bool (*started)(struct pleat_run *run, const struct pleat_error *failure);
    /* Takes note of what the run's processes have said. */
    void (*look)(struct pleat_run *run);
    /* Nothing is left of the run. True: it is started again. */
    bool (*goes_on)(struct pleat_run *run);
    /* Nothing is left of a run that ended abnormally. True: it could be relaunched; run->failure
     * may then say more. */
    bool (*is_broken)(struct pleat_run *run);
    /* The run has exited. broken: it may still be relaunched. */
    void (*over)(struct pleat_run *run, bool broken);
    /* The run is to end for good. */
    void (*unwanted)(struct pleat_run *run);
    /* The process below which all processes are that run->part is about; 0: none. */
    pid_t (*part)(const struct pleat_run *run);
    /* Fills in the pids of the run's ranks, at most `room`, in the order of ranks, and returns how
     * many. pids NULL: returns how many ranks there are. */
    uint32_t (*ranks)(const struct pleat_run *run, int32_t *pids, uint32_t room);

    /* Sends again what the daemon may have missed. */
    void (*report)(const struct pleat_run *run);
    /* Adds members to what `list` says of the run. Nonzero: no memory. */
    int (*describe)(const struct pleat_run *run, json_t *text);
    /* The requests `ask` and `resize`, `withdraw`, `relaunch`. */
    int (*change)(struct pleat_run *run, const json_t *params, bool ask, struct pleat_error *err);
    int (*withdraw)(struct pleat_run *run, const json_t *params, struct pleat_error *err);
    int (*relaunch)(struct pleat_run *run, const json_t *params, struct pleat_error *err);

    /* The requests `checkpoint` and `withdraw_checkpoint`. */
    int (*checkpoint)(struct pleat_run *run, const json_t *params, bool withdraw,
                      struct pleat_error *err);

    /* Starts and stops the timers of all runs of the kind, as needed now. */
    void (*arm)(struct pleat_agent *agent);
    /* Called after the daemon's hello on a new connection. */
    void (*greeted)(struct pleat_agent *agent);
};

/* ---- kind.c ---- */

/* The plain kind, which does nothing of its own, and its functions, for kinds that do nothing more
 * either. */
extern const struct pleat_run_kind pleat_kind_plain;
bool pleat_kind_starts_itself(struct pleat_run *run, const struct pleat_error *failure);
void pleat_kind_nothing(struct pleat_run *run);
bool pleat_kind_never(struct pleat_run *run);
pid_t pleat_kind_no_part(const struct pleat_run *run);
uint32_t pleat_kind_no_ranks(const struct pleat_run *run, int32_t *pids, uint32_t room);
int pleat_kind_no_checkpoint(struct pleat_run *run, const json_t *params, bool withdraw,
                             struct pleat_error *err);
void pleat_kind_no_environment(const struct pleat_run *run,
                               const struct pleat_generation *generation, struct pleat_string *own);
void pleat_kind_no_report(const struct pleat_run *run);
int pleat_kind_no_change(struct pleat_run *run, const json_t *params, bool ask,
                         struct pleat_error *err);
int pleat_kind_no_relaunch(struct pleat_run *run, const json_t *params, struct pleat_error *err);
void pleat_kind_no_timers(struct pleat_agent *agent);
/* Appends "NAME=value" and its NUL. */
void pleat_run_add_variable(struct pleat_string *own, const char *name, const char *value);

/* ---- kinds.c: above all of them ---- */

extern const struct pleat_run_kind pleat_kind_malleable, pleat_kind_script; /* kind_malleable.c */
extern const struct pleat_run_kind pleat_kind_folded;                       /* kind_folded.c */
extern const struct pleat_run_kind pleat_kind_spread, pleat_kind_part;
extern const struct pleat_run_kind pleat_kind_evolving, pleat_kind_process; /* kind_evolving.c */
extern const struct pleat_run_kind pleat_kind_far;
/* All kinds: the plain one first; NULL at the end. */
extern const struct pleat_run_kind *const pleat_kinds[];

#endif
